import type { Path } from '../../faults/diagnostic.ts'

/**
 * The way to a key in a condition. `trail`: the dotted way over attributes that a fault tells; the key stands there, or
 * ends it. Operators, groups and lists lie between. The condition as a whole where the key is not found.
 */
export function placeOfKey(where: unknown, key: string, trail: string | null): Path {
  const names = trail === null ? [] : trail.split('.')
  const around = names.at(-1) === key ? names.slice(0, -1) : names
  return find(where, key, around) ?? find(where, key, null) ?? []
}

/** `around`: the attributes that must lie above the key; null: any. */
function find(value: unknown, key: string, around: readonly string[] | null): Path | undefined {
  if (value === null || typeof value !== 'object') return undefined
  for (const [at, below] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(at) : at
    if (step === key && (around === null || around.length === 0)) return [step]
    const rest = around?.[0] === step ? around.slice(1) : around
    const isPassed = typeof step === 'number' || step.startsWith('$') || around === null || rest !== around
    const found = isPassed ? find(below, key, rest) : undefined
    if (found) return [step, ...found]
  }
  return undefined
}

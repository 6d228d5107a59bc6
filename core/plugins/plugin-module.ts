import { didYouMean } from '../base/nearest.ts'

/** Kinds of plugin modules. */
export type PluginKind = 'policy' | 'middleware' | 'extension'

/** Migrations are modules but not plugins: they take no part in requests. */
type ModuleKind = PluginKind | 'migration'

/** Marks objects made by define…(). A registered symbol, so that two copies of the package recognise each other's. */
export const KIND: unique symbol = Symbol.for('plinth.plugin')

const KINDS: readonly ModuleKind[] = ['policy', 'middleware', 'extension', 'migration']

/** null: not made by define…(). */
export function moduleKind(value: unknown): ModuleKind | null {
  if (typeof value !== 'object' || value === null || !(KIND in value)) return null
  const kind = value[KIND]
  return KINDS.find(one => one === kind) ?? null
}

/** Throws for unknown keys: in JavaScript plugins TypeScript does not catch them, and they would be ignored silently. */
export function assertKnownKeys(given: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(given).find(key => !known.includes(key))
  if (unknown === undefined) return
  throw new Error(
    `${what} has no key \`${unknown}\`${didYouMean(unknown, known)}; it may have ${known.join(', ')}`,
  )
}

/** A JSON Schema (draft 2020-12) for `config` or `options` in project.yaml, checked when the project is loaded. */
export type PluginSchema = Readonly<Record<string, unknown>>

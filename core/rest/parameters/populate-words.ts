/** Names of a populate as a tree: `a,a.b,c.d` is a (named) with b in it, and c (passed) with d in it. */
export type Words = ReadonlyMap<string, Word>

export interface Word {
  /** Asked for itself, not only on the way to others. */
  readonly named: boolean
  readonly below: Words
}

interface GrowingWord {
  named: boolean
  readonly below: Map<string, GrowingWord>
}

/** The text, or list of texts, of a populate; null where it is neither. */
export function toWords(raw: unknown): Words | null {
  const items: readonly unknown[] = Array.isArray(raw) ? raw : [raw]
  const texts = items.filter(item => typeof item === 'string')
  if (texts.length !== items.length) return null
  const words = new Map<string, GrowingWord>()
  for (const text of texts) for (const path of text.split(',')) grow(words, path)
  return words
}

/** Dots without a name before or behind them are skipped (contract/rest.md 8). */
function grow(words: Map<string, GrowingWord>, path: string): void {
  let level = words
  let word: GrowingWord | undefined
  for (const name of path.trim().split('.').filter(Boolean)) {
    word = level.get(name) ?? { named: false, below: new Map() }
    level.set(name, word)
    level = word.below
  }
  if (word) word.named = true
}

const YES: ReadonlySet<unknown> = new Set([true, 'true', 't', '1'])
const NO: ReadonlySet<unknown> = new Set([false, 'false', 'f', '0'])

/** `true` or `false` as a populate may say it; undefined for any other text. */
export function toYesOrNo(raw: unknown): boolean | undefined {
  if (YES.has(raw)) return true
  return NO.has(raw) ? false : undefined
}

export const isNothing = (raw: unknown): boolean => raw === undefined || raw === null || raw === ''

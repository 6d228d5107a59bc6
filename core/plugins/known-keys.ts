import { didYouMean } from '../base/nearest.ts'

/** Plugins in JavaScript are held to what TypeScript promises: a key that means nothing would be dropped silently. */
export function assertKeys(given: object, known: readonly string[], what: string): void {
  const unknown = Object.keys(given).find(key => !known.includes(key))
  if (unknown === undefined) return
  throw new Error(
    `${what} has no key \`${unknown}\`${didYouMean(unknown, known)}; it may have ${known.join(', ')}`,
  )
}

/** From the first character of a password to the one after its last. */
export type PasswordRange = readonly [start: number, end: number]

/**
 * Where passwords stand in texts such as `scheme://user:password@host`. `ends`: characters that no password has beside
 * `@`. Every character is read a fixed number of times: texts of clients come here, in logs.
 */
export function urlPasswords(text: string, ends: ReadonlySet<string>): readonly PasswordRange[] {
  const found: PasswordRange[] = []
  for (let at = text.indexOf('://'); at >= 0; ) {
    const colon = endOf(text, at + 3, ENDS_USER)
    let next = colon
    if (text[colon] === ':' && isWord(text[at - 1])) {
      const end = endOf(text, colon + 1, ends)
      if (text[end] === '@' && end > colon + 1) found.push([colon + 1, end])
      // What ends this one ends all that begin before it; only the last character may begin another `://`.
      next = end - 1
    }
    at = text.indexOf('://', next)
  }
  return found
}

const ENDS_USER: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n', ':', '/', '@', '"', "'"])

/** Ends of passwords wherever an address may stand. */
export const SPACES: readonly string[] = [' ', '\t', '\r', '\n', '@']

const isWord = (character = ''): boolean => /\w/.test(character)

function endOf(text: string, from: number, ends: ReadonlySet<string>): number {
  let at = from
  while (at < text.length && !ends.has(text.charAt(at))) at++
  return at
}

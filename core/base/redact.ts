/** The end is exclusive. */
type PasswordRange = readonly [start: number, end: number]

/**
 * Finds the passwords in texts such as `scheme://user:password@host`. `ends`: the characters that end a password,
 * including `@`. Takes linear time, because logged texts may come from clients.
 */
export function findUrlPasswords(text: string, ends: ReadonlySet<string>): readonly PasswordRange[] {
  const found: PasswordRange[] = []
  for (let at = text.indexOf('://'); at >= 0; ) {
    const colon = endOf(text, at + 3, USER_ENDS)
    let next = colon
    if (text[colon] === ':' && isWord(text[at - 1])) {
      const end = endOf(text, colon + 1, ends)
      if (text[end] === '@' && end > colon + 1) found.push([colon + 1, end])
      // No other password can start before `end`; only its last character may start another `://`.
      next = end - 1
    }
    at = text.indexOf('://', next)
  }
  return found
}

const USER_ENDS: ReadonlySet<string> = new Set([' ', '\t', '\r', '\n', ':', '/', '@', '"', "'"])

/** Characters that always end the password of a URL. */
export const URL_PASSWORD_ENDS: readonly string[] = [' ', '\t', '\r', '\n', '@']

const isWord = (character = ''): boolean => /\w/.test(character)

function endOf(text: string, from: number, ends: ReadonlySet<string>): number {
  let at = from
  while (at < text.length && !ends.has(text.charAt(at))) at++
  return at
}

const REDACTED = '[redacted]'

/** Redacting shorter secrets would also hide ordinary words. */
const MIN_SECRET_LENGTH = 6

const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi
/** In log texts, a slash ends the password of a URL too. */
const PASSWORD_ENDS: ReadonlySet<string> = new Set([...URL_PASSWORD_ENDS, '/'])

/** Redacts texts for logs and error messages: the given secrets, `Authorization` credentials, and passwords in URLs. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter(secret => secret.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
  return text => {
    const shown = known.reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
    return redactAddresses(shown.replace(CREDENTIALS, `$1 ${REDACTED}`))
  }
}

function redactAddresses(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const [start, end] of findUrlPasswords(text, PASSWORD_ENDS)) {
    parts.push(text.slice(from, start), REDACTED)
    from = end
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

import { SPACES, urlPasswords } from './url-passwords.ts'

const REDACTED = '[redacted]'

/** Shorter ones would blot out ordinary words, and are no secrets worth the name. */
const LEAST_LENGTH = 6

const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi
/** A password in an address has no slash. */
const ENDS: ReadonlySet<string> = new Set([...SPACES, '/'])

/** Hides secrets in texts that go to logs and errors: the given ones, credentials, and passwords in addresses. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter(secret => secret.length >= LEAST_LENGTH)
    .sort((a, b) => b.length - a.length)
  return text => {
    const shown = known.reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
    return redactAddresses(shown.replace(CREDENTIALS, `$1 ${REDACTED}`))
  }
}

function redactAddresses(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const [start, end] of urlPasswords(text, ENDS)) {
    parts.push(text.slice(from, start), REDACTED)
    from = end
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

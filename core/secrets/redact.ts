const REDACTED = '[redacted]'

/** Shorter ones would blot out ordinary words, and are no secrets worth the name. */
const LEAST_LENGTH = 6

const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi
const URL_PASSWORD = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s/@]+@/gi

/** Hides secrets in texts that go to logs and errors: the given ones, credentials, and passwords in addresses. */
export function createRedactor(secrets: Iterable<string>): (text: string) => string {
  const known = [...new Set(secrets)]
    .filter(secret => secret.length >= LEAST_LENGTH)
    .sort((a, b) => b.length - a.length)
  return text =>
    known
      .reduce((shown, secret) => shown.replaceAll(secret, REDACTED), text)
      .replace(CREDENTIALS, `$1 ${REDACTED}`)
      .replace(URL_PASSWORD, `$1:${REDACTED}@`)
}

import { createHmac, hkdfSync } from 'node:crypto'
import { equalHashes } from '../../base/tokens.ts'

/** Addresses of private files that the server itself sends, for readers without credentials. */
export interface SignedPaths {
  /** `/uploads/KEY?expires=…&signature=…`, valid for so many seconds. */
  sign(key: string, expiresIn: number): string
  /** True if the query string carries a signature of this key that has not expired. */
  isSigned(key: string, query: Readonly<Record<string, unknown>>): boolean
}

/** The first secret signs; all of them are accepted, so that a rotation breaks no address. */
export function openSignedPaths(secrets: readonly Uint8Array[]): SignedPaths {
  const keys = secrets.map(
    secret => new Uint8Array(hkdfSync('sha256', secret, 'plinth', 'addresses of files', 32)),
  )
  const [first = new Uint8Array()] = keys
  return {
    sign(key, expiresIn) {
      const expires = String(Math.floor(Date.now() / 1000) + expiresIn)
      return `/uploads/${key}?expires=${expires}&signature=${digest(first, key, expires).toString('base64url')}`
    },
    isSigned(key, { expires, signature }) {
      if (typeof expires !== 'string' || typeof signature !== 'string') return false
      if (!/^\d{1,12}$/.test(expires) || Number(expires) * 1000 <= Date.now()) return false
      const input = Buffer.from(signature, 'base64url')
      return keys.some(each => equalHashes(digest(each, key, expires), input))
    },
  }
}

/** Keys contain no line break, so that the text has one meaning. */
const digest = (secret: Uint8Array, key: string, expires: string): Buffer =>
  createHmac('sha256', secret).update(`${key}\n${expires}`).digest()

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** project.yaml may contain a token's hash instead of the token: `sha256:` and 64 hexadecimal digits. */
const HASH_PREFIX = 'sha256:'

/** A new token of 256 random bits. The prefix lets secret scanners recognize leaked tokens. */
export const newToken = (): string => `plinth_${randomBytes(32).toString('base64url')}`

/** The sha256 of a token, 32 bytes. Tokens are long and random, so a slow hash would add nothing. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest()

/** True if the header `Authorization` can carry a token: no spaces, no control characters, ASCII alone. */
export const canBeSent = (token: string): boolean => /^[!-~]+$/.test(token)

/** `sha256:…`, as project.yaml accepts it. */
export const printTokenHash = (hash: Buffer): string => HASH_PREFIX + hash.toString('hex')

/** Parses `sha256:…` to 32 bytes; undefined if it is not a hash. */
export function parseTokenHash(written: string): Buffer | undefined {
  if (!/^sha256:[0-9a-f]{64}$/i.test(written)) return undefined
  return Buffer.from(written.slice(HASH_PREFIX.length), 'hex')
}

/** Compares two hashes in constant time. */
export const equalHashes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

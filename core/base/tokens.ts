import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** How a token stands in project.yaml where the token itself does not: `sha256:` and 64 hexadecimal digits. */
const PREFIX = 'sha256:'

/** A new token: 256 random bits, behind a word that programs which look for lost secrets can know it by. */
export const newToken = (): string => `plinth_${randomBytes(32).toString('base64url')}`

/** The sha256 of a token, 32 bytes. Tokens are long and random, so a slow hash would add nothing. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token, 'utf8').digest()

/** `sha256:…` as it may stand in a file. */
export const printTokenHash = (hash: Buffer): string => PREFIX + hash.toString('hex')

/** The bytes of a written hash; undefined where it is none. */
export function parseTokenHash(written: string): Buffer | undefined {
  if (!/^sha256:[0-9a-f]{64}$/i.test(written)) return undefined
  return Buffer.from(written.slice(PREFIX.length), 'hex')
}

/** Whether two hashes are equal, in a time that does not tell where they differ. */
export const equalHashes = (a: Buffer, b: Buffer): boolean => a.length === b.length && timingSafeEqual(a, b)

import { randomBytes } from 'node:crypto'
import { hashToken, printTokenHash } from '../../base/tokens.ts'

/** A single-use code that proves access to a mailbox. Only its hash is stored. */
export interface MailedCode {
  readonly code: string
  /** The stored value. */
  readonly hash: string
}

/**
 * A random code that contains its expiry (milliseconds since 1970) and, for a change of address, the new address. The
 * hash covers all of it, so no part can be modified.
 */
export function newCode(lifetime: number, now: number, address?: string): MailedCode {
  const proves = address === undefined ? '' : `.${Buffer.from(address, 'utf8').toString('base64url')}`
  const code = `${randomBytes(32).toString('hex')}${(now + lifetime).toString(36)}${proves}`
  return { code, hash: hashCode(code) }
}

export const hashCode = (code: string): string => printTokenHash(hashToken(code))

const CODE_PATTERN = /^[0-9a-f]{64}([0-9a-z]{6,10})(?:\.([\w-]+))?$/

/** False for malformed and expired codes. */
export function isUnexpired(code: string, now: number): boolean {
  const end = CODE_PATTERN.exec(code)?.[1]
  return end !== undefined && now < Number.parseInt(end, 36)
}

/** The new address in the code; null: the code confirms the current address. */
export function addressOfCode(code: string): string | null {
  const address = CODE_PATTERN.exec(code)?.[2]
  return address === undefined ? null : Buffer.from(address, 'base64url').toString('utf8')
}

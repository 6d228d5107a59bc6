import { randomBytes } from 'node:crypto'
import { hashToken, printTokenHash } from '../../base/tokens.ts'

/** What a mail carries to prove that it was read: stored as its hash, and gone when it is used. */
export interface Code {
  readonly code: string
  /** What is stored. */
  readonly hash: string
}

/**
 * Random, with its end in it (milliseconds since 1970), and the new mail address that it proves, where it is one's:
 * the hash covers all of it, so nothing can be changed.
 */
export function newCode(lifetime: number, now: number, address?: string): Code {
  const proves = address === undefined ? '' : `.${Buffer.from(address, 'utf8').toString('base64url')}`
  const code = `${randomBytes(32).toString('hex')}${(now + lifetime).toString(36)}${proves}`
  return { code, hash: hashCode(code) }
}

export const hashCode = (code: string): string => printTokenHash(hashToken(code))

const FORM = /^[0-9a-f]{64}([0-9a-z]{6,10})(?:\.([\w-]+))?$/

/** Whether it may still be used, if it is one at all. */
export function isCurrent(code: string, now: number): boolean {
  const end = FORM.exec(code)?.[1]
  return end !== undefined && now < Number.parseInt(end, 36)
}

/** null: it proves the address that its user has. */
export function addressIn(code: string): string | null {
  const address = FORM.exec(code)?.[2]
  return address === undefined ? null : Buffer.from(address, 'base64url').toString('utf8')
}

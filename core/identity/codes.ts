import { randomBytes } from 'node:crypto'
import { hashToken, printTokenHash } from '../secrets/tokens.ts'

/** What a mail carries to prove that it was read: stored as its hash, and gone when it is used. */
export interface Code {
  readonly code: string
  /** What is stored. */
  readonly hash: string
}

/** Random, with its end in it (milliseconds since 1970): the hash covers both, so neither can be changed. */
export function newCode(lifetime: number, now: number): Code {
  const code = `${randomBytes(32).toString('hex')}${(now + lifetime).toString(36)}`
  return { code, hash: hashCode(code) }
}

export const hashCode = (code: string): string => printTokenHash(hashToken(code))

/** Whether it may still be used, if it is one at all. */
export function isCurrent(code: string, now: number): boolean {
  const [, end] = /^[0-9a-f]{64}([0-9a-z]{6,10})$/.exec(code) ?? []
  return end !== undefined && now < Number.parseInt(end, 36)
}

import type { Caller } from '../access/caller.ts'
import type { Access } from '../access/compile/compile-access.ts'
import { equalHashes, hashToken, parseTokenHash } from '../base/tokens.ts'
import { RequestFault, unauthorized } from '../faults/fault.ts'
import type { ApiTokenDeclaration } from '../project/settings/settings.ts'
import type { Strategy } from './identify.ts'

interface KnownToken {
  readonly hash: Buffer
  readonly caller: Caller
  /** Milliseconds since 1970; Infinity without expiry. */
  readonly expiresAt: number
}

/** Identifies callers by API token. `now` returns milliseconds since 1970. */
export function apiTokenStrategy(
  declared: Readonly<Record<string, ApiTokenDeclaration>>,
  access: Access,
  now: () => number = Date.now,
): Strategy {
  const known = Object.entries(declared).flatMap(([key, token]) => toKnownToken(key, token, access))
  return async credential => {
    const token = findToken(known, hashToken(credential))
    return token === undefined ? null : tokenCaller(token, now())
  }
}

function toKnownToken(key: string, token: ApiTokenDeclaration, access: Access): readonly KnownToken[] {
  const hash = declaredHash(token)
  const grants = access.tokens.get(key)
  if (!hash || !grants) return []
  const caller: Caller = Object.freeze({ kind: 'token', grants, user: null })
  return [{ hash, caller, expiresAt: expiryTime(token) }]
}

const declaredHash = ({ secret, hash }: ApiTokenDeclaration): Buffer | undefined => {
  if (hash !== undefined) return parseTokenHash(hash)
  return secret === undefined || secret === '' ? undefined : hashToken(secret)
}

/** An unreadable date counts as expired: it must not make a token permanent. */
function expiryTime({ expiresAt }: ApiTokenDeclaration): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  const time = Date.parse(expiresAt)
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}

/** Compares with every token, so that timing does not reveal the position of a match. */
const findToken = (known: readonly KnownToken[], hash: Buffer): KnownToken | undefined =>
  known.filter(token => equalHashes(token.hash, hash))[0]

function tokenCaller({ caller, expiresAt }: KnownToken, now: number): Caller {
  if (now < expiresAt) return caller
  const reason = `The API token \`${caller.grants.name}\` expired: see its \`expiresAt\` in project.yaml`
  throw new RequestFault(unauthorized('Token expired', reason))
}

import type { Caller } from '../access/caller.ts'
import type { Access } from '../access/compile/compile-access.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { equalHashes, hashToken, parseTokenHash } from '../base/tokens.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { ApiTokenDeclaration } from '../project/settings/settings.ts'
import type { Strategy } from './identify.ts'

interface KnownToken {
  readonly hash: Buffer
  readonly caller: Caller
  /** Milliseconds since 1970; infinite for one that does not expire. */
  readonly expiresAt: number
}

/** Callers by API token. `now` is asked at each request, in milliseconds since 1970. */
export function apiTokenStrategy(
  declared: Readonly<Record<string, ApiTokenDeclaration>>,
  access: Access,
  now: () => number = Date.now,
): Strategy {
  const known = Object.entries(declared).flatMap(([key, token]) => toKnown(key, token, access))
  return async credential => {
    const token = find(known, hashToken(credential))
    return token === undefined ? null : callerOf(token, now())
  }
}

function toKnown(key: string, token: ApiTokenDeclaration, access: Access): readonly KnownToken[] {
  const hash = hashOf(token)
  const grants = access.tokens.get(key)
  if (!hash || !grants) return []
  const caller: Caller = Object.freeze({ kind: 'token', grants, user: null })
  return [{ hash, caller, expiresAt: expiryOf(token) }]
}

const hashOf = ({ secret, hash }: ApiTokenDeclaration): Buffer | undefined => {
  if (hash !== undefined) return parseTokenHash(hash)
  return secret === undefined || secret === '' ? undefined : hashToken(secret)
}

/** What is no time has passed: an unreadable date must not make a token eternal. */
function expiryOf({ expiresAt }: ApiTokenDeclaration): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY
  const time = Date.parse(expiresAt)
  return Number.isNaN(time) ? Number.NEGATIVE_INFINITY : time
}

/** Looks at every token, whichever it is, so that time does not tell how many were passed over. */
const find = (known: readonly KnownToken[], hash: Buffer): KnownToken | undefined =>
  known.filter(token => equalHashes(token.hash, hash))[0]

const callerOf = ({ caller, expiresAt }: KnownToken, now: number): Result<Caller, Fault> =>
  now < expiresAt ? ok(caller) : failed(fault('unauthorized', 'Token expired'))

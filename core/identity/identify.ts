import type { Caller } from '../access/caller.ts'
import type { Access } from '../access/compile/compile-access.ts'
import { equalHashes, hashToken, parseTokenHash } from '../base/tokens.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import { readOwnWrites } from '../database/statements/session-scope.ts'
import { RequestFault, unauthorized } from '../faults/fault.ts'
import type { ApiTokenDeclaration } from '../project/settings/settings.ts'

/**
 * Identifies a caller by one kind of bearer credential. null: not of this kind, so the next strategy is tried. Rejects
 * with a RequestFault (401) for a credential that is refused.
 */
export type Strategy = (credential: string, prefetch?: VersionPrefetch) => Promise<Caller | null>

/** Identifies the caller by the `Authorization` header, or rejects with a RequestFault (401). `prefetch`: see cache/versions.ts. */
export type Identify = (authorization: string | undefined, prefetch?: VersionPrefetch) => Promise<Caller>

/** Without a credential the caller is public. An unknown credential is refused, never treated as public (reference/rest.md#14-access). */
export function createIdentify(publicCaller: Caller, strategies: readonly Strategy[]): Identify {
  return async (authorization, prefetch) => {
    const credential = parseBearer(authorization)
    if (credential === null) return publicCaller
    for (const strategy of strategies) {
      const found = await strategy(credential, prefetch)
      if (found) return found
    }
    throw new RequestFault(unauthorized('Missing or invalid credentials', UNKNOWN))
  }
}

const UNKNOWN =
  'The credential is not an API token of this project, nor a session token that is signed with its secret and not expired'

/** null for other schemes, for `Bearer` alone, and for more than two parts. The scheme is case-insensitive. */
function parseBearer(authorization: string | undefined): string | null {
  const [scheme, credential, ...rest] = (authorization ?? '').trim().split(/\s+/)
  if (scheme?.toLowerCase() !== 'bearer' || !credential || rest.length > 0) return null
  return credential
}

/** Read-your-writes with replicas: identified callers who may write get no reads older than their own writes. */
export const withReadYourWrites =
  (identify: Identify, apiTokens: Readonly<Record<string, ApiTokenDeclaration>>): Identify =>
  async authorization => {
    const caller = await identify(authorization)
    const { kind, grants } = caller
    if (kind === 'public') return caller
    if (kind !== 'token' || apiTokens[grants.name]?.type !== 'read-only') readOwnWrites()
    return caller
  }

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

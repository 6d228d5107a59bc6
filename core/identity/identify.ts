import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** One way to know a caller by a bearer credential: null where it is none of its own, so that the next one looks. */
export type Strategy = (credential: string, ahead?: VersionPrefetch) => Promise<Result<Caller, Fault> | null>

/** Who asks, by the request's `Authorization` header. `ahead`: what the request asks for next. */
export type Identify = (
  authorization: string | undefined,
  ahead?: VersionPrefetch,
) => Promise<Result<Caller, Fault>>

/**
 * No credential is nobody; a credential that no strategy knows is refused, never taken for nobody
 * (contract/rest.md 14).
 */
export function createIdentify(nobody: Caller, strategies: readonly Strategy[]): Identify {
  const known = ok(nobody)
  return async (authorization, ahead) => {
    const credential = bearerOf(authorization)
    if (credential === null) return known
    for (const strategy of strategies) {
      const found = await strategy(credential, ahead)
      if (found) return found
    }
    return failed(fault('unauthorized', 'Missing or invalid credentials'))
  }
}

/** Another scheme, `Bearer` alone and three parts are no credential. The scheme's name has no case. */
function bearerOf(authorization: string | undefined): string | null {
  const [scheme, credential, ...rest] = (authorization ?? '').trim().split(/\s+/)
  if (scheme?.toLowerCase() !== 'bearer' || !credential || rest.length > 0) return null
  return credential
}

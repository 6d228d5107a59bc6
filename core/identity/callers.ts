import type { Caller } from '../access/caller.ts'
import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { RequestFault } from '../faults/fault.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { Identify } from './identify.ts'
import { networkOf } from './rate-limit.ts'

/**
 * Keys under which shared resources are counted: database connections, requests per window. A user or API token after its
 * credential has been verified, otherwise the network address (reference/safety.md#s9-rate-limits): unverified and refused credentials must not
 * open a counter of their own.
 */
export interface CallerKeys {
  /** Wraps `identify` to remember verified credentials. */
  remembering(identify: Identify): Identify
  keyFor(request: Pick<HttpRequest, 'headers' | 'peer'>): string
}

const BOUNDS = { entries: 20_000, bytes: 16_000_000 } as const

export function openCallerKeys(): CallerKeys {
  const known = new LruCache<string>(BOUNDS, memoryBytes)
  return {
    remembering: identify => async (authorization, prefetch) => {
      try {
        const caller = await identify(authorization, prefetch)
        if (authorization !== undefined) learn(authorization, callerKey(caller))
        return caller
      } catch (error) {
        const isRefused = error instanceof RequestFault && error.fault.code === 'unauthorized'
        if (isRefused && authorization !== undefined) known.delete(authorization)
        throw error
      }
    },
    keyFor({ headers, peer }) {
      const { authorization } = headers
      return (authorization && known.get(authorization)) || networkOf(peer)
    },
  }

  function learn(authorization: string, name: string | null): void {
    if (name === null) known.delete(authorization)
    else if (known.get(authorization) !== name) known.set(authorization, name)
  }
}

/** Contains a space, so it never equals an address. null: the public caller. */
function callerKey({ kind, grants, user, subject }: Caller): string | null {
  if (kind === 'external') return `external ${subject}`
  if (kind === 'token') return `${TOKEN_PREFIX}${grants.name}`
  return kind === 'user' ? `user ${String(user?.id)}` : null
}

const TOKEN_PREFIX = 'token '

export const isTokenKey = (caller: string): boolean => caller.startsWith(TOKEN_PREFIX)

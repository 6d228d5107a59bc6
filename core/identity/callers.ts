import type { Caller } from '../access/caller.ts'
import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { Identify } from './identify.ts'
import { networkOf } from './rate-limit.ts'

/**
 * Who requests count for where callers share something: connections to the database, requests in a time. A user or an
 * API token once its credential has proved valid, the network address otherwise (safety S9): a credential that nobody
 * has checked yet, or that was refused, opens no count of its own.
 */
export interface Callers {
  /** The same, and remembers whose credentials are valid. */
  learning(identify: Identify): Identify
  callerOf(request: Pick<HttpRequest, 'headers' | 'peer'>): string
}

const BOUNDS = { entries: 20_000, bytes: 16_000_000 } as const

export function openCallers(): Callers {
  const known = new LruCache<string>(BOUNDS, memoryBytes)
  return {
    learning: identify => async (authorization, ahead) => {
      const caller = await identify(authorization, ahead)
      if (authorization !== undefined) learn(authorization, caller.ok ? nameOf(caller.value) : null)
      return caller
    },
    callerOf({ headers, peer }) {
      const { authorization } = headers
      return (authorization && known.get(authorization)) || networkOf(peer)
    },
  }

  function learn(authorization: string, name: string | null): void {
    if (name === null) known.delete(authorization)
    else if (known.get(authorization) !== name) known.set(authorization, name)
  }
}

/** Never like an address, which has no space. null: nobody known. */
function nameOf({ kind, grants, user }: Caller): string | null {
  if (kind === 'token') return `${TOKEN}${grants.name}`
  return kind === 'user' ? `user ${String(user?.id)}` : null
}

const TOKEN = 'token '

export const isToken = (caller: string): boolean => caller.startsWith(TOKEN)

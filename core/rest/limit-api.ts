import type { Responder } from '../faults/exchange.ts'
import { isToken } from '../identity/callers.ts'
import { isPrivate, networkOf, type Quota } from '../identity/rate-limit.ts'
import { openLocalLimit } from '../identity/sign-in/local-limit.ts'
import type { ApiRateLimit } from '../project/settings/settings.ts'
import { tooMany } from './users/auth-quota.ts'

/**
 * Goes before the responders of these paths: refuses (429) a caller that asks all of them together too often, and
 * leaves the rest to them. Nothing where there is no limit. Only what was proved before decides who the caller is
 * (safety S9).
 */
export function limitApi(limit: ApiRateLimit | false, paths: readonly string[]): readonly Responder[] {
  if (limit === false) return []
  const count = openCount(limit)
  const starts = paths.map(path => `${path}/`.toLowerCase())
  return [
    ({ method, path, peer, origin }) => {
      const asked = `${path}/`.toLowerCase()
      if (method === 'OPTIONS' || !starts.some(start => asked.startsWith(start))) return null
      const network = networkOf(peer)
      if (!limit.privateNetworks && isPrivate(network)) return null
      const quota = count(origin?.caller ?? network)
      return quota.allowed ? null : tooMany(quota)
    },
  ]
}

function openCount({ window, max, tokenMax }: ApiRateLimit): (caller: string) => Quota {
  const [others, tokens] = [openLocalLimit({ window, max }), openLocalLimit({ window, max: tokenMax })]
  return caller => (isToken(caller) ? tokens : others)(caller)
}

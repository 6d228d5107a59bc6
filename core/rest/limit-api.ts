import type { Responder } from '../faults/exchange.ts'
import { openLocalLimit } from '../identity/local-limit.ts'
import { networkOf } from '../identity/rate-limit.ts'
import type { RateLimit } from '../project/settings.ts'
import { tooMany } from './auth-quota.ts'

/**
 * Goes before the responders of these paths: refuses (429) who asks all of them together too often, and leaves the
 * rest to them. Nothing where there is no limit. An address counts whatever it asks for (safety S9).
 */
export function limitApi(limit: RateLimit | false, paths: readonly string[]): readonly Responder[] {
  if (limit === false) return []
  const count = openLocalLimit(limit)
  const starts = paths.map(path => `${path}/`.toLowerCase())
  return [
    ({ method, path, peer }) => {
      const asked = `${path}/`.toLowerCase()
      if (method === 'OPTIONS' || !starts.some(start => asked.startsWith(start))) return null
      const quota = count(networkOf(peer))
      return quota.allowed ? null : tooMany(quota)
    },
  ]
}

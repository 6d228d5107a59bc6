import type { RateLimit } from '../project/settings.ts'
import { type Quota, toQuota } from './rate-limit.ts'

/**
 * Counts requests of a key in this process alone. The windows of all keys end together, and what was counted in them
 * is forgotten at once. `now`: milliseconds since 1970.
 */
export function openLocalLimit({ window, max }: RateLimit, now = Date.now): (key: string) => Quota {
  let counts = new Map<string, number>()
  let endsAt = now() + window
  return key => {
    if (now() >= endsAt) {
      counts = new Map()
      endsAt = now() + window
    }
    const requests = (counts.get(key) ?? 0) + 1
    counts.set(key, requests)
    return toQuota(requests, endsAt, { window, max })
  }
}

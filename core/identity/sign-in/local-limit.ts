import { detachString } from '../../base/text.ts'
import type { RateLimit } from '../../project/settings/settings.ts'
import { type Quota, toQuota } from '../rate-limit.ts'

/**
 * Keys that are counted together: twice as many take some 15 MB. Beyond them those go that did not ask for longest,
 * which helps nobody: who has so many addresses may use each of them anyway.
 */
const MOST = 50_000

/**
 * Counts requests of a key in this process alone. The windows of all keys end together, and what was counted in them
 * is forgotten at once. `now`: milliseconds since 1970.
 */
export function openLocalLimit({ window, max }: RateLimit, now = Date.now): (key: string) => Quota {
  let counts = new Map<string, number>()
  let older: ReadonlyMap<string, number> = new Map()
  let endsAt = now() + window
  return key => {
    if (now() >= endsAt) {
      counts = new Map()
      older = new Map()
      endsAt = now() + window
    } else if (counts.size >= MOST) {
      older = counts
      counts = new Map()
    }
    const known = counts.get(key)
    const requests = (known ?? older.get(key) ?? 0) + 1
    counts.set(known === undefined ? detachString(key) : key, requests)
    return toQuota(requests, endsAt, { window, max })
  }
}

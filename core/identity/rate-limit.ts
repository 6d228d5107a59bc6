import { createHash } from 'node:crypto'
import { detachString } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import { RequestFault, tooManyRequests } from '../faults/fault.ts'
import type { RateLimit } from '../project/settings/settings.ts'

/** State of a limit after a request. */
export interface Quota {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** End of the window, in milliseconds since 1970. */
  readonly endsAt: number
}

/** Receives the quota of a limit that is narrower than the protocol's, such as that of a mail address. */
export interface QuotaListener {
  onQuota?(quota: Quota): void
}

/** Reports a quota, and throws a RequestFault (429) if it is exceeded. null: no limit. */
export function enforceQuota(quota: Quota | null, listener: QuotaListener): void {
  if (!quota) return
  listener.onQuota?.(quota)
  if (!quota.allowed) throw new RequestFault(tooManyRequests(quotaReason(quota)))
}

export const quotaReason = ({ limit, endsAt }: Quota): string =>
  `More than ${limit} requests in the window that ends at ${new Date(endsAt).toISOString()}: see \`rateLimit\` in project.yaml`

/** Counts a request under these keys, and returns the strictest quota. null: no limit. */
export type CountRequest = (keys: readonly string[]) => Promise<Quota | null>

/** One row per key and window. */
export const RATE_LIMIT_TABLE = 'plinth_rate_limits'

/** Counts in PostgreSQL, shared by all processes. One statement per request; expired windows are removed periodically. */
export function openRateLimit(limit: RateLimit | false, database: Pick<Database, 'run'>): CountRequest {
  if (limit === false) return async () => null
  const sweep = openSweep(limit.window, database)
  return async keys => {
    await sweep()
    const { rows } = await database.run({
      name: 'count a request',
      text: COUNT,
      values: [keys.map(hashLimitKey), limit.window],
    })
    return strictest(rows.map(([requests, end]) => toQuota(Number(requests), Number(end), limit)))
  }
}

/** Removes expired windows, at most once per window length. */
export function openSweep(window: number, database: Pick<Database, 'run'>): () => Promise<void> {
  let sweepAt = Date.now() + window
  return async () => {
    if (Date.now() < sweepAt) return
    sweepAt = Date.now() + window
    await database.run(SWEEP)
  }
}

/** Milliseconds since 1970. */
export const ENDS_AT = 'floor(extract(epoch FROM ends_at) * 1000)::bigint'

/** No window that began ends so late: the clock was set back since. Without this, callers would be refused until then. */
const isSetBack = (time: number, endsAt: number, window: number): boolean => endsAt - time > window

/** SQL: whether a row counts for a window that has ended. Twice the length: transactions overlap, and their clocks differ. */
const HAS_ENDED = "(r.ends_at <= now() OR r.ends_at > now() + 2 * $2::bigint * interval '1 millisecond')"

/** SQL that counts one more request in the row `r` of a key, or begins another window of `$2` milliseconds. */
export const COUNT_ON_CONFLICT = `ON CONFLICT (key) DO UPDATE SET
  requests = CASE WHEN ${HAS_ENDED} THEN 1 ELSE least(r.requests, 1000000000) + 1 END,
  ends_at = CASE WHEN ${HAS_ENDED} THEN excluded.ends_at ELSE r.ends_at END`

/** Rows are locked in the order of keys, which prevents deadlocks. */
const COUNT = `INSERT INTO ${RATE_LIMIT_TABLE} AS r (key, requests, ends_at)
SELECT k, 1, now() + $2::bigint * interval '1 millisecond' FROM unnest($1::text[]) AS k GROUP BY k ORDER BY k
${COUNT_ON_CONFLICT}
RETURNING requests, ${ENDS_AT}`

const SWEEP = {
  name: 'forget ended windows',
  text: `DELETE FROM ${RATE_LIMIT_TABLE} WHERE key IN (SELECT key FROM ${RATE_LIMIT_TABLE} WHERE ends_at <= now() ORDER BY key FOR UPDATE SKIP LOCKED)`,
  values: [],
}

/** Hashed for a fixed length, and so that no addresses are stored. */
export const hashLimitKey = (key: string): string => createHash('sha256').update(key, 'utf8').digest('hex')

export const toQuota = (requests: number, endsAt: number, { max }: RateLimit): Quota => ({
  allowed: requests <= max,
  limit: max,
  remaining: Math.max(0, max - requests),
  endsAt,
})

const strictest = (quotas: readonly Quota[]): Quota | null =>
  quotas.toSorted((a, b) => a.remaining - b.remaining || Number(a.allowed) - Number(b.allowed))[0] ?? null

/**
 * The network that an address is counted under (reference/safety.md#s9-rate-limits). An IPv6 client has at least 2^64 addresses, so its /64 counts.
 * IPv4-mapped addresses count as IPv4. A port that some proxies append is removed, since it differs per connection.
 */
export function networkOf(address: string): string {
  const known = networks.get(address)
  if (known !== undefined) return known
  if (networks.size >= MAX_NETWORKS) networks.clear()
  const network = toNetwork(address)
  networks.set(detachString(address), network)
  return network
}

/** Cache, because every request computes its network. */
const networks = new Map<string, string>()
const MAX_NETWORKS = 10_000

function toNetwork(address: string): string {
  const plain = withoutPort(address.toLowerCase()).replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [head = '', tail] = (plain.split('%')[0] ?? '').split('::')
  const first = head === '' ? [] : head.split(':')
  const last = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0')
  const groups = tail === undefined ? first : [...first, ...zeros, ...last]
  return groups
    .slice(0, 4)
    .map(group => group.replace(/^0+(?=.)/, ''))
    .join(':')
}

/** True for loopback, link-local, private and unique local networks (RFC 1122, 1918, 3927, 4193, 6598) and for none. `network`: result of `networkOf`. */
export const isPrivate = (network: string): boolean =>
  network.includes(':') ? PRIVATE_6.test(network) : PRIVATE_4.test(network)

const PRIVATE_4 =
  /^$|^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
/** Only the first 64 bits are compared: for ::1 they are zero. */
const PRIVATE_6 = /^(0:0:0:0$|f[cd]|fe[89ab])/

const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')

/**
 * Keys per generation; two generations take some 15 MB. Beyond that the least recently used keys are dropped. This gives
 * an attacker no advantage: with so many addresses each of them has its own limit anyway.
 */
const MAX_KEYS = 50_000

/** Counts requests per key in this process only. The windows of all keys end together. `now`: milliseconds since 1970. */
export function openLocalLimit({ window, max }: RateLimit, now = Date.now): (key: string) => Quota {
  let counts = new Map<string, number>()
  let older: ReadonlyMap<string, number> = new Map()
  let endsAt = now() + window
  return key => {
    const time = now()
    if (time >= endsAt || isSetBack(time, endsAt, window)) {
      counts = new Map()
      older = new Map()
      endsAt = time + window
    } else if (counts.size >= MAX_KEYS) {
      older = counts
      counts = new Map()
    }
    const known = counts.get(key)
    const requests = (known ?? older.get(key) ?? 0) + 1
    counts.set(known === undefined ? detachString(key) : key, requests)
    return toQuota(requests, endsAt, { window, max })
  }
}

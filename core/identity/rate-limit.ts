import { createHash } from 'node:crypto'
import { detachString } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import type { RateLimit } from '../project/settings/settings.ts'

/** How a request stands to the limit. */
export interface Quota {
  readonly allowed: boolean
  readonly limit: number
  readonly remaining: number
  /** When the window ends, milliseconds since 1970. */
  readonly endsAt: number
}

/** Counts a request of these keys. null: there is no limit. */
export type CountRequest = (keys: readonly string[]) => Promise<Quota | null>

/** A row is a key's count until its window ends. */
export const TABLE = 'plinth_rate_limits'

/** Counts in PostgreSQL, so that all processes count together. One statement a request; ended windows go now and then. */
export function openRateLimit(limit: RateLimit | false, database: Pick<Database, 'run'>): CountRequest {
  if (limit === false) return async () => null
  const sweep = openSweep(limit.window, database)
  return async keys => {
    await sweep()
    const { rows } = await database.run({
      name: 'count a request',
      text: COUNT,
      values: [keys.map(hashKey), limit.window],
    })
    return strictest(rows.map(([requests, end]) => toQuota(Number(requests), Number(end), limit)))
  }
}

/** Forgets windows that ended, now and then when it is called. */
export function openSweep(window: number, database: Pick<Database, 'run'>): () => Promise<void> {
  let sweepAt = Date.now() + window
  return async () => {
    if (Date.now() < sweepAt) return
    sweepAt = Date.now() + window
    await database.run(SWEEP)
  }
}

/** In milliseconds since 1970. */
export const ENDS_AT = 'floor(extract(epoch FROM ends_at) * 1000)::bigint'

/** In the order of keys, so that no two requests wait for one another. */
const COUNT = `INSERT INTO ${TABLE} AS r (key, requests, ends_at)
SELECT k, 1, now() + $2::bigint * interval '1 millisecond' FROM unnest($1::text[]) AS k GROUP BY k ORDER BY k
ON CONFLICT (key) DO UPDATE SET
  requests = CASE WHEN r.ends_at <= now() THEN 1 ELSE least(r.requests, 1000000000) + 1 END,
  ends_at = CASE WHEN r.ends_at <= now() THEN excluded.ends_at ELSE r.ends_at END
RETURNING requests, ${ENDS_AT}`

const SWEEP = {
  name: 'forget ended windows',
  text: `DELETE FROM ${TABLE} WHERE key IN (SELECT key FROM ${TABLE} WHERE ends_at <= now() ORDER BY key FOR UPDATE SKIP LOCKED)`,
  values: [],
}

/** Of one length whatever it holds, and nobody's address is kept. */
export const hashKey = (key: string): string => createHash('sha256').update(key, 'utf8').digest('hex')

export const toQuota = (requests: number, endsAt: number, { max }: RateLimit): Quota => ({
  allowed: requests <= max,
  limit: max,
  remaining: Math.max(0, max - requests),
  endsAt,
})

const strictest = (quotas: readonly Quota[]): Quota | null =>
  quotas.toSorted((a, b) => a.remaining - b.remaining || Number(a.allowed) - Number(b.allowed))[0] ?? null

/**
 * What an address counts as (safety S9): an IPv6 caller has at least 2^64 addresses to choose from, so its network
 * counts; IPv4 in IPv6's clothes is IPv4. Some proxies write the port behind it, which every connection may choose anew.
 */
export function networkOf(address: string): string {
  const known = networks.get(address)
  if (known !== undefined) return known
  if (networks.size >= MOST_NETWORKS) networks.clear()
  const network = toNetwork(address)
  networks.set(detachString(address), network)
  return network
}

/** Every request asks for the network of its address. */
const networks = new Map<string, string>()
const MOST_NETWORKS = 10_000

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

/** Loopback, link-local, private and unique local addresses (RFC 1122, 1918, 3927, 4193, 6598), as `networkOf` has them; requests without a network have none. */
export const isPrivate = (network: string): boolean =>
  network.includes(':') ? PRIVATE_6.test(network) : PRIVATE_4.test(network)

const PRIVATE_4 =
  /^$|^(127|10|192\.168|169\.254|172\.(1[6-9]|2\d|3[01])|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
/** The first 64 bits: of ::1 they are all zeros. */
const PRIVATE_6 = /^(0:0:0:0$|f[cd]|fe[89ab])/

const withoutPort = (address: string): string =>
  address.replace(/^\[([^\]]*)\](:\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')

import type { Database } from '../../database/database.ts'
import type { RateLimit } from '../../project/settings/settings.ts'
import {
  COUNT_ON_CONFLICT,
  ENDS_AT,
  hashLimitKey,
  openSweep,
  type Quota,
  RATE_LIMIT_TABLE,
  toQuota,
} from '../rate-limit.ts'
import { toUsername } from '../users/user-values.ts'

/**
 * Limits password attempts per identifier, regardless of the network. Over the limit only networks from which the account
 * has signed in before are allowed, so that an attacker cannot lock out the owner.
 */
export interface LoginAttempts {
  /** Counts an attempt before the password is verified. Returns the quota if it is refused; null if allowed. */
  begin(identifier: string, place: LoginOrigin): Promise<Quota | null>
  /** The password was right: removes the attempt from the count and remembers the network. */
  succeed(identifier: string, place: LoginOrigin): Promise<void>
  /**
   * The same for a signed-in user who confirms the password. Counted per account and apart from sign-in: a stolen session
   * can exhaust this limit, but the owner can still sign in and reset the password.
   */
  beginChange(documentId: string): Promise<Quota | null>
  succeedChange(documentId: string): Promise<void>
  /** Remembers a network after ownership of the account was proved in another way. */
  rememberNetwork(place: LoginOrigin): Promise<void>
}

export interface LoginOrigin {
  /** Result of `networkOf`. */
  readonly network: string
  /** null: no such account. Attempts are counted all the same, so that callers cannot notice. */
  readonly documentId: string | null
}

/** Milliseconds: a network is remembered for 90 days after a sign-in. */
const KNOWN_NETWORK_LIFETIME = 7_776_000_000

export function openLoginAttempts(limit: RateLimit | false, database: Pick<Database, 'run'>): LoginAttempts {
  if (limit === false) return UNLIMITED
  const sweep = openSweep(limit.window, database)
  const count = async (key: string, known: string): Promise<Quota | null> => {
    await sweep()
    const values = [key, limit.window, known]
    const { rows } = await database.run({ name: 'count a try', text: BEGIN, values })
    const [requests, end, isKnown] = rows[0] ?? []
    const quota = toQuota(Number(requests), Number(end), limit)
    return quota.allowed || isKnown === true ? null : quota
  }
  return {
    begin: (identifier, place) => count(attemptKey(identifier), networkKey(place)),
    beginChange: documentId => count(changeKey(documentId), NO_NETWORK),
    async succeedChange(documentId) {
      await database.run({ name: 'end a try', text: UNCOUNT, values: [changeKey(documentId)] })
    },
    async succeed(identifier, place) {
      const values = [KNOWN_NETWORK_LIFETIME, networkKey(place), attemptKey(identifier)]
      await database.run({ name: 'end a try', text: SUCCEED, values })
    },
    async rememberNetwork(place) {
      await database.run({
        name: 'know a network',
        text: KNOW,
        values: [KNOWN_NETWORK_LIFETIME, networkKey(place)],
      })
    },
  }
}

/**
 * All forms of a name that find one account share a counter. Normalised in the same way for all identifiers: counters must not
 * reveal whether an account exists.
 */
const attemptKey = (identifier: string): string => hashLimitKey(`try ${toUsername(identifier).toLowerCase()}`)

const changeKey = (documentId: string): string => hashLimitKey(`change ${documentId}`)

/** No stored key is empty, so no network is exempt. */
const NO_NETWORK = ''

const UNLIMITED: LoginAttempts = {
  begin: async () => null,
  succeed: async () => {},
  beginChange: async () => null,
  succeedChange: async () => {},
  rememberNetwork: async () => {},
}

const networkKey = ({ documentId, network }: LoginOrigin): string =>
  hashLimitKey(`known ${documentId ?? ''} ${network}`)

/** Counts before the outcome is known, so that concurrent attempts cannot exceed the limit. */
const BEGIN = `INSERT INTO ${RATE_LIMIT_TABLE} AS r (key, requests, ends_at)
VALUES ($1::text, 1, now() + $2::bigint * interval '1 millisecond')
${COUNT_ON_CONFLICT}
RETURNING requests, ${ENDS_AT},
  EXISTS (SELECT FROM ${RATE_LIMIT_TABLE} k WHERE k.key = $3::text AND k.ends_at > now())`

const KNOW = `INSERT INTO ${RATE_LIMIT_TABLE} AS r (key, requests, ends_at)
VALUES ($2::text, 0, now() + $1::bigint * interval '1 millisecond')
ON CONFLICT (key) DO UPDATE SET ends_at = excluded.ends_at`

const SUCCEED = `WITH uncounted AS (UPDATE ${RATE_LIMIT_TABLE} SET requests = requests - 1 WHERE key = $3::text AND requests > 0)
${KNOW}`

const UNCOUNT = `UPDATE ${RATE_LIMIT_TABLE} SET requests = requests - 1 WHERE key = $1::text AND requests > 0`

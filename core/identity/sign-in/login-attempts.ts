import type { Database } from '../../database/database.ts'
import type { RateLimit } from '../../project/settings/settings.ts'
import { ENDS_AT, hashKey, openSweep, type Quota, TABLE, toQuota } from '../rate-limit.ts'

/**
 * Tries of passwords, counted by what was given as the user's name or address, from wherever they come. Over the
 * limit only networks go on from which the account was signed in to before, so that nobody locks its owner out.
 */
export interface Tries {
  /** Counts one before the password is looked at. The quota where it must not be; null: it may. */
  begin(identifier: string, place: Place): Promise<Quota | null>
  /** The password was right: that was no try, and the account knows the network from now on. */
  succeed(identifier: string, place: Place): Promise<void>
  /**
   * The same for who is signed in and gives his password once more. Counted by account alone, apart from signing in:
   * whoever holds a stolen session can use the limit up, and the owner can still sign in and reset the password.
   */
  beginChange(documentId: string): Promise<Quota | null>
  succeedChange(documentId: string): Promise<void>
  /** Somebody proved otherwise that the account is his: it knows the network from now on. */
  know(place: Place): Promise<void>
}

export interface Place {
  /** As `networkOf` tells it. */
  readonly network: string
  /** null: there is no such account, which nobody is to notice. */
  readonly documentId: string | null
}

/** Milliseconds that an account knows a network after it was signed in to from there: 90 days. */
const KNOWN_FOR = 7_776_000_000

export function openTries(limit: RateLimit | false, database: Pick<Database, 'run'>): Tries {
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
    begin: (identifier, place) => count(tryKey(identifier), knownKey(place)),
    beginChange: documentId => count(changeKey(documentId), NO_NETWORK),
    async succeedChange(documentId) {
      await database.run({ name: 'end a try', text: UNCOUNT, values: [changeKey(documentId)] })
    },
    async succeed(identifier, place) {
      const values = [KNOWN_FOR, knownKey(place), tryKey(identifier)]
      await database.run({ name: 'end a try', text: SUCCEED, values })
    },
    async know(place) {
      await database.run({ name: 'know a network', text: KNOW, values: [KNOWN_FOR, knownKey(place)] })
    },
  }
}

/** Whether there is such an account must not be told by which ways of writing it count together. */
const tryKey = (identifier: string): string => hashKey(`try ${identifier.trim().toLowerCase()}`)

const changeKey = (documentId: string): string => hashKey(`change ${documentId}`)

/** No key has this form: nobody is exempt. */
const NO_NETWORK = ''

const UNLIMITED: Tries = {
  begin: async () => null,
  succeed: async () => {},
  beginChange: async () => null,
  succeedChange: async () => {},
  know: async () => {},
}

const knownKey = ({ documentId, network }: Place): string => hashKey(`known ${documentId ?? ''} ${network}`)

/** Counted before it is known to fail: of many tries at the same moment no more go on than may. */
const BEGIN = `INSERT INTO ${TABLE} AS r (key, requests, ends_at)
VALUES ($1::text, 1, now() + $2::bigint * interval '1 millisecond')
ON CONFLICT (key) DO UPDATE SET
  requests = CASE WHEN r.ends_at <= now() THEN 1 ELSE least(r.requests, 1000000000) + 1 END,
  ends_at = CASE WHEN r.ends_at <= now() THEN excluded.ends_at ELSE r.ends_at END
RETURNING requests, ${ENDS_AT},
  EXISTS (SELECT FROM ${TABLE} k WHERE k.key = $3::text AND k.ends_at > now())`

const KNOW = `INSERT INTO ${TABLE} AS r (key, requests, ends_at)
VALUES ($2::text, 0, now() + $1::bigint * interval '1 millisecond')
ON CONFLICT (key) DO UPDATE SET ends_at = excluded.ends_at`

const SUCCEED = `WITH uncounted AS (UPDATE ${TABLE} SET requests = requests - 1 WHERE key = $3::text AND requests > 0)
${KNOW}`

const UNCOUNT = `UPDATE ${TABLE} SET requests = requests - 1 WHERE key = $1::text AND requests > 0`

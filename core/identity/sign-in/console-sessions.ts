import { randomBytes } from 'node:crypto'
import type { Database } from '../../database/database.ts'
import type { Strategy } from '../identify.ts'
import { hashLimitKey, openSweep, RATE_LIMIT_TABLE } from '../rate-limit.ts'
import type { Sealing } from './sealing.ts'
import type { Sessions } from './sessions.ts'

/**
 * Sessions of the console that survive a reload of its page. Their tickets are in a cookie, which authenticates nothing but the
 * request for a token (docs/console.md, "Sign-in").
 */
export interface ConsoleSessions {
  /** A ticket for the session of this token. null: not a session of a user. Rejects (401) for sessions that have ended. */
  begin(token: string): Promise<string | null>
  /** The token of the ticket's session. null: foreign, changed, expired or ended. Rejects (401) for blocked users and ended sessions. */
  restore(ticket: string): Promise<string | null>
  /** The ticket is refused from now on, by all processes. */
  end(ticket: string): Promise<void>
}

/** Seconds: a working day. */
export const TICKET_LIFETIME = 43_200

interface ConsoleSessionsOptions {
  readonly sessions: Sessions
  readonly seal: Sealing
  /** Identifies the user of a session token. */
  readonly identify: Strategy
  readonly database: Pick<Database, 'run'>
}

export function openConsoleSessions({
  sessions,
  seal,
  identify,
  database,
}: ConsoleSessionsOptions): ConsoleSessions {
  const sweep = openSweep(TICKET_LIFETIME * 1000, database)
  const open = async (ticket: string): Promise<Ticket | null> => toTicket(await seal.open(ticket))
  return {
    async begin(token) {
      if (!(await sessions.read(token)) || !(await identify(token))) return null
      const key = randomBytes(16).toString('base64url')
      return seal.seal({ purpose: PURPOSE, key, token }, TICKET_LIFETIME)
    },
    async restore(ticket) {
      const opened = await open(ticket)
      if (!opened || (await isEnded(opened, database))) return null
      return (await identify(opened.token)) ? opened.token : null
    },
    async end(ticket) {
      const opened = await open(ticket)
      if (!opened) return
      await sweep()
      await database.run({ name: 'end a ticket', text: END, values: [limitKey(opened), TICKET_LIFETIME] })
    },
  }
}

/** The ticket of another purpose is none of the console. */
const PURPOSE = 'console'

interface Ticket {
  readonly key: string
  readonly token: string
}

const toTicket = (claims: Readonly<Record<string, unknown>> | null): Ticket | null =>
  claims?.purpose === PURPOSE && typeof claims.key === 'string' && typeof claims.token === 'string'
    ? { key: claims.key, token: claims.token }
    : null

const limitKey = ({ key }: Ticket): string => hashLimitKey(`console ticket ${key}`)

async function isEnded(ticket: Ticket, database: Pick<Database, 'run'>): Promise<boolean> {
  const { rows } = await database.run(
    { name: 'find an ended ticket', text: FIND, values: [limitKey(ticket)] },
    ON_PRIMARY,
  )
  return rows.length > 0
}

/** Replicas lag behind. */
const ON_PRIMARY = { readonly: true, onPrimary: true } as const

const END = `INSERT INTO ${RATE_LIMIT_TABLE} (key, requests, ends_at)
VALUES ($1::text, 1, now() + $2::bigint * interval '1 second') ON CONFLICT (key) DO NOTHING`

const FIND = `SELECT 1 FROM ${RATE_LIMIT_TABLE} WHERE key = $1::text`

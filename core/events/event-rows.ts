import type { Cell, Database } from '../database/database.ts'
import { EVENT_ACTIONS, type EventAction, type Origin, OWN_ORIGIN } from '../documents/outbox.ts'

/** An event that was taken for a listener: nobody else gets it before its time is over. */
export interface Taken {
  readonly id: string
  /** This one included; tells apart who took it when. */
  readonly attempts: number
  readonly uid: string
  readonly documentId: string
  readonly locale: string | null
  /** null: one that this version of the server does not know. */
  readonly action: EventAction | null
  readonly origin: Origin
  readonly at: Date
}

/** Rows of plinth_outbox. Times in milliseconds; the database's clock counts. Rejects with a DatabaseFailure. */
export interface EventRows {
  /** The oldest that are due, one a document: those after it wait until it is through. */
  take(listener: string, most: number, time: number): Promise<readonly Taken[]>
  /** Heard. */
  remove(taken: Taken): Promise<void>
  postpone(taken: Taken, reason: string, delay: number): Promise<void>
  /** Kept, and not tried again. */
  giveUp(taken: Taken, reason: string): Promise<void>
  /** As if it had not been taken. */
  putBack(taken: Taken): Promise<void>
  /** How many wait for listeners other than these. */
  countOthers(listeners: readonly string[]): Promise<readonly (readonly [listener: string, events: number])[]>
}

export function eventRows(database: Pick<Database, 'run'>): EventRows {
  const run = async (name: string, text: string, values: readonly unknown[]) =>
    (await database.run({ name, text, values })).rows
  const change = async (
    name: string,
    text: string,
    { id, attempts }: Taken,
    ...values: readonly unknown[]
  ) => {
    await run(name, `${text} WHERE id = $1::bigint AND attempts = $2::integer`, [id, attempts, ...values])
  }
  return {
    take: async (listener, most, time) =>
      (await run('take events', TAKE, [listener, most, time])).map(toTaken),
    remove: taken => change('end an event', 'DELETE FROM plinth_outbox', taken),
    postpone: (taken, reason, delay) => change('postpone an event', POSTPONE, taken, cut(reason), delay),
    giveUp: (taken, reason) => change('give up an event', GIVE_UP, taken, cut(reason)),
    putBack: taken => change('put an event back', PUT_BACK, taken),
    countOthers: async listeners =>
      (await run('count events', COUNT, [listeners])).map(([key, count]) => [String(key), Number(count)]),
  }
}

/** As `due_at` holds it. */
const NOW = "date_trunc('milliseconds', now())"

const later = (parameter: string) => `${NOW} + ${parameter}::double precision * interval '1 millisecond'`

/**
 * Of a row that somebody took at the same moment PostgreSQL looks at the newest version, which is not due any more.
 * The first of a document is looked up in its index row by row: a join would read the whole table wherever its
 * statistics are old, and those of a queue are.
 */
const TAKE = `WITH due AS MATERIALIZED (
  SELECT o.id FROM plinth_outbox o
  WHERE o.listener = $1::text AND o.state = 'waiting' AND o.due_at <= now() AND o.id = (
    SELECT e.id FROM plinth_outbox e
    WHERE e.listener = o.listener AND e.document_id = o.document_id AND e.state = 'waiting'
    ORDER BY e.id LIMIT 1)
  ORDER BY o.id LIMIT $2::integer FOR UPDATE OF o SKIP LOCKED)
UPDATE plinth_outbox t SET attempts = t.attempts + 1, due_at = ${later('$3')} FROM due WHERE t.id = due.id
RETURNING t.id::text, t.attempts, t.content_type, t.document_id, t.locale, t.action, t.origin::text, (extract(epoch FROM t.written_at) * 1000)::text`

const POSTPONE = `UPDATE plinth_outbox SET last_error = $3::text, due_at = ${later('$4')}`

const GIVE_UP = `UPDATE plinth_outbox SET last_error = $3::text, state = 'failed'`

const PUT_BACK = `UPDATE plinth_outbox SET attempts = attempts - 1, due_at = ${NOW}`

const COUNT = `SELECT listener, count(*)::integer FROM plinth_outbox
WHERE state = 'waiting' AND listener <> ALL ($1::text[]) GROUP BY listener ORDER BY listener`

const LONGEST_REASON = 1_000

/** PostgreSQL takes no NUL. */
const cut = (reason: string): string => reason.replaceAll('\0', '').slice(0, LONGEST_REASON)

function toTaken([id, attempts, uid, documentId, locale, action, origin, at]: readonly Cell[]): Taken {
  return {
    id: String(id),
    attempts: Number(attempts),
    uid: String(uid),
    documentId: String(documentId),
    locale: typeof locale === 'string' ? locale : null,
    action: EVENT_ACTIONS.find(each => each === action) ?? null,
    // As outbox.ts wrote it; rows of earlier versions have none.
    origin: typeof origin === 'string' ? (JSON.parse(origin) as Origin) : OWN_ORIGIN,
    at: new Date(Number(at)),
  }
}

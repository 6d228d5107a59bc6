import { isRecord } from '../base/plain-data.ts'
import type { Cell, Database } from '../database/database.ts'
import { EVENT_ACTIONS, type EventAction, type Origin, OWN_ORIGIN } from '../documents/outbox.ts'

/** An event that is claimed for a listener: no other process gets it until the claim expires. */
export interface ClaimedEvent {
  readonly id: string
  /** Number of claims including this one. It identifies this claim. */
  readonly attempts: number
  readonly uid: string
  readonly documentId: string
  readonly locale: string | null
  /** null: an action that this version of the server does not know. */
  readonly action: EventAction | null
  readonly origin: Origin
  readonly at: Date
}

export interface Claim {
  readonly claimed: readonly ClaimedEvent[]
  /** True if there are more due events than were looked at, and another claim may find other ones. */
  readonly hasMore: boolean
}

/** Rows of plinth_outbox. Durations are in milliseconds, on the database's clock. Rejects with a DatabaseFailure. */
export interface OutboxRows {
  /** Claims the oldest due events, at most one per document: later events of a document wait for earlier ones. */
  claim(listener: string, limit: number, leaseDuration: number): Promise<Claim>
  /** Acknowledges a delivered event. */
  remove(claimed: ClaimedEvent): Promise<void>
  postpone(claimed: ClaimedEvent, reason: string, delay: number): Promise<void>
  /** Keeps the event as failed, without further retries. */
  markFailed(claimed: ClaimedEvent, reason: string): Promise<void>
  /** Undoes the claim. */
  release(claimed: ClaimedEvent): Promise<void>
  /** Number of waiting events per listener, for listeners other than these. */
  countOthers(listeners: readonly string[]): Promise<readonly (readonly [listener: string, events: number])[]>
}

export function openOutboxRows(database: Pick<Database, 'run'>): OutboxRows {
  const run = async (name: string, text: string, values: readonly unknown[]) =>
    (await database.run({ name, text, values })).rows
  const change = async (
    name: string,
    text: string,
    { id, attempts }: ClaimedEvent,
    ...values: readonly unknown[]
  ) => {
    await run(name, text, [id, attempts, ...values])
  }
  return {
    async claim(listener, limit, leaseDuration) {
      const rows = await run('take events', CLAIM, [listener, limit, leaseDuration])
      const claimed = rows.map(([, ...row]) => row).filter(([id]) => id !== null)
      return { claimed: claimed.map(toClaimedEvent), hasMore: rows[0]?.[0] === true }
    },
    remove: claimed => change('end an event', REMOVE, claimed),
    postpone: (claimed, reason, delay) =>
      change('postpone an event', POSTPONE, claimed, trimReason(reason), delay),
    markFailed: (claimed, reason) => change('give up an event', MARK_FAILED, claimed, trimReason(reason)),
    release: claimed => change('put an event back', RELEASE, claimed),
    countOthers: async listeners =>
      (await run('count events', COUNT_OTHERS, [listeners])).map(([key, count]) => [
        String(key),
        Number(count),
      ]),
  }
}

/** With the precision of `due_at`. */
const NOW = "date_trunc('milliseconds', now())"

const later = (parameter: string) => `${NOW} + ${parameter}::double precision * interval '1 millisecond'`

/** Longer than any delay and lease: an event that is due later was written before the clock was set back. */
const MAX_LEAD = '2 hours'

/** The most due events that one claim looks at. */
const SEEN = 500

/**
 * How long an event stays deferred at most, unless the one before it ends. That one may be removed by hand, or by a process of
 * an older version, which makes no other due: so it is no longer than until that one would be due again.
 */
const DEFERRAL = '5 minutes'

const DUE = (row: string) => `(${row}.due_at <= now() OR ${row}.due_at > now() + interval '${MAX_LEAD}')`

/**
 * Looks at so many due events, whatever the length of the outbox. Of each, the first waiting event of its document is
 * found by an index lookup: a join would scan the whole table if statistics are stale, as they usually are on a queue.
 * That event is claimed if it is due. If it is not, because it is claimed or will be retried, the others are deferred, so
 * that the next claim does not look at them again. The end of an event makes the next one of its document due (`ending`).
 * A row that another process claims concurrently is not claimed twice: PostgreSQL rechecks its newest version, which is
 * no longer due. No event is deferred behind one that ends meanwhile: that one's row is locked.
 */
const CLAIM = `WITH seen AS MATERIALIZED (
  (SELECT o.id, o.document_id FROM plinth_outbox o WHERE o.listener = $1::text AND o.state = 'waiting'
    AND o.due_at <= now() ORDER BY o.due_at, o.id LIMIT ${SEEN})
  UNION ALL
  (SELECT o.id, o.document_id FROM plinth_outbox o WHERE o.listener = $1::text AND o.state = 'waiting'
    AND o.due_at > now() + interval '${MAX_LEAD}' ORDER BY o.due_at, o.id LIMIT ${SEEN})),
firsts AS MATERIALIZED (
  SELECT s.id, (SELECT e.id FROM plinth_outbox e
    WHERE e.listener = $1::text AND e.document_id = s.document_id AND e.state = 'waiting'
    ORDER BY e.id LIMIT 1) AS first FROM seen s),
due AS MATERIALIZED (
  SELECT o.id FROM plinth_outbox o
  WHERE o.id = ANY (ARRAY(SELECT first FROM firsts)) AND o.state = 'waiting' AND ${DUE('o')}
  ORDER BY o.id LIMIT $2::integer FOR UPDATE OF o SKIP LOCKED),
blocked AS MATERIALIZED (
  SELECT o.id, h.due_at FROM firsts f JOIN plinth_outbox o ON o.id = f.id JOIN plinth_outbox h ON h.id = f.first
  WHERE f.first <> f.id AND o.state = 'waiting' AND ${DUE('o')} AND h.state = 'waiting' AND NOT ${DUE('h')}
  FOR UPDATE OF o, h SKIP LOCKED),
claimed AS (
  UPDATE plinth_outbox t SET attempts = t.attempts + 1, due_at = ${later('$3')} FROM due WHERE t.id = due.id RETURNING t.*),
deferred AS (
  UPDATE plinth_outbox t SET due_at = least(b.due_at, ${NOW} + interval '${DEFERRAL}') FROM blocked b WHERE t.id = b.id RETURNING 1)
SELECT (SELECT count(*) FROM seen) >= ${SEEN} AND (EXISTS (SELECT FROM claimed) OR EXISTS (SELECT FROM deferred)),
  t.id::text, t.attempts, t.content_type, t.document_id, t.locale, t.action, t.origin::text, (extract(epoch FROM t.written_at) * 1000)::text
FROM (SELECT 1) one LEFT JOIN claimed t ON true ORDER BY t.id`

/** SQL that ends an event, and makes the next one of its document due. */
const ending = (
  change: string,
): string => `WITH ended AS (${change} WHERE id = $1::bigint AND attempts = $2::integer RETURNING listener, document_id)
UPDATE plinth_outbox t SET due_at = least(t.due_at, ${NOW}) FROM ended WHERE t.id = (
  SELECT e.id FROM plinth_outbox e
  WHERE e.listener = ended.listener AND e.document_id = ended.document_id AND e.state = 'waiting' AND e.id <> $1::bigint
  ORDER BY e.id LIMIT 1)`

const ofClaim = (change: string): string => `${change} WHERE id = $1::bigint AND attempts = $2::integer`

const REMOVE = ending('DELETE FROM plinth_outbox')

const POSTPONE = ofClaim(`UPDATE plinth_outbox SET last_error = $3::text, due_at = ${later('$4')}`)

const MARK_FAILED = ending(`UPDATE plinth_outbox SET last_error = $3::text, state = 'failed'`)

const RELEASE = ofClaim(`UPDATE plinth_outbox SET attempts = attempts - 1, due_at = ${NOW}`)

const COUNT_OTHERS = `SELECT listener, count(*)::integer FROM plinth_outbox
WHERE state = 'waiting' AND listener <> ALL ($1::text[]) GROUP BY listener ORDER BY listener`

const MAX_REASON_LENGTH = 1_000

/** PostgreSQL text cannot hold NUL. */
const trimReason = (reason: string): string => reason.replaceAll('\0', '').slice(0, MAX_REASON_LENGTH)

/** outbox.ts wrote it. One that was changed by hand must not keep the events after it from their listeners. */
function parseOrigin(origin: unknown): Origin {
  const isWritten =
    isRecord(origin) && (origin.by === null || isRecord(origin.by)) && Array.isArray(origin.attributes)
  return isWritten ? (origin as unknown as Origin) : OWN_ORIGIN
}

function toClaimedEvent([
  id,
  attempts,
  uid,
  documentId,
  locale,
  action,
  origin,
  at,
]: readonly Cell[]): ClaimedEvent {
  return {
    id: String(id),
    attempts: Number(attempts),
    uid: String(uid),
    documentId: String(documentId),
    locale: typeof locale === 'string' ? locale : null,
    action: EVENT_ACTIONS.find(each => each === action) ?? null,
    // Rows of earlier versions have none.
    origin: typeof origin === 'string' ? parseOrigin(JSON.parse(origin)) : OWN_ORIGIN,
    at: new Date(Number(at)),
  }
}

/** An event without further retries. */
interface FailedEvent {
  readonly id: string
  readonly listener: string
  readonly uid: string
  readonly documentId: string
  readonly locale: string | null
  readonly action: string
  readonly attempts: number
  readonly at: string
  /** The message of the last error: text of project code. */
  readonly reason: string
}

/** The last events that failed for good, newest first. Rejects with a DatabaseFailure. */
export async function listFailedEvents(database: Pick<Database, 'run'>): Promise<readonly FailedEvent[]> {
  const { rows } = await database.run(
    { name: 'list failed events', text: LIST_FAILED, values: [] },
    ON_PRIMARY,
  )
  return rows.map(([id, listener, uid, documentId, locale, action, attempts, at, reason]) => ({
    ...{ id: String(id), listener: String(listener), uid: String(uid), documentId: String(documentId) },
    locale: typeof locale === 'string' ? locale : null,
    ...{ action: String(action), attempts: Number(attempts) },
    ...{ at: new Date(Number(at)).toISOString(), reason: String(reason ?? '') },
  }))
}

const LIST_FAILED = `SELECT id::text, listener, content_type, document_id, locale, action, attempts, (extract(epoch FROM written_at) * 1000)::text, last_error
FROM plinth_outbox WHERE state = 'failed' ORDER BY id DESC LIMIT 50`

/** Numbers of events that are waiting for delivery, and of events that failed for good. */
interface OutboxCounts {
  readonly waiting: number
  readonly failed: number
}

/** Rejects with a DatabaseFailure. */
export async function countOutbox(database: Pick<Database, 'run'>): Promise<OutboxCounts> {
  const { rows } = await database.run(
    { name: 'count the outbox', text: COUNT_BY_STATE, values: [] },
    ON_PRIMARY,
  )
  const [waiting, failed] = rows[0] ?? []
  return { waiting: Number(waiting), failed: Number(failed) }
}

const COUNT_BY_STATE = `SELECT (SELECT count(*) FROM plinth_outbox WHERE state = 'waiting')::integer, (SELECT count(*) FROM plinth_outbox WHERE state = 'failed')::integer`

const ON_PRIMARY = { readonly: true, onPrimary: true } as const

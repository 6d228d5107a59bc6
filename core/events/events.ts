import type { Database } from '../database/database.ts'
import type { EventAction, Outbox } from '../documents/outbox.ts'
import type { Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { Status } from '../query/query.ts'

/** A content-type's key in project.yaml, a dot, and what happened: `article.publish`. */
export type EventName = `${string}.${EventAction}`

/** Names of many events: `article.*`, `*.publish`, `*.*`. */
export type EventPattern = EventName | `${string}.*`

/**
 * A change of one version of a document. It carries no values: the listener reads the document itself. `user`, `role`
 * and `token` identify the HTTP caller, or the `state.ability` that code passed to `as(…)`. All three are null if
 * trusted code wrote without a caller.
 */
export interface DocumentEvent {
  /** Idempotency key: stays the same when this event is delivered to this listener again. */
  readonly id: string
  readonly name: EventName
  /** `api::article.article` */
  readonly uid: string
  readonly documentId: string
  /** null on content-types without locales. */
  readonly locale: string | null
  /** The version that changed: `draft` for writes, `published` for publish and unpublish; null for both (delete). */
  readonly status: Status | null
  readonly action: EventAction
  /** Names of the written attributes, unordered; empty except for `create` and `update`. */
  readonly attributes: readonly string[]
  /** The signed-in user. */
  readonly user: { readonly id: number; readonly documentId: string } | null
  /** Key of the user's role in project.yaml, or `public`; null with an API token. */
  readonly role: string | null
  /** Key of the API token in project.yaml. */
  readonly token: string | null
  /** Time of the write. */
  readonly at: Date
}

/**
 * Handles one event. Resolving acknowledges the event; throwing or rejecting schedules a retry. `signal` is aborted on
 * timeout, and when the server stops before the handler has finished.
 */
export type EventHandler = (event: DocumentEvent, terms: { readonly signal: AbortSignal }) => unknown

export interface EventListener {
  /** Unique, and stable over restarts: stored events refer to the listener by it (see `listenerKey`). */
  readonly key: string
  /** A valid pattern (see `eventPatternFault`). */
  readonly pattern: EventPattern
  readonly handle: EventHandler
}

export interface EventTerms {
  readonly database: Database
  readonly model: Model
  readonly listeners: readonly EventListener[]
  readonly observer: Observer
  readonly timing?: Partial<EventTiming>
}

/** All in milliseconds, except `maxAttempts`. */
export interface EventTiming {
  /** Interval of the poll that finds retries, and events of other processes that ended. */
  readonly pollInterval: number
  /** Timeout of a listener for one event. */
  readonly timeout: number
  /** A claim expires after `timeout` plus this margin: the process that claimed the event has died. */
  readonly leaseMargin: number
  /** Delay of the first retry. Each further retry waits three times as long, at most one hour. */
  readonly retryDelay: number
  /** After this many attempts an event is kept as failed. */
  readonly maxAttempts: number
  /** How long shutdown waits for running listeners. */
  readonly drainTimeout: number
}

/** Delivers events to listeners, at least once, after the write has been committed. */
export interface Events {
  /** For the document service: the listeners of each content-type and action. */
  readonly outbox: Outbox
  /** Starts delivery, including events that were stored earlier. */
  start(): void
  /** Resolves when no event is due: each one was delivered or is scheduled for a retry. */
  settled(): Promise<void>
  /** Stops delivery within `drainTimeout`. Unfinished events are delivered again after the next start. */
  close(): Promise<void>
}

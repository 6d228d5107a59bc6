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
 * Something that happened to one version of a document. What the document holds, the listener reads itself. Who wrote
 * it is who asked over HTTP, or whose `state.ability` code named with `as(…)`; all null where code wrote for nobody.
 */
export interface DocumentEvent {
  /** The same each time that this event comes to this listener: for those that must not act twice. */
  readonly id: string
  readonly name: EventName
  /** `api::article.article` */
  readonly uid: string
  readonly documentId: string
  /** null on types without locales. */
  readonly locale: string | null
  /** Which of a document's versions: drafts are made and changed, published ones published and taken back; null: both. */
  readonly status: Status | null
  readonly action: EventAction
  /** Names of the attributes that were written, in no order; none but for `create` and `update`. */
  readonly attributes: readonly string[]
  /** Who was signed in. */
  readonly user: { readonly id: number; readonly documentId: string } | null
  /** The key of his role in project.yaml, or `public`; null with an API token. */
  readonly role: string | null
  /** The key of an API token in project.yaml. */
  readonly token: string | null
  /** When it was written. */
  readonly at: Date
}

/**
 * Acts on an event, which is done with when this resolves; where it throws or rejects, the event comes again later.
 * `signal`: aborted where it takes too long, or the server ends without it.
 */
export type EventHandler = (event: DocumentEvent, terms: { readonly signal: AbortSignal }) => unknown

export interface EventListener {
  /** Names it over restarts: events wait for it by this (see `listenerKey`). No two have the same. */
  readonly key: string
  /** One that was found right (see `faultOfEvent`). */
  readonly pattern: EventPattern
  readonly handle: EventHandler
}

export interface EventTerms {
  readonly database: Database
  readonly model: Model
  readonly listeners: readonly EventListener[]
  readonly observer: Observer
  readonly pace?: Partial<Pace>
}

/** All in milliseconds, but for `attempts`. */
export interface Pace {
  /** Between looks for events that nobody in this process told of: of processes that died, and those that come again. */
  readonly poll: number
  /** A listener has so long for an event. */
  readonly patience: number
  /** After that, and so long on top, an event that was taken counts as dropped: its process died. */
  readonly slack: number
  /** Until the first repetition; each later one waits three times as long as the one before, an hour at most. */
  readonly delay: number
  /** After so many an event is kept as failed. */
  readonly attempts: number
  /** Listeners at work have so long to finish when the server ends. */
  readonly farewell: number
}

/** Brings events to their listeners, once what they tell of is committed. */
export interface Events {
  /** For the document service: who is to hear of what. */
  readonly outbox: Outbox
  /** From now on events are brought; those of before, too. */
  start(): void
  /** Resolves once no event is due: all were heard, or are to come again later. */
  settled(): Promise<void>
  /** Ends in bounded time. What is not finished then comes again, to whoever starts next. */
  close(): Promise<void>
}

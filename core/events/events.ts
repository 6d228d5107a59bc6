import { createHash } from 'node:crypto'
import { didYouMean, nearest } from '../base/nearest.ts'
import { ticked } from '../base/text.ts'
import type { Database } from '../database/database.ts'
import { EVENT_ACTIONS, type EventAction, type Outbox } from '../documents/outbox.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { Status } from '../query/query.ts'

/** A content-type's key in project.yaml, a dot, and what happened: `article.publish`. */
export type EventName<Key extends string = string> = `${Key}.${EventAction}`

/** Names of many events: `article.*`, `*.publish`, `*.*`. */
export type EventPattern<Key extends string = string> = EventName<Key | '*'> | `${Key | '*'}.*`

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
  /** The writer with `user`, `role` and `token`; null: trusted code of the project, or a start. */
  readonly caller: Pick<DocumentEvent, 'user' | 'role' | 'token'> | null
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
export type EventHandler = (event: DocumentEvent, options: { readonly signal: AbortSignal }) => unknown

export interface EventListener {
  /** Unique, and stable over restarts: stored events refer to the listener by it (see `listenerKey`). */
  readonly key: string
  /** A valid pattern (see `eventPatternFault`). */
  readonly pattern: EventPattern
  readonly handle: EventHandler
}

export interface EventOptions {
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

/** Actions that only content-types with drafts have. */
const DRAFT_ACTIONS: ReadonlySet<string> = new Set<EventAction>(['publish', 'unpublish', 'discardDraft'])

/** One sentence that says what is wrong with an event pattern; undefined if it is valid. */
export function eventPatternFault(pattern: string, model: Model): string | undefined {
  const { key, action } = splitPattern(pattern)
  const types = observableTypes(model)
  const unknown = `unknown event \`${pattern}\``
  if (hasNoEvents(key, model)) return `${unknown}: documents of \`${key}\` have no events`
  const matching = types.filter(type => matchesType(type, key))
  const isAction = action === '*' || EVENT_ACTIONS.some(each => each === action)
  if (matching.length === 0 || !isAction) return `${unknown}${patternHint(pattern, types)}`
  if (!DRAFT_ACTIONS.has(action) || matching.some(type => type.draftAndPublish)) return undefined
  const who = key === '*' ? 'no content-type has' : `\`${key}\` has no`
  return `${unknown}: ${who} drafts (draftAndPublish)`
}

/** True if the pattern matches this action on this content-type. */
export function matchesPattern(pattern: EventPattern, type: ContentType, action: EventAction): boolean {
  const { key, action: named } = splitPattern(pattern)
  return emitsEvents(type) && matchesType(type, key) && (named === '*' || named === action)
}

/** `*` covers the project's own content-types only: events of users and files must be named. */
const matchesType = ({ key, builtIn }: ContentType, name: string): boolean =>
  name === key || (name === '*' && !builtIn)

/** Roles and locales have no events: their rows follow project.yaml. */
const emitsEvents = ({ builtIn, key }: ContentType): boolean => !builtIn || key === 'user' || key === 'file'

const MAX_KEY_LENGTH = 255

/**
 * The key that assigns stored events to a listener. It survives restarts as long as the extension's file name and the
 * pattern stay the same. `place`: number of earlier listeners of the same extension with the same pattern.
 */
export function listenerKey(extension: string, pattern: EventPattern, place: number): string {
  const key = `${extension} ${pattern}${place === 0 ? '' : ` ${place + 1}`}`
  if (key.length <= MAX_KEY_LENGTH) return key
  const hash = createHash('sha256').update(key).digest('hex')
  return `${key.slice(0, MAX_KEY_LENGTH - hash.length - 1)} ${hash}`
}

interface PatternParts {
  readonly key: string
  readonly action: string
}

function splitPattern(pattern: string): PatternParts {
  const dot = pattern.lastIndexOf('.')
  return { key: pattern.slice(0, Math.max(dot, 0)), action: pattern.slice(dot + 1) }
}

const observableTypes = ({ contentTypes }: Model): readonly ContentType[] =>
  [...contentTypes.values()].filter(emitsEvents)

const hasNoEvents = (key: string, { contentTypes }: Model): boolean =>
  [...contentTypes.values()].some(type => type.key === key && !emitsEvents(type))

/** Suggests the nearest pattern. A part that is already valid is kept. */
function patternHint(pattern: string, types: readonly ContentType[]): string {
  const { key, action } = splitPattern(pattern)
  const keys = ['*', ...types.map(type => type.key)]
  const actions = ['*', ...EVENT_ACTIONS]
  const near = { key: nearest(key, keys), action: nearest(action, actions) }
  const isNear = near.key !== undefined && near.action !== undefined
  const hint = isNear ? didYouMean(pattern, [`${near.key}.${near.action}`]) : ''
  const actionNames = ticked(EVENT_ACTIONS)
  return hint || `: it is a content-type's name or \`*\`, a dot, and ${actionNames} or \`*\``
}

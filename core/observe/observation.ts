/** Everything that a running server reports. Logs and metrics consume it; `kind` is the log's `event`. */
export type Observation =
  | {
      readonly kind: 'databaseOpened'
      readonly database: 'embedded' | 'server'
      readonly milliseconds: number
    }
  /** The previous process died with the embedded database open. No acknowledged write is lost. */
  | { readonly kind: 'databaseRecovered'; readonly pid: number }
  /** The start waits for the database, at most `milliseconds`. */
  | { readonly kind: 'databaseAwaited'; readonly message: string; readonly milliseconds: number }
  | { readonly kind: 'connectionLost'; readonly message: string }
  /** A replica is unavailable; its reads go to the primary. */
  | { readonly kind: 'replicaAway'; readonly place: string; readonly message: string }
  | { readonly kind: 'replicaBack'; readonly place: string }
  /** Statistics of tables could not be updated, or the embedded database not be vacuumed; it keeps serving. */
  | { readonly kind: 'upkeepFailed'; readonly message: string }
  /** Other processes cannot use the embedded database through this one; it keeps serving. */
  | { readonly kind: 'accessFailed'; readonly message: string }
  /** The start changed something in the database. `what`: one sentence. */
  | { readonly kind: 'prepared'; readonly what: string }
  /** Migration steps were applied. */
  | { readonly kind: 'migrated'; readonly steps: number; readonly milliseconds: number }
  /** A mail was sent, or written to the log in development. `what` never contains its text. */
  | { readonly kind: 'mail'; readonly what: string }
  /** A mail could not be delivered. */
  | { readonly kind: 'mailFailed'; readonly what: string }
  /** The server accepts requests. */
  | { readonly kind: 'listening'; readonly url: string; readonly milliseconds: number }
  /** Changed files took effect. An empty list means all files of the project. */
  | { readonly kind: 'reloaded'; readonly files: readonly string[]; readonly milliseconds: number }
  /** The changed project is invalid; the server keeps the previous version. `why`: several lines. */
  | { readonly kind: 'reloadRefused'; readonly why: string }
  /** Changed keys of project.yaml that take effect only after a restart. */
  | { readonly kind: 'restartNeeded'; readonly keys: readonly string[] }
  /** Watching files failed; they are polled instead. */
  | { readonly kind: 'watchFailed'; readonly message: string }
  /** A worker process ended; it is replaced after `delay` milliseconds. */
  | {
      readonly kind: 'workerEnded'
      readonly worker: number
      readonly pid: number
      readonly why: string
      readonly delay: number
    }
  /** The event loop of a worker was blocked for `milliseconds`; its process is killed. */
  | {
      readonly kind: 'workerStalled'
      readonly worker: number
      readonly pid: number
      readonly milliseconds: number
    }
  /** A worker could not reload the version that the other workers serve. */
  | { readonly kind: 'workerBehind'; readonly worker: number }
  /** The server accepts no more requests; `waiting` are in flight. */
  | { readonly kind: 'stopping'; readonly waiting: number }
  /** `cut`: requests that were aborted because they did not end in time. */
  | { readonly kind: 'stopped'; readonly cut: number }
  | (AnsweredRequest & { readonly kind: 'answered' })
  /** Answered with 401, 403 or 429, or with a field of GraphQL that is refused. `reason` says why. */
  | (AnsweredRequest & { readonly kind: 'refused'; readonly reason: string })
  /** An unexpected error: a bug of the product or of a plugin. */
  | { readonly kind: 'failed'; readonly requestId: string; readonly error: unknown }
  /** A policy denied a request. */
  | { readonly kind: 'policyRefused'; readonly requestId: string; readonly policy: string }
  /** A policy threw, timed out, or returned an invalid value; the request was denied. */
  | {
      readonly kind: 'policyFailed'
      readonly requestId: string
      readonly policy: string
      readonly reason: string
      readonly error?: unknown
    }
  /** Log lines of a plugin. */
  | (PluginLine & { readonly kind: 'pluginSaid' })
  | (PluginLine & { readonly kind: 'pluginWarned' })
  | (PluginLine & { readonly kind: 'pluginFailed'; readonly error?: unknown })
  /** An event listener threw or timed out; it is retried after `delay` milliseconds. */
  | (ObservedEvent & { readonly kind: 'eventPostponed'; readonly delay: number; readonly error: unknown })
  /** An event listener failed at its last retry; the event is kept. */
  | (ObservedEvent & { readonly kind: 'eventFailed'; readonly error: unknown })
  /** Events wait for a listener that the project does not have. */
  | { readonly kind: 'eventsUnheard'; readonly listener: string; readonly events: number }
  /** The outbox cannot be read or written. Reported once until it recovers. */
  | { readonly kind: 'eventsStalled'; readonly error: unknown }
  /** The database or another dependency of a request (a storage, an issuer, a sign-in provider) is unavailable. */
  | { readonly kind: 'unavailable'; readonly requestId: string; readonly reason: string }
  /**
   * Another version of the project changed the tables incompatibly; affected requests are refused. Reported once.
   * `reason`: PostgreSQL's message.
   */
  | { readonly kind: 'outdated'; readonly reason: string }
  /** A statement or a transaction took longer than `server.slowQuery`. `work` describes it without values. */
  | {
      readonly kind: 'slowWork'
      readonly requestId?: string
      readonly milliseconds: number
      readonly work: object
    }
  | { readonly kind: 'timedOut'; readonly requestId: string; readonly path: string }
  /** Connections could not be accepted, for example because the process has no file descriptors left. */
  | { readonly kind: 'acceptFailed'; readonly message: string }
  /** A request was not valid HTTP, too long, or too slow. */
  | { readonly kind: 'malformed'; readonly code: string }

interface AnsweredRequest {
  readonly requestId: string
  readonly method: string
  /** Without the query string, which may contain secrets. */
  readonly path: string
  /** An action of a content-type (`article.find`) or a route pattern. */
  readonly route: string
  /** `role editor, user 5`; null: not identified. */
  readonly caller: string | null
  readonly status: number
  readonly milliseconds: number
}

/** `fields`: values that the plugin adds to the line. */
interface PluginLine {
  readonly message: string
  readonly fields?: Readonly<Record<string, unknown>>
}

interface ObservedEvent {
  readonly eventId: string
  /** `article.publish` */
  readonly name: string
  readonly documentId: string
  readonly listener: string
  /** Including this one. */
  readonly attempts: number
}

export type ObservationKind = Observation['kind']

/** Consumes observations. */
export interface Observer {
  /** True if this kind is consumed. Hot paths check it before they build an observation. */
  isEnabled(kind: ObservationKind): boolean
  /** Must never throw and never block. */
  emit(observation: Observation): void
}

export const SILENT: Observer = { isEnabled: () => false, emit: () => {} }

/** An observer that can be replaced when the project is reloaded. */
export interface ReloadableObserver extends Observer {
  /** Forwards all later observations to this observer. */
  replace(to: Observer): void
}

export function reloadableObserver(first: Observer): ReloadableObserver {
  let current = first
  return {
    isEnabled: kind => current.isEnabled(kind),
    emit: observation => current.emit(observation),
    replace(to) {
      current = to
    },
  }
}

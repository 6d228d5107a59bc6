/** Everything about a running server that is worth telling: logs and metrics are its consumers. */
export type Observation =
  | {
      readonly kind: 'databaseOpened'
      readonly database: 'embedded' | 'server'
      readonly milliseconds: number
    }
  /** The process that had the embedded database open before died; nothing that it acknowledged is lost. */
  | { readonly kind: 'databaseRecovered'; readonly pid: number }
  /** The start waits for it, so many milliseconds at most. */
  | { readonly kind: 'databaseAwaited'; readonly message: string; readonly milliseconds: number }
  | { readonly kind: 'connectionLost'; readonly message: string }
  /** Reads that a replica would answer go to the primary, and why. */
  | { readonly kind: 'replicaAway'; readonly place: string; readonly message: string }
  | { readonly kind: 'replicaBack'; readonly place: string }
  /** The embedded database could not be tidied up; it serves all the same. */
  | { readonly kind: 'upkeepFailed'; readonly message: string }
  /** Other processes cannot work on the embedded database through this one; it serves all the same. */
  | { readonly kind: 'accessFailed'; readonly message: string }
  /** Something that starting changed in the database, in one sentence. */
  | { readonly kind: 'prepared'; readonly what: string }
  /** So many changes of the database's tables were made. */
  | { readonly kind: 'migrated'; readonly steps: number; readonly milliseconds: number }
  /** A mail was sent or written down; never what it says. */
  | { readonly kind: 'mail'; readonly what: string }
  /** One that nobody will get. */
  | { readonly kind: 'mailFailed'; readonly what: string }
  /** It takes requests now. */
  | { readonly kind: 'listening'; readonly url: string; readonly milliseconds: number }
  /** What these files say now (all of the project's where none is named) is served from the next request on. */
  | { readonly kind: 'reloaded'; readonly files: readonly string[]; readonly milliseconds: number }
  /** What the project's files say now cannot be served: the server goes on as before. `why`: some lines. */
  | { readonly kind: 'reloadRefused'; readonly why: string }
  /** Keys of project.yaml whose new values only a restart brings. */
  | { readonly kind: 'restartNeeded'; readonly keys: readonly string[] }
  /** Files are looked at now and then, instead of at once. */
  | { readonly kind: 'watchFailed'; readonly message: string }
  /** The process of one of several workers ended; another takes its place in `delay` milliseconds. */
  | {
      readonly kind: 'workerEnded'
      readonly worker: number
      readonly pid: number
      readonly why: string
      readonly delay: number
    }
  /** The event loop of a worker stood still for so long: its process is killed. */
  | {
      readonly kind: 'workerStalled'
      readonly worker: number
      readonly pid: number
      readonly milliseconds: number
    }
  /** One worker could not reload what others serve by now. */
  | { readonly kind: 'workerBehind'; readonly worker: number }
  /** It takes no more; `waiting` requests are still being answered. */
  | { readonly kind: 'stopping'; readonly waiting: number }
  /** `cut`: requests that did not end in time. */
  | { readonly kind: 'stopped'; readonly cut: number }
  /** `path` without its query string, which may carry what is nobody's business. */
  | {
      readonly kind: 'answered'
      readonly requestId: string
      readonly method: string
      readonly path: string
      readonly status: number
      readonly milliseconds: number
    }
  /** An error that nobody expected: a bug, ours or a plugin's. */
  | { readonly kind: 'failed'; readonly requestId: string; readonly error: unknown }
  /** A policy did not let a request pass, as it may. */
  | { readonly kind: 'policyRefused'; readonly requestId: string; readonly policy: string }
  /** A policy threw, took too long, or answered what is no answer: the request was refused. */
  | {
      readonly kind: 'policyFailed'
      readonly requestId: string
      readonly policy: string
      readonly reason: string
      readonly error?: unknown
    }
  /** Lines of a plugin's own. */
  | { readonly kind: 'pluginSaid'; readonly message: string }
  | { readonly kind: 'pluginWarned'; readonly message: string }
  | { readonly kind: 'pluginFailed'; readonly message: string; readonly error?: unknown }
  /** A listener threw, or took too long; the event comes again in `delay` milliseconds. */
  | (ObservedEvent & { readonly kind: 'eventPostponed'; readonly delay: number; readonly error: unknown })
  /** A listener failed for the last time; the event is kept. */
  | (ObservedEvent & { readonly kind: 'eventFailed'; readonly error: unknown })
  /** Events wait for a listener that the project does not have (any more). */
  | { readonly kind: 'eventsUnheard'; readonly listener: string; readonly events: number }
  /** The outbox cannot be read or written; told again only after it could be. */
  | { readonly kind: 'eventsStalled'; readonly error: unknown }
  /** The database, or something else that a request needs, is away. */
  | { readonly kind: 'unavailable'; readonly requestId: string; readonly reason: string }
  /** Another version of the project changed the tables; requests that meet it are refused. Told once; `reason`: what PostgreSQL said. */
  | { readonly kind: 'outdated'; readonly reason: string }
  /** A statement or a transaction took longer than `server.slowQuery`. `work`: what it is for, without values. */
  | {
      readonly kind: 'slowWork'
      readonly requestId?: string
      readonly milliseconds: number
      readonly work: object
    }
  | { readonly kind: 'timedOut'; readonly requestId: string; readonly path: string }
  /** Connections could not be accepted: the process has no file descriptor left, for example. */
  | { readonly kind: 'acceptFailed'; readonly message: string }
  /** What came was no HTTP, too long, or too slow. */
  | { readonly kind: 'malformed'; readonly code: string }

interface ObservedEvent {
  readonly eventId: string
  /** `article.publish` */
  readonly name: string
  readonly documentId: string
  readonly listener: string
  /** This one included. */
  readonly attempts: number
}

export type ObservationKind = Observation['kind']

/** Takes observations. Telling must never throw, and never wait. */
export interface Observer {
  /** Whether anybody wants to know: what happens at every request is not even put into words otherwise. */
  hears(kind: ObservationKind): boolean
  tell(observation: Observation): void
}

export const SILENT: Observer = { hears: () => false, tell: () => {} }

import type { Presence } from '../database/generations/presence.ts'
import type { Responder } from '../faults/http-exchange.ts'
import type { DispatcherOptions } from '../http/dispatcher.ts'
import { readYourWrites } from '../http/read-your-writes.ts'
import type { RunningServer } from '../http/server.ts'
import type { Observer, ReloadableObserver } from '../observe/observation.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { Numbers } from './metrics.ts'
import type { App } from './open-app.ts'
import { healthOf, refuseOf } from './readiness.ts'

/** An app, and the log of its settings. */
export interface Running {
  readonly app: App
  readonly observer: Observer
}

/** A server, with what answers now and what does no longer. */
export interface Service {
  readonly server: RunningServer
  /** What is counted, whoever answers; null: nothing is. */
  readonly numbers: Numbers | null
  /** The log of whatever runs. */
  readonly log: ReloadableObserver
  running: Running
  /** What the database shows of this process to others. */
  readonly presence: Presence
  /** Files that changed since what runs was made of them: a reload that is refused leaves them here. */
  readonly unserved: Set<string>
  /** The ends of those before, which are still under way. */
  readonly retiring: Set<Promise<void>>
  /** Serves the files of a reload that was refused before: another process has changed the tables since. */
  reloadAgain: () => void
  /** Nothing is to take over any more. */
  isEnding: boolean
}

export interface ServedBeside {
  readonly production: boolean
  readonly numbers: Numbers | null
  readonly tracing: Tracing | null
}

export function toServed(
  running: Running,
  { production, numbers, tracing }: ServedBeside,
): DispatcherOptions {
  const { app, observer } = running
  const { responders, middlewares, blueprint } = app
  return {
    settings: blueprint.project.settings.server,
    responders: [
      ...(numbers?.responder ? [numbers.responder] : []),
      refuseOf(app),
      ...around([...responders, healthOf(app)], running),
    ],
    middlewares,
    fallback: app.host(observer),
    observer,
    callerOf: app.callerOf,
    sendsTimings: !production,
    ...(!production && { drain: SHORT_DRAIN }),
    meters: numbers?.meters ?? null,
    tracing,
  }
}

/** Milliseconds. Somebody at a terminal waits for the end. */
export const SHORT_DRAIN = 500

/** Only where reads may come from elsewhere there is something to follow. */
function around(responders: readonly Responder[], { app }: Running): readonly Responder[] {
  if (!app.database.replicas) return responders
  const { graphql, server } = app.blueprint.project.settings
  return [
    readYourWrites(responders, {
      graphql: graphql.config.endpoint,
      secure: server.url.startsWith('https:'),
    }),
  ]
}

export function tellNews({ app, observer }: Running): void {
  for (const what of app.news) observer.emit({ kind: 'prepared', what })
}

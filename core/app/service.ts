import type { Presence } from '../database/generations/presence.ts'
import type { Responder } from '../faults/http-exchange.ts'
import type { DispatcherOptions } from '../http/dispatcher.ts'
import { openHealth, type Readiness } from '../http/health.ts'
import { readYourWrites } from '../http/read-your-writes.ts'
import type { RunningServer } from '../http/server.ts'
import { refuseOutdated } from '../http/service-unavailable.ts'
import type { Observer, ReloadableObserver } from '../observe/observation.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { ProcessMetrics } from './metrics.ts'
import type { App } from './open-app.ts'

/** An app and its log. */
export interface RunningApp {
  readonly app: App
  readonly observer: Observer
}

/** A server with the current app and those that are still closing. */
export interface Service {
  readonly server: RunningServer
  /** Metrics of all generations; null: disabled. */
  readonly metrics: ProcessMetrics | null
  /** The log of the current app. */
  readonly log: ReloadableObserver
  running: RunningApp
  /** The registration of this process in the database. */
  readonly presence: Presence
  /** Changed files that are not served yet: a refused reload leaves them here. */
  readonly pendingFiles: Set<string>
  /** Closes of earlier generations that are in progress. */
  readonly retiring: Set<Promise<void>>
  /** Retries a refused reload after another process has migrated the database. */
  retryReload: () => void
  /** The server is closing: no reload may swap in an app any more. */
  isEnding: boolean
}

export interface ServingContext {
  readonly production: boolean
  readonly metrics: ProcessMetrics | null
  readonly tracing: Tracing | null
}

export function dispatcherOptionsOf(
  running: RunningApp,
  { production, metrics, tracing }: ServingContext,
): DispatcherOptions {
  const { app, observer } = running
  const { responders, middlewares, blueprint } = app
  return {
    settings: blueprint.project.settings.server,
    responders: [
      ...(metrics?.responder ? [metrics.responder] : []),
      outdatedResponder(app),
      ...withReadYourWrites([...responders, healthResponder(app)], running),
    ],
    middlewares,
    fallback: app.openFallback(observer),
    observer,
    callerOf: app.callerOf,
    sendsTimings: !production,
    ...(!production && { drain: SHORT_DRAIN }),
    meters: metrics?.meters ?? null,
    tracing,
  }
}

/** Milliseconds. Short, because a developer waits at the terminal. */
export const SHORT_DRAIN = 500

/** Needed only with replicas. */
function withReadYourWrites(responders: readonly Responder[], { app }: RunningApp): readonly Responder[] {
  if (!app.database.replicas) return responders
  const { graphql, server } = app.blueprint.project.settings
  return [
    readYourWrites(responders, {
      graphql: Object.keys(graphql.endpoints),
      secure: server.url.startsWith('https:'),
    }),
  ]
}

export function logMessages({ app, observer }: RunningApp): void {
  for (const what of app.messages) observer.emit({ kind: 'prepared', what })
}

/** `/_health` and `/_ready` of an app. */
export const healthResponder = (app: App): Responder =>
  openHealth({
    readiness: () => readinessOf(app),
    states: () => app.database.replicas?.states() ?? [],
  })

async function readinessOf({ database, generation }: App): Promise<Readiness> {
  const ping = await database.ping()
  if (!ping.ok) return ping.isReadonly ? 'read-only' : 'unavailable'
  return (await generation.check()) ? 'ready' : 'outdated'
}

/** Refuses requests while the database has another version's schema. */
export function outdatedResponder({ generation, blueprint }: App): Responder {
  return refuseOutdated({
    isOutdated: generation.isOutdated,
    onRefused: generation.recheck,
    graphql: Object.keys(blueprint.project.settings.graphql.endpoints),
  })
}

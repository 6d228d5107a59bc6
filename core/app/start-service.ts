import { failed, ok, type Result } from '../base/result.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { openPresence, type Presence } from '../database/generations/processes.ts'
import type { Responder } from '../faults/http-exchange.ts'
import type { DispatcherOptions } from '../http/dispatcher.ts'
import { openHealth, type Readiness } from '../http/health.ts'
import { readYourWrites } from '../http/read-your-writes.ts'
import { type HttpServer, openHttpServer, type RunningServer } from '../http/server.ts'
import { openStartGate, refuseOutdated } from '../http/service-unavailable.ts'
import type { Observer, ReloadableObserver } from '../observe/observation.ts'
import type { Tracing } from '../observe/tracing.ts'
import type { Blueprint } from './compile-app.ts'
import { addAppMetrics, type ProcessMetrics } from './metrics.ts'
import { type App, type AppOptions, endApp, ownPaths } from './open-app.ts'
import { START_ENDED, type StartFault } from './start-fault.ts'

export interface StartServiceOptions extends ServingContext {
  /** Default: a server that listens on `server.port`. */
  readonly openServer?: ((options: DispatcherOptions) => Promise<HttpServer>) | undefined
  readonly log: ReloadableObserver
  readonly deployment: string
  /** Aborts the start, which then fails: a running migration is rolled back, and nothing stays open. */
  readonly signal?: AbortSignal | undefined
  /** Binds the port only when the project can be served, because other processes already serve it on the same port. */
  readonly bindsLast?: boolean | undefined
  /** Opens the app; `onStep` is called when a step begins. */
  open(onStep: NonNullable<AppOptions['onStep']>): Promise<Result<RunningApp, StartFault>>
}

/** Binds the port, answers requests with 503, opens the app, and then swaps it in. */
export async function startService(
  blueprint: Blueprint,
  options: StartServiceOptions,
): Promise<Result<Service, StartFault>> {
  const { log, metrics, signal, bindsLast = false, openServer = openHttpServer } = options
  const { server: settings, graphql } = blueprint.project.settings
  const { responders, setStep } = openStartGate()
  const meters = metrics?.meters ?? null
  const paths = ownPaths(blueprint)
  const starting = {
    ...{ settings, responders, fallback: null, observer: log, meters, drain: SHORT_DRAIN, paths },
    graphql: graphql.endpoints,
  }
  if (signal?.aborted) return ENDED
  const server = await openServer(starting)
  const bound = bindsLast ? ok(null) : await bind(server)
  if (!bound.ok) return bound
  const start = { server, bound: bound.value, options, onStep: setStep }
  let ending: Promise<void> | undefined
  const end = () => {
    ending = bound.value?.close(END_TIMEOUT)
  }
  signal?.addEventListener('abort', end, { once: true })
  try {
    const started = await serve(start)
    if (!started.ok && !signal?.aborted) await bound.value?.terminate()
    return signal?.aborted ? ENDED : started
  } catch (error) {
    if (signal?.aborted) return ENDED
    await bound.value?.terminate()
    throw error
  } finally {
    signal?.removeEventListener('abort', end)
    await ending
  }
}

/** Milliseconds to drain requests when a start is aborted. */
const END_TIMEOUT = 1_000

const ENDED: Result<never, StartFault> = failed({ kind: 'other', message: START_ENDED })

async function bind(server: HttpServer): Promise<Result<RunningServer, StartFault>> {
  const bound = await server.listen()
  return bound.ok
    ? bound
    : failed(...bound.reasons.map((message): StartFault => ({ kind: 'other', message })))
}

interface Start {
  readonly server: HttpServer
  /** null: the port is not bound yet. */
  readonly bound: RunningServer | null
  readonly options: StartServiceOptions
  readonly onStep: NonNullable<AppOptions['onStep']>
}

/** Registers the process in the database before it serves the first request: migrations of other processes must see it. */
async function serve({ server, bound, options, onStep }: Start): Promise<Result<Service, StartFault>> {
  const { log, deployment, signal } = options
  const opened = await options.open(onStep)
  if (!opened.ok) return opened
  const running = opened.value
  logMessages(running)
  let service: Service | undefined
  const current = () => (service?.running ?? running).app
  const outdated = () => service?.retryReload()
  const presence = await registerProcess(running.app, { deployment, log, current, outdated })
  if (!signal?.aborted) await server.swap(dispatcherOptionsOf(running, options))
  const listening = bound ? ok(bound) : await bind(server)
  if (!listening.ok || signal?.aborted) {
    if (listening.ok) await listening.value.close(END_TIMEOUT)
    await presence.close()
    await endApp(running.app)
    return listening.ok ? ENDED : listening
  }
  const { metrics } = options
  const initial = {
    pendingFiles: new Set<string>(),
    retiring: new Set<Promise<void>>(),
    retryReload: () => {},
    isEnding: false,
  }
  service = { ...initial, server: listening.value, log, running, metrics, presence }
  logStart(service)
  // Another process may have migrated before this one was registered.
  void running.app.generation.check()
  return ok(service)
}

function logStart({ server, log, metrics, running: { app } }: Service): void {
  const { url } = server
  if (url !== '') log.emit({ kind: 'listening', url, milliseconds: performance.now() })
  if (metrics) addAppMetrics(metrics.meters, app.database, server.pending)
  if (metrics?.url) log.emit({ kind: 'prepared', what: `Numbers for Prometheus are at ${metrics.url}` })
  log.emit({ kind: 'prepared', what: `REST is at ${url}${app.blueprint.project.settings.rest.prefix}` })
}

interface RegisterOptions {
  readonly deployment: string
  readonly log: Observer
  /** The app that is served now. */
  current(): App
  /** Called when another process has migrated the database to a schema that this one cannot serve. */
  outdated(): void
}

/** Milliseconds that a start waits for its registration, without which other processes would migrate regardless. */
const REGISTER_TIMEOUT = 2_000

/** Registers this process for others that migrate the same database, and listens for their migrations. */
async function registerProcess(
  { database, generation: { hash } }: App,
  { deployment, log, current, outdated }: RegisterOptions,
): Promise<Presence> {
  let isBegun = false
  const check = async () => {
    if (!(await current().generation.check())) outdated()
  }
  const presence = openPresence(database, {
    hash,
    deployment,
    migrated: () => {
      if (isBegun) void check()
    },
    failed: message => log.emit({ kind: 'connectionLost', message }),
  })
  await withTimeout(REGISTER_TIMEOUT, presence.begun, undefined)
  isBegun = true
  return presence
}

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
  const { responders, middlewares, blueprint, pages } = app
  return {
    settings: blueprint.project.settings.server,
    responders: [
      ...(metrics?.responder ? [metrics.responder] : []),
      outdatedResponder(app),
      ...withReadYourWrites([...responders, healthResponder(app)], running),
    ],
    middlewares,
    pages,
    paths: ownPaths(blueprint),
    graphql: blueprint.project.settings.graphql.endpoints,
    fallback: app.openFallback(observer),
    observer,
    callerOf: app.callerOf,
    sendsTimings: !production,
    ...(!production && { drain: SHORT_DRAIN, projectRoot: blueprint.project.root }),
    meters: metrics?.meters ?? null,
    tracing,
  }
}

/** Milliseconds. Short, because a developer waits at the terminal. */
const SHORT_DRAIN = 500

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
export function outdatedResponder({ generation }: App): Responder {
  return refuseOutdated({
    isOutdated: generation.isOutdated,
    onRefused: generation.recheck,
  })
}

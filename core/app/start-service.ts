import { failed, ok, type Result } from '../base/result.ts'
import { type HttpServer, openHttpServer, type RunningServer } from '../http/server.ts'
import { openStartGate } from '../http/service-unavailable.ts'
import type { ReloadableObserver } from '../observe/observation.ts'
import { addAppFamilies } from './app-families.ts'
import type { Blueprint } from './compile-app.ts'
import { endApp, type ReadyTerms } from './open-app.ts'
import { type Running, type ServedBeside, type Service, SHORT_DRAIN, tellNews, toServed } from './service.ts'
import { showProcess } from './show-process.ts'
import { START_ENDED, type StartFault } from './start-fault.ts'

export interface StartTerms extends ServedBeside {
  readonly log: ReloadableObserver
  readonly deployment: string
  /** Ends the start, which then fails: a migration in progress is rolled back, and nothing listens or stays open. */
  readonly signal?: AbortSignal | undefined
  /** The port is bound only once the project can be served: other processes serve it from the same port. */
  readonly bindsLast?: boolean | undefined
  /** Opens the app; `enter` is called at each step. */
  open(enter: NonNullable<ReadyTerms['enter']>): Promise<Result<Running, StartFault>>
}

/** Binds the port, opens the app, and then gives it the requests, which are answered with 503 until then. */
export async function startService(
  blueprint: Blueprint,
  terms: StartTerms,
): Promise<Result<Service, StartFault>> {
  const { log, numbers, signal, bindsLast = false } = terms
  const { server: settings, graphql } = blueprint.project.settings
  const { responders, setStep: enter } = openStartGate(graphql.config.endpoint)
  const meters = numbers?.meters ?? null
  const starting = { settings, responders, fallback: null, observer: log, meters, drain: SHORT_DRAIN }
  if (signal?.aborted) return ENDED
  const server = await openHttpServer(starting)
  const bound = bindsLast ? ok(null) : await bind(server)
  if (!bound.ok) return bound
  const start = { server, bound: bound.value, terms, enter }
  let ending: Promise<void> | undefined
  const end = () => {
    ending = bound.value?.close(END_PATIENCE)
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

/** Milliseconds for answers that are being sent when a start is ended. */
const END_PATIENCE = 1_000

const ENDED: Result<never, StartFault> = failed({ kind: 'other', message: START_ENDED })

async function bind(server: HttpServer): Promise<Result<RunningServer, StartFault>> {
  const bound = await server.listen()
  return bound.ok
    ? bound
    : failed(...bound.reasons.map((message): StartFault => ({ kind: 'other', message })))
}

interface Start {
  readonly server: HttpServer
  /** null: it does not listen yet. */
  readonly bound: RunningServer | null
  readonly terms: StartTerms
  readonly enter: NonNullable<ReadyTerms['enter']>
}

/**
 * Registers the process in the database before it serves the first request: other processes that migrate must see it
 * from then on.
 */
async function serve({ server, bound, terms, enter }: Start): Promise<Result<Service, StartFault>> {
  const { log, deployment, signal } = terms
  const opened = await terms.open(enter)
  if (!opened.ok) return opened
  const running = opened.value
  tellNews(running)
  let service: Service | undefined
  const current = () => (service?.running ?? running).app
  const outdated = () => service?.reloadAgain()
  const presence = await showProcess(running.app, { deployment, log, current, outdated })
  if (!signal?.aborted) await server.swap(toServed(running, terms))
  const listening = bound ? ok(bound) : await bind(server)
  if (!listening.ok || signal?.aborted) {
    if (listening.ok) await listening.value.close(END_PATIENCE)
    await presence.close()
    await endApp(running.app)
    return listening.ok ? ENDED : listening
  }
  const { numbers } = terms
  const beginning = {
    unserved: new Set<string>(),
    retiring: new Set<Promise<void>>(),
    reloadAgain: () => {},
    isEnding: false,
  }
  service = { ...beginning, server: listening.value, log, running, numbers, presence }
  tellBegin(service)
  // What another process did before this one could hear of it.
  void running.app.generation.check()
  return ok(service)
}

function tellBegin({ server, log, numbers, running: { app } }: Service): void {
  const { url } = server
  log.emit({ kind: 'listening', url, milliseconds: performance.now() })
  if (numbers) addAppFamilies(numbers.meters, app.database, server.pending)
  if (numbers?.url) log.emit({ kind: 'prepared', what: `Numbers for Prometheus are at ${numbers.url}` })
  log.emit({ kind: 'prepared', what: `REST is at ${url}${app.blueprint.project.settings.rest.prefix}` })
}

import { failed, ok, type Result } from '../base/result.ts'
import { openServer } from '../http/server.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { Observer } from '../observe/observation.ts'
import { type ChangingObserver, changingObserver } from '../observe/reloadable-observer.ts'
import { openTracing } from '../observe/tracing.ts'
import type { Environment } from '../project/environment.ts'
import { addAppFamilies } from './app-families.ts'
import type { Blueprint } from './compile-app.ts'
import { deploymentOf, othersOf } from './deployment.ts'
import { type NumbersTerms, openNumbers } from './metrics.ts'
import { endApp } from './open-app.ts'
import { observerOf, openObserved } from './open-observed.ts'
import { ANYTHING, type ReloadTerms, reloadApp } from './reload-app.ts'
import type { ReplaceTerms } from './replace-app.ts'
import { oneAtATime } from './run-serially.ts'
import { type Running, type ServedBeside, type Service, tellNews, toServed } from './service.ts'
import { showProcess } from './show-process.ts'
import type { StartFault } from './start-fault.ts'

export interface ServeTerms extends ReplaceTerms, NumbersTerms {
  /** For `${…}` in project.yaml when it is read again; without it, the process's own. */
  readonly env?: Environment
}

export interface ServedApp {
  readonly url: string
  /** What it serves now. */
  blueprint(): Blueprint
  /** What this process counts; null: nothing. */
  readonly meters: Meters | null
  /** The log, in which none of the project's secrets shows. */
  readonly observer: Observer
  /**
   * Reads the project's files again, and serves what they say from the next request on; requests under way are
   * answered as they were begun. Where the files are wrong, or what they say cannot be served, all goes on as before.
   * The log tells which, as does the answer. `files`: the paths of what changed; without, anything. Never rejects.
   */
  reload(files?: readonly string[]): Promise<boolean>
  /**
   * Has new requests wait until the answered function is called, some seconds at most. Resolves once none is under way,
   * or soon: for changes of the database that another process is about to make.
   */
  hold(): Promise<() => void>
  /** Writes down what code rejected with that nobody waited for: a plugin's, most likely. */
  tellUnheard(error: unknown): void
  /** Takes no more requests, answers what is under way, closes the database. Safe to call twice. */
  close(): Promise<void>
}

/** Blueprint → an app that listens, and says in its log where; or every reason why not. */
export async function serveApp(
  blueprint: Blueprint,
  terms: ServeTerms,
): Promise<Result<ServedApp, StartFault>> {
  const numbers = await openNumbers(blueprint.project.settings.server, terms)
  if (!numbers.ok) return numbers
  const { production } = terms
  const tracing = await openTracing()
  const watched = { env: process.env, ...terms, tracing, meters: numbers.value?.meters ?? null }
  const observer = observerOf(blueprint, watched)
  const log = changingObserver(observer)
  const opened = await openObserved(blueprint, log, { ...watched, observer, others: othersOf(terms) })
  const service = opened.ok
    ? await openService(
        { app: opened.value, observer },
        { log, production, numbers: numbers.value, tracing, deployment: deploymentOf(terms.worker) },
      )
    : opened
  if (service.ok) return ok(toServedApp(service.value, watched))
  numbers.value?.close()
  return service
}

interface ServiceTerms extends ServedBeside {
  readonly log: ChangingObserver
  readonly deployment: string
}

/**
 * Registers the process in the database before it listens: other processes that migrate must see it from its first
 * request on, and no wait may lie between listening and the signal handlers.
 */
async function openService(running: Running, terms: ServiceTerms): Promise<Result<Service, StartFault>> {
  const { log, numbers, deployment } = terms
  tellNews(running)
  const { app } = running
  let service: Service | undefined
  const current = () => (service?.running ?? running).app
  const presence = await showProcess(app, { deployment, log, current })
  const server = await openServer(toServed(running, terms))
  if (!server.ok) {
    await presence.close()
    await endApp(app)
    return failed(...server.reasons.map((message): StartFault => ({ kind: 'other', message })))
  }
  if (numbers) addAppFamilies(numbers.meters, app.database, server.value.waiting)
  const { prefix } = app.blueprint.project.settings.rest
  if (numbers?.url) log.tell({ kind: 'prepared', what: `Numbers for Prometheus are at ${numbers.url}` })
  log.tell({ kind: 'prepared', what: `REST is at ${server.value.url}${prefix}` })
  const beginning = { unserved: new Set<string>(), retiring: new Set<Promise<void>>(), isEnding: false }
  service = { ...beginning, server: server.value, log, running, numbers, presence }
  // What another process did before this one could hear of it.
  void app.generation.check()
  return ok(service)
}

function toServedApp(service: Service, terms: ReloadTerms): ServedApp {
  const { server, log, retiring } = service
  const reloads = oneAtATime<string>(files => reloadApp(service, files, terms))
  const end = async () => {
    await server.close(service.running.app.blueprint.project.settings.server.requestTimeout)
    service.isEnding = true
    await reloads.end(RELOAD_PATIENCE)
    await Promise.all(retiring)
    await service.presence.close()
    await endApp(service.running.app)
    service.numbers?.close()
  }
  let ending: Promise<void> | undefined
  return {
    url: server.url,
    observer: log,
    meters: service.numbers?.meters ?? null,
    blueprint: () => service.running.app.blueprint,
    reload: (files = [ANYTHING]) => reloads.ask(files),
    hold: () => server.hold(),
    tellUnheard: error => log.tell({ kind: 'pluginFailed', message: UNHEARD, error }),
    close() {
      ending ??= end()
      return ending
    },
  }
}

/** Milliseconds that a reload has to end when the server does: a plugin may take a minute to begin. */
const RELOAD_PATIENCE = 5_000

const UNHEARD = 'Something failed that nobody waited for (a promise without await?)'

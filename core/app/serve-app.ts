import { ok, type Result } from '../base/result.ts'
import { coalesceRuns } from '../base/serial-queue.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import { openTracing } from '../observe/tracing.ts'
import type { Environment } from '../project/environment.ts'
import type { Blueprint } from './compile-app.ts'
import { deploymentOf, othersOf } from './deployment.ts'
import { type NumbersTerms, openNumbers } from './metrics.ts'
import { endApp } from './open-app.ts'
import { observerOf, openObserved } from './open-observed.ts'
import { ANYTHING, type ReloadTerms, reloadApp } from './reload-app.ts'
import type { ReplaceTerms } from './replace-app.ts'
import type { Service } from './service.ts'
import type { StartFault } from './start-fault.ts'
import { type StartTerms, startService } from './start-service.ts'

export interface ServeTerms extends ReplaceTerms, NumbersTerms, Pick<StartTerms, 'signal' | 'bindsLast'> {
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

/**
 * Blueprint → an app that listens, and says in its log where; or every reason why not. The port is bound before anything
 * else is touched; until the project is served, its requests are answered with 503. Resolves once it is served.
 */
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
  const log = reloadableObserver(observer)
  const service = await startService(blueprint, {
    ...{ log, production, numbers: numbers.value, tracing, deployment: deploymentOf(terms.worker) },
    ...{ signal: terms.signal, bindsLast: terms.bindsLast },
    async open(enter) {
      const app = await openObserved(blueprint, log, {
        ...watched,
        enter,
        observer,
        others: othersOf(terms),
        embedded: { access: 'offer' },
      })
      return app.ok ? ok({ app: app.value, observer }) : app
    },
  })
  if (service.ok) return ok(toServedApp(service.value, watched))
  numbers.value?.close()
  return service
}

function toServedApp(service: Service, terms: ReloadTerms): ServedApp {
  const { server, log, retiring, unserved } = service
  const reloads = coalesceRuns<string>(async files =>
    files.length > 0 || unserved.size > 0 ? reloadApp(service, files, terms) : true,
  )
  // In production an operator decides when a version is served.
  if (!terms.production) service.reloadAgain = () => void reloads.request([])
  const end = async () => {
    service.running.app.database.endForeign()
    await server.close(service.running.app.blueprint.project.settings.server.requestTimeout)
    service.isEnding = true
    await reloads.close(RELOAD_PATIENCE)
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
    reload: (files = [ANYTHING]) => reloads.request(files),
    hold: () => server.hold(),
    tellUnheard: error => log.emit({ kind: 'pluginFailed', message: UNHEARD, error }),
    close() {
      ending ??= end()
      return ending
    },
  }
}

/** Milliseconds that a reload has to end when the server does: a plugin may take a minute to begin. */
const RELOAD_PATIENCE = 5_000

const UNHEARD = 'Something failed that nobody waited for (a promise without await?)'

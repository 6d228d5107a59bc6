import { ok, type Result } from '../base/result.ts'
import { coalesceRuns } from '../base/serial-queue.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import { openTracing } from '../observe/tracing.ts'
import type { Environment } from '../project/environment.ts'
import type { Blueprint } from './compile-app.ts'
import { openProcessMetrics, type ProcessMetricsOptions } from './metrics.ts'
import { observerOf } from './observers.ts'
import { endApp, openObserved } from './open-app.ts'
import {
  ALL_FILES,
  deploymentOf,
  otherProcessesOf,
  type ReloadOptions,
  type ReplaceOptions,
  reloadApp,
} from './reload-app.ts'
import type { StartFault } from './start-fault.ts'
import { type Service, type StartServiceOptions, startService } from './start-service.ts'

export interface ServeTerms
  extends ReplaceOptions,
    ProcessMetricsOptions,
    Pick<StartServiceOptions, 'signal' | 'bindsLast'> {
  /** The environment for `${…}` in project.yaml at a reload; default: the process's own. */
  readonly env?: Environment
}

export interface ServedApp {
  readonly url: string
  /** The version that is served now. */
  blueprint(): Blueprint
  /** The metrics of this process; null: disabled. */
  readonly meters: Meters | null
  /** The log, which redacts all secrets of the project. */
  readonly observer: Observer
  /**
   * Reloads the project's files and serves them from the next request on; requests in flight end on the old version.
   * Resolves to false if the files are wrong or cannot be served: the old version stays, and the log says why. `files`:
   * the changed paths; default: any. Never rejects.
   */
  reload(files?: readonly string[]): Promise<boolean>
  /**
   * Holds new requests until the returned function is called, a few seconds at most. Resolves when no request is in
   * flight, or after one second. For migrations by another process.
   */
  hold(): Promise<() => void>
  /** Logs an unhandled rejection, which most likely comes from a plugin. */
  logUnhandled(error: unknown): void
  /** Drains requests in flight and closes the database. Idempotent. */
  close(): Promise<void>
}

/**
 * Starts a server for a blueprint. Resolves when the project is served, or to every reason why it cannot be. The port is
 * bound first; until the project is served, requests are answered with 503.
 */
export async function serveApp(
  blueprint: Blueprint,
  options: ServeTerms,
): Promise<Result<ServedApp, StartFault>> {
  const metrics = await openProcessMetrics(blueprint.project.settings.server, options)
  if (!metrics.ok) return metrics
  const { production } = options
  const tracing = await openTracing()
  const observed = { env: process.env, ...options, tracing, meters: metrics.value?.meters ?? null }
  const observer = observerOf(blueprint, observed)
  const log = reloadableObserver(observer)
  const service = await startService(blueprint, {
    ...{ log, production, metrics: metrics.value, tracing, deployment: deploymentOf(options.worker) },
    ...{ signal: options.signal, bindsLast: options.bindsLast },
    async open(onStep) {
      const app = await openObserved(blueprint, log, {
        ...observed,
        onStep,
        observer,
        others: otherProcessesOf(options),
        embedded: { access: 'offer' },
      })
      return app.ok ? ok({ app: app.value, observer }) : app
    },
  })
  if (service.ok) return ok(toServedApp(service.value, observed))
  metrics.value?.close()
  return service
}

function toServedApp(service: Service, options: ReloadOptions): ServedApp {
  const { server, log, retiring, pendingFiles } = service
  const reloads = coalesceRuns<string>(async files =>
    files.length > 0 || pendingFiles.size > 0 ? reloadApp(service, files, options) : true,
  )
  // In production the operator decides when a version is served.
  if (!options.production) service.retryReload = () => void reloads.request([])
  const end = async () => {
    service.running.app.database.endForeign()
    await server.close(service.running.app.blueprint.project.settings.server.requestTimeout)
    service.isEnding = true
    await reloads.close(RELOAD_TIMEOUT)
    await Promise.all(retiring)
    await service.presence.close()
    await endApp(service.running.app)
    service.metrics?.close()
  }
  let ending: Promise<void> | undefined
  return {
    url: server.url,
    observer: log,
    meters: service.metrics?.meters ?? null,
    blueprint: () => service.running.app.blueprint,
    reload: (files = [ALL_FILES]) => reloads.request(files),
    hold: () => server.hold(),
    logUnhandled: error => log.emit({ kind: 'pluginFailed', message: UNHANDLED, error }),
    close() {
      ending ??= end()
      return ending
    },
  }
}

/** Milliseconds that a close waits for a running reload, in which a plugin may take a minute to start. */
const RELOAD_TIMEOUT = 5_000

const UNHANDLED = 'Unhandled failure (a promise without await?)'

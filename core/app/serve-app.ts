import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { deepFreeze } from '../base/plain-data.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { coalesceRuns } from '../base/serial-queue.ts'
import type { Draining } from '../http/dispatcher.ts'
import type { OtherProcesses } from '../migrate/migration-options.ts'
import type { Table } from '../model/storage.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import { openTracing, type Tracing } from '../observe/tracing.ts'
import type { PluginApp } from '../plugins/context.ts'
import type { Environment } from '../project/environment.ts'
import type { Settings } from '../project/settings/settings.ts'
import { type Blueprint, recompileApp } from './compile-app.ts'
import { openProcessMetrics, type ProcessMetricsOptions } from './metrics.ts'
import { type AppLogOptions, observerOf } from './observers.ts'
import { type App, endApp, openObserved, prepareApp } from './open-app.ts'
import { printReason, type StartFault, withOpenPaths } from './start-fault.ts'
import {
  dispatcherOptionsOf,
  logMessages,
  type RunningApp,
  type Service,
  type ServingContext,
  type StartServiceOptions,
  startService,
} from './start-service.ts'

export interface ServeOptions
  extends ReplaceOptions,
    ProcessMetricsOptions,
    Pick<StartServiceOptions, 'signal' | 'bindsLast' | 'openServer'> {
  /** The environment for `${…}` in project.yaml at a reload; default: the process's own. */
  readonly env?: Environment
}

export interface ServedApp {
  readonly url: string
  /** The version that is served now. */
  blueprint(): Blueprint
  /** The `app` of its plugins. */
  pluginApp(): PluginApp
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
  options: ServeOptions,
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
    ...{ signal: options.signal, bindsLast: options.bindsLast, openServer: options.openServer },
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
    pluginApp: () => service.running.app.pluginApp,
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

export const UNHANDLED = 'Unhandled failure (a promise without await?)'

interface ReplaceOptions extends AppLogOptions {
  readonly production: boolean
  /** Absent or null: no tracing. */
  readonly tracing?: Tracing | null
  /** Makes other workers hold requests, before a migration removes what the old version relies on. */
  readonly holdOthers?: () => Promise<void>
  /** A migration may outdate serving processes of other versions. */
  readonly replaceOthers?: boolean
}

/**
 * Opens the next generation of the app on the same database, swaps it in, and closes the old one when it has drained.
 * Resolves to the changed keys that need a restart. If the new app cannot be opened, the old one is unaffected.
 */
async function replaceApp(
  service: Service,
  wanted: Blueprint,
  options: ReplaceOptions,
): Promise<Result<readonly string[], StartFault>> {
  const before = service.running
  const { blueprint, restartKeys } = keepFixedSettings(before.app.blueprint, wanted)
  const observer = observerOf(blueprint, options)
  const { production, meters = null, tracing = null } = options
  const ready = await prepareApp(blueprint, {
    ...{ production, observer, meters, tracing },
    others: otherProcessesOf(options),
  })
  if (!ready.ok) return ready
  const release = isAdditive(before.app.blueprint, blueprint) ? () => {} : await holdAll(service, options)
  try {
    const opened = await ready.value(before.app.database)
    if (!opened.ok) return opened
    if (service.isEnding) return await refuseReplacement(opened.value)
    const outgoing = await swapTo(service, { app: opened.value, observer }, { production, tracing })
    retire(service, before, outgoing)
    await service.presence.move(opened.value.generation.hash)
    return ok(restartKeys)
  } finally {
    release()
  }
}

async function holdAll({ server }: Service, { holdOthers }: ReplaceOptions): Promise<() => void> {
  const [release] = await Promise.all([server.hold(), holdOthers?.()])
  return release
}

async function refuseReplacement(app: App): Promise<Result<never, StartFault>> {
  await app.close()
  return failed({ kind: 'other', message: 'the server is ending' })
}

async function swapTo(
  service: Service,
  running: RunningApp,
  options: Omit<ServingContext, 'metrics'>,
): Promise<Draining> {
  logMessages(running)
  const outgoing = await service.server.swap(dispatcherOptionsOf(running, { ...service, ...options }))
  service.running = running
  service.log.replace(running.observer)
  return outgoing
}

/**
 * True if the new storage keeps all tables and columns of the old one, with the same row semantics. Otherwise a migration
 * may remove or duplicate rows that requests in flight rely on.
 */
function isAdditive({ storage: before }: Blueprint, { storage: after }: Blueprint): boolean {
  const columnsOf = ({ name: table, columns, shape }: Table) => [
    ...columns.map(({ name, type }) => `${table} ${name} ${type}`),
    ...(shape ? [`${table} ${shape.drafts} ${shape.locale !== null}`] : []),
  ]
  const there = new Set(after.tables.flatMap(columnsOf))
  return before.tables.flatMap(columnsOf).every(column => there.has(column))
}

function retire(service: Service, { app, observer }: RunningApp, outgoing: Draining): void {
  const ending = outgoing
    .drained()
    .then(() => app.close())
    .catch((error: unknown) => observer.emit({ kind: 'pluginFailed', message: NOT_ENDED, error }))
    .finally(() => service.retiring.delete(ending))
  service.retiring.add(ending)
}

const NOT_ENDED = 'What was served before the reload could not be ended'

/** Names the processes that reload together: this one, or the workers of one primary process. */
const deploymentOf = (worker: number | undefined): string =>
  `${hostname()} ${worker === undefined ? process.pid : process.ppid}`

interface DeploymentOptions {
  readonly worker?: number | undefined
  readonly replaceOthers?: boolean
}

const otherProcessesOf = ({ worker, replaceOthers = false }: DeploymentOptions): OtherProcesses => ({
  deployment: deploymentOf(worker),
  mayOutdate: replaceOthers,
})

interface ReloadOptions extends ReplaceOptions {
  readonly env: Environment
}

/**
 * Reloads the project's files. True: the new version is served. False: the old version is still served, and the log says
 * why. `files`: what changed since the last call. Never rejects.
 */
async function reloadApp(
  service: Service,
  files: readonly string[],
  options: ReloadOptions,
): Promise<boolean> {
  const began = performance.now()
  const { pendingFiles, log } = service
  for (const file of files) pendingFiles.add(file)
  try {
    const changed = pendingFiles.has(ALL_FILES) ? [] : [...pendingFiles]
    const compiled = await recompileApp(service.running.app.blueprint, changed, options.env, message =>
      log.emit({ kind: 'pluginWarned', message }),
    )
    if (!compiled.ok) return refuseReload(service, [{ kind: 'files', diagnostics: compiled.reasons }])
    const replaced = await replaceApp(service, compiled.value, options)
    if (!replaced.ok) return refuseReload(service, replaced.reasons)
    if (replaced.value.length > 0) log.emit({ kind: 'restartNeeded', keys: replaced.value })
    log.emit({ kind: 'reloaded', files: changed, milliseconds: performance.now() - began })
    pendingFiles.clear()
    return true
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return refuseReload(service, [{ kind: 'other', message }])
  }
}

/** Instead of a path: any file may have changed. */
const ALL_FILES = '*'

function refuseReload(service: Service, reasons: readonly StartFault[]): false {
  const { root } = service.running.app.blueprint.project
  const why = reasons.map(withOpenPaths(root)).map(printReason).join('\n\n')
  service.log.emit({ kind: 'reloadRefused', why })
  return false
}

/** Settings that take effect only at a start: address, metrics, database connections. */
interface FixedSettings {
  readonly server: Pick<Settings['server'], 'host' | 'port' | 'metrics'>
  readonly database: Settings['database']
}

const fixedSettingsOf = ({ server: { host, port, metrics }, database }: Settings): FixedSettings => ({
  server: { host, port, metrics },
  database,
})

interface Reloadable {
  readonly blueprint: Blueprint
  /** Changed keys that take effect only after a restart: `server.port`, `database.url`. */
  readonly restartKeys: readonly string[]
}

/** The new blueprint with the fixed settings of the running one. */
function keepFixedSettings(running: Blueprint, next: Blueprint): Reloadable {
  const now = fixedSettingsOf(running.project.settings)
  const restartKeys = changedSettings(now, fixedSettingsOf(next.project.settings))
  if (restartKeys.length === 0) return { blueprint: next, restartKeys }
  const { settings } = next.project
  const server = { ...settings.server, ...now.server }
  const carried = deepFreeze({ ...settings, server, database: now.database })
  const project = Object.freeze({ ...next.project, settings: carried })
  return { blueprint: Object.freeze({ ...next, project }), restartKeys }
}

const changedSettings = (now: FixedSettings, wanted: FixedSettings): readonly string[] => [
  ...changedKeys('server', now.server, wanted.server),
  ...changedKeys('database', now.database, wanted.database),
]

const changedKeys = <Part extends object>(section: string, now: Part, wanted: Part): readonly string[] => {
  const kept = new Map(Object.entries(now))
  return Object.entries(wanted)
    .filter(([key, value]) => !isDeepStrictEqual(value, kept.get(key)))
    .map(([key]) => `${section}.${key}`)
}

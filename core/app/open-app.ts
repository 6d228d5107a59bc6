import type { RequestListener } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import { unlessAborted } from '../base/with-timeout.ts'
import type { Database } from '../database/database.ts'
import { detectDrift, type Generation, openGeneration } from '../database/generations/generations.ts'
import { type KeptStatistics, keepStatistics } from '../database/keep-statistics.ts'
import { watchDatabase } from '../database/watch-database.ts'
import { openSlowReads, type SlowReads } from '../doctor/slow-reads.ts'
import type { Events } from '../events/events.ts'
import { openEvents } from '../events/open-events.ts'
import type { Responder } from '../faults/http-exchange.ts'
import { openBrowserPages } from '../http/browser-pages.ts'
import { openConsolePages } from '../http/console-pages.ts'
import { openConsoleSession } from '../http/console-session.ts'
import { mountUploads, openExpressFallback } from '../http/express-fallback.ts'
import { isReadableFile, type MayReadFile, mountServedFiles } from '../http/served-files.ts'
import type { CallerKeys } from '../identity/callers.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { openLocalStorage, uploadsFolder } from '../media/storage/open-storage.ts'
import { hashSchema } from '../migrate/schema-hash.ts'
import type { Observer } from '../observe/observation.ts'
import type { PluginApp } from '../plugins/context.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { bootstrapPlugins, destroyPlugins } from '../plugins/register.ts'
import type { Blueprint } from './compile-app.ts'
import { openConsoleServices } from './console-services.ts'
import { type DatabaseWatchOptions, databaseWatchOf, toObservation } from './observers.ts'
import { openProjectStorage, type RegisteredApp, registerApp } from './open-plugins.ts'
import { awaitDatabase, type ProjectDatabaseOptions } from './open-project-database.ts'
import { type CommonPrepareOptions, type PrepareOptions, prepareDatabase } from './prepare-database.ts'
import {
  type IdentitySection,
  type MailSectionOptions,
  openApiEndpoints,
  openDocumentsSection,
  openFilesSection,
  openIdentitySection,
  openMailSection,
  openSignIn,
  type SignInOptions,
  signedPathsOf,
} from './sections.ts'
import { failStart, START_ENDED, type StartFault } from './start-fault.ts'

/** A project over an open database, ready to serve. It does not listen yet. */
export interface App {
  readonly blueprint: Blueprint
  readonly database: Database
  readonly generation: Generation
  readonly responders: readonly Responder[]
  readonly events: Events
  /** The identity that fair queueing counts a request for. */
  readonly callerOf: CallerKeys['keyFor']
  /** The `app` that plugins receive. */
  readonly pluginApp: PluginApp
  /** Express middlewares around every request. */
  readonly middlewares: readonly ExpressMiddleware[]
  /** Pages for browsers at addresses that no responder takes. */
  readonly pages: Responder
  /** Answers what no responder takes: the uploaded files. */
  openFallback(observer: Observer): () => Promise<RequestListener>
  /** The changes that the start made, one sentence each. */
  readonly messages: readonly string[]
  /** Closes the app, but not its database. */
  close(): Promise<void>
}

export type AppOptions = SignInOptions &
  MailSectionOptions &
  Pick<DatabaseWatchOptions, 'meters' | 'tracing'> &
  CommonPrepareOptions

export type OpenAppOptions = ProjectDatabaseOptions & AppOptions

/** Opens the database, migrates and fills it, and assembles the app. `endApp` closes both. */
export async function openApp(
  blueprint: Blueprint,
  options: OpenAppOptions,
): Promise<Result<App, StartFault>> {
  const ready = await prepareApp(blueprint, options)
  if (!ready.ok) return ready
  const onWait = () => options.onStep?.('waiting')
  const database = await awaitDatabase(blueprint.project, { ...options, onWait })
  if (!database.ok) return database
  const opened = await ready.value(database.value).catch(async (error: unknown) => {
    await database.value.close()
    throw error
  })
  if (!opened.ok) await database.value.close()
  return opened
}

/** Opens an app whose database reports to a separate observer. */
export const openObserved = (
  blueprint: Blueprint,
  databaseObserver: Observer,
  options: Omit<OpenAppOptions, 'observe' | 'mayBeStandby'>,
): Promise<Result<App, StartFault>> =>
  openApp(blueprint, { ...options, observe: seen => databaseObserver.emit(toObservation(seen)) })

/** Closes an app and its database. */
export async function endApp(app: App): Promise<void> {
  await app.close()
  await app.database.close()
}

/** Opens the prepared app on a database. */
export type PreparedApp = (database: Database) => Promise<Result<App, StartFault>>

/** The part of a start that needs no database: the secrets of sign-in, and the registration of plugins. */
export async function prepareApp(
  blueprint: Blueprint,
  options: AppOptions,
): Promise<Result<PreparedApp, StartFault>> {
  const mail = openMailSection(blueprint, options)
  const signIn = await openSignIn(blueprint, options).catch(failStart)
  if (!signIn.ok || !mail.ok) return failed(...[signIn, mail].flatMap(each => (each.ok ? [] : each.reasons)))
  const registering = registerApp(blueprint, options.observer, mail.value)
  const registered = await unlessAborted(options.signal, registering)
  if (!registered.ok) return registered
  return ok(async unwatched => {
    const { observer, production } = options
    const { tables } = blueprint.storage
    const generation = openGeneration(unwatched, {
      hash: hashSchema(unwatched.schema, tables, blueprint.migrations),
      outdated: reason => observer.emit({ kind: 'outdated', reason }),
    })
    const slowReads = openSlowReads()
    const watch = databaseWatchOf(blueprint, options)
    const statistics = keepStatistics(detectDrift(unwatched, { tables, generation }), {
      tables: tables.map(({ name }) => name),
      failed: message => observer.emit({ kind: 'upkeepFailed', message }),
    })
    const database = watchDatabase(statistics.database, {
      ...watch,
      reportSlow(slow) {
        slowReads.record(slow.milliseconds, slow.work)
        watch.reportSlow(slow)
      },
    })
    const { listeners } = registered.value
    const events = openEvents({ database, model: blueprint.model, listeners, observer })
    const identity = signIn.value(database, events.outbox, mail.value)
    const { others, signal, onStep } = options
    const opened = { registered: registered.value, observer, production, slowReads, statistics }
    const preparation = { ...(others && { others }), ...(onStep && { onStep }), signal }
    return openOnDatabase(blueprint, { unwatched, generation, identity, events, ...opened, ...preparation })
  })
}

interface OpeningOptions extends PrepareOptions {
  readonly generation: Generation
  readonly events: Events
  readonly registered: RegisteredApp
  readonly production: boolean
  readonly slowReads: SlowReads
  readonly statistics: KeptStatistics
}

/** A failure leaves nothing running. */
async function openOnDatabase(
  blueprint: Blueprint,
  opening: OpeningOptions,
): Promise<Result<App, StartFault>> {
  const { project } = blueprint
  const { registered } = opening
  const storage = openProjectStorage(project, registered)
  if (!storage.ok) return storage
  const prepared = await prepareDatabase(blueprint, opening, storage.value).catch(failStart)
  if (!prepared.ok) return prepared
  const app = assembleApp(blueprint, { ...opening, storage: storage.value, messages: prepared.value })
  const problem = await bootstrap(blueprint, opening)
  if (problem === null) {
    app.events.start()
    opening.statistics.start()
    return ok(app)
  }
  await app.close()
  return failed({ kind: 'other', message: problem })
}

/** Bootstraps plugins. Resolves to null, or to the reason why they could not start. */
async function bootstrap(
  { plugins, project }: Blueprint,
  { registered, signal, onStep }: OpeningOptions,
): Promise<string | null> {
  if (signal?.aborted) return START_ENDED
  onStep?.('extensions')
  return unlessAborted(signal, bootstrapPlugins(plugins, registered.app, project.root)).catch(
    (error: unknown) => {
      if (signal?.aborted) return START_ENDED
      throw error
    },
  )
}

interface OpenSections extends OpeningOptions {
  readonly storage: FileStorage
  readonly messages: readonly string[]
}

/** One call a section, in the order of their dependencies. */
function assembleApp(blueprint: Blueprint, opened: OpenSections): App {
  const { identity, events, storage, messages, registered, observer, production } = opened
  const documents = openDocumentsSection(blueprint, { identity, registered, storage })
  const accounts = openIdentitySection(blueprint, { identity, documents })
  const files = openFilesSection(blueprint, { identity, storage, observer })
  const { slowReads, unwatched } = opened
  const console = openConsoleServices(blueprint, { registered, database: unwatched, slowReads })
  const sections = { identity, documents, accounts, files, console }
  return {
    blueprint,
    database: opened.unwatched,
    generation: opened.generation,
    messages,
    events,
    pluginApp: registered.app,
    callerOf: accounts.callerOf,
    middlewares: registered.express,
    responders: openApiEndpoints(blueprint, { registered, observer, production, ...sections }),
    pages: openPages(blueprint, production, accounts),
    openFallback: log => openUploadsFallback(blueprint, { ...opened, accounts }, log),
    async close() {
      await events.close()
      await destroyPlugins(blueprint.plugins, registered.app, observer)
      await identity.background.settled()
      await opened.statistics.close()
    },
  }
}

function openPages(blueprint: Blueprint, production: boolean, accounts: IdentitySection): Responder {
  const { settings } = blueprint.project
  const forConsole = openConsolePages(settings, production)
  const forSession = openConsoleSession(settings, production, accounts.consoleSessions)
  const others = openBrowserPages({
    settings,
    model: blueprint.model,
    publicCaller: blueprint.access.publicCaller,
    production,
    apiPaths: ownPaths(blueprint),
  })
  return request => forSession(request) ?? forConsole(request) ?? others(request)
}

/** The first parts of the paths that the server answers. */
export const ownPaths = ({ project: { settings } }: Blueprint): readonly string[] => [
  settings.rest.prefix,
  ...Object.keys(settings.graphql.enabled ? settings.graphql.endpoints : {}),
  ...['/uploads', '/_health', '/_ready', '/_mail', settings.server.metrics.path],
]

/**
 * Files of a storage that the server serves come first; those of a local folder stay reachable after a change of
 * `upload.provider`, and stay private with a private storage.
 */
const openUploadsFallback = (
  { project: { root }, model }: Blueprint,
  { storage, registered, identity, accounts }: OpenSections & { readonly accounts: IdentitySection },
  observer: Observer,
) =>
  openExpressFallback(
    async app => {
      const { documents } = registered.app
      const mayRead: MayReadFile = async (key, authorization) => {
        const caller = await accounts.identify(authorization)
        return isReadableFile(key, documents(model.builtIn.file.uid).as(caller))
      }
      const access = { mayRead, paths: signedPathsOf(identity) }
      const { served } = storage
      if (served) mountServedFiles(app, { ...served, signedUrl: storage.signedUrl }, access)
      if (served?.isPrivate && storage.provider !== 'local') {
        const local = openLocalStorage(root, { isPrivate: true })
        if (local.served) mountServedFiles(app, local.served, access)
      } else if (!served?.isPrivate) await mountUploads(app, uploadsFolder(root))
    },
    { observer },
  )

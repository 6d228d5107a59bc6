import type { RequestListener } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import type { DatabaseObservation } from '../database/observation.ts'
import { openDatabase } from '../database/open-database.ts'
import type { OpenOptions } from '../database/open-options.ts'
import { openDocuments } from '../documents/open-documents.ts'
import { aroundAll } from '../documents-api/around.ts'
import { openDocumentsApi } from '../documents-api/open-documents-api.ts'
import type { Events } from '../events/events.ts'
import { openEvents } from '../events/open-events.ts'
import type { Responder } from '../faults/exchange.ts'
import { openGraphql } from '../graphql/open-graphql.ts'
import { expressHost } from '../http/express-host.ts'
import { mountUploads } from '../http/mount-uploads.ts'
import { apiTokenStrategy } from '../identity/api-tokens.ts'
import { endingSessions } from '../identity/ending-sessions.ts'
import { createIdentify } from '../identity/identify.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import { openAuthService } from '../identity/open-auth-service.ts'
import { openIdentity } from '../identity/open-identity.ts'
import { openUsersService } from '../identity/open-users-service.ts'
import { openRateLimit } from '../identity/rate-limit.ts'
import { sessionStrategy } from '../identity/session-strategy.ts'
import type { FileStorage } from '../media/file-storage.ts'
import { uploadsFolder } from '../media/local-storage.ts'
import { openFiles } from '../media/open-files.ts'
import { openStorage } from '../media/open-storage.ts'
import { stagingFolder, sweep } from '../media/staging.ts'
import type { Observer } from '../observe/observation.ts'
import { compileGuards } from '../plugins/guards.ts'
import { bootstrapPlugins, destroyPlugins } from '../plugins/life.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import type { PluginApp } from '../plugins/plugin-app.ts'
import type { Registered } from '../plugins/register.ts'
import { openAuth } from '../rest/auth-routes.ts'
import { openExtensionRoutes } from '../rest/extension-routes.ts'
import { openLocales } from '../rest/i18n-locales.ts'
import { limitApi } from '../rest/limit-api.ts'
import { openRest } from '../rest/open-rest.ts'
import { openUploads } from '../rest/open-uploads.ts'
import { openRoles } from '../rest/users-roles.ts'
import { openUsers } from '../rest/users-routes.ts'
import type { Blueprint } from './compile-app.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { guardTermsOf, registerApp } from './open-plugins.ts'
import { openSignIn, type SignInTerms } from './open-sign-in.ts'
import { printLeft, type StartFault, toStartFault } from './start-fault.ts'
import { tellSteps } from './tell-steps.ts'

/** A project over an open database, ready to answer; it listens to nothing yet. */
export interface App {
  readonly blueprint: Blueprint
  readonly database: Database
  readonly responders: readonly Responder[]
  readonly events: Events
  /** The server, as plugins see it. */
  readonly pluginApp: PluginApp
  /** Express middlewares round every request. */
  readonly middlewares: readonly ExpressMiddleware[]
  /** Takes what no responder answers: the uploaded files. */
  host(observer: Observer): () => Promise<RequestListener>
  /** What opening it did, a sentence each. */
  readonly news: readonly string[]
  close(): Promise<void>
}

export type OpenTerms = Pick<OpenOptions, 'embedded'> &
  SignInTerms & {
    readonly observe: (observation: DatabaseObservation) => void
  }

/** Blueprint → database, its tables, the documents of content/ → what answers requests. */
export async function openApp(blueprint: Blueprint, terms: OpenTerms): Promise<Result<App, StartFault>> {
  const { project } = blueprint
  const signIn = await openSignIn(blueprint, terms)
  if (!signIn.ok) return signIn
  const registered = await registerApp(blueprint, terms.observer)
  if (!registered.ok) return registered
  const opened = await openDatabase(project.settings.database, { root: project.root, ...terms })
  if (!opened.ok) return failed(...opened.reasons.map((fault): StartFault => ({ kind: 'database', fault })))
  const database = opened.value
  const files = openStorage(project.settings.upload, project.root)
  const prepared = await prepare(blueprint, database, files).catch(async (error: unknown) => {
    const fault = toStartFault(error)
    if (fault) return failed(fault)
    await database.close()
    throw error
  })
  if (!prepared.ok) {
    await database.close()
    return prepared
  }
  const app = toApp(blueprint, {
    identity: signIn.value(database),
    files,
    news: prepared.value,
    registered: registered.value,
    observer: terms.observer,
    production: terms.production,
  })
  const trouble = await bootstrapPlugins(blueprint.plugins, registered.value.app)
  if (trouble === null) {
    app.events.start()
    return ok(app)
  }
  await app.close()
  return failed({ kind: 'other', message: trouble })
}

/** Brings tables, roles, locales and content in step with the files. */
async function prepare(
  blueprint: Blueprint,
  database: Database,
  files: FileStorage,
): Promise<Result<readonly string[], StartFault>> {
  const migrated = await migrate(database, blueprint.storage.tables)
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  const { steps, left } = migrated.value
  const filled: Result<Filled, StartFault> = await fillDatabase(blueprint, database, files)
  if (!filled.ok) return filled
  await sweep(stagingFolder(blueprint.project.root))
  return ok([...tellSteps(steps), ...left.map(printLeft), ...filled.value.news])
}

interface Opened {
  readonly identity: IdentityTerms
  readonly files: FileStorage
  readonly news: readonly string[]
  readonly registered: Registered
  readonly observer: Observer
  readonly production: boolean
}

function toApp(blueprint: Blueprint, opened: Opened): App {
  const { identity, files: kept, news, registered, observer, production } = opened
  const { project, model, storage, access } = blueprint
  const { settings } = project
  const { database, sessions, background } = identity
  const events = openEvents({ database, model, listeners: registered.listeners, observer })
  const documents = openDocuments({ database, storage, model, outbox: events.outbox })
  const around = aroundAll(registered.documentMiddlewares)
  const ending = endingSessions(documents, { model, storage })
  registered.connect(openDocumentsApi({ model, documents: ending, settings: settings.rest, around }))
  const identify = createIdentify(access.nobody, [
    apiTokenStrategy(settings.apiTokens, access),
    sessionStrategy({
      sessions,
      access,
      database,
      model,
      storage,
      confirmEmail: settings.auth.register.confirmEmail,
    }),
  ])
  const guarding = guardTermsOf(blueprint, { registered, identify, observer })
  const guards = compileGuards(registered, guarding)
  const terms = { model, settings: settings.rest, documents, identify, guards, around }
  const extensions = openExtensionRoutes(registered.routes, settings.rest.prefix, guarding)
  const count = openRateLimit(settings.server.rateLimit.auth, database)
  const auth = openAuthService({ model, documents, identity: openIdentity(identity), count })
  const users = openUsersService({ model, storage, database, documents })
  const staging = stagingFolder(project.root)
  const files = openFiles({ database, model, storage, settings: settings.upload, files: kept, staging })
  return {
    blueprint,
    database,
    news,
    events,
    pluginApp: registered.app,
    middlewares: registered.express,
    responders: [
      ...limitApi(settings.server.rateLimit.api, [settings.rest.prefix, settings.graphql.config.endpoint]),
      extensions.first,
      openUploads({ ...terms, files }),
      openAuth({ ...terms, auth }),
      openUsers({ ...terms, users }),
      openRoles({ ...terms, access }),
      openLocales(terms),
      openRest(terms),
      extensions.last,
      ...(settings.graphql.enabled
        ? [openGraphql({ ...terms, settings: settings.graphql, observer, production })]
        : []),
    ],
    host: observer => expressHost(app => mountUploads(app, uploadsFolder(project.root)), observer),
    async close() {
      await events.close()
      await destroyPlugins(blueprint.plugins, registered.app, observer)
      await background.settled()
      await database.close()
    },
  }
}

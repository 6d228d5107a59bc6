import type { RequestListener } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import { unlessAborted } from '../base/with-timeout.ts'
import { openCache } from '../cache/open-cache.ts'
import type { Database } from '../database/database.ts'
import { type Generation, openGeneration } from '../database/generations/generation.ts'
import { trackWrites } from '../database/generations/write-storage.ts'
import { watchDatabase } from '../database/watch-database.ts'
import { openDocuments } from '../documents/open-documents.ts'
import { composeMiddlewares } from '../documents-api/compose-middlewares.ts'
import { openDocumentsApi } from '../documents-api/open-documents-api.ts'
import type { Events } from '../events/events.ts'
import { openEvents } from '../events/open-events.ts'
import type { Responder } from '../faults/http-exchange.ts'
import { openLazyGraphql } from '../graphql/lazy-graphql.ts'
import { mountUploads, openExpressFallback } from '../http/express-fallback.ts'
import { withIdempotency } from '../idempotency/with-idempotency.ts'
import { apiTokenStrategy } from '../identity/api-tokens.ts'
import { type CallerKeys, openCallerKeys } from '../identity/callers.ts'
import { createIdentify, withReadYourWrites } from '../identity/identify.ts'
import { openIdentityService } from '../identity/open-identity.ts'
import { openRateLimit } from '../identity/rate-limit.ts'
import { openAuthService } from '../identity/sign-in/auth-service.ts'
import { sessionStrategy } from '../identity/sign-in/session-strategy.ts'
import { openUsersService } from '../identity/users/open-users-service.ts'
import { userDocuments } from '../identity/users/user-documents.ts'
import { openFiles } from '../media/files.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { openStorage, uploadsFolder } from '../media/storage/open-storage.ts'
import { stagingFolder } from '../media/storage/staging.ts'
import { noticeChanges } from '../migrate/detect-drift.ts'
import { hashSchema } from '../migrate/schema-hash.ts'
import type { Observer } from '../observe/observation.ts'
import type { PluginApp } from '../plugins/context.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { bootstrapPlugins, compileGuards, destroyPlugins } from '../plugins/register.ts'
import { limitApiRate } from '../rest/api-rate-limit.ts'
import { byFirstWord } from '../rest/endpoint.ts'
import { openExtensionRoutes } from '../rest/extension-routes.ts'
import { openLocales } from '../rest/i18n-locales.ts'
import { openRest } from '../rest/open-rest.ts'
import { openUploads } from '../rest/upload/open-uploads.ts'
import { openAuthRoutes } from '../rest/users/auth.ts'
import { openRoleRoutes } from '../rest/users/roles.ts'
import { openUserRoutes } from '../rest/users/users.ts'
import { awaitDatabase } from './await-database.ts'
import type { Blueprint } from './compile-app.ts'
import { type WatchTerms, watchOf } from './observe-database.ts'
import { guardTermsOf, type RegisteredApp, registerApp } from './open-plugins.ts'
import type { DatabaseTerms } from './open-project-database.ts'
import { openSignIn, type SignInTerms } from './open-sign-in.ts'
import { type PrepareTerms, prepareDatabase, type StepTerms } from './prepare-database.ts'
import { START_ENDED, type StartFault, toStartFault } from './start-fault.ts'

/** A project over an open database, ready to answer; it listens to nothing yet. */
export interface App {
  readonly blueprint: Blueprint
  readonly database: Database
  readonly generation: Generation
  readonly responders: readonly Responder[]
  readonly events: Events
  /** Who a request counts for where callers share something. */
  readonly callerOf: CallerKeys['keyFor']
  /** The server, as plugins see it. */
  readonly pluginApp: PluginApp
  /** Express middlewares round every request. */
  readonly middlewares: readonly ExpressMiddleware[]
  /** Takes what no responder answers: the uploaded files. */
  host(observer: Observer): () => Promise<RequestListener>
  /** What opening it did, a sentence each. */
  readonly news: readonly string[]
  /** Ends what it began, in order; its database stays open. */
  close(): Promise<void>
}

export type ReadyTerms = SignInTerms & Pick<WatchTerms, 'meters' | 'tracing'> & StepTerms

export type OpenTerms = DatabaseTerms & ReadyTerms

/** Blueprint → database, its tables, the documents of content/ → what answers requests. `endApp` ends all of it. */
export async function openApp(blueprint: Blueprint, terms: OpenTerms): Promise<Result<App, StartFault>> {
  const ready = await readyApp(blueprint, terms)
  if (!ready.ok) return ready
  const waiting = () => terms.enter?.('waiting')
  const database = await awaitDatabase(blueprint.project, { ...terms, waiting })
  if (!database.ok) return database
  const opened = await ready.value(database.value).catch(async (error: unknown) => {
    await database.value.close()
    throw error
  })
  if (!opened.ok) await database.value.close()
  return opened
}

/** Ends an app, and closes its database. */
export async function endApp(app: App): Promise<void> {
  await app.close()
  await app.database.close()
}

/** An app that lacks nothing but its database. */
export type ReadyApp = (database: Database) => Promise<Result<App, StartFault>>

/** What can be found out before a database is there: how sessions are signed, and what plugins take part in. */
export async function readyApp(
  blueprint: Blueprint,
  terms: ReadyTerms,
): Promise<Result<ReadyApp, StartFault>> {
  const signIn = await openSignIn(blueprint, terms)
  if (!signIn.ok) return signIn
  const registered = await unlessAborted(terms.signal, registerApp(blueprint, terms.observer))
  if (!registered.ok) return registered
  return ok(async bare => {
    const { observer, production } = terms
    const { tables } = blueprint.storage
    const generation = openGeneration(bare, {
      hash: hashSchema(bare.schema, tables, blueprint.migrations),
      outdated: reason => observer.emit({ kind: 'outdated', reason }),
    })
    const database = watchDatabase(noticeChanges(bare, { tables, generation }), watchOf(blueprint, terms))
    const { listeners } = registered.value
    const events = openEvents({ database, model: blueprint.model, listeners, observer })
    const identity = signIn.value(database, events.outbox)
    const { others, signal, enter } = terms
    const opened = { registered: registered.value, observer, production }
    const given = { ...(others && { others }), ...(enter && { enter }), signal }
    return openOver(blueprint, { bare, generation, identity, events, ...opened, ...given })
  })
}

interface Opening extends PrepareTerms {
  readonly generation: Generation
  readonly events: Events
  readonly registered: RegisteredApp
  readonly production: boolean
}

/** Leaves nothing running where it fails. */
async function openOver(blueprint: Blueprint, opening: Opening): Promise<Result<App, StartFault>> {
  const { project } = blueprint
  const files = openStorage(project.settings.upload, project.root)
  const prepared = await prepareDatabase(blueprint, opening, files).catch((error: unknown) => {
    const fault = toStartFault(error)
    if (fault) return failed(fault)
    throw error
  })
  if (!prepared.ok) return prepared
  const app = toApp(blueprint, { ...opening, files, news: prepared.value })
  const trouble = await bootstrap(blueprint, opening)
  if (trouble === null) {
    app.events.start()
    return ok(app)
  }
  await app.close()
  return failed({ kind: 'other', message: trouble })
}

/** Why the extensions could not start; null: they have. */
async function bootstrap(
  { plugins }: Blueprint,
  { registered, signal, enter }: Opening,
): Promise<string | null> {
  if (signal?.aborted) return START_ENDED
  enter?.('extensions')
  return unlessAborted(signal, bootstrapPlugins(plugins, registered.app)).catch((error: unknown) => {
    if (signal?.aborted) return START_ENDED
    throw error
  })
}

interface Opened extends Opening {
  readonly files: FileStorage
  readonly news: readonly string[]
}

function toApp(blueprint: Blueprint, opened: Opened): App {
  const { bare, generation, identity, events, files: kept, news, registered, observer, production } = opened
  const { project, model, storage, access } = blueprint
  const { settings } = project
  const { database, sessions, background, outbox } = identity
  const { enabled, maxBytes } = settings.cache
  const cache = enabled && maxBytes > 0 ? openCache({ database, maxBytes }) : null
  const plain = openDocuments({
    ...{ database, storage, model, outbox, cache },
    maxBytes: settings.database.limits.bytes,
  })
  const documents = userDocuments(plain, identity)
  const around = composeMiddlewares(registered.documentMiddlewares)
  registered.connect(openDocumentsApi({ model, documents, settings: settings.rest, around }))
  const known = createIdentify(access.publicCaller, [
    apiTokenStrategy(settings.apiTokens, access),
    sessionStrategy({
      sessions,
      access,
      database,
      model,
      storage,
      // Who is blocked is blocked at once, and replicas are behind.
      cache: database.replicas ? null : cache,
      confirmEmail: settings.auth.register.confirmEmail,
    }),
  ])
  const callers = openCallerKeys()
  const identify = callers.remembering(
    database.replicas ? withReadYourWrites(known, settings.apiTokens) : known,
  )
  const guarding = guardTermsOf(blueprint, { registered, identify, observer })
  const guards = compileGuards(registered, guarding)
  const terms = { model, settings: settings.rest, documents, identify, guards, around }
  const extensions = openExtensionRoutes(registered.routes, settings.rest.prefix, guarding)
  const { schema, graphql, trusted } = registered
  const added = {
    shadow: graphql.shadow,
    ...(trusted && { trusted }),
    ...(schema && { compiled: schema, code: guarding }),
  }
  const count = openRateLimit(settings.server.rateLimit.auth, database)
  const auth = openAuthService({ model, documents, identity: openIdentityService(identity), count })
  const users = openUsersService({ identity, documents, count })
  const staging = stagingFolder(project.root)
  const filing = { settings: settings.upload, files: kept, staging, outbox }
  const files = openFiles({ database, model, storage, ...filing })
  return {
    blueprint,
    database: bare,
    generation,
    news,
    events,
    pluginApp: registered.app,
    callerOf: request => callers.keyFor(request),
    middlewares: registered.express,
    responders: [
      ...limitApiRate(settings.server.rateLimit.api, [
        settings.rest.prefix,
        settings.graphql.config.endpoint,
      ]),
      withIdempotency(
        [
          ...extensions.first.map(trackWrites),
          byFirstWord(settings.rest.prefix, {
            upload: trackWrites(openUploads({ ...terms, files })),
            auth: trackWrites(openAuthRoutes({ ...terms, auth })),
            users: trackWrites(openUserRoutes({ ...terms, users })),
            'users-permissions': openRoleRoutes({ ...terms, access }),
            i18n: openLocales(terms),
          }),
          openRest(terms),
          ...extensions.last,
          ...(settings.graphql.enabled
            ? [
                openLazyGraphql({
                  ...terms,
                  ...added,
                  auth,
                  users,
                  files,
                  settings: settings.graphql,
                  observer,
                  production,
                }),
              ]
            : []),
        ],
        { database, identify, closed: [`${settings.rest.prefix}/auth`.toLowerCase()] },
      ),
    ],
    host: observer => openExpressFallback(app => mountUploads(app, uploadsFolder(project.root)), observer),
    async close() {
      await events.close()
      await destroyPlugins(blueprint.plugins, registered.app, observer)
      await background.settled()
    },
  }
}

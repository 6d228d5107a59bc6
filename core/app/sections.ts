import type { Caller } from '../access/caller.ts'
import { composeMiddlewares } from '../actions/compose-middlewares.ts'
import { openAroundActions } from '../actions/perform.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { trimEndCharacter } from '../base/text.ts'
import { openCache } from '../cache/open-cache.ts'
import { type ConsoleOptions, openConsole } from '../console/open-console.ts'
import type { Database } from '../database/database.ts'
import { openModels } from '../database/open-models.ts'
import { toRequestFault } from '../database/request-fault.ts'
import { trackWrites } from '../database/request-scope.ts'
import { openDocuments } from '../documents/open-documents.ts'
import type { Outbox } from '../documents/outbox.ts'
import { newDocumentId } from '../documents/rows/document-id.ts'
import { openDocumentsApi } from '../documents-api/open-documents-api.ts'
import type { HttpRequest, Responder } from '../faults/http-exchange.ts'
import { openLazyGraphql } from '../graphql/lazy-graphql.ts'
import { openMountedRouters } from '../http/mounted-routers.ts'
import { withIdempotency } from '../idempotency/with-idempotency.ts'
import { openCallerKeys } from '../identity/callers.ts'
import { apiTokenStrategy, createIdentify, withReadYourWrites } from '../identity/identify.ts'
import { type IdentityOptions, openBackground } from '../identity/identity.ts'
import { openRateLimit } from '../identity/rate-limit.ts'
import { openAuthService } from '../identity/sign-in/auth-service.ts'
import { openConsoleSessions } from '../identity/sign-in/console-sessions.ts'
import { issuerStrategy } from '../identity/sign-in/issuer-strategy.ts'
import { openLoginAttempts } from '../identity/sign-in/login-attempts.ts'
import { openProviders } from '../identity/sign-in/providers.ts'
import { deriveSealKey, openSealing } from '../identity/sign-in/sealing.ts'
import { sessionStrategy } from '../identity/sign-in/session-strategy.ts'
import { loadJwtSecret, openSessions } from '../identity/sign-in/sessions.ts'
import { openUserKeys, userKeyStrategy } from '../identity/user-keys.ts'
import { userDocuments } from '../identity/users/user-documents.ts'
import { openUsersService } from '../identity/users/users-service.ts'
import type { Deliver } from '../mail/mail.ts'
import { type MailService, openMail } from '../mail/open-mail.ts'
import { openMailPreview } from '../mail/preview.ts'
import { openTransport } from '../mail/transport.ts'
import { type Files, openFiles } from '../media/files.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { openSignedPaths, type SignedPaths } from '../media/storage/signed-paths.ts'
import { stagingFolder } from '../media/storage/staging.ts'
import type { Observation, Observer } from '../observe/observation.ts'
import { openOpenapi } from '../openapi/open-openapi.ts'
import { compileGuards } from '../plugins/register.ts'
import { openMediaApi } from '../plugins/services/media-api.ts'
import { limitApiRate } from '../rest/api-rate-limit.ts'
import { openContentTypeBuilder, openLocales } from '../rest/content-type-builder.ts'
import { byFirstWord, type GeneratedResponder } from '../rest/endpoint.ts'
import { openExtensionRoutes } from '../rest/extension-routes.ts'
import { openRest } from '../rest/open-rest.ts'
import { openSearchAll } from '../rest/search-all.ts'
import { openUploads } from '../rest/upload/open-uploads.ts'
import { openAuthRoutes, openRoleRoutes, openUserRoutes } from '../rest/users/account-routes.ts'
import { openConnectRoutes } from '../rest/users/connect.ts'
import { openUserKeyRoutes } from '../rest/users/user-keys.ts'
import type { Blueprint } from './compile-app.ts'
import { guardOptionsOf, type RegisteredApp } from './open-plugins.ts'
import type { StartFault } from './start-fault.ts'

export interface ApiEndpointOptions {
  readonly registered: RegisteredApp
  readonly observer: Observer
  readonly production: boolean
  readonly identity: IdentityOptions
  readonly documents: DocumentsSection
  readonly accounts: IdentitySection
  readonly files: Files
  /** null: the views of the console are not served. */
  readonly console: Omit<ConsoleOptions, 'roles' | 'identify' | 'production'> | null
}

/** The options that REST and GraphQL share. */
function sharedOptions(
  blueprint: Blueprint,
  { registered, observer, documents, accounts }: ApiEndpointOptions,
) {
  const { identify } = accounts
  const guarding = guardOptionsOf(blueprint, { registered, identify, observer })
  return {
    guarding,
    model: blueprint.model,
    settings: blueprint.project.settings.rest,
    documents: documents.documents,
    runMiddlewares: documents.runMiddlewares,
    identify,
    guards: compileGuards(registered, guarding),
  }
}

type SharedOptions = ReturnType<typeof sharedOptions>

/** All endpoints in order: rate limit, routers of extensions, extension routes that come first, REST, other extension routes, GraphQL. */
export function openApiEndpoints(blueprint: Blueprint, options: ApiEndpointOptions): readonly Responder[] {
  const { rest, server, graphql } = blueprint.project.settings
  const { registered, identity, accounts } = options
  const { guarding, ...shared } = sharedOptions(blueprint, options)
  const own = openOwnRoutes(blueprint, options, { guarding, ...shared })
  const { routesConfig, binding } = registered
  const { model } = blueprint
  const extensions = openExtensionRoutes(registered.routes, {
    ...{ ...guarding, model, routesConfig, scopes: binding.scopes, prefix: rest.prefix },
    generated: own.generated,
  })
  const responders = [
    ...extensions.first.map(trackWrites),
    ...extensions.withMethods(own.responders),
    openSearchAll({ ...shared, routes: registered.routes }),
    ...(graphql.enabled ? [openGraphqlSection(blueprint, options, { guarding, ...shared })] : []),
  ]
  return [
    ...previewResponders(blueprint, options),
    ...limitApiRate(server.rateLimit.api, [rest.prefix, ...Object.keys(graphql.endpoints)]),
    ...openMountedRouters(registered.mounts, {
      ...{ ...guarding, prefix: rest.prefix },
      projectRoot: options.production ? undefined : blueprint.project.root,
    }),
    withIdempotency(responders, {
      database: identity.database,
      identify: accounts.identify,
      excluded: [`${rest.prefix}/auth`.toLowerCase()],
    }),
  ]
}

/** Only development without a mail server keeps mails. */
const previewResponders = ({ project: { root, settings } }: Blueprint, { production }: ApiEndpointOptions) =>
  settings.auth.mail.url === null ? [openMailPreview(root, production)] : []

/** The server's own REST routes. `generated`: the same for routes of extensions that replace one. */
function openOwnRoutes(
  { access, project, storage }: Blueprint,
  {
    files,
    console,
    identity,
    accounts: { auth, users, keys, providers, countAttempt },
    registered,
    production,
  }: ApiEndpointOptions,
  { guarding, ...shared }: SharedOptions,
): { readonly responders: readonly Responder[]; readonly generated: GeneratedResponder } {
  const { settings } = project
  const { prefix } = shared.settings
  const connect = providers
    ? openConnectRoutes({ prefix, address: identity.address, providers, auth, countAttempt })
    : () => null
  const signIn = openAuthRoutes({ ...shared, auth })
  const ofUsers = openUserRoutes({ ...shared, users })
  const ownKeys = keys ? openUserKeyRoutes(keys, shared) : () => null
  const writing = {
    upload: openUploads({ ...shared, files }),
    connect,
    auth: (request: HttpRequest, acting?: Caller) => connect(request) ?? signIn(request, acting),
    users: (request: HttpRequest, acting?: Caller) => ownKeys(request, acting) ?? ofUsers(request, acting),
  }
  const { model } = shared
  const description = openOpenapi({ ...guarding, model, settings, registered, production })
  const reading = {
    'users-permissions': openRoleRoutes({ ...shared, access }),
    i18n: openLocales(shared),
    'content-type-builder': openContentTypeBuilder(shared),
    'openapi.json': description,
    reference: description,
    ...(console && {
      console: openConsole({
        ...{ ...console, production, identify: shared.identify },
        roles: { project, model, storage, access },
      }),
    }),
  }
  const rest = openRest({ ...shared, files, bodyLimit: settings.server.bodyLimit })
  const tracked = Object.entries(writing).map(([word, responder]) => [word, trackWrites(responder)] as const)
  const builtIn = byFirstWord(prefix, { ...writing, ...reading })
  return {
    responders: [byFirstWord(prefix, { ...Object.fromEntries(tracked), ...reading }), rest],
    generated: (request, acting) => builtIn(request, acting) ?? rest(request, acting),
  }
}

function openGraphqlSection(
  { project }: Blueprint,
  { registered, files, accounts: { auth, users }, observer, production }: ApiEndpointOptions,
  { guarding, ...shared }: SharedOptions,
): Responder {
  const { schemas, graphql, trusted } = registered
  return openLazyGraphql({
    ...shared,
    aroundActions: openAroundActions(shared),
    shadow: graphql.shadow,
    ...(trusted && { trusted }),
    ...(schemas && { compiled: schemas, code: guarding }),
    ...{ auth, users, files, observer, production },
    explains: project.settings.server.explainDenials,
    maxBytes: project.settings.database.limits.bytes,
    settings: project.settings.graphql,
  })
}

export type DocumentsSection = ReturnType<typeof openDocumentsSection>

/** The response cache, the documents service, its middlewares, and `app.documents` of the plugins. */
export function openDocumentsSection(
  { project: { root, settings }, model, storage }: Blueprint,
  { identity, registered, storage: files }: DocumentsOptions,
) {
  const { database, outbox } = identity
  const { enabled, maxBytes } = settings.cache
  const cache = enabled && maxBytes > 0 ? openCache({ database, maxBytes }) : null
  const plain = openDocuments({
    ...{ database, storage, model, outbox, cache },
    maxBytes: settings.database.limits.bytes,
  })
  const documents = userDocuments(plain, identity)
  const runMiddlewares = composeMiddlewares(
    registered.documentMiddlewares,
    type => settings.roles[type]?.name ?? type,
  )
  registered.connect({
    documents: openDocumentsApi({ model, documents, settings: settings.rest, runMiddlewares }),
    models: openModels({ database, root, model, storage, newDocumentId }),
    media: openMediaApi({ storage: files, paths: signedPathsOf(identity), address: settings.server.url }),
  })
  return { cache, documents, runMiddlewares }
}

interface DocumentsOptions {
  readonly identity: IdentityOptions
  readonly registered: RegisteredApp
  readonly storage: FileStorage
}

/** Signed addresses of files that the server sends. */
export const signedPathsOf = ({ sealKey, otherSealKeys }: IdentityOptions): SignedPaths =>
  openSignedPaths([sealKey, ...otherSealKeys])

/** The service of uploaded files. */
export const openFilesSection = (
  { project: { root, settings }, model, storage }: Blueprint,
  { identity: { database, outbox }, storage: files, observer }: FilesOptions,
) =>
  openFiles({
    ...{ database, model, storage, files, outbox },
    report: error => observer.emit({ kind: 'failed', requestId: '', error }),
    settings: settings.upload,
    staging: stagingFolder(root),
  })

interface FilesOptions {
  readonly observer: Observer
  readonly identity: IdentityOptions
  readonly storage: FileStorage
}

export interface MailSectionOptions {
  /** Takes the place of the mail server: for tests of plugins. */
  readonly deliver?: Deliver
}

/** Nothing is connected or loaded until the first mail. Fails for an invalid address of the mail server. */
export function openMailSection(
  { project: { root, settings }, mails }: Pick<Blueprint, 'project' | 'mails'>,
  { production, observer, deliver }: SignInOptions & MailSectionOptions,
): Result<MailService, StartFault> {
  const { auth, server, name } = settings
  const { requestTimeout, url: address } = server
  const { url, from } = auth.mail
  const transport = deliver
    ? ok(deliver)
    : openTransport({ url, from, root, production, observer, address, requestTimeout })
  if (!transport.ok) return failed(...reasonsOf(transport))
  return ok(openMail({ templates: mails, deliver: transport.value, project: name }))
}

export interface SignInOptions {
  /** Production requires secrets and mail settings; development generates or logs them. */
  readonly production: boolean
  readonly observer: Observer
}

/** Opens sign-in over a database; everything else that it needs is already loaded. */
type SignIn = (database: Database, outbox: Outbox, mail: MailService) => IdentityOptions

/** Loads the JWT secret. Fails if the project does not configure it. */
export async function openSignIn(
  { project, model, storage }: Blueprint,
  { production, observer }: SignInOptions,
): Promise<Result<SignIn, StartFault>> {
  const { root, settings } = project
  const { auth, server, rest } = settings
  const secret = await loadJwtSecret({ input: auth.jwtSecret, root, production })
  if (!secret.ok) return failed(...reasonsOf(secret))
  const otherSecrets = auth.jwtPreviousSecrets.filter(each => each !== '')
  return ok((database, outbox, mail) => ({
    database,
    outbox,
    model,
    storage,
    settings: auth,
    sessions: openSessions({ secret: secret.value, otherSecrets, lifetime: auth.jwtExpiresIn }),
    sealKey: deriveSealKey(secret.value),
    otherSealKeys: otherSecrets.map(deriveSealKey),
    mail,
    loginAttempts: openLoginAttempts(server.rateLimit.account, database),
    background: openBackground(error => observer.emit(toMailFailure(error))),
    address: `${trimEndCharacter(server.url, '/')}${rest.prefix}`,
  }))
}

/** Requests are answered before their mails: an outage of the database is no 500, and the log says what it cost. */
function toMailFailure(error: unknown): Observation {
  const reason = toRequestFault(error)?.reason ?? null
  if (reason === null) return { kind: 'failed', requestId: '', error }
  return { kind: 'mailFailed', what: `A mail to an account was not sent: ${reason}` }
}

const reasonsOf = (result: Result<unknown, string>): readonly StartFault[] =>
  result.ok ? [] : result.reasons.map(message => ({ kind: 'other', message }))

export type IdentitySection = ReturnType<typeof openIdentitySection>

/** Identification of callers, and the services of sign-in and users. */
export function openIdentitySection(
  { project: { settings }, model, storage, access }: Blueprint,
  { identity, documents }: { readonly identity: IdentityOptions; readonly documents: DocumentsSection },
) {
  const { database, sessions } = identity
  const issuers = Object.values(settings.auth.issuers)
  const signIn = {
    ...{ sessions, access, database, model, storage },
    // A blocked user must be refused at once, but replicas lag behind.
    cache: database.replicas ? null : documents.cache,
    confirmEmail: settings.auth.register.confirmEmail,
  }
  const known = createIdentify(access.publicCaller, [
    apiTokenStrategy(settings.apiTokens, access),
    ...(issuers.length > 0 ? [issuerStrategy(issuers, { access })] : []),
    ...(settings.auth.keys.enabled ? [userKeyStrategy(signIn)] : []),
    sessionStrategy(signIn),
  ])
  const callers = openCallerKeys()
  const countAttempt = openRateLimit(settings.server.rateLimit.auth, database)
  const hasProviders = Object.keys(settings.auth.providers).length > 0
  return {
    countAttempt,
    keys: settings.auth.keys.enabled
      ? openUserKeys({ database, model, storage, settings: settings.auth.keys })
      : null,
    providers: hasProviders ? openProviders({ identity, access }) : null,
    identify: callers.remembering(database.replicas ? withReadYourWrites(known, settings.apiTokens) : known),
    callerOf: callers.keyFor,
    consoleSessions: openConsoleSessions({
      sessions,
      database,
      seal: openSealing(identity.sealKey, identity.otherSealKeys),
      identify: sessionStrategy(signIn),
    }),
    auth: openAuthService({
      model,
      access,
      documents: documents.documents,
      identity,
      countAttempt,
    }),
    users: openUsersService({ identity, documents: documents.documents, countAttempt }),
  }
}

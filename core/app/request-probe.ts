import { subjectOf } from '../access/actions.ts'
import type { Caller, Grants } from '../access/caller.ts'
import type { Condition } from '../access/compile/condition.ts'
import type { PermissionScope } from '../access/permission-scopes.ts'
import { ok, type Result } from '../base/result.ts'
import type { ProbedAnswer } from '../console/simulation.ts'
import type { Database } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { openEvents } from '../events/open-events.ts'
import { notFound, RequestFault } from '../faults/fault.ts'
import { type MemoryRequest, openInMemory } from '../http/in-memory.ts'
import type { SignInProviders } from '../identity/sign-in/providers.ts'
import type { Observation, Observer } from '../observe/observation.ts'
import type { GuardedRoute } from '../plugins/route-guard.ts'
import type { Project } from '../project/project.ts'
import type { OperationSettings, Settings } from '../project/settings/settings.ts'
import type { Blueprint } from './compile-app.ts'
import { followedLinks, openProjectStorage, type RegisteredApp, registerApp } from './open-plugins.ts'
import {
  type ApiEndpointOptions,
  openApiEndpoints,
  openDocumentsSection,
  openFilesSection,
  openIdentitySection,
  openMailSection,
  openSignIn,
} from './sections.ts'
import type { StartFault } from './start-fault.ts'

export interface RequestProbe {
  ask(request: MemoryRequest, caller: Caller): Promise<ProbedAnswer>
}

/**
 * Opens all endpoints of a project over a database that refuses every statement, with the caller given instead of
 * identified. Routes, permissions and the validation of queries and bodies are those of the server. Extensions register,
 * but neither policies nor middlewares, handlers and routers run. Nothing needs to be closed. `running`: the registered
 * extensions of a server, which must not register again; resolvers of their GraphQL schema could run, so GraphQL is left out.
 */
export async function openRequestProbe(
  blueprint: Blueprint,
  running?: RegisteredApp,
): Promise<Result<RequestProbe, StartFault>> {
  const probed: Blueprint = Object.freeze({ ...blueprint, project: toProbed(blueprint.project) })
  const seen: Seen = seeNothing()
  const observer = observe(seen)
  const options = { production: false, observer }
  const registered = running ? ok(withoutSchemas(running)) : await registerApp(probed, observer)
  const mail = openMailSection(probed, { ...options, deliver: () => Promise.reject(refuse(seen)) })
  const signIn = await openSignIn(probed, options)
  if (!registered.ok) return registered
  if (!signIn.ok) return signIn
  if (!mail.ok) return mail
  const storage = openProjectStorage(probed.project, registered.value)
  if (!storage.ok) return storage
  const database = refusingDatabase(seen)
  const { outbox } = openEvents({ database, model: probed.model, listeners: [], observer })
  const identity = signIn.value(database, outbox, mail.value)
  const bare = withoutCode(registered.value, seen)
  const documents = openDocumentsSection(probed, { identity, registered: bare, storage: storage.value })
  let asking: Caller = probed.access.publicCaller
  const accounts = {
    ...openIdentitySection(probed, { identity, documents }),
    identify: async () => asking,
    providers: refusingProviders(blueprint.project.settings.auth.providers, seen),
  }
  const files = openFilesSection(probed, { identity, storage: storage.value, observer })
  const parts = { registered: bare, identity, documents, accounts, files }
  const { send } = await openInMemory({
    responders: openApiEndpoints(probed, { ...options, ...parts, console: refusingConsole(database, seen) }),
    settings: probed.project.settings.server,
    fallback: null,
    observer,
    projectRoot: probed.project.root,
    middlewares: [],
  })
  const sources = { settings: blueprint.project.settings, registered: registered.value }
  const withheldLinks = async ({ path, body }: MemoryRequest, { grants }: Caller) => {
    const format = probed.project.settings.graphql.endpoints[path.split('?')[0] ?? '']
    if (!format || body === null) return []
    const { query }: { query?: string } = JSON.parse(Buffer.from(body).toString())
    const links = await followedLinks(probed, registered.value, { text: query ?? '', format })
    return [...links].flatMap(([name, target]) => (grants.allows(subjectOf(target), 'find') ? [] : [name]))
  }
  return ok({
    async ask(request, caller) {
      Object.assign(seen, seeNothing())
      const { conditions } = seen
      const record = (used: PermissionScope) => conditions.set(`${used.subject}.${used.action}`, used)
      asking = { ...caller, grants: recordConditions(caller.grants, record) }
      const { status, body } = await send(request)
      const answer = toProbedAnswer({ status, body: body.toString() }, seen, codeFor(request, seen, sources))
      const withheld = answer.outcome === 'passed' ? await withheldLinks(request, caller) : []
      return { ...answer, withheld }
    },
  })
}

/** Reports each permission whose condition is read, as every check that applies a condition reads it. */
function recordConditions(grants: Grants, record: (used: PermissionScope) => void): Grants {
  /** `where` as a getter, which reports that it is read. */
  const reported = <Part extends { readonly where: Condition | null }>(
    part: Part,
    used: PermissionScope,
  ): Part =>
    part.where === null
      ? part
      : Object.defineProperty({ ...part }, 'where', {
          enumerable: true,
          get() {
            record(used)
            return part.where
          },
        })
  return Object.freeze<Grants>({
    name: grants.name,
    allows: grants.allows,
    roleRules: grants.roleRules,
    readAccess(type, action) {
      const access = grants.readAccess(type, action)
      if (!access) return null
      const subject = subjectOf(type)
      const drafts = access.drafts && reported(access.drafts, { subject, action: 'readDrafts' })
      return reported({ ...access, drafts }, { subject, action })
    },
    writeAccess(type, action) {
      const access = grants.writeAccess(type, action)
      return access && reported(access, { subject: subjectOf(type), action })
    },
  })
}

/** What a request has touched. */
interface Seen {
  reachedDatabase: boolean
  reachedCode: boolean
  refusal: string | null
  route: string
  /** The permissions whose conditions were applied. */
  conditions: Map<string, PermissionScope>
}

const seeNothing = (): Seen => ({
  reachedDatabase: false,
  reachedCode: false,
  refusal: null,
  route: '',
  conditions: new Map(),
})

/**
 * Neither limits nor cache, which need the database first, and no providers, which are opened over the network. Policies and
 * middlewares are left out.
 */
function toProbed(project: Project): Project {
  const { settings } = project
  const { auth, server, cache } = settings
  return Object.freeze({
    ...project,
    settings: {
      ...settings,
      auth: { ...auth, jwtSecret: 'a-secret-of-a-probe-which-signs-nothing', providers: {} },
      cache: { ...cache, enabled: false },
      server: {
        ...server,
        explainDenials: true,
        metrics: { ...server.metrics, enabled: false },
        rateLimit: { api: false, auth: false, account: false } as const,
      },
      routesConfig: withoutPolicies(settings.routesConfig),
      resolversConfig: withoutPolicies(settings.resolversConfig),
    },
  })
}

const withoutPolicies = (config: Readonly<Record<string, OperationSettings>>) =>
  Object.fromEntries(
    Object.entries(config).map(([key, operation]) => [key, { ...operation, policies: [], middlewares: [] }]),
  )

/** The documents of the probe are not those of the running extensions. */
const withoutSchemas = (running: RegisteredApp): RegisteredApp => ({
  ...running,
  schemas: null,
  connect: () => undefined,
})

/** Handlers, routers and middlewares of extensions do not run: reaching one means that the request passed. */
function withoutCode(registered: RegisteredApp, seen: Seen): RegisteredApp {
  const reach = () => {
    throw refuse(seen, 'code')
  }
  return {
    ...registered,
    routesConfig: new Map([...registered.routesConfig].map(([key, route]) => [key, toBare(route)])),
    routes: registered.routes.map(route => ({ ...toBare(route), handler: reach })),
    mounts: registered.mounts.map(mount => ({ ...mount, policies: [], router: reach })),
    documentMiddlewares: [],
  }
}

const toBare = <Route extends Pick<GuardedRoute, 'middlewares' | 'policies'>>(route: Route): Route => ({
  ...route,
  middlewares: [],
  policies: [],
})

/** A database without a connection. Every statement is refused, and noted. */
function refusingDatabase(seen: Seen): Database {
  const reject = () => Promise.reject(refuse(seen))
  return {
    kind: 'server',
    schema: 'public',
    run: reject,
    transaction: reject,
    ping: async () => ({ ok: false, message: NO_DATABASE, isReadonly: false }),
    abort: () => undefined,
    endForeign: () => undefined,
    close: async () => undefined,
    replicas: null,
    connections: () => ({ busy: 0, idle: 0, waiting: 0 }),
    isShared: true,
    openSession: reject,
  }
}

/** The views of the console without what a running server knows. A simulation within one is as far as a request gets. */
const refusingConsole = (database: Database, seen: Seen): NonNullable<ApiEndpointOptions['console']> => ({
  database,
  simulate: () => Promise.reject(refuse(seen)),
  plugins: [],
  slowReads: () => [],
  redact: text => text,
})

/** Sign-in at a declared provider needs the network and the database; null: the project has no providers. */
function refusingProviders(declared: Settings['auth']['providers'], seen: Seen): SignInProviders | null {
  if (Object.keys(declared).length === 0) return null
  const reach = async (name: string): Promise<never> => {
    throw Object.hasOwn(declared, name) ? refuse(seen) : new RequestFault(notFound())
  }
  return { connect: reach, receive: reach, exchange: reach }
}

const NO_DATABASE = 'a probe has no database'

function refuse(seen: Seen, by: 'database' | 'code' = 'database'): DatabaseFailure {
  if (by === 'database') seen.reachedDatabase = true
  else seen.reachedCode = true
  return new DatabaseFailure({ kind: 'unavailable', message: NO_DATABASE })
}

/** Keeps what the log would contain of the request. */
const observe = (seen: Seen): Observer => ({
  isEnabled: kind => kind === 'answered' || kind === 'refused',
  emit(event: Observation) {
    if (event.kind === 'answered' || event.kind === 'refused')
      seen.route = event.route === 'other' ? '' : event.route
    if (event.kind === 'refused') seen.refusal = event.reason
  },
})

interface RawAnswer {
  readonly status: number
  readonly body: string
}

function toProbedAnswer(
  answer: RawAnswer,
  seen: Seen,
  decides: readonly string[],
): Omit<ProbedAnswer, 'withheld'> {
  const { refusal, route, reachedDatabase, reachedCode } = seen
  const error = errorIn(answer)
  const base = { route, decides, reason: refusal, conditions: [...seen.conditions.values()] }
  if (error && isDenial(error)) return { ...base, outcome: 'denied', ...error }
  if (reachedDatabase || reachedCode) return { ...base, outcome: 'passed', status: null, message: null }
  return error
    ? { ...base, outcome: 'refused', ...error }
    : { ...base, outcome: 'passed', status: answer.status, message: null }
}

interface AnsweredError {
  readonly status: number
  readonly message: string
}

/** The error of a REST response, or the first of a GraphQL response that is not the missing database; null: none. */
function errorIn({ status, body }: RawAnswer): AnsweredError | null {
  const parsed: ErrorBody = body.startsWith('{') ? JSON.parse(body) : {}
  const errors = parsed.errors ?? []
  if (status >= 400) return { status, message: parsed.error?.message ?? errors[0]?.message ?? body }
  const inGraphql = errors.map(({ message = '', extensions }) => ({
    status: STATUS_OF.get(extensions?.error?.name ?? extensions?.code ?? '') ?? 400,
    message,
  }))
  return inGraphql.find(isDenial) ?? inGraphql.find(each => each.status < 500) ?? null
}

const isDenial = ({ status }: AnsweredError): boolean => status === 401 || status === 403

interface ErrorBody {
  readonly error?: { readonly message?: string }
  readonly errors?: readonly {
    readonly message?: string
    readonly extensions?: { readonly code?: string; readonly error?: { readonly name?: string } }
  }[]
}

const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ['ForbiddenError', 403],
  ['UnauthorizedError', 401],
  ['FORBIDDEN', 403],
  ['UNAUTHENTICATED', 401],
  ['INTERNAL_SERVER_ERROR', 500],
  ['SERVICE_UNAVAILABLE', 503],
])

interface CodeSources {
  readonly settings: Project['settings']
  readonly registered: RegisteredApp
}

/** The project code that takes part in a request, which a probe does not run. */
function codeFor(
  { body }: MemoryRequest,
  { route, reachedCode, reachedDatabase }: Seen,
  { settings, registered }: CodeSources,
): readonly string[] {
  const text = body === null ? '' : Buffer.from(body).toString()
  const isGraphql = Object.hasOwn(settings.graphql.endpoints, route) || route === 'graphql'
  const fields = Object.entries(settings.resolversConfig).filter(([key]) => namesField(text, key))
  const own = settings.routesConfig[route]
  const configured = isGraphql ? fields.map(([, operation]) => operation) : own ? [own] : []
  const added = registered.routes.filter(
    each => each.path === route || `${each.method} ${each.path}` === route,
  )
  const names = [...configured, ...added].flatMap(({ policies, middlewares }) => [
    ...policies.map(({ name }) => `the policy ${name}`),
    ...middlewares.map(({ name }) => `the middleware ${name}`),
  ])
  return [
    ...new Set(names),
    ...(reachedDatabase && registered.documentMiddlewares.length > 0 ? ['documents.use'] : []),
    ...(reachedCode ? [`the code of ${route}`] : []),
  ]
}

/** `Query.articles`: the text has the word `articles`. */
const namesField = (text: string, key: string): boolean =>
  text.split(/\W+/).includes(key.slice(key.indexOf('.') + 1))

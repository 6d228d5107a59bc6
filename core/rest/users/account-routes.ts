import { packedRules } from '../../access/ability/open-ability.ts'
import { type Action, BUILT_IN_ACTIONS, CONTENT_ACTIONS } from '../../access/actions.ts'
import type { Grants } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { ownUserId } from '../../access/denial.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import { fault, notFound, RequestFault } from '../../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  refusalResponse,
  toFaultResponse,
} from '../../faults/http-exchange.ts'
import type { AuthBody } from '../../identity/parse-credentials.ts'
import type { Quota } from '../../identity/rate-limit.ts'
import type {
  AuthAnswers,
  AuthOperation,
  AuthService,
  SessionAnswer,
} from '../../identity/sign-in/auth-service.ts'
import { ALL_ROWS } from '../../identity/users/user-values.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Model } from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Query } from '../../query/query.ts'
import { answerJson, answerMethod } from '../answer.ts'
import { withQuota } from '../api-rate-limit.ts'
import {
  type EndpointCall,
  type Endpoints,
  type GeneratedResponder,
  openEndpoints,
  parseRowId,
  type RestEndpoint,
  wordsBelow,
} from '../endpoint.ts'
import { readBareBody, readOptionalBody, requestParams } from '../parse-query-string.ts'
import type { RestOptions } from '../rest-call.ts'
import { isStrapi4Request } from '../strapi4.ts'
import { withoutUnknown } from '../strapi4-body.ts'
import { fromStrapi4Populate } from '../strapi4-populate.ts'

/** Users over REST, without an envelope and by numeric id (reference/rest.md#14-access). */
export function openUserRoutes(options: UsersRouteOptions): GeneratedResponder {
  const on = (action: RestEndpoint['action'], perform: UsersHandler): RestEndpoint => ({
    subject: 'users',
    action,
    perform: call => perform(call, options),
  })
  return openEndpoints(
    {
      users: { GET: on('find', getUsers), POST: on('create', postUser) },
      'users/count': { GET: on('count', getUserCount) },
      'users/me': { GET: on('me', getMe) },
      'users/me/permissions': { GET: on('me', getPermissions) },
      'users/:id': {
        GET: on('findOne', getUser),
        PUT: on('update', putUser),
        DELETE: on('delete', removeUser),
      },
    },
    { ...options, prefix: options.settings.prefix },
  )
}

interface UsersRouteOptions extends RestOptions {
  readonly users: UsersService
}

type UsersHandler = (call: EndpointCall, options: UsersRouteOptions) => Promise<HttpResponse>

/** A list without an envelope (reference/rest.md#14-access). */
const getUsers: UsersHandler = async (call, options) =>
  answerText(await options.users.findMany(parseUsers(call, options, true), call.caller), call)

/** A number without an envelope. */
const getUserCount: UsersHandler = async (call, options) =>
  answerJson(String(await options.users.count(parseUsers(call, options), call.caller)), call)

/** A user by numeric id; 204 if there is none. */
const getUser: UsersHandler = async (call, options) => {
  const query = parseUsers(call, options)
  return answerText(await options.users.findOne(parseRowId(call.id), query, call.caller), call)
}

/** The caller's own user; 204 if the query does not match it. */
const getMe: UsersHandler = async (call, options) =>
  answerText(await options.users.me(parseUsers(call, options), call.caller), call)

/** The caller's own permissions, for the user interface of a front-end. */
const getPermissions: UsersHandler = async call => {
  ownUserId(call.caller, 'users.me')
  return answerJson(JSON.stringify(await packedRules(call.caller)), call)
}

/** 201 with the user and their role (reference/rest.md#14-access). */
const postUser: UsersHandler = async (call, { users, ...options }) => {
  const body = await readUserBody(call, options)
  return answerJson((await users.create(body, call.caller)) ?? 'null', call, 201)
}

/** 200 with the user and their role. */
const putUser: UsersHandler = async ({ id: word, ...call }, { users, ...options }) => {
  const body = await readUserBody(call, options)
  const updated = await users.update(parseRowId(word), { body, caller: call.caller })
  return answerJson(updated ?? 'null', call)
}

async function readUserBody(
  { request }: Pick<EndpointCall, 'request'>,
  { model, settings }: Pick<RestOptions, 'model' | 'settings'>,
): Promise<AuthBody> {
  const body = await readOptionalBody(request)
  return isStrapi4Request(request, settings) ? withoutUnknown(body, model.builtIn.user) : body
}

/** 200 with the deleted user; 204 if there was none. */
const removeUser: UsersHandler = async (call, { users }) =>
  answerText(await users.delete(parseRowId(call.id), call.caller), call)

const answerText = (text: string | null, call: EndpointCall): HttpResponse =>
  text === null ? { status: 204, body: null } : answerJson(text, call)

/** `allowsPage`: with `start` and `limit` as top-level parameters. */
function parseUsers({ request }: EndpointCall, options: RestOptions, allowsPage = false): Query {
  const { user } = options.model.builtIn
  const input = requestParams(request)
  const parameters =
    input.populate !== undefined && isStrapi4Request(request, options.settings)
      ? { ...input, populate: fromStrapi4Populate(input.populate, user, options.settings) }
      : input
  const shared = parseSharedQuery(user, parameters, options)
  const page = allowsPage ? parseTopPage(parameters, options.settings.maxLimit) : { start: 0, limit: 1 }
  return { ...shared, take: { kind: 'many', page, total: false }, locale: { kind: 'all' } }
}

interface RoleRouteOptions extends RestOptions {
  readonly access: Access
}

/** The project's roles and their permissions, read-only: project.yaml defines them (reference/rest.md#17-differences-from-strapi). */
export const openRoleRoutes = (options: RoleRouteOptions): GeneratedResponder =>
  openEndpoints(
    {
      'users-permissions/roles': {
        GET: { subject: 'role', action: 'find', perform: call => findRoles(call, options) },
      },
      'users-permissions/roles/:id': {
        GET: { subject: 'role', action: 'findOne', perform: call => findRole(call, options) },
      },
      'users-permissions/permissions': {
        GET: {
          subject: 'role',
          action: 'find',
          perform: async call =>
            answerJson(JSON.stringify({ permissions: permissionTree(null, options.model) }), call),
        },
      },
    },
    { ...options, prefix: options.settings.prefix },
  )

async function findRoles(call: EndpointCall, options: RoleRouteOptions): Promise<HttpResponse> {
  const roles = await readRoles('find', call, options)
  return answerJson(JSON.stringify({ roles }), call)
}

async function findRole(call: EndpointCall, options: RoleRouteOptions): Promise<HttpResponse> {
  const id = parseRowId(call.id)
  const role = (await readRoles('findOne', call, options)).find(each => each.id === id)
  if (!role) throw new RequestFault(fault('notFound', 'Role not found'))
  const permissions = permissionTree(options.access.roles.get(String(role.type)) ?? null, options.model)
  return answerJson(JSON.stringify({ role: { ...role, permissions } }), call)
}

type Role = Readonly<Record<string, unknown>>

/** All roles, sorted by name as in Strapi; a project has few. */
async function readRoles(
  action: 'find' | 'findOne',
  { caller }: EndpointCall,
  { model, documents }: RoleRouteOptions,
): Promise<readonly Role[]> {
  const { role: type } = model.builtIn
  const users = type.attributes.get('users')
  const counted =
    users?.kind === 'relation'
      ? [{ ...populateRows(users, 'all', { ...allRows(users.target), count: true }), as: COUNT }]
      : []
  const name = type.attributes.get('name')
  const restricted = restrict(
    {
      ...ALL_ROWS,
      type,
      take: { kind: 'many', page: { start: 0, limit: MAX_ROLES }, total: false },
      selection: { ...everyField(type), populate: counted },
      sort: name?.kind === 'scalar' ? [{ path: [], attribute: name, direction: 'asc' }] : [],
    },
    caller,
    action,
  )
  const { text } = await documents.findMany(restricted, 'flat')
  return (JSON.parse(text) as readonly Role[]).map(flattenCount)
}

const COUNT = 'nb_users'
const MAX_ROLES = 10_000

/** A populate's count is an object `{ count }`; Strapi answers the number. */
function flattenCount(role: Role): Role {
  const counted = role[COUNT]
  if (typeof counted !== 'object' || counted === null || !('count' in counted)) return role
  return { ...role, [COUNT]: counted.count }
}

/** Strapi's controllers of the built-in subjects. */
const PLUGINS = {
  users: ['plugin::users-permissions', 'user'],
  auth: ['plugin::users-permissions', 'auth'],
  role: ['plugin::users-permissions', 'role'],
  upload: ['plugin::upload', 'content-api'],
  i18n: ['plugin::i18n', 'locales'],
} as const satisfies Record<keyof typeof BUILT_IN_ACTIONS, readonly [string, string]>

interface Controllers {
  readonly controllers: Readonly<Record<string, Readonly<Record<string, Permission>>>>
}

interface Permission {
  readonly enabled: boolean
  readonly policy: string
}

/** All permissions in Strapi's form; `enabled` marks those that the grants contain. */
function permissionTree(grants: Grants | null, model: Model): Readonly<Record<string, Controllers>> {
  const parts = [
    ...[...model.contentTypes.values()]
      .filter(({ builtIn }) => !builtIn)
      .map(({ key }) => ({ owner: `api::${key}`, controller: key, subject: key, actions: CONTENT_ACTIONS })),
    ...Object.entries(PLUGINS).map(([subject, [owner, controller]]) => ({
      owner,
      controller,
      subject,
      actions: BUILT_IN_ACTIONS[subject as keyof typeof PLUGINS],
    })),
  ]
  const owners = new Map<string, Record<string, Readonly<Record<string, Permission>>>>()
  for (const { owner, controller, subject, actions } of parts)
    owners.set(owner, { ...owners.get(owner), [controller]: permissionsOf(grants, subject, actions) })
  return Object.fromEntries([...owners].map(([owner, controllers]) => [owner, { controllers }]))
}

const permissionsOf = (grants: Grants | null, subject: string, actions: readonly Action[]) =>
  Object.fromEntries(
    actions.map(action => [action, { enabled: grants?.allows(subject, action) ?? false, policy: '' }]),
  )

interface AuthOptions extends RestOptions {
  readonly auth: AuthService
}

/** Authentication over REST (reference/rest.md#14-access): route → rate limit → caller → permission → identity. */
export function openAuthRoutes(options: AuthOptions): GeneratedResponder {
  const { prefix } = options.settings
  const table = authEndpoints(options)
  const respond = openEndpoints(table, { ...options, prefix })
  return (request, acting) => {
    const path = wordsBelow(request.path, prefix)?.join('/').toLowerCase() ?? ''
    const operation = OPERATIONS.get(path)
    if (operation === undefined) return answerProvider(path, request)
    if (request.method === 'OPTIONS') return respond(request)
    // Mail scanners send HEAD to links: that must not use up the confirmation.
    if (request.method === 'HEAD' && path === CONFIRMATION) return { status: 204, body: null }
    if (isRead(request) && path !== CONFIRMATION) return toFaultResponse(notFound())
    return performLimited(operation, request, { respond: inner => respond(inner, acting), options })
  }
}

const isRead = ({ method }: HttpRequest): boolean => method === 'GET' || method === 'HEAD'

/** Paths of Strapi's login providers, answered as Strapi does when they are disabled. */
function answerProvider(path: string, request: HttpRequest): HttpResponse | null {
  if (!/^auth\/[^/]+$/.test(path) || path === 'auth/refresh' || path === 'auth/logout') return null
  return isRead(request) ? null : answerMethod(request.method, 'HEAD, GET')
}

interface LimitedAuth {
  readonly respond: Responder
  readonly options: AuthOptions
}

/** Counts the address and operation for every spelling of the path (reference/safety.md#s9-rate-limits). */
async function performLimited(
  operation: AuthOperation,
  request: HttpRequest,
  { respond, options }: LimitedAuth,
): Promise<HttpResponse> {
  const quota = await options.auth.countAttempt(operation, request.peer)
  return withQuota(quota, async () => (await respond(request)) ?? toFaultResponse(notFound()))
}

const CONFIRMATION = 'auth/email-confirmation'

const POSTS = {
  'auth/local': 'login',
  'auth/local/register': 'register',
  'auth/change-password': 'changePassword',
  'auth/forgot-password': 'forgotPassword',
  'auth/reset-password': 'resetPassword',
  'auth/send-email-confirmation': 'sendEmailConfirmation',
} as const

const OPERATIONS: ReadonlyMap<string, AuthOperation> = new Map([
  ...Object.entries(POSTS),
  [CONFIRMATION, 'emailConfirmation'],
])

const authEndpoints = ({ auth, settings }: AuthOptions): Endpoints => ({
  ...Object.fromEntries(
    Object.entries(POSTS).map(([path, action]) => [
      path,
      { POST: { subject: 'auth', action, perform: performAuth(action, auth, settings) } },
    ]),
  ),
  [CONFIRMATION]: {
    GET: { subject: 'auth', action: 'emailConfirmation', perform: performConfirmation(auth) },
  },
})

/** Performs the operation of a POST. */
const performAuth =
  <Operation extends Exclude<AuthOperation, 'emailConfirmation'>>(
    operation: Operation,
    auth: AuthService,
    settings: RestSettings,
  ) =>
  async ({ request, caller }: EndpointCall): Promise<HttpResponse> => {
    const body = await readBareBody(request)
    const ignoresUnknown = isStrapi4Request(request, settings)
    return withNarrowerQuota(async onQuota => {
      const call = { caller, address: request.peer, onQuota, ignoresUnknown }
      const answer = await auth.perform(operation, body, call)
      return { status: 200, body: print(answer), headers: NO_STORE }
    })
  }

/** Performs the confirmation of a mailed link, then redirects to the project's page. */
const performConfirmation =
  (auth: AuthService) =>
  async ({ request, caller }: EndpointCall): Promise<HttpResponse> => {
    const { confirmation } = requestParams(request)
    const call = { caller, address: request.peer }
    const { location } = await auth.perform('emailConfirmation', { confirmation }, call)
    return { status: 302, body: null, headers: { Location: location, ...NO_STORE } }
  }

/** Adds the headers of a quota that `work` reports to its answer or refusal. */
async function withNarrowerQuota(
  work: (onQuota: (quota: Quota) => void) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  let narrower: Quota | null = null
  const answer = await work(quota => {
    narrower = quota
  }).catch(refusalResponse)
  return withQuota(narrower, async () => answer)
}

/** Credentials must not be cached. */
const NO_STORE = { 'Cache-Control': 'no-store' }

const print = (answer: Exclude<AuthAnswers[AuthOperation], AuthAnswers['emailConfirmation']>): string =>
  'user' in answer ? sessionBody(answer) : JSON.stringify(answer)

/** `{ jwt, user }` as text. */
export const sessionBody = ({ jwt, user }: SessionAnswer): string =>
  `{${jwt === null ? '' : `"jwt":${JSON.stringify(jwt)},`}"user":${user}}`

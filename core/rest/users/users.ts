import { type Action, BUILT_IN_ACTIONS, CONTENT_ACTIONS } from '../../access/actions.ts'
import type { Grants } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { HttpResponse } from '../../faults/http-exchange.ts'
import { ALL_ROWS } from '../../identity/users/user-values.ts'
import type { UsersService } from '../../identity/users/users-service.ts'
import type { Model } from '../../model/model.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Query } from '../../query/query.ts'
import { answerJson } from '../answer.ts'
import {
  type EndpointCall,
  type GeneratedResponder,
  openEndpoints,
  parseRowId,
  type RestEndpoint,
} from '../endpoint.ts'
import { readBareBody, requestParams } from '../parse-query-string.ts'
import type { RestTerms } from '../rest-call.ts'

/** Users over REST, without an envelope and by numeric id (reference/rest.md#14-access). */
export function openUserRoutes(terms: UsersRouteTerms): GeneratedResponder {
  const on = (action: RestEndpoint['action'], perform: UsersHandler): RestEndpoint => ({
    subject: 'users',
    action,
    perform: call => perform(call, terms),
  })
  return openEndpoints(
    {
      users: { GET: on('find', getUsers), POST: on('create', postUser) },
      'users/count': { GET: on('count', getUserCount) },
      'users/me': { GET: on('me', getMe) },
      'users/:id': {
        GET: on('findOne', getUser),
        PUT: on('update', putUser),
        DELETE: on('delete', removeUser),
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )
}

interface UsersRouteTerms extends RestTerms {
  readonly users: UsersService
}

type UsersHandler = (call: EndpointCall, terms: UsersRouteTerms) => Promise<HttpResponse>

/** A list without an envelope (reference/rest.md#14-access). */
const getUsers: UsersHandler = async (call, terms) =>
  answerText(await terms.users.findMany(parseUsers(call, terms, true), call.caller), call)

/** A number without an envelope. */
const getUserCount: UsersHandler = async (call, terms) =>
  answerJson(String(await terms.users.count(parseUsers(call, terms), call.caller)), call)

/** A user by numeric id; 204 if there is none. */
const getUser: UsersHandler = async (call, terms) => {
  const query = parseUsers(call, terms)
  return answerText(await terms.users.findOne(parseRowId(call.id), query, call.caller), call)
}

/** The caller's own user. */
const getMe: UsersHandler = async (call, terms) =>
  answerText(await terms.users.me(parseUsers(call, terms), call.caller), call)

/** 201 with the user and their role (reference/rest.md#14-access). */
const postUser: UsersHandler = async (call, { users }) => {
  const body = await readBareBody(call.request)
  return answerJson((await users.create(body, call.caller)) ?? 'null', call, 201)
}

/** 200 with the user and their role. */
const putUser: UsersHandler = async ({ id: word, ...call }, { users }) => {
  const body = await readBareBody(call.request)
  const updated = await users.update(parseRowId(word), { body, caller: call.caller })
  return answerJson(updated ?? 'null', call)
}

/** 200 with the deleted user; 204 if there was none. */
const removeUser: UsersHandler = async (call, { users }) =>
  answerText(await users.delete(parseRowId(call.id), call.caller), call)

const answerText = (text: string | null, call: EndpointCall): HttpResponse =>
  text === null ? { status: 204, body: null } : answerJson(text, call)

/** `paged`: with `start` and `limit` as top-level parameters. */
function parseUsers({ request }: EndpointCall, terms: RestTerms, paged = false): Query {
  const parameters = requestParams(request)
  const shared = parseSharedQuery(terms.model.builtIn.user, parameters, terms)
  const page = paged ? parseTopPage(parameters, terms.settings.maxLimit) : { start: 0, limit: 1 }
  return { ...shared, take: { kind: 'many', page, total: false }, locale: { kind: 'all' } }
}

interface RoleRouteTerms extends RestTerms {
  readonly access: Access
}

/** The project's roles and their permissions, read-only: project.yaml defines them (reference/rest.md#17-differences-from-strapi). */
export const openRoleRoutes = (terms: RoleRouteTerms): GeneratedResponder =>
  openEndpoints(
    {
      'users-permissions/roles': {
        GET: { subject: 'role', action: 'find', perform: call => findRoles(call, terms) },
      },
      'users-permissions/roles/:id': {
        GET: { subject: 'role', action: 'findOne', perform: call => findRole(call, terms) },
      },
      'users-permissions/permissions': {
        GET: {
          subject: 'role',
          action: 'find',
          perform: async call =>
            answerJson(JSON.stringify({ permissions: permissionTree(null, terms.model) }), call),
        },
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )

async function findRoles(call: EndpointCall, terms: RoleRouteTerms): Promise<HttpResponse> {
  const roles = await readRoles('find', call, terms)
  return answerJson(JSON.stringify({ roles }), call)
}

async function findRole(call: EndpointCall, terms: RoleRouteTerms): Promise<HttpResponse> {
  const id = parseRowId(call.id)
  const role = (await readRoles('findOne', call, terms)).find(each => each.id === id)
  if (!role) throw new RequestFault(fault('notFound', 'Role not found'))
  const permissions = permissionTree(terms.access.roles.get(String(role.type)) ?? null, terms.model)
  return answerJson(JSON.stringify({ role: { ...role, permissions } }), call)
}

type Role = Readonly<Record<string, unknown>>

/** All roles, sorted by name as in Strapi; a project has few. */
async function readRoles(
  action: 'find' | 'findOne',
  { caller }: EndpointCall,
  { model, documents }: RoleRouteTerms,
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

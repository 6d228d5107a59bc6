import { type Action, BUILT_IN_ACTIONS, CONTENT_ACTIONS } from '../../access/actions.ts'
import type { Grants } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { HttpResponse, Responder } from '../../faults/http-exchange.ts'
import { ALL_ROWS } from '../../identity/users/user-values.ts'
import type { Model } from '../../model/model.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import { answerJson } from '../answer.ts'
import { type EndpointCall, openEndpoints, parseRowId } from '../endpoint.ts'
import type { RestTerms } from '../rest-call.ts'

export interface RoleRouteTerms extends RestTerms {
  readonly access: Access
}

/** The project's roles and their permissions, read-only: project.yaml defines them (reference/rest.md#17-differences-from-strapi). */
export const openRoleRoutes = (terms: RoleRouteTerms): Responder =>
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

import type { Action } from '../../access/actions.ts'
import { BUILT_IN_ACTIONS, CONTENT_ACTIONS } from '../../access/actions.ts'
import type { Grants } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { ok, type Result } from '../../base/result.ts'
import { answerFault, type HttpAnswer, type Responder } from '../../faults/exchange.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import { ALL_ROWS } from '../../identity/users/user-values.ts'
import type { Model } from '../../model/model.ts'
import { everyField } from '../../query/every-field.ts'
import { allRows, populateRows } from '../../query/populate-nodes.ts'
import { answer, refuse } from '../answer.ts'
import { type EndpointVisit, openEndpoints } from '../endpoint.ts'
import { parseId } from '../parse-id.ts'
import type { RestTerms } from '../request-visit.ts'

export interface RolesTerms extends RestTerms {
  readonly access: Access
}

/** The project's roles and what they may do, to be read alone: they live in project.yaml (contract/rest.md 0). */
export const openRoles = (terms: RolesTerms): Responder =>
  openEndpoints(
    {
      'users-permissions/roles': {
        GET: { subject: 'role', action: 'find', perform: visit => findRoles(visit, terms) },
      },
      'users-permissions/roles/:id': {
        GET: { subject: 'role', action: 'findOne', perform: visit => findRole(visit, terms) },
      },
      'users-permissions/permissions': {
        GET: {
          subject: 'role',
          action: 'find',
          perform: async visit => answer(JSON.stringify({ permissions: tree(null, terms.model) }), visit),
        },
      },
    },
    { ...terms, prefix: terms.settings.prefix },
  )

async function findRoles(visit: EndpointVisit, terms: RolesTerms): Promise<HttpAnswer> {
  const roles = await readRoles('find', visit, terms)
  return roles.ok ? answer(JSON.stringify({ roles: roles.value }), visit) : refuse(roles)
}

async function findRole(visit: EndpointVisit, terms: RolesTerms): Promise<HttpAnswer> {
  const id = parseId(visit.id)
  if (!id.ok) return refuse(id)
  const roles = await readRoles('findOne', visit, terms)
  if (!roles.ok) return refuse(roles)
  const role = roles.value.find(each => each.id === id.value)
  if (!role) return answerFault(fault('notFound', 'Role not found'))
  const permissions = tree(terms.access.roles.get(String(role.type)) ?? null, terms.model)
  return answer(JSON.stringify({ role: { ...role, permissions } }), visit)
}

type Role = Readonly<Record<string, unknown>>

/** A project has few of them: all, by name, as the reference lists the ones that it comes with. */
async function readRoles(
  action: 'find' | 'findOne',
  { caller }: EndpointVisit,
  { model, documents }: RolesTerms,
): Promise<Result<readonly Role[], Fault>> {
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
      take: { kind: 'many', page: { start: 0, limit: MOST }, total: false },
      selection: { ...everyField(type), populate: counted },
      sort: name?.kind === 'scalar' ? [{ path: [], attribute: name, direction: 'asc' }] : [],
    },
    caller,
    action,
  )
  if (!restricted.ok) return restricted
  const { text } = await documents.findMany(restricted.value, 'flat')
  return ok((JSON.parse(text) as readonly Role[]).map(flatten))
}

const COUNT = 'nb_users'
const MOST = 10_000

/** Counts of populates come as `{ count }`. */
function flatten(role: Role): Role {
  const counted = role[COUNT]
  if (typeof counted !== 'object' || counted === null || !('count' in counted)) return role
  return { ...role, [COUNT]: counted.count }
}

/** The reference's controllers of the built-in subjects. */
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

/** Every permission that there is, in the reference's form; `enabled` says which of them somebody has. */
function tree(grants: Grants | null, model: Model): Readonly<Record<string, Controllers>> {
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

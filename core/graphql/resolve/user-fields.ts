import type { Action } from '../../access/actions.ts'
import { fault, forbidden, RequestFault } from '../../faults/fault.ts'
import { findRecord, parseResponseSelection } from './find-records.ts'
import type { FixedField, FixedTerms } from './fixed-field.ts'

/** The mutations of users, as over REST, and of roles, which are refused: project.yaml defines them (reference/graphql.md#7-users). */
export const userFields = (terms: FixedTerms) => {
  const { users, model, format } = terms
  const { user } = model.builtIn
  const numberOf = async (id: unknown) => (await findRecord(user, id, terms))?.id ?? NO_USER
  return {
    createUsersPermissionsUser: field('create', async ({ data }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, terms)
      return toResponse(await users.create(toBody(data), caller, selection))
    }),
    updateUsersPermissionsUser: field('update', async ({ id, data }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, terms)
      return toResponse(await users.update(await numberOf(id), { body: toBody(data), caller, selection }))
    }),
    deleteUsersPermissionsUser: field('delete', async ({ id }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, terms)
      const { data } = toResponse(await users.delete(await numberOf(id), caller, selection))
      if (data === null && format.name === 'flat') throw new RequestFault(fault('notFound', 'User not found'))
      return { data }
    }),
    createUsersPermissionsRole: READ_ONLY,
    updateUsersPermissionsRole: READ_ONLY,
    deleteUsersPermissionsRole: READ_ONLY,
  } satisfies Record<string, FixedField>
}

/** No record has this id. */
const NO_USER = 0

const field = (action: Action, resolve: FixedField['resolve']): FixedField => ({
  allows: ({ caller }) => caller.grants.allows('users', action),
  resolve,
})

const READ_ONLY: FixedField = {
  allows: () => false,
  resolve: async () => {
    throw new RequestFault(forbidden())
  },
}

const toResponse = (text: string | null) => ({ data: text === null ? null : JSON.parse(text) })

/** Timestamps are accepted and ignored. A role may be given by its numeric id. */
function toBody(data: unknown): Readonly<Record<string, unknown>> {
  const given: Readonly<Record<string, unknown>> =
    typeof data === 'object' && data !== null ? { ...data } : {}
  const { createdAt: _, updatedAt: __, publishedAt: ___, ...body } = given
  const { role } = body
  return typeof role === 'string' && /^\d{1,9}$/.test(role) ? { ...body, role: Number(role) } : body
}

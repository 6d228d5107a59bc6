import type { Action } from '../../access/actions.ts'
import { missingPermission, reasonForDenial } from '../../access/denial.ts'
import { currentRequestTransaction } from '../../database/request-scope.ts'
import { fault, forbidden, RequestFault } from '../../faults/fault.ts'
import type { AuthOperation, SessionAnswer } from '../../identity/sign-in/auth-service.ts'
import { PASSWORD_MISMATCH } from '../../identity/sign-in/change-password.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { findRecord, parseResponseSelection } from './find-records.ts'
import type { FixedField, FixedOptions } from './fixed-field.ts'
import type { ExecutionContext } from './resolver-context.ts'

/** The mutations of users, as over REST, and of roles, which are refused: project.yaml defines them (reference/graphql.md#7-users). */
export const userFields = (options: FixedOptions) => {
  const { users, model, format } = options
  const { user } = model.builtIn
  const numberOf = async (id: unknown) => (await findRecord(user, id, options))?.id ?? NO_USER
  return {
    createUsersPermissionsUser: field('create', async ({ data }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, options)
      return toResponse(await users.create(toBody(data), caller, selection))
    }),
    updateUsersPermissionsUser: field('update', async ({ id, data }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, options)
      return toResponse(await users.update(await numberOf(id), { body: toBody(data), caller, selection }))
    }),
    deleteUsersPermissionsUser: field('delete', async ({ id }, { caller }, info) => {
      const selection = parseResponseSelection(user, { caller, info, use: 'payload' }, options)
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
  reason: ({ caller }) => missingPermission(caller, `users.${action}`),
  resolve,
})

const ROLES_IN_FILE = 'Roles are declared in project.yaml: no request changes them'

const READ_ONLY: FixedField = {
  allows: () => false,
  reason: () => ROLES_IN_FILE,
  resolve: async () => {
    throw new RequestFault(forbidden(ROLES_IN_FILE))
  },
}

const toResponse = (text: string | null) => ({ data: text === null ? null : JSON.parse(text) })

/** Timestamps are accepted and ignored. A role may be given by its numeric id. */
function toBody(data: unknown): Readonly<Record<string, unknown>> {
  const input: Readonly<Record<string, unknown>> =
    typeof data === 'object' && data !== null ? { ...data } : {}
  const { createdAt: _, updatedAt: __, publishedAt: ___, ...body } = input
  const { role } = body
  return typeof role === 'string' && /^\d{1,9}$/.test(role) ? { ...body, role: Number(role) } : body
}

type Body = Readonly<Record<string, unknown>>

/** The signed-in user, whatever their permissions; null for API tokens. A narrow API key of a user needs the permission. */
export const meField = ({ auth, format }: FixedOptions): FixedField => ({
  allows: ({ caller: { user, key, grants } }) =>
    typeof user?.id === 'number' && (!key?.isNarrow || grants.allows('users', 'me')),
  reason: ({ caller }) =>
    caller.key?.isNarrow
      ? missingPermission(caller, 'users.me')
      : 'The request has no session: `me` answers the signed-in user',
  resolve: async (_, { caller }) => parseUser(await auth.me(caller), format),
})

/**
 * Authentication (reference/graphql.md#7-users). A public permission applies to signed-in callers, too: they could omit their
 * token. Each field counts as a separate request for rate limits, as over REST (reference/safety.md#s9-rate-limits).
 */
export const signInFields = ({ auth, identify, format }: FixedOptions) => {
  const toPayload = ({ jwt, user }: SessionAnswer) => ({ jwt, user: withoutRole(parseUser(user, format)) })
  const isOpen = async (operation: AuthOperation): Promise<boolean> => {
    const anonymous = await identify(undefined)
    return anonymous.grants.allows('auth', operation)
  }
  const ask = <Operation extends AuthOperation>(
    operation: Operation,
    body: Body,
    { caller, peer }: ExecutionContext,
  ) => auth.request(operation, body, { caller, address: peer })
  const field = (operation: AuthOperation, resolve: FixedField['resolve']): FixedField => ({
    allows: async ({ caller }) => caller.grants.allows('auth', operation) || isOpen(operation),
    reason: ({ caller }) => reasonForDenial(caller, 'auth', operation),
    async resolve(...input) {
      if (currentRequestTransaction()) throw new RequestFault(NO_IDEMPOTENCY)
      return resolve(...input)
    },
  })
  return {
    login: field('login', async ({ input }, execution) => {
      const { provider, ...body } = toCredentials(input)
      if (provider !== '' && provider !== 'local') throw new RequestFault(NO_PROVIDER)
      return toPayload(await ask('login', body, execution))
    }),
    register: field('register', async ({ input }, execution) =>
      toPayload(await ask('register', toCredentials(input), execution)),
    ),
    resetPassword: field('resetPassword', async (input, execution) => {
      try {
        return toPayload(await ask('resetPassword', input, execution))
      } catch (error) {
        throw format.errors.restDetails ? error : withoutMismatch(error)
      }
    }),
    changePassword: field('changePassword', async (input, execution) =>
      toPayload(await ask('changePassword', input, execution)),
    ),
    forgotPassword: field('forgotPassword', (input, execution) => ask('forgotPassword', input, execution)),
    emailConfirmation: field('emailConfirmation', async (input, execution) => {
      const { user } = await ask('emailConfirmation', input, execution)
      return toPayload({ jwt: null, user })
    }),
  } satisfies Record<string, FixedField>
}

/** Strapi 4 answers a wrong confirmation of a reset without details. */
function withoutMismatch(error: unknown): unknown {
  const isMismatch = error instanceof RequestFault && error.message === PASSWORD_MISMATCH
  return isMismatch ? new RequestFault(fault('validation', PASSWORD_MISMATCH)) : error
}

/** As over REST: an idempotent request is one transaction whose answer is stored, which credentials must not be. */
const NO_IDEMPOTENCY = fault(
  'validation',
  'Idempotency-Key does not apply to signing in: its answers are never kept',
  { key: 'Idempotency-Key' },
)

const NO_PROVIDER = fault('application', 'This provider is disabled')

const toCredentials = (input: unknown): Body =>
  typeof input === 'object' && input !== null ? { ...input } : {}

/** Answers of authentication omit the role (reference/graphql.md#7-users). */
const withoutRole = (user: UserRow | null) => user && { ...user, role: null }

/** Parses a user; ids are documentIds in the nested format, unless `entityId` is `record`, and numbers in the flat one. `null`: the user was deleted. */
function parseUser(text: string, { name, entityId }: GraphqlFormat): UserRow | null {
  const user = JSON.parse(text) as UserRow | null
  if (name === 'flat' || entityId === 'id') return user
  const { role } = user ?? {}
  return user && { ...user, id: user.documentId, role: role ? { ...role, id: role.documentId } : null }
}

interface UserRow {
  readonly id: unknown
  readonly documentId: unknown
  readonly role?: UserRow | null
}

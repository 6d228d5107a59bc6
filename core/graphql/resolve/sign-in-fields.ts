import { currentRequestTransaction } from '../../database/request-scope.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { AuthOperation, SessionAnswer } from '../../identity/sign-in/auth-service.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import type { FixedField, FixedTerms } from './fixed-field.ts'
import type { ExecutionContext } from './resolve-read.ts'

type Body = Readonly<Record<string, unknown>>

/** The signed-in user, whatever their permissions; null for API tokens. */
export const meField = ({ auth, format }: FixedTerms): FixedField => ({
  allows: ({ caller }) => caller.user !== null,
  resolve: async (_, { caller }) => parseUser(await auth.me(caller), format),
})

/**
 * Authentication (reference/graphql.md#7-users). A public permission applies to signed-in callers, too: they could omit their
 * token. Each field counts as a separate request for rate limits, as over REST (reference/safety.md#s9-rate-limits).
 */
export const signInFields = ({ auth, identify, format }: FixedTerms) => {
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
    async resolve(...given) {
      if (currentRequestTransaction()) throw new RequestFault(NO_IDEMPOTENCY)
      return resolve(...given)
    },
  })
  return {
    login: field('login', async ({ input }, execution) => {
      const { provider, ...body } = toBody(input)
      if (provider !== '' && provider !== 'local') throw new RequestFault(NO_PROVIDER)
      return toPayload(await ask('login', body, execution))
    }),
    register: field('register', async ({ input }, execution) =>
      toPayload(await ask('register', toBody(input), execution)),
    ),
    resetPassword: field('resetPassword', async (given, execution) =>
      toPayload(await ask('resetPassword', given, execution)),
    ),
    changePassword: field('changePassword', async (given, execution) =>
      toPayload(await ask('changePassword', given, execution)),
    ),
    forgotPassword: field('forgotPassword', (given, execution) => ask('forgotPassword', given, execution)),
    emailConfirmation: field('emailConfirmation', async (given, execution) => {
      const { user } = await ask('emailConfirmation', given, execution)
      return toPayload({ jwt: null, user })
    }),
  } satisfies Record<string, FixedField>
}

/** As over REST: an idempotent request is one transaction whose answer is stored, which credentials must not be. */
const NO_IDEMPOTENCY = fault(
  'validation',
  'Idempotency-Key does not apply to signing in: its answers are never kept',
  { key: 'Idempotency-Key' },
)

const NO_PROVIDER = fault('application', 'This provider is disabled')

const toBody = (input: unknown): Body => (typeof input === 'object' && input !== null ? { ...input } : {})

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

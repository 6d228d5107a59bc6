import { failed } from '../../base/result.ts'
import { currentWhole } from '../../database/generations/write-storage.ts'
import { fault } from '../../faults/fault.ts'
import type { AuthOperation, SessionAnswer } from '../../identity/sign-in/auth-service.ts'
import { unwrapResult } from '../parse/to-graphql-error.ts'
import type { FixedField, FixedTerms } from './fixed-field.ts'
import type { ExecutionContext } from './resolve-read.ts'

type Body = Readonly<Record<string, unknown>>

/** Whoever is signed in, whatever his role may do; a program is nobody. */
export const meField = ({ auth }: FixedTerms): FixedField => ({
  allows: ({ caller }) => caller.user !== null,
  resolve: async (_, { caller }) => parseUser(unwrapResult(await auth.me(caller))),
})

/**
 * Signing in (contract/graphql.md 7). What anybody may do without signing in, everybody may: who is signed in could
 * leave his token away. Each field counts as a request of its own, as over REST, whatever it came with (safety S9).
 */
export const signInFields = ({ auth, identify }: FixedTerms) => {
  const isOpen = async (operation: AuthOperation): Promise<boolean> => {
    const nobody = await identify(undefined)
    return nobody.ok && nobody.value.grants.allows('auth', operation)
  }
  const ask = async <Operation extends AuthOperation>(
    operation: Operation,
    body: Body,
    { caller, peer }: ExecutionContext,
  ) => unwrapResult(await auth.request(operation, body, { caller, address: peer }))
  const field = (operation: AuthOperation, resolve: FixedField['resolve']): FixedField => ({
    allows: async ({ caller }) => caller.grants.allows('auth', operation) || isOpen(operation),
    resolve: async (...given) => (currentWhole() ? unwrapResult(failed(NO_IDEMPOTENCY)) : resolve(...given)),
  })
  return {
    login: field('login', async ({ input }, acting) => {
      const { provider, ...body } = toBody(input)
      if (provider !== '' && provider !== 'local') unwrapResult(failed(NO_PROVIDER))
      return toPayload(await ask('login', body, acting))
    }),
    register: field('register', async ({ input }, acting) =>
      toPayload(await ask('register', toBody(input), acting)),
    ),
    resetPassword: field('resetPassword', async (given, acting) =>
      toPayload(await ask('resetPassword', given, acting)),
    ),
    changePassword: field('changePassword', async (given, acting) =>
      toPayload(await ask('changePassword', given, acting)),
    ),
    forgotPassword: field('forgotPassword', (given, acting) => ask('forgotPassword', given, acting)),
    emailConfirmation: field('emailConfirmation', async (given, acting) => {
      const { user } = await ask('emailConfirmation', given, acting)
      return toPayload({ jwt: null, user })
    }),
  } satisfies Record<string, FixedField>
}

/** Over REST, too: the whole of such a request is one transaction, and its answer is kept. */
const NO_IDEMPOTENCY = fault(
  'validation',
  'Idempotency-Key does not apply to signing in: its answers are never kept',
  { key: 'Idempotency-Key' },
)

const NO_PROVIDER = fault('application', 'This provider is disabled')

const toBody = (input: unknown): Body => (typeof input === 'object' && input !== null ? { ...input } : {})

/** Who signs in is answered without his role (contract/graphql.md 7). */
const toPayload = ({ jwt, user }: SessionAnswer) => ({ jwt, user: withoutRole(parseUser(user)) })

const withoutRole = (user: UserRow | null) => user && { ...user, role: null }

/** Documents go by their documentId here; `null` is the text of who is gone. */
function parseUser(text: string): UserRow | null {
  const user = JSON.parse(text) as UserRow | null
  const { role } = user ?? {}
  return user && { ...user, id: user.documentId, role: role ? { ...role, id: role.documentId } : null }
}

interface UserRow {
  readonly id: unknown
  readonly documentId: unknown
  readonly role?: UserRow | null
}

import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, forbidden, tooManyRequests } from '../../faults/fault.ts'
import type { Identity, SignedIn } from '../identity.ts'
import type { Body } from '../parse-credentials.ts'
import { type CountRequest, networkOf, type Quota } from '../rate-limit.ts'
import { type OwnUserTerms, type RoleShown, readOwnUser } from '../users/own-user.ts'
import type {
  AuthAnswers,
  AuthCall,
  AuthOperation,
  AuthService,
  Performed,
  SessionAnswer,
} from './auth-service.ts'

export interface AuthServiceTerms extends OwnUserTerms {
  readonly identity: Identity
  readonly count: CountRequest
}

export function openAuthService(terms: AuthServiceTerms): AuthService {
  const count: AuthService['count'] = (operation, address) =>
    terms.count([`address ${networkOf(address)} ${operation}`])
  const perform: AuthService['perform'] = (operation, body, call) => OPERATIONS[operation](body, call, terms)
  return {
    count,
    perform,
    async ask(operation, body, call) {
      const quota = await count(operation, call.address)
      if (quota && !quota.allowed) return failed(tooManyRequests())
      return (await perform(operation, body, call)).result
    },
    async me({ user }) {
      if (typeof user?.documentId !== 'string') return failed(forbidden())
      return ok(await readOwnUser(user.documentId, 'all', terms))
    },
  }
}

type Operations = {
  readonly [Operation in AuthOperation]: (
    body: Body,
    call: AuthCall,
    terms: AuthServiceTerms,
  ) => Promise<Performed<AuthAnswers[Operation]>>
}

const OPERATIONS: Operations = {
  async login(body, { address }, terms) {
    const { result, quota } = await terms.identity.signIn(body, networkOf(address))
    return { result: await toSession(result, 'none', terms), quota }
  },
  register: (body, { caller }, terms) =>
    byMail('register', body, terms, async () =>
      toSession(await terms.identity.register(body), caller, terms),
    ),
  async changePassword(body, { caller }, terms) {
    const { result, quota } = await terms.identity.changePassword(body, caller)
    return { result: await toSession(result, 'none', terms), quota }
  },
  async resetPassword(body, { address }, terms) {
    const result = await terms.identity.resetPassword(body, networkOf(address))
    return uncounted(await toSession(result, 'none', terms))
  },
  forgotPassword: (body, _call, terms) =>
    byMail('forgotPassword', body, terms, async () => {
      const done = await terms.identity.forgotPassword(body)
      return done.ok ? ok({ ok: true }) : done
    }),
  sendEmailConfirmation: (body, _call, terms) =>
    byMail('sendEmailConfirmation', body, terms, async () => {
      const sent = await terms.identity.sendEmailConfirmation(body)
      return sent.ok ? ok({ email: sent.value, sent: true }) : sent
    }),
  async emailConfirmation({ confirmation }, _call, terms) {
    const confirmed = await terms.identity.confirmEmail(confirmation)
    if (!confirmed.ok) return uncounted(confirmed)
    const { location, documentId } = confirmed.value
    return uncounted(ok({ location, user: await readOwnUser(documentId, 'none', terms) }))
  },
}

const uncounted = <Answer>(result: Result<Answer, Fault>): Performed<Answer> => ({ result, quota: null })

/** A mail address has a limit of its own beside that of who asks, so that nobody's is flooded from everywhere (safety S9). */
async function byMail<Answer>(
  operation: AuthOperation,
  { email }: Body,
  { count }: AuthServiceTerms,
  perform: () => Promise<Result<Answer, Fault>>,
): Promise<Performed<Answer>> {
  const quota: Quota | null =
    typeof email === 'string' ? await count([`mail ${email.trim().toLowerCase()} ${operation}`]) : null
  if (quota && !quota.allowed) return { result: failed(tooManyRequests()), quota }
  return { result: await perform(), quota }
}

async function toSession(
  signedIn: Result<SignedIn, Fault>,
  role: RoleShown,
  terms: OwnUserTerms,
): Promise<Result<SessionAnswer, Fault>> {
  if (!signedIn.ok) return signedIn
  const { jwt, documentId } = signedIn.value
  return ok({ jwt, user: await readOwnUser(documentId, role, terms) })
}

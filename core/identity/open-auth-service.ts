import type { Caller } from '../access/caller.ts'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault, forbidden } from '../faults/fault.ts'
import type { AuthAnswers, AuthOperation, AuthService, SessionAnswer } from './auth-service.ts'
import type { Identity, SignedIn } from './identity.ts'
import { type OwnUserTerms, type RoleShown, readOwnUser } from './own-user.ts'
import type { Body } from './parse-credentials.ts'
import { type CountRequest, networkOf, type Quota } from './rate-limit.ts'

export interface AuthServiceTerms extends OwnUserTerms {
  readonly identity: Identity
  readonly count: CountRequest
}

export function openAuthService(terms: AuthServiceTerms): AuthService {
  const count: AuthService['count'] = (operation, address) =>
    terms.count([`address ${networkOf(address)} ${operation}`])
  const perform: AuthService['perform'] = async (operation, body, caller) => {
    const quota = await countMail(operation, body, terms)
    if (quota && !quota.allowed) return { result: failed(tooManyRequests()), quota }
    return { result: await OPERATIONS[operation](body, caller, terms), quota }
  }
  return {
    count,
    perform,
    async ask(operation, body, { caller, address }) {
      const quota = await count(operation, address)
      if (quota && !quota.allowed) return failed(tooManyRequests())
      return (await perform(operation, body, caller)).result
    },
    async me({ user }) {
      if (typeof user?.documentId !== 'string') return failed(forbidden())
      return ok(await readOwnUser(user.documentId, 'all', terms))
    },
  }
}

export const tooManyRequests = (): Fault => fault('rateLimit', 'Too many requests, please try again later.')

/** Those that send mails to an address that anybody may name. */
const MAILING: ReadonlySet<AuthOperation> = new Set<AuthOperation>([
  'register',
  'forgotPassword',
  'sendEmailConfirmation',
])

/** A mail address has a limit of its own beside that of who asks, so that nobody's is flooded from everywhere (safety S9). */
async function countMail(
  operation: AuthOperation,
  { email }: Body,
  { count }: AuthServiceTerms,
): Promise<Quota | null> {
  if (!MAILING.has(operation) || typeof email !== 'string') return null
  return count([`mail ${email.trim().toLowerCase()} ${operation}`])
}

type Operations = {
  readonly [Operation in AuthOperation]: (
    body: Body,
    caller: Caller,
    terms: AuthServiceTerms,
  ) => Promise<Result<AuthAnswers[Operation], Fault>>
}

const OPERATIONS: Operations = {
  login: async (body, _caller, terms) => toSession(await terms.identity.signIn(body), 'none', terms),
  register: async (body, caller, terms) => toSession(await terms.identity.register(body), caller, terms),
  changePassword: async (body, caller, terms) =>
    toSession(await terms.identity.changePassword(body, caller), 'none', terms),
  resetPassword: async (body, _caller, terms) =>
    toSession(await terms.identity.resetPassword(body), 'none', terms),
  async forgotPassword(body, _caller, { identity }) {
    const done = await identity.forgotPassword(body)
    return done.ok ? ok({ ok: true }) : done
  },
  async sendEmailConfirmation(body, _caller, { identity }) {
    const sent = await identity.sendEmailConfirmation(body)
    return sent.ok ? ok({ email: sent.value, sent: true }) : sent
  },
  async emailConfirmation({ confirmation }, _caller, { identity }) {
    const confirmed = await identity.confirmEmail(confirmation)
    return confirmed.ok ? ok({ location: confirmed.value }) : confirmed
  },
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

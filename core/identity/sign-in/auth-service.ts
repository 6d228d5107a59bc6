import type { BUILT_IN_ACTIONS } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { Caller } from '../../access/caller.ts'
import { readableAttributes } from '../../access/restrict/readable-attributes.ts'
import type { DocumentReads } from '../../documents/documents.ts'
import { forbidden, RequestFault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import { confirmEmail, sendEmailConfirmation } from '../confirm-email.ts'
import type { AuthCall, IdentityTerms, SignedIn } from '../identity.ts'
import type { AuthBody } from '../parse-credentials.ts'
import { type CountRequest, enforceQuota, networkOf, type Quota, type QuotaListener } from '../rate-limit.ts'
import { ALL_ROWS } from '../users/user-values.ts'
import { changePassword, forgotPassword, resetPassword } from './change-password.ts'
import { register } from './register.ts'
import { signIn } from './sign-in.ts'

/**
 * The auth operations for every protocol (reference/rest.md#14-access, reference/graphql.md#7-users): parses bodies, counts requests, makes
 * responses. The protocol checks the permission (`caller.grants.allows('auth', operation)`). Refusals are thrown
 * RequestFaults.
 */
export interface AuthService {
  /** `count`, then `perform`. Rejects over the limit (429), without performing the operation. */
  request<Operation extends AuthOperation>(
    operation: Operation,
    body: AuthBody,
    call: AuthCall,
  ): Promise<AuthAnswers[Operation]>
  /** Counts a request of a network address, for protocols that count before they read the body. null: no limit. */
  count(operation: AuthOperation, address: string): Promise<Quota | null>
  /** Performs the operation. Mails per address and password attempts per user are counted here. */
  perform<Operation extends AuthOperation>(
    operation: Operation,
    body: AuthBody,
    call: AuthCall,
  ): Promise<AuthAnswers[Operation]>
  /** JSON text of the signed-in user with the role, regardless of permissions on roles; 403 for other callers. */
  me(caller: Caller): Promise<string>
}

/** Named as their permissions. */
export type AuthOperation = (typeof BUILT_IN_ACTIONS.auth)[number]

export interface AuthAnswers {
  readonly login: SessionAnswer
  readonly register: SessionAnswer
  readonly changePassword: SessionAnswer
  readonly resetPassword: SessionAnswer
  readonly forgotPassword: { readonly ok: true }
  readonly sendEmailConfirmation: { readonly email: string; readonly sent: true }
  /** For the body `{ confirmation }`: redirect target, and JSON text of the confirmed user. Starts no session. */
  readonly emailConfirmation: { readonly location: string; readonly user: string }
}

export interface SessionAnswer {
  /** null: the e-mail address must be confirmed first. */
  readonly jwt: string | null
  /** JSON text without private attributes. After registration with the role, if the caller may read roles. */
  readonly user: string
}

interface AuthServiceTerms extends OwnUserTerms {
  readonly identity: IdentityTerms
  readonly count: CountRequest
}

export function openAuthService(terms: AuthServiceTerms): AuthService {
  const count: AuthService['count'] = (operation, address) =>
    terms.count([`address ${networkOf(address)} ${operation}`])
  const perform: AuthService['perform'] = (operation, body, call) => OPERATIONS[operation](body, call, terms)
  return {
    count,
    perform,
    async request(operation, body, call) {
      enforceQuota(await count(operation, call.address), {})
      return perform(operation, body, call)
    },
    async me({ user }) {
      if (typeof user?.documentId !== 'string') throw new RequestFault(forbidden())
      return readOwnUser(user.documentId, 'all', terms)
    },
  }
}

type Operations = {
  readonly [Operation in AuthOperation]: (
    body: AuthBody,
    call: AuthCall,
    terms: AuthServiceTerms,
  ) => Promise<AuthAnswers[Operation]>
}

const OPERATIONS: Operations = {
  login: async (body, call, terms) =>
    toSessionAnswer(await signIn(body, call, terms.identity), 'none', terms),
  async register(body, call, terms) {
    await countMail('register', body, call, terms)
    return toSessionAnswer(await register(body, terms.identity), call.caller, terms)
  },
  changePassword: async (body, call, terms) =>
    toSessionAnswer(await changePassword(body, call, terms.identity), 'none', terms),
  resetPassword: async (body, call, terms) =>
    toSessionAnswer(await resetPassword(body, call, terms.identity), 'none', terms),
  async forgotPassword(body, call, terms) {
    await countMail('forgotPassword', body, call, terms)
    forgotPassword(body, terms.identity)
    return { ok: true }
  },
  async sendEmailConfirmation(body, call, terms) {
    await countMail('sendEmailConfirmation', body, call, terms)
    return { email: sendEmailConfirmation(body, terms.identity), sent: true }
  },
  async emailConfirmation({ confirmation }, _call, terms) {
    const { location, documentId } = await confirmEmail(confirmation, terms.identity)
    return { location, user: await readOwnUser(documentId, 'none', terms) }
  },
}

/** Limits mails per address in addition to requests per network, so that no mailbox is flooded from many networks (reference/safety.md#s9-rate-limits). */
async function countMail(
  operation: AuthOperation,
  { email }: AuthBody,
  listener: QuotaListener,
  { count }: AuthServiceTerms,
): Promise<void> {
  if (typeof email !== 'string') return
  enforceQuota(await count([`mail ${email.trim().toLowerCase()} ${operation}`]), listener)
}

const toSessionAnswer = async (
  { jwt, documentId }: SignedIn,
  role: ShownRole,
  terms: OwnUserTerms,
): Promise<SessionAnswer> => ({ jwt, user: await readOwnUser(documentId, role, terms) })

interface OwnUserTerms {
  readonly model: Model
  readonly documents: Pick<DocumentReads, 'findOne'>
}

/** Which part of the role is included: none, all, or what the caller may read. */
type ShownRole = Caller | 'none' | 'all'

/** JSON text of a user's own record without private attributes; the text `null` if the user was deleted. */
async function readOwnUser(
  documentId: string,
  role: ShownRole,
  { model, documents }: OwnUserTerms,
): Promise<string> {
  const { user: type } = model.builtIn
  const visible = readableAttributes(type)
  const fields = everyField(type).fields.filter(field => visible.has(field))
  const query = trusted({
    ...ALL_ROWS,
    type,
    take: { kind: 'one', documentId },
    selection: { fields, named: true, populate: populateRole(type, role) },
  })
  return (await documents.findOne(query, 'flat')) ?? 'null'
}

function populateRole(type: ContentType, shown: ShownRole): readonly Populate[] {
  const role = type.attributes.get('role')
  if (role?.kind !== 'relation' || shown === 'none') return []
  if (shown === 'all') return [populateRows(role, 'named', allRows(role.target))]
  const view = shown.grants.readAccess(role.target, 'find')
  if (view === null || view.where !== null) return []
  const fields = everyField(role.target).fields.filter(field => view.readable.has(field))
  const selection = { fields, named: true, populate: [] }
  return [populateRows(role, 'named', { ...allRows(role.target), selection })]
}

import type { BUILT_IN_ACTIONS } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { Caller } from '../../access/caller.ts'
import { readableAttributes } from '../../access/restrict/readable-attributes.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { DocumentReads } from '../../documents/documents.ts'
import { type Fault, forbidden, tooManyRequests } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Populate } from '../../query/query.ts'
import type { IdentityService, SignedIn } from '../identity.ts'
import type { AuthBody } from '../parse-credentials.ts'
import { type CountRequest, networkOf, type Quota } from '../rate-limit.ts'
import { ALL_ROWS } from '../users/user-values.ts'

/**
 * The auth operations for every protocol (reference/rest.md#14-access, reference/graphql.md#7-users): parses bodies, counts requests, makes
 * responses. The protocol checks the permission (`caller.grants.allows('auth', operation)`).
 */
export interface AuthService {
  /** `count`, then `perform`. Fails with `rateLimit` over the limit, without performing the operation. */
  request<Operation extends AuthOperation>(
    operation: Operation,
    body: AuthBody,
    call: AuthCall,
  ): Promise<Result<AuthAnswers[Operation], Fault>>
  /** Counts a request of a network address, for protocols that count before they read the body. null: no limit. */
  count(operation: AuthOperation, address: string): Promise<Quota | null>
  /** Performs the operation. Mails per address and password attempts per user are counted here. */
  perform<Operation extends AuthOperation>(
    operation: Operation,
    body: AuthBody,
    call: AuthCall,
  ): Promise<AuthResult<AuthAnswers[Operation]>>
  /** JSON text of the signed-in user with the role, regardless of permissions on roles; 403 for other callers. */
  me(caller: Caller): Promise<Result<string, Fault>>
}

/** Named as their permissions. */
export type AuthOperation = (typeof BUILT_IN_ACTIONS.auth)[number]

export interface AuthCall {
  readonly caller: Caller
  /** Network address of the client: `HttpRequest.peer`. */
  readonly address: string
}

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

export interface AuthResult<Answer> {
  readonly result: Result<Answer, Fault>
  /** Quota of a narrower limit, such as that of a mail address; null: none. */
  readonly quota: Quota | null
}

interface AuthServiceTerms extends OwnUserTerms {
  readonly identity: IdentityService
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
    body: AuthBody,
    call: AuthCall,
    terms: AuthServiceTerms,
  ) => Promise<AuthResult<AuthAnswers[Operation]>>
}

const OPERATIONS: Operations = {
  async login(body, { address }, terms) {
    const { result, quota } = await terms.identity.signIn(body, networkOf(address))
    return { result: await toSessionAnswer(result, 'none', terms), quota }
  },
  register: (body, { caller }, terms) =>
    limitedByAddress('register', body, terms, async () =>
      toSessionAnswer(await terms.identity.register(body), caller, terms),
    ),
  async changePassword(body, { caller }, terms) {
    const { result, quota } = await terms.identity.changePassword(body, caller)
    return { result: await toSessionAnswer(result, 'none', terms), quota }
  },
  async resetPassword(body, { address }, terms) {
    const result = await terms.identity.resetPassword(body, networkOf(address))
    return withoutQuota(await toSessionAnswer(result, 'none', terms))
  },
  forgotPassword: (body, _call, terms) =>
    limitedByAddress('forgotPassword', body, terms, async () => {
      const done = await terms.identity.forgotPassword(body)
      return done.ok ? ok({ ok: true }) : done
    }),
  sendEmailConfirmation: (body, _call, terms) =>
    limitedByAddress('sendEmailConfirmation', body, terms, async () => {
      const sent = await terms.identity.sendEmailConfirmation(body)
      return sent.ok ? ok({ email: sent.value, sent: true }) : sent
    }),
  async emailConfirmation({ confirmation }, _call, terms) {
    const confirmed = await terms.identity.confirmEmail(confirmation)
    if (!confirmed.ok) return withoutQuota(confirmed)
    const { location, documentId } = confirmed.value
    return withoutQuota(ok({ location, user: await readOwnUser(documentId, 'none', terms) }))
  },
}

const withoutQuota = <Answer>(result: Result<Answer, Fault>): AuthResult<Answer> => ({ result, quota: null })

/** Limits mails per address in addition to requests per network, so that no mailbox is flooded from many networks (reference/safety.md#s9-rate-limits). */
async function limitedByAddress<Answer>(
  operation: AuthOperation,
  { email }: AuthBody,
  { count }: AuthServiceTerms,
  perform: () => Promise<Result<Answer, Fault>>,
): Promise<AuthResult<Answer>> {
  const quota: Quota | null =
    typeof email === 'string' ? await count([`mail ${email.trim().toLowerCase()} ${operation}`]) : null
  if (quota && !quota.allowed) return { result: failed(tooManyRequests()), quota }
  return { result: await perform(), quota }
}

async function toSessionAnswer(
  signedIn: Result<SignedIn, Fault>,
  role: ShownRole,
  terms: OwnUserTerms,
): Promise<Result<SessionAnswer, Fault>> {
  if (!signedIn.ok) return signedIn
  const { jwt, documentId } = signedIn.value
  return ok({ jwt, user: await readOwnUser(documentId, role, terms) })
}

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

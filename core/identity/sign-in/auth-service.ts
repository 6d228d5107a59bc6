import type { BUILT_IN_ACTIONS } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { Caller } from '../../access/caller.ts'
import type { Access } from '../../access/compile/compile-access.ts'
import { readableAttributes } from '../../access/readable-attributes.ts'
import type { Transaction } from '../../database/database.ts'
import type { DesiredValue, Values } from '../../documents/desired-state.ts'
import type { DocumentReads } from '../../documents/documents.ts'
import { newDocumentId } from '../../documents/rows/document-id.ts'
import { type ParseOptions, parseValues } from '../../documents/values/parse-attribute.ts'
import { rule, toFault, toRefusal } from '../../documents/values/value-fault.ts'
import { fault, forbidden, RequestFault, unauthorized } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { parseGivenValues } from '../../query/parse-given-values.ts'
import { allRows, everyField, populateRows } from '../../query/populate-nodes.ts'
import type { Populate, Selection } from '../../query/query.ts'
import { confirmEmail, mailConfirmation, sendEmailConfirmation } from '../confirm-email.ts'
import type { AuthCall, IdentityOptions, SignedIn } from '../identity.ts'
import { type AuthBody, parseCredentials } from '../parse-credentials.ts'
import { type CountRequest, enforceQuota, networkOf, type Quota, type QuotaListener } from '../rate-limit.ts'
import { type Account, findAccount, lockIdentifiers, writeAccount } from '../users/accounts.ts'
import { createUser, findRole, hashUserValues, roleValue, scalarValue } from '../users/save-user.ts'
import { ALL_ROWS, requireScalar, withUsername } from '../users/user-values.ts'
import { changePassword, forgotPassword, resetPassword } from './change-password.ts'
import { userCaller } from './session-strategy.ts'
import { issueSession, signIn } from './sign-in.ts'

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
  countAttempt(operation: AuthOperation, address: string): Promise<Quota | null>
  /** Performs the operation. Mails per address and password attempts per user are counted here. */
  perform<Operation extends AuthOperation>(
    operation: Operation,
    body: AuthBody,
    call: AuthCall,
  ): Promise<AuthAnswers[Operation]>
  /** The answer to a sign-in by other means than a password. */
  answerSession(signedIn: SignedIn): Promise<SessionAnswer>
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
  /** JSON text without attributes that the user may not read. After registration with the role, if the caller may read roles. */
  readonly user: string
}

interface AuthServiceOptions extends OwnUserOptions {
  readonly identity: IdentityOptions
  readonly countAttempt: CountRequest
}

export function openAuthService(options: AuthServiceOptions): AuthService {
  const countAttempt: AuthService['countAttempt'] = (operation, address) =>
    options.countAttempt([`address ${networkOf(address)} ${operation}`])
  const perform: AuthService['perform'] = (operation, body, call) =>
    OPERATIONS[operation](body, call, options)
  return {
    countAttempt,
    perform,
    answerSession: signedIn => toSessionAnswer(signedIn, 'none', options),
    async request(operation, body, call) {
      enforceQuota(await countAttempt(operation, call.address), {})
      return perform(operation, body, call)
    },
    async me({ user }) {
      if (typeof user?.documentId !== 'string')
        throw new RequestFault(forbidden('The user of the session is no longer in the database'))
      return readOwnUser(user.documentId, 'all', options)
    },
  }
}

type Operations = {
  readonly [Operation in AuthOperation]: (
    body: AuthBody,
    call: AuthCall,
    options: AuthServiceOptions,
  ) => Promise<AuthAnswers[Operation]>
}

const OPERATIONS: Operations = {
  login: async (body, call, options) =>
    toSessionAnswer(await signIn(body, call, options.identity), 'none', options),
  async register(body, call, options) {
    await countMail('register', body, call, options)
    const input = call.ignoresUnknown ? allowedValues(body, options.identity) : body
    return toSessionAnswer(await register(input, options.identity), call.caller, options)
  },
  changePassword: async (body, call, options) =>
    toSessionAnswer(await changePassword(body, call, options.identity), 'none', options),
  resetPassword: async (body, call, options) =>
    toSessionAnswer(await resetPassword(body, call, options.identity), 'none', options),
  async forgotPassword(body, call, options) {
    await countMail('forgotPassword', body, call, options)
    forgotPassword(body, options.identity)
    return { ok: true }
  },
  async sendEmailConfirmation(body, call, options) {
    await countMail('sendEmailConfirmation', body, call, options)
    return { email: sendEmailConfirmation(body, options.identity), sent: true }
  },
  async emailConfirmation({ confirmation }, _call, options) {
    const { location, documentId } = await confirmEmail(confirmation, options.identity)
    return { location, user: await readOwnUser(documentId, 'none', options) }
  },
}

/** Limits mails per address in addition to requests per network, so that no mailbox is flooded from many networks (reference/safety.md#s9-rate-limits). */
async function countMail(
  operation: AuthOperation,
  { email }: AuthBody,
  listener: QuotaListener,
  { countAttempt }: AuthServiceOptions,
): Promise<void> {
  if (typeof email !== 'string') return
  enforceQuota(await countAttempt([`mail ${email.trim().toLowerCase()} ${operation}`]), listener)
}

const toSessionAnswer = async (
  { jwt, documentId }: SignedIn,
  role: ShownRole,
  options: OwnUserOptions,
): Promise<SessionAnswer> => ({ jwt, user: await readOwnUser(documentId, role, options) })

interface OwnUserOptions {
  readonly model: Model
  readonly access: Access
  readonly documents: Pick<DocumentReads, 'findOne'>
}

/** Which part of the role is included: none, all, or what the caller may read. */
type ShownRole = Caller | 'none' | 'all'

/**
 * JSON text of a user's own record, without private attributes and without those of the project that the permission `me` of the
 * user's role leaves out; 401 if the user was deleted meanwhile, as for a later request.
 */
async function readOwnUser(documentId: string, role: ShownRole, options: OwnUserOptions): Promise<string> {
  const { user: type } = options.model.builtIn
  const visible = readableAttributes(type)
  const all = everyField(type).fields.filter(field => visible.has(field))
  const read = async (selection: Selection) => {
    const take = { kind: 'one', documentId } as const
    const text = await options.documents.findOne(trusted({ ...ALL_ROWS, type, take, selection }), 'flat')
    if (text === null) throw new RequestFault(unauthorized('Invalid credentials', 'The user was deleted'))
    return text
  }
  const whole = { fields: all, named: true, populate: populateRole(type, role) }
  if (all.every(({ name }) => SESSION_FIELDS.has(name))) return read(whole)
  const holder = JSON.parse(await read({ fields: [], named: true, populate: populateRole(type, 'all') }))
  const own = userCaller(holder, options.access).grants.readAccess(type, 'me')
  const fields = all.filter(field => SESSION_FIELDS.has(field.name) || (own?.readable.has(field) ?? true))
  return read({ ...whole, fields })
}

/** What every session answers (reference/rest.md#14-access). */
const SESSION_FIELDS: ReadonlySet<string> = new Set([
  ...['id', 'documentId', 'username', 'email', 'provider', 'confirmed', 'blocked'],
  ...['createdAt', 'updatedAt', 'publishedAt'],
])

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

const REQUIRED_FIELDS = ['email', 'username', 'password'] as const

const TAKEN_MESSAGE = 'Email or Username are already taken'

/** Creates a user with the configured role. Keys that the project does not allow are refused (reference/safety.md#s6-mass-assignment). */
async function register(body: AuthBody, options: IdentityOptions): Promise<SignedIn> {
  if (!options.settings.register.enabled)
    throw new RequestFault(fault('application', 'Register action is currently disabled'))
  const values = await parseRegistration(withUsername(body), options)
  const account = await writeAccount(async (transaction, recordEvent) => {
    const inserted = await insertUser(values, transaction, options)
    recordEvent(inserted, 'create', [...values.keys(), 'role'])
    return inserted
  }, options).catch(throwTaken)
  if (!options.settings.register.confirmEmail) return issueSession(account, options)
  options.background.start(() => mailConfirmation(account, options))
  return { jwt: null, documentId: account.documentId }
}

/** A unique violation by a concurrent registration is reported like a value that was taken before. */
function throwTaken(error: unknown): never {
  if (!(error instanceof RequestFault)) throw error
  const { errors } = error.details
  const [first]: readonly { readonly path?: readonly string[] }[] = Array.isArray(errors) ? errors : []
  const isTaken = first?.path?.some(name => name === 'email' || name === 'username')
  throw isTaken ? new RequestFault(fault('application', TAKEN_MESSAGE)) : error
}

const registrationFields = ({ settings }: Pick<IdentityOptions, 'settings'>): ReadonlySet<string> =>
  new Set([...REQUIRED_FIELDS, ...settings.register.allowedFields])

function allowedValues(body: AuthBody, options: IdentityOptions): AuthBody {
  const allowed = registrationFields(options)
  return Object.fromEntries(Object.entries(body).filter(([key]) => allowed.has(key)))
}

async function parseRegistration(body: AuthBody, { settings, model }: IdentityOptions): Promise<Values> {
  const { confirmEmail } = settings.register
  const allowed = registrationFields({ settings })
  const wrong = Object.keys(body).filter(key => !allowed.has(key))
  if (wrong.length > 0) throw new RequestFault(fault('validation', `Invalid parameters: ${wrong.join(', ')}`))
  const rules = REQUIRED_FIELDS.map(name => ({ name, attribute: requireScalar(model.builtIn.user, name) }))
  parseCredentials(body, rules)
  const { values, faults } = parseValues(
    model.builtIn.user,
    parseGivenValues(model.builtIn.user, body),
    PARSE_TERMS,
  )
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
  const server = { provider: scalarValue('local'), confirmed: scalarValue(!confirmEmail) }
  return hashUserValues(new Map([...values, ...Object.entries(server)]), model)
}

/** Registration may not set relations. */
const PARSE_TERMS: ParseOptions = {
  strictness: 'full',
  purpose: 'make',
  componentIds: false,
  links: (_attribute, value, path) => ({
    targets: undefined,
    faults: [toFault(rule('cannot be set while registering'), path, value)],
  }),
}

async function insertUser(
  values: Values,
  transaction: Transaction,
  options: IdentityOptions,
): Promise<Account> {
  const documentId = newDocumentId()
  await assertUnused(values, transaction, options)
  const role = await findRole(options.settings.register.role, transaction, options)
  const user = { documentId, values: new Map<string, DesiredValue>([...values, ['role', roleValue(role)]]) }
  await createUser(user, { email: TAKEN_MESSAGE, username: TAKEN_MESSAGE }, transaction, options)
  const text = textValue(values, 'email')
  const account = await findAccount(transaction, { by: 'email', text }, options)
  if (!account) throw new TypeError('a user that was just made is not there')
  return account
}

/** A username must not equal another user's address, and vice versa. createUser checks equal columns. */
async function assertUnused(
  values: Values,
  transaction: Transaction,
  options: IdentityOptions,
): Promise<void> {
  const texts = ['username', 'email'].map(name => textValue(values, name))
  await lockIdentifiers(transaction, texts)
  for (const text of texts) {
    const found = await findAccount(transaction, { by: 'identifier', text }, options)
    if (found) throw new RequestFault(fault('application', TAKEN_MESSAGE))
  }
}

function textValue(values: Values, name: string): string {
  const value = values.get(name)
  return value?.kind === 'scalar' ? String(value.value) : ''
}

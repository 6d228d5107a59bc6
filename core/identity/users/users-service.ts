import type { Caller } from '../../access/caller.ts'
import { denied, ownUserId } from '../../access/denial.ts'
import { permit } from '../../access/restrict/permit.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { didYouMean } from '../../base/nearest.ts'
import type { Documents } from '../../documents/documents.ts'
import { rule, toFault, toRefusal, type ValueFault } from '../../documents/values/value-fault.ts'
import { type Fault, fault, invalidBodyKey, RequestFault, unauthorized } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { GivenValues } from '../../query/command.ts'
import { parseGivenValues, parseLinkChange } from '../../query/parse-given-values.ts'
import { isRecord } from '../../query/parse-place.ts'
import { everyField, populateWhole } from '../../query/populate-nodes.ts'
import type { Filter, Query, RestrictedQuery, Selection } from '../../query/query.ts'
import { startAddressChange } from '../confirm-email.ts'
import type { IdentityOptions } from '../identity.ts'
import { type AuthBody, checkCredential, missingFault, typeFault } from '../parse-credentials.ts'
import type { CountRequest } from '../rate-limit.ts'
import { findAccount } from './accounts.ts'
import { ALL_ROWS, requireScalar } from './user-values.ts'

/**
 * Users for every protocol (reference/rest.md#14-access), within the caller's permissions: 403 without permission for the action,
 * except `me`. Documents are JSON texts. Only `findMany` respects `take` of a query. Writes return the given `selection`,
 * by default all readable attributes and the role. Refusals are thrown RequestFaults.
 */
export interface UsersService {
  /** Returns a JSON array. */
  findMany(query: Query, caller: Caller): Promise<string>
  /** With a filter, counts only users that the caller may find. */
  count(query: Query, caller: Caller): Promise<number>
  /** null: none visible. */
  findOne(id: number, query: Query, caller: Caller): Promise<string | null>
  /** 401 for the public and for API tokens; null: the query does not match the caller's own user. */
  me(query: Query, caller: Caller): Promise<string | null>
  /** Requires username, address, password and role, except what the server sets. null: not readable by the caller. */
  create(body: AuthBody, caller: Caller, selection?: Selection): Promise<string | null>
  /** 404 for an unknown user. A new password ends the sessions; a new address invalidates mailed codes. */
  update(id: number, change: UserChange): Promise<string | null>
  /** Returns the deleted user without the role; null: unknown or not visible. */
  delete(id: number, caller: Caller, selection?: Selection): Promise<string | null>
}

export const openUsersService = (options: UsersServiceOptions): UsersService => ({
  findMany: (query, caller) => readUsers(query, caller, options),
  count: (query, caller) => countVisibleUsers(query, caller, options),
  findOne: (id, query, caller) => readUserById(id, { query, caller }, options),
  me: (query, caller) => readMe(query, caller, options),
  create: (body, caller, selection) => createUserDocument({ body, caller, selection }, options),
  update: (id, change) => updateUserDocument(id, change, options),
  delete: (id, caller, selection) => deleteUserDocument(id, { caller, selection }, options),
})

type ReadUsersOptions = Pick<UsersServiceOptions, 'documents'>

async function readUsers(query: Query, caller: Caller, { documents }: ReadUsersOptions): Promise<string> {
  const { text } = await documents.findMany(restrict(query, caller), 'flat')
  return text
}

async function countVisibleUsers(
  query: Query,
  caller: Caller,
  { documents }: ReadUsersOptions,
): Promise<number> {
  const take = { kind: 'many', page: { start: 0, limit: 1 }, total: true } as const
  const { total } = await documents.findMany(restrictCount({ ...query, take }, caller), 'flat')
  return total ?? 0
}

/** Without a filter all users are counted. A filter could reveal values, so it counts only users that the caller may find. */
function restrictCount(query: Query, caller: Caller): RestrictedQuery {
  if (!query.filter && !query.search) return restrict(query, caller, 'count')
  if (!caller.grants.allows('users', 'find')) throw denied(caller, 'users', 'find')
  return restrict(query, caller, 'find')
}

interface UserRequest {
  readonly query: Query
  readonly caller: Caller
}

const readUserById = (
  id: number,
  { query, caller }: UserRequest,
  options: ReadUsersOptions,
): Promise<string | null> => readUser(withId(query, id), { caller, action: 'findOne' }, options)

/** Rejects with 401 for API tokens and the public (reference/rest.md#2-errors). A user that a filter excludes is signed in. */
async function readMe(query: Query, caller: Caller, options: ReadUsersOptions): Promise<string | null> {
  const id = ownUserId(caller, 'users.me')
  const text = await readUser(withId(query, id), { caller, action: 'me' }, options)
  const isExcluded = query.filter !== null || query.search !== null
  if (text === null && !isExcluded)
    throw new RequestFault(unauthorized('Unauthorized', 'The user was deleted'))
  return text
}

function withId(query: Query, id: number): Query {
  const own: Filter = {
    kind: 'comparison',
    attribute: requireScalar(query.type, 'id'),
    operator: '$eq',
    values: [id],
  }
  const filters = query.filter ? [own, query.filter] : [own]
  return {
    ...query,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    filter: { kind: 'and', filters },
  }
}

interface UserRead {
  readonly caller: Caller
  readonly action: 'findOne' | 'me'
}

/** JSON text of the single user; null: none visible. */
async function readUser(
  query: Query,
  { caller, action }: UserRead,
  { documents }: ReadUsersOptions,
): Promise<string | null> {
  const { text } = await documents.findMany(restrict(query, caller, action), 'flat')
  return text === '[]' ? null : text.slice(1, -1)
}

interface UserChange {
  /** Without a `data` wrapper. */
  readonly body: AuthBody
  readonly caller: Caller
  readonly selection?: Selection | undefined
}

/** Dependencies of the users service. */
interface UsersServiceOptions {
  readonly identity: IdentityOptions
  /** Result of `userDocuments`. */
  readonly documents: Documents
  readonly countAttempt: CountRequest
}

async function createUserDocument(
  { body, caller, selection }: UserChange,
  options: UsersServiceOptions,
): Promise<string | null> {
  const { user: type } = options.identity.model.builtIn
  checkNewUser(body, caller, type)
  const values = await toGivenValues(body, caller, options)
  const command = { kind: 'create', type, locale: null, status: 'published', values } as const
  const permitted = permit(command, caller)
  const query = answerQuery('create', { caller, selection }, options)
  try {
    return (await options.documents.create(permitted, { query, shape: 'flat' })).text
  } catch (error) {
    throw error instanceof RequestFault ? new RequestFault(creationFault(error.fault)) : error
  }
}

async function updateUserDocument(
  id: number,
  { body, caller, selection }: UserChange,
  options: UsersServiceOptions,
): Promise<string | null> {
  const { identity } = options
  const { user: type } = identity.model.builtIn
  checkUserChange(body, type)
  const values = await toGivenValues(body, caller, options)
  const account = await findAccount(identity.database, { by: 'id', id }, identity)
  const documentId = account?.documentId ?? NO_DOCUMENT
  const permitted = permit({ ...UPDATE, type, documentId, values }, caller)
  const query = answerQuery('update', { caller, selection }, options)
  const { command, mail } = await startAddressChange(permitted, { account, caller }, options)
  try {
    const { text } = await options.documents.update(command, { query, shape: 'flat' })
    mail()
    return text
  } catch (error) {
    throw error instanceof RequestFault ? new RequestFault(changeFault(error.fault)) : error
  }
}

/** Unknown users are looked up like hidden ones, so that both take the same time. */
const NO_DOCUMENT = ''

const UPDATE = { kind: 'update', locale: null, status: 'published', precondition: null } as const

async function deleteUserDocument(
  id: number,
  answer: AnswerRequest,
  options: UsersServiceOptions,
): Promise<string | null> {
  const account = await findAccount(options.identity.database, { by: 'id', id }, options.identity)
  const { user: type } = options.identity.model.builtIn
  const documentId = account?.documentId ?? NO_DOCUMENT
  const command = { kind: 'delete', type, documentId, locale: null, precondition: null } as const
  const permitted = permit(command, answer.caller)
  const query = answerQuery('delete', answer, options)
  return options.documents.delete(permitted, [], { query, shape: 'flat' })
}

async function toGivenValues(
  body: AuthBody,
  caller: Caller,
  { identity, documents }: UsersServiceOptions,
): Promise<GivenValues> {
  const { user, role } = identity.model.builtIn
  return withRoleByKey(parseUserValues(body, user), { caller, type: role, documents })
}

type AnswerRequest = Pick<UserChange, 'selection'> & { readonly caller: Caller }

/** Query for the response of a write: the user with the role; without it after deletion. */
function answerQuery(
  action: 'create' | 'update' | 'delete',
  { caller, selection }: AnswerRequest,
  { identity }: UsersServiceOptions,
): RestrictedQuery {
  const { user: type } = identity.model.builtIn
  const attribute = type.attributes.get('role')
  const role = attribute && action !== 'delete' ? populateWhole(attribute, 'all') : null
  const shown: Selection = selection ?? { ...everyField(type), populate: role ? [role] : [] }
  const take = { kind: 'one', documentId: null } as const
  return restrict({ ...ALL_ROWS, type, take, selection: shown }, caller, action)
}

/** reference/rest.md#14-access: creating a user reports validation rules as ApplicationErrors without details. */
function creationFault(found: Fault): Fault {
  const unique = toUniqueFault(found, UNIQUE)
  const [first] = ruleFaults(unique)
  return first && !first.message.startsWith(UNIQUE) ? fault('application', first.message) : unique
}

/** A hidden user is reported as missing. */
const changeFault = (found: Fault): Fault =>
  found.code === 'notFound'
    ? fault('notFound', 'User not found')
    : toUniqueFault(found, 'Username already taken')

/** Replaces unique violations of username and address by their specific messages; other faults stay. */
function toUniqueFault(found: Fault, username: string): Fault {
  const [first] = ruleFaults(found)
  if (!first?.message.startsWith(UNIQUE)) return found
  const [name] = first.path
  if (name === 'email') return fault('application', 'Email already taken')
  return name === 'username' ? fault('application', username) : found
}

const UNIQUE = 'This attribute must be unique'

interface RuleFault {
  readonly path: readonly string[]
  readonly message: string
}

const ruleFaults = ({ code, details }: Fault): readonly RuleFault[] =>
  code === 'validation' && Array.isArray(details.errors) ? details.errors : []

/** Checks the required values of a new user, except those that the server sets. */
function checkNewUser(body: AuthBody, { grants }: Caller, user: ContentType): void {
  const set = grants.writeAccess(user, 'create')?.set ?? {}
  const isAsked = (name: string): boolean => !Object.hasOwn(set, name)
  const rules = [
    { name: 'email', attribute: requireScalar(user, 'email') },
    { name: 'username' },
    { name: 'password', isSecret: true },
  ].filter(({ name }) => isAsked(name))
  const role = isAsked('role') && roleIn(body, user) !== 'given' ? [missingFault('role')] : []
  throwFaults([...rules.flatMap(rule => checkCredential(body, rule)), ...role])
}

/** What a body does with the role of a user, in any form of a relation. What cannot be parsed is refused later. */
function roleIn({ role }: AuthBody, user: ContentType): 'given' | 'removed' | 'kept' {
  const attribute = user.attributes.get('role')
  if (role === undefined || attribute?.kind !== 'relation') return 'kept'
  const parsed = parseLinkChange(attribute, role, ['role'])
  if (!parsed.ok) return 'given'
  if (parsed.value === null) return 'kept'
  const { length } = parsed.value.kind === 'set' ? parsed.value.targets : parsed.value.connect
  return length > 0 ? 'given' : 'removed'
}

/** Checks the given values. An update cannot remove password or role. */
function checkUserChange(body: AuthBody, user: ContentType): void {
  if (body.password === '') throw new RequestFault(fault('validation', 'password.notNull'))
  const email = Object.hasOwn(body, 'email')
    ? checkCredential(body, { name: 'email', attribute: requireScalar(user, 'email') })
    : []
  throwFaults([
    ...email,
    ...(body.password === null ? [typeFault('string', 'password', null)] : []),
    ...(body.role === null ? [typeFault('object', 'role', null)] : []),
    ...(body.role !== null && roleIn(body, user) === 'removed' ? [removedRole(body)] : []),
  ])
}

const removedRole = ({ role }: AuthBody): ValueFault =>
  toFault(rule('cannot be removed: each user has a role'), ['role'], role)

function throwFaults(faults: readonly ValueFault[]): void {
  const refusal = toRefusal(faults)
  if (refusal) throw new RequestFault(refusal)
}

/** Hashes of mailed codes: no permission allows writing them (reference/safety.md#s6-mass-assignment). */
const SERVER_ONLY: readonly string[] = ['resetPasswordToken', 'confirmationToken']

function parseUserValues(body: AuthBody, user: ContentType): GivenValues {
  const own = SERVER_ONLY.find(key => Object.hasOwn(body, key))
  if (own !== undefined) throw new RequestFault(invalidBodyKey(own, own))
  return parseGivenValues(user, body)
}

interface RoleLookup {
  readonly caller: Caller
  /** The content-type of roles. */
  readonly type: ContentType
  readonly documents: Pick<Documents, 'findMany'>
}

/**
 * Replaces keys of roles (`editor`) by documentIds in a user's values. Refuses (400) strings that are neither the key nor
 * the documentId of a role that the caller may find.
 */
async function withRoleByKey(values: GivenValues, lookup: RoleLookup): Promise<GivenValues> {
  const texts = roleTexts(values.role)
  if (texts.length === 0) return values
  const roles = await visibleRoles(lookup)
  // Without a permission to find roles, `permit` refuses the attribute.
  if (roles === null) return values
  const documentIds = new Set(roles.values())
  const unknown = texts.find(text => !roles.has(text) && !documentIds.has(text))
  if (unknown !== undefined) throw unknownRole(unknown, [...roles.keys()])
  return { ...values, role: replaceTexts(values.role, text => roles.get(text) ?? text) }
}

const RELATION_KEYS = ['connect', 'disconnect', 'set'] as const

/** Strings that refer to roles: single, in a list, or in `connect`, `disconnect` and `set`. */
function roleTexts(input: unknown): readonly string[] {
  if (typeof input === 'string') return isNumeric(input) ? [] : [input]
  if (Array.isArray(input)) return input.filter(each => typeof each === 'string' && !isNumeric(each))
  return isRecord(input) ? RELATION_KEYS.flatMap(key => roleTexts(input[key])) : []
}

/** Digits or empty: never the key of a role. */
const isNumeric = (text: string): boolean => /^\d*$/.test(text)

function replaceTexts(input: unknown, to: (text: string) => string): unknown {
  if (typeof input === 'string') return to(input)
  if (Array.isArray(input)) return input.map(each => (typeof each === 'string' ? to(each) : each))
  if (!isRecord(input)) return input
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key,
      RELATION_KEYS.some(list => list === key) ? replaceTexts(value, to) : value,
    ]),
  )
}

/** documentIds by key; null: the caller may not find roles. */
async function visibleRoles({
  caller,
  type,
  documents,
}: RoleLookup): Promise<ReadonlyMap<string, string> | null> {
  if (!caller.grants.readAccess(type, 'find')) return null
  const restricted = restrict(
    {
      ...ALL_ROWS,
      type,
      take: { kind: 'many', page: { start: 0, limit: MAX_ROLES }, total: false },
      selection: {
        fields: [requireScalar(type, 'type'), requireScalar(type, 'documentId')],
        named: false,
        populate: [],
      },
    },
    caller,
    'find',
  )
  const rows: readonly { readonly type?: unknown; readonly documentId?: unknown }[] = JSON.parse(
    (await documents.findMany(restricted, 'flat')).text,
  )
  const named = rows.filter(({ type: key }) => typeof key === 'string')
  return new Map(named.map(({ type: key, documentId }) => [String(key), String(documentId)]))
}

/** Far above the number of roles in any project. */
const MAX_ROLES = 10_000

function unknownRole(text: string, keys: readonly string[]): RequestFault {
  const near = didYouMean(text, keys)
  const message = `Unknown role \`${text}\`${near || `: expected one of ${keys.join(', ')}`}`
  const details = { key: 'role', path: 'role', expected: 'the key or the id of a role' }
  return new RequestFault(fault('validation', message, details))
}

import type { Caller } from '../../access/caller.ts'
import { permit } from '../../access/restrict/permit.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { toRefusal } from '../../documents/values/value-fault.ts'
import { type Fault, fault, forbidden, invalidBodyKey } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { GivenValues } from '../../query/command.ts'
import { parseGivenValues } from '../../query/parse-given-values.ts'
import { everyField, populateWhole } from '../../query/populate-nodes.ts'
import type { RestrictedQuery, Selection } from '../../query/query.ts'
import { startAddressChange } from '../confirm-email.ts'
import { type AuthBody, checkCredential, missingFault, typeFault } from '../parse-credentials.ts'
import { findAccount } from './accounts.ts'
import { withRoleByKey } from './role-by-key.ts'
import { ALL_ROWS, requireScalar } from './user-values.ts'
import type { UserChange, UsersServiceTerms } from './users-service.ts'

type UserAnswer = Promise<Result<string | null, Fault>>

export async function createUserDocument(
  { body, caller, selection }: UserChange,
  terms: UsersServiceTerms,
): UserAnswer {
  const { user: type } = terms.identity.model.builtIn
  const invalid = checkNewUser(body, caller, type)
  if (invalid) return failed(invalid)
  const values = await toGivenValues(body, caller, terms)
  if (!values.ok) return values
  const command = { kind: 'create', type, locale: null, status: 'published', values: values.value } as const
  const permitted = permit(command, caller)
  if (!permitted.ok) return permitted
  const query = answerQuery('create', { caller, selection }, terms)
  if (!query.ok) return query
  const written = await terms.documents.create(permitted.value, { query: query.value, shape: 'flat' })
  if (written.ok) return ok(written.value.text)
  return failed(creationFault(written.reasons[0]))
}

export async function updateUserDocument(
  id: number,
  { body, caller, selection }: UserChange,
  terms: UsersServiceTerms,
): UserAnswer {
  const { identity } = terms
  const { user: type } = identity.model.builtIn
  const wrong = checkUserChange(body, type)
  if (wrong) return failed(wrong)
  const values = await toGivenValues(body, caller, terms)
  if (!values.ok) return values
  const account = await findAccount(identity.database, { by: 'id', id }, identity)
  const documentId = account?.documentId ?? NO_DOCUMENT
  const permitted = permit({ ...UPDATE, type, documentId, values: values.value }, caller)
  if (!permitted.ok) return permitted
  const query = answerQuery('update', { caller, selection }, terms)
  if (!query.ok) return query
  const change = await startAddressChange(permitted.value, { account, caller }, terms)
  if (!change.ok) return change
  const written = await terms.documents.update(change.value.command, { query: query.value, shape: 'flat' })
  if (!written.ok) return failed(changeFault(written.reasons[0]))
  change.value.mail()
  return ok(written.value.text)
}

/** Unknown users are looked up like hidden ones, so that both take the same time. */
const NO_DOCUMENT = ''

const UPDATE = { kind: 'update', locale: null, status: 'published', precondition: null } as const

export async function deleteUserDocument(
  id: number,
  asked: AnswerRequest,
  terms: UsersServiceTerms,
): UserAnswer {
  const account = await findAccount(terms.identity.database, { by: 'id', id }, terms.identity)
  const { user: type } = terms.identity.model.builtIn
  const documentId = account?.documentId ?? NO_DOCUMENT
  const permitted = permit(
    { kind: 'delete', type, documentId, locale: null, precondition: null },
    asked.caller,
  )
  if (!permitted.ok) return permitted
  const query = answerQuery('delete', asked, terms)
  if (!query.ok) return query
  return terms.documents.delete(permitted.value, [], { query: query.value, shape: 'flat' })
}

async function toGivenValues(
  body: UserChange['body'],
  caller: Caller,
  { identity, documents }: UsersServiceTerms,
): Promise<Result<GivenValues, Fault>> {
  const { user, role } = identity.model.builtIn
  const values = parseUserValues(body, user)
  return values.ok ? withRoleByKey(values.value, { caller, type: role, documents }) : values
}

type AnswerRequest = Pick<UserChange, 'selection'> & { readonly caller: Caller }

/** Query for the response of a write: the user with the role; without it after deletion. */
function answerQuery(
  action: 'create' | 'update' | 'delete',
  { caller, selection }: AnswerRequest,
  { identity }: UsersServiceTerms,
): Result<RestrictedQuery, Fault> {
  const { user: type } = identity.model.builtIn
  const attribute = type.attributes.get('role')
  const role = attribute && action !== 'delete' ? populateWhole(attribute, 'all') : null
  const shown: Selection = selection ?? { ...everyField(type), populate: role ? [role] : [] }
  const take = { kind: 'one', documentId: null } as const
  return restrict({ ...ALL_ROWS, type, take, selection: shown }, caller, action)
}

/** reference/rest.md#14-access: creating a user reports validation rules as ApplicationErrors without details. */
function creationFault(found: Fault | undefined): Fault {
  const unique = toUniqueFault(found, UNIQUE)
  const [first] = ruleFaults(unique)
  return first ? fault('application', first.message) : unique
}

/** A hidden user is reported as missing. */
const changeFault = (found: Fault | undefined): Fault =>
  found?.code === 'notFound'
    ? fault('notFound', 'User not found')
    : toUniqueFault(found, 'Username already taken')

/** Replaces unique violations of username and address by their specific messages; other faults stay. */
function toUniqueFault(found: Fault | undefined, username: string): Fault {
  if (!found) return forbidden()
  const [first] = ruleFaults(found)
  if (!first?.message.startsWith(UNIQUE)) return found
  const [name] = first.path
  if (name === 'email') return fault('application', 'Email already taken')
  return fault('application', name === 'username' ? username : first.message)
}

const UNIQUE = 'This attribute must be unique'

interface RuleFault {
  readonly path: readonly string[]
  readonly message: string
}

const ruleFaults = ({ code, details }: Fault): readonly RuleFault[] =>
  code === 'validation' && Array.isArray(details.errors) ? details.errors : []

/** Checks the required values of a new user, except those that the server sets. */
function checkNewUser(body: AuthBody, { grants }: Caller, user: ContentType): Fault | undefined {
  const set = grants.writeAccess(user, 'create')?.set ?? {}
  const isAsked = (name: string): boolean => !Object.hasOwn(set, name)
  const rules = [
    { name: 'email', attribute: requireScalar(user, 'email') },
    { name: 'username' },
    { name: 'password' },
  ].filter(({ name }) => isAsked(name))
  const role =
    isAsked('role') && (body.role === undefined || body.role === null) ? [missingFault('role')] : []
  return toRefusal([...rules.flatMap(rule => checkCredential(body, rule)), ...role])
}

/** Checks the given values. An update cannot remove password or role. */
function checkUserChange(body: AuthBody, user: ContentType): Fault | undefined {
  if (body.password === '') return fault('validation', 'password.notNull')
  const email = Object.hasOwn(body, 'email')
    ? checkCredential(body, { name: 'email', attribute: requireScalar(user, 'email') })
    : []
  return toRefusal([
    ...email,
    ...(body.password === null ? [typeFault('string', 'password', null)] : []),
    ...(body.role === null ? [typeFault('object', 'role', null)] : []),
  ])
}

/** Hashes of mailed codes: no permission allows writing them (reference/safety.md#s6-mass-assignment). */
const SERVER_ONLY: readonly string[] = ['resetPasswordToken', 'confirmationToken']

function parseUserValues(body: AuthBody, user: ContentType): Result<GivenValues, Fault> {
  const own = SERVER_ONLY.find(key => Object.hasOwn(body, key))
  if (own !== undefined) return failed(invalidBodyKey(own, own))
  return parseGivenValues(user, body)
}

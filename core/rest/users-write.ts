import { permit } from '../access/permit.ts'
import { restrict } from '../access/restrict.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Alongside } from '../documents/documents.ts'
import { toRefusal } from '../documents/refusal.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, fault, forbidden, invalidBodyKey } from '../faults/fault.ts'
import { type Account, findAccount } from '../identity/accounts.ts'
import { endSessions, forgetCodes } from '../identity/end-sessions.ts'
import { type Body, checkCredential, missing } from '../identity/parse-credentials.ts'
import { ALL_ROWS, scalarOf } from '../identity/user-values.ts'
import type { GivenValues } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { answer, refuse } from './answer.ts'
import type { EndpointVisit } from './endpoint.ts'
import { readBare } from './parse-body.ts'
import { everyField } from './parse-fields.ts'
import { parseId } from './parse-id.ts'
import { populateWhole } from './populate-nodes.ts'
import type { UsersTerms } from './users-visit.ts'

/** 201 with the user and his role (contract/rest.md 14). */
export async function createUser(visit: EndpointVisit, terms: UsersTerms): Promise<HttpAnswer> {
  const body = await readBare(visit.request)
  if (!body.ok) return refuse(body)
  const lacking = checkNew(body.value, visit, terms)
  if (lacking) return answerFault(lacking)
  const values = toValues(body.value, terms)
  if (!values.ok) return refuse(values)
  const { user: type } = terms.model.builtIn
  const command = { kind: 'create', type, locale: null, status: 'published', values: values.value } as const
  const permitted = permit(command, visit.caller)
  if (!permitted.ok) return refuse(permitted)
  const query = answerQuery('create', visit, terms)
  if (!query.ok) return refuse(query)
  const written = await terms.documents.create(permitted.value, { query: query.value, shape: 'flat' })
  if (!written.ok) return answerFault(inOwnWords(written.reasons[0], 'This attribute must be unique'))
  return answer(written.value.text ?? 'null', visit, 201)
}

/** 200 with the user and his role. A new password ends the user's sessions. */
export async function updateUser(visit: EndpointVisit, terms: UsersTerms): Promise<HttpAnswer> {
  const body = await readBare(visit.request)
  if (!body.ok) return refuse(body)
  const wrong = checkChange(body.value, terms)
  if (wrong) return answerFault(wrong)
  const values = toValues(body.value, terms)
  if (!values.ok) return refuse(values)
  const account = await findTarget(visit, terms)
  if (!account.ok) return refuse(account)
  const { user: type } = terms.model.builtIn
  const documentId = account.value?.documentId ?? null
  const permitted = permit({ ...UPDATE, type, documentId, values: values.value }, visit.caller)
  if (!permitted.ok) return refuse(permitted)
  const query = answerQuery('update', visit, terms)
  if (!query.ok) return refuse(query)
  if (!account.value) return answerFault(fault('notFound', 'User not found'))
  const written = await terms.documents.update(
    permitted.value,
    { query: query.value, shape: 'flat' },
    endAndForget(permitted.value.values, account.value, terms),
  )
  if (!written.ok) return answerFault(inOwnWords(written.reasons[0], 'Username already taken'))
  return answer(written.value.text ?? 'null', visit)
}

/** A new password ends sessions, a new mail address what was mailed to the old one. */
const endAndForget =
  (values: GivenValues, { email }: Account, terms: UsersTerms): Alongside =>
  async (transaction, documentId) => {
    if (Object.hasOwn(values, 'password')) await endSessions(transaction, documentId, terms)
    if (Object.hasOwn(values, 'email') && values.email !== email)
      await forgetCodes(transaction, documentId, terms)
  }

const UPDATE = { kind: 'update', locale: null, status: 'published', precondition: null } as const

/** 200 with the user as he was; 204 where there was none. */
export async function deleteUser(visit: EndpointVisit, terms: UsersTerms): Promise<HttpAnswer> {
  const account = await findTarget(visit, terms)
  if (!account.ok) return refuse(account)
  const { user: type } = terms.model.builtIn
  const documentId = account.value?.documentId ?? null
  const permitted = permit(
    { kind: 'delete', type, documentId, locale: null, precondition: null },
    visit.caller,
  )
  if (!permitted.ok) return refuse(permitted)
  const query = answerQuery('delete', visit, terms)
  if (!query.ok) return refuse(query)
  if (documentId === null) return { status: 204, body: null }
  const take = { kind: 'one', documentId } as const
  const text = await terms.documents.findOne({ ...query.value, take }, 'flat')
  const deleted = await terms.documents.delete(permitted.value)
  if (!deleted.ok) return refuse(deleted)
  return text === null ? { status: 204, body: null } : answer(text, visit)
}

/** null: there is no user of the id in the path. */
async function findTarget(visit: EndpointVisit, terms: UsersTerms): Promise<Result<Account | null, Fault>> {
  const id = parseId(visit.id)
  return id.ok ? ok(await findAccount(terms.database, { by: 'id', id: id.value }, terms)) : id
}

/** What a new user has to have, unless the server sets it. */
function checkNew(body: Body, { caller }: EndpointVisit, { model }: UsersTerms): Fault | undefined {
  const { user } = model.builtIn
  const set = caller.grants.writing(user, 'create')?.set ?? {}
  const isAsked = (name: string): boolean => !Object.hasOwn(set, name)
  const rules = [
    { name: 'email', attribute: scalarOf(user, 'email') },
    { name: 'username' },
    { name: 'password' },
  ].filter(({ name }) => isAsked(name))
  const role = isAsked('role') && (body.role === undefined || body.role === null) ? [missing('role')] : []
  return toRefusal([...rules.flatMap(rule => checkCredential(body, rule)), ...role])
}

/** What is given has to do. */
function checkChange(body: Body, { model }: UsersTerms): Fault | undefined {
  if (body.password === '') return fault('validation', 'password.notNull')
  if (!Object.hasOwn(body, 'email')) return undefined
  return toRefusal(checkCredential(body, { name: 'email', attribute: scalarOf(model.builtIn.user, 'email') }))
}

/** Hashes of what was mailed: not even who may write users chooses them (safety S6). */
const OWN: readonly string[] = ['resetPasswordToken', 'confirmationToken']

function toValues(body: Body, { model }: UsersTerms): Result<GivenValues, Fault> {
  const own = OWN.find(key => Object.hasOwn(body, key))
  if (own !== undefined) return failed(invalidBodyKey(own, own))
  const values = parseGivenValues(model.builtIn.user, body)
  if (!values.ok || typeof values.value.email !== 'string') return values
  return ok({ ...values.value, email: values.value.email.toLowerCase() })
}

/** The user as answers to writes show him: with his role, but after he is gone. */
function answerQuery(
  action: 'create' | 'update' | 'delete',
  { caller }: EndpointVisit,
  { model }: UsersTerms,
): Result<RestrictedQuery, Fault> {
  const { user: type } = model.builtIn
  const attribute = type.attributes.get('role')
  const role = attribute && action !== 'delete' ? populateWhole(attribute, 'all') : null
  const selection = { ...everyField(type), populate: role ? [role] : [] }
  const take = { kind: 'one', documentId: null } as const
  return restrict({ ...ALL_ROWS, type, take, selection }, caller, action)
}

/** contract/rest.md 14: rules of values are told as ApplicationErrors, without details. */
function inOwnWords(found: Fault | undefined, taken: string): Fault {
  if (!found) return forbidden()
  if (found.code !== 'validation' || !Array.isArray(found.details.errors)) return found
  const [first] = found.details.errors as readonly {
    readonly path: readonly string[]
    readonly message: string
  }[]
  if (!first?.message.startsWith('This attribute must be unique'))
    return fault('application', first?.message ?? found.message)
  const [name] = first.path
  if (name === 'email') return fault('application', 'Email already taken')
  return fault('application', name === 'username' ? taken : first.message)
}

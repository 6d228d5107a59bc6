import type { Caller } from '../../access/caller.ts'
import { permit } from '../../access/restrict/permit.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import type { GivenValues } from '../../query/command.ts'
import { everyField, populateWhole } from '../../query/populate-nodes.ts'
import type { RestrictedQuery, Selection } from '../../query/query.ts'
import { askAddress } from '../ask-address.ts'
import { findAccount } from './accounts.ts'
import { checkChange, checkNew, toUserValues } from './parse-user.ts'
import { withRoleByKey } from './role-by-key.ts'
import { ALL_ROWS } from './user-values.ts'
import type { UserChange } from './users-service.ts'
import type { UsersServiceTerms } from './users-terms.ts'

type Answered = Promise<Result<string | null, Fault>>

export async function createUser(
  { body, caller, selection }: UserChange,
  terms: UsersServiceTerms,
): Answered {
  const { user: type } = terms.identity.model.builtIn
  const lacking = checkNew(body, caller, type)
  if (lacking) return failed(lacking)
  const values = await valuesOf(body, caller, terms)
  if (!values.ok) return values
  const command = { kind: 'create', type, locale: null, status: 'published', values: values.value } as const
  const permitted = permit(command, caller)
  if (!permitted.ok) return permitted
  const query = answerQuery('create', { caller, selection }, terms)
  if (!query.ok) return query
  const written = await terms.documents.create(permitted.value, { query: query.value, shape: 'flat' })
  if (written.ok) return ok(written.value.text)
  return failed(refusedMaking(written.reasons[0]))
}

export async function updateUser(
  id: number,
  { body, caller, selection }: UserChange,
  terms: UsersServiceTerms,
): Answered {
  const { identity } = terms
  const { user: type } = identity.model.builtIn
  const wrong = checkChange(body, type)
  if (wrong) return failed(wrong)
  const values = await valuesOf(body, caller, terms)
  if (!values.ok) return values
  const account = await findAccount(identity.database, { by: 'id', id }, identity)
  const documentId = account?.documentId ?? NO_DOCUMENT
  const permitted = permit({ ...UPDATE, type, documentId, values: values.value }, caller)
  if (!permitted.ok) return permitted
  const query = answerQuery('update', { caller, selection }, terms)
  if (!query.ok) return query
  const moving = await askAddress(permitted.value, { account, caller }, terms)
  if (!moving.ok) return moving
  const written = await terms.documents.update(moving.value.command, { query: query.value, shape: 'flat' })
  if (!written.ok) return failed(refusedChange(written.reasons[0]))
  moving.value.mail()
  return ok(written.value.text)
}

/** Unknown users are asked for in the database as hidden ones are, so that both take the same way. */
const NO_DOCUMENT = ''

const UPDATE = { kind: 'update', locale: null, status: 'published', precondition: null } as const

export async function deleteUser(id: number, asked: Asked, terms: UsersServiceTerms): Answered {
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

async function valuesOf(
  body: UserChange['body'],
  caller: Caller,
  { identity, documents }: UsersServiceTerms,
): Promise<Result<GivenValues, Fault>> {
  const { user, role } = identity.model.builtIn
  const values = toUserValues(body, user)
  return values.ok ? withRoleByKey(values.value, { caller, type: role, documents }) : values
}

type Asked = Pick<UserChange, 'selection'> & { readonly caller: Caller }

/** The user as answers to writes show him: with his role, but after he is gone. */
function answerQuery(
  action: 'create' | 'update' | 'delete',
  { caller, selection }: Asked,
  { identity }: UsersServiceTerms,
): Result<RestrictedQuery, Fault> {
  const { user: type } = identity.model.builtIn
  const attribute = type.attributes.get('role')
  const role = attribute && action !== 'delete' ? populateWhole(attribute, 'all') : null
  const shown: Selection = selection ?? { ...everyField(type), populate: role ? [role] : [] }
  const take = { kind: 'one', documentId: null } as const
  return restrict({ ...ALL_ROWS, type, take, selection: shown }, caller, action)
}

/** contract/rest.md 14: where a user is made, rules of values are told as ApplicationErrors, without details. */
function refusedMaking(found: Fault | undefined): Fault {
  const told = takenFirst(found, UNIQUE)
  const [first] = ruleFaults(told)
  return first ? fault('application', first.message) : told
}

/** A user who is hidden from the caller is answered as one who does not exist. */
const refusedChange = (found: Fault | undefined): Fault =>
  found?.code === 'notFound'
    ? fault('notFound', 'User not found')
    : takenFirst(found, 'Username already taken')

/** A name or an address that is somebody else's has words of its own; all else stays as it was told. */
function takenFirst(found: Fault | undefined, username: string): Fault {
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

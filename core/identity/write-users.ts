import { failed, ok, type Result } from '../base/result.ts'
import type { Transaction } from '../database/database.ts'
import { newDocumentId } from '../documents/document-id.ts'
import { parseValues } from '../documents/parse-attribute.ts'
import { rule, toFault } from '../documents/value-fault.ts'
import type { Values } from '../documents/written.ts'
import { type Fault, fault, forbidden, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type {
  CreateCommand,
  DeleteCommand,
  GivenValues,
  PermittedCommand,
  TargetRef,
  UpdateCommand,
  WriteConditions,
} from '../query/command.ts'
import { parseLinkChange } from '../query/parse-link-change.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { type Account, findAccount } from './accounts.ts'
import {
  findRole,
  hashUserValues,
  holds,
  roleValue,
  type SaveTerms,
  saveUser,
  scalarValue,
  transact,
} from './save-user.ts'

/** Users as the users endpoints write them: each write is one transaction. */
export interface UserWrites {
  /** Its documentId. */
  create(command: PermittedCommand<CreateCommand>): Promise<Result<string, Fault>>
  /** By numeric id. Fails with notFound. */
  update(id: number, command: PermittedCommand<UpdateCommand>): Promise<Result<string, Fault>>
  /** false: there was none. */
  delete(id: number, command: PermittedCommand<DeleteCommand>): Promise<Result<boolean, Fault>>
}

export function openUserWrites(terms: SaveTerms): UserWrites {
  return {
    create: command => createUser(command, terms),
    update: (id, command) => updateUser(id, command, terms),
    delete: (id, command) => deleteUser(id, command, terms),
  }
}

async function createUser(
  { values: given, conditions }: PermittedCommand<CreateCommand>,
  terms: SaveTerms,
): Promise<Result<string, Fault>> {
  const parsed = parseUser(given, 'make', terms)
  if (!parsed.ok) return parsed
  const documentId = newDocumentId()
  const own = new Map([['provider', scalarValue('local')], ...parsed.value.values])
  const hashed = await hashUserValues(own, terms.model)
  return transact(terms.database, async transaction => {
    const values = await withRole(hashed, parsed.value.role, { transaction, conditions, terms })
    const words = { email: 'Email already taken', username: 'This attribute must be unique' }
    await saveUser({ documentId, values }, words, transaction, terms)
    await demand('after', documentId, { transaction, conditions, terms })
    return documentId
  })
}

async function updateUser(
  id: number,
  { values: given, conditions }: PermittedCommand<UpdateCommand>,
  terms: SaveTerms,
): Promise<Result<string, Fault>> {
  const parsed = parseUser(given, 'change', terms)
  if (!parsed.ok) return parsed
  const hashed = await hashUserValues(parsed.value.values, terms.model)
  return transact(terms.database, async transaction => {
    const account = await findAccount(transaction, { by: 'id', id }, terms, true)
    if (!account) throw new RequestFault(fault('notFound', 'User not found'))
    const writing: Writing = { transaction, conditions, terms }
    await demand('before', account.documentId, writing)
    const values = await withRole(endSessions(hashed, account), parsed.value.role, writing)
    const words = { email: 'Email already taken', username: 'Username already taken' }
    await saveUser({ documentId: account.documentId, values }, words, transaction, terms)
    await demand('after', account.documentId, writing)
    return account.documentId
  })
}

async function deleteUser(
  id: number,
  { conditions }: PermittedCommand<DeleteCommand>,
  terms: SaveTerms,
): Promise<Result<boolean, Fault>> {
  return transact(terms.database, async transaction => {
    const account = await findAccount(transaction, { by: 'id', id }, terms, true)
    if (!account) return false
    await demand('before', account.documentId, { transaction, conditions, terms })
    const table = terms.storage.table(terms.model.builtIn.user)
    await transaction.run({
      name: 'delete a user',
      text: `DELETE FROM ${name(table.name)} WHERE ${name(table.id)} = $1::integer`,
      values: [id],
    })
    return true
  })
}

/** A new password ends older sessions, and whatever was mailed to make one (safety S8). */
export const endSessions = (values: Values, { sessionVersion }: Account): Values =>
  values.has('password')
    ? new Map([
        ...values,
        ['sessionVersion', scalarValue(sessionVersion + 1)],
        ['resetPasswordToken', scalarValue(null)],
      ])
    : values

interface ParsedUser {
  readonly values: Values
  /** undefined: stays; null: none. */
  readonly role: TargetRef | null | undefined
}

/** Given values → stored ones. Mail addresses are compared in lower case. */
export function parseUser(
  { role, ...given }: GivenValues,
  purpose: 'make' | 'change',
  { model }: Pick<SaveTerms, 'model'>,
): Result<ParsedUser, Fault> {
  const { user } = model.builtIn
  const mail = typeof given.email === 'string' ? { email: given.email.toLowerCase() } : {}
  const { values, faults } = parseValues(
    user,
    { ...given, ...mail },
    { strictness: 'full', purpose, componentIds: false, links: refuseLinks },
  )
  if (faults[0]) return failed(fault('application', faults[0].message))
  const target = parseRole(user, role)
  return target.ok ? ok({ values, role: target.value }) : target
}

/** Relations and media that a project adds to its users are written through content/ for now. */
const refuseLinks = (_attribute: unknown, value: unknown, path: readonly (string | number)[]) => ({
  targets: undefined,
  faults: [toFault(rule('cannot be set here'), path, value)],
})

/** The last of several, as of any to-one relation. */
function parseRole(user: ContentType, given: unknown): Result<TargetRef | null | undefined, Fault> {
  if (given === undefined) return ok(undefined)
  const attribute = user.attributes.get('role')
  if (attribute?.kind !== 'relation') throw new TypeError('a user has a role')
  const change = parseLinkChange(attribute, given, ['role'])
  if (!change.ok) return failed(fault('validation', change.reasons[0]?.message ?? 'Invalid role'))
  if (change.value === null) return ok(undefined)
  const targets = change.value.kind === 'set' ? change.value.targets : change.value.connect
  return ok(targets.at(-1) ?? null)
}

interface Writing {
  readonly transaction: Transaction
  readonly conditions: WriteConditions
  readonly terms: SaveTerms
}

async function withRole(
  values: Values,
  role: TargetRef | null | undefined,
  { transaction, conditions, terms }: Writing,
): Promise<Values> {
  if (role === undefined) return values
  if (role === null) return new Map([...values, ['role', roleValue(null)]])
  const type = terms.model.builtIn.role
  const documentId = await findRole(role.by, transaction, terms)
  const sight = conditions.targets.get(type) ?? null
  if (documentId === null || !(await holds(sight, { type, documentId }, transaction, terms)))
    throw new RequestFault(noRole(type))
  return new Map([...values, ['role', roleValue(documentId)]])
}

const noRole = ({ uid }: ContentType): Fault =>
  fault('validation', `1 relation(s) of type ${uid} associated with this entity do not exist`, {
    key: 'role',
  })

/** Rows that are not the caller's to write are told as any other permission that he lacks. */
async function demand(
  when: 'before' | 'after',
  documentId: string,
  { transaction, conditions, terms }: Writing,
): Promise<void> {
  const type = terms.model.builtIn.user
  if (!(await holds(conditions[when], { type, documentId }, transaction, terms)))
    throw new RequestFault(forbidden())
}

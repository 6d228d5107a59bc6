import type { Database, Transaction } from '../../database/database.ts'
import type { DesiredDocument, Values } from '../../documents/desired-state.ts'
import { type WriteOptions, writeOptions } from '../../documents/rows/write-options.ts'
import { generateUids } from '../../documents/state/generate-uids.ts'
import { findUniqueConflicts } from '../../documents/unique/unique-conflicts.ts'
import { findConflictingClaims, partClaimsOf } from '../../documents/unique/unique-conflicts-in-components.ts'
import { defaultsOf } from '../../documents/values/given-body.ts'
import { hashPasswords } from '../../documents/values/hash-passwords.ts'
import { notUnique, toRefusal } from '../../documents/values/value-fault.ts'
import { writeDocuments } from '../../documents/write-documents.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'

export interface SaveUserOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
}

/** Messages for values that another user already has. */
export interface TakenMessages {
  readonly email: string
  readonly username: string
}

export interface SavedUser {
  readonly documentId: string
  /** Passwords are hashed. */
  readonly values: Values
}

/** For values that have no unique constraint. */
export const NO_MESSAGES: TakenMessages = { email: '', username: '' }

/** Inserts or updates a user. Throws a RequestFault if a unique value is taken. */
export async function saveUser(
  { documentId, values }: SavedUser,
  words: TakenMessages,
  transaction: Transaction,
  options: SaveUserOptions,
): Promise<void> {
  const writing = writeOptions(transaction, options, { touch: false })
  await writeUser(toDocument(documentId, values, options.model), words, writing)
}

/** Inserts a user with the defaults and uids that `values` leaves out. Throws a RequestFault if a unique value is taken. */
export async function createUser(
  { documentId, values }: SavedUser,
  words: TakenMessages,
  transaction: Transaction,
  options: SaveUserOptions,
): Promise<void> {
  const writing = { ...writeOptions(transaction, options, { touch: false }), transaction }
  const whole = new Map([...defaultsOf(options.model.builtIn.user), ...values])
  const given = toDocument(documentId, whole, options.model)
  const [made = given] = await generateUids([given], writing)
  const taken = await findConflictingClaims(partClaimsOf(made), () => [], writing)
  refuseTaken(taken)
  await writeUser(made, words, writing)
}

async function writeUser(
  document: DesiredDocument,
  words: TakenMessages,
  writing: WriteOptions,
): Promise<void> {
  const taken = await findUniqueConflicts([document], writing)
  const known = (['email', 'username'] as const).find(name =>
    taken.some(({ attribute }) => attribute.name === name),
  )
  if (known) throw new RequestFault(fault('application', words[known]))
  refuseTaken(taken.map(({ attribute, value }) => ({ path: [attribute.name], value })))
  await writeDocuments([document], writing)
}

/** Attributes that a project adds to users are named, as those of its own types. */
function refuseTaken(taken: readonly { readonly path: Path; readonly value: unknown }[]): void {
  const refusal = toRefusal(taken.map(({ path, value }) => notUnique(path, String(value))))
  if (refusal) throw new RequestFault(refusal)
}

const toDocument = (documentId: string, values: Values, { builtIn }: Model): DesiredDocument => ({
  type: builtIn.user,
  documentId,
  versions: [{ locale: null, statuses: ['published'], values }],
})

/** Takes about 50 ms, so call it before the transaction. */
export async function hashUserValues(values: Values, model: Model): Promise<Values> {
  const [document] = await hashPasswords([toDocument('', values, model)])
  return document?.versions[0]?.values ?? values
}

/** documentId of the role with a key. Without a role, a user would have the permissions of `authenticated`. */
export async function findRole(
  key: string,
  transaction: Transaction,
  { model, storage }: SaveUserOptions,
): Promise<string> {
  const table = storage.table(model.builtIn.role)
  const { rows } = await transaction.run({
    name: 'find a role',
    text: `SELECT ${ident(table.documentId)} FROM ${ident(table.name)} WHERE ${ident(storage.column(model.builtIn.role, 'type'))} = $1::text`,
    values: [key],
  })
  const found = rows[0]?.[0]
  if (typeof found === 'string') return found
  throw new RequestFault({
    ...fault('unavailable', 'Service Unavailable'),
    reason: `Another version of the project removed the role \`${key}\``,
  })
}

/** The value of a user's `role` attribute. */
export const roleValue = (documentId: string) =>
  ({ kind: 'links', targets: [{ documentId, locale: null, status: null }] }) as const

export const scalarValue = (value: string | number | boolean | null) => ({ kind: 'scalar', value }) as const

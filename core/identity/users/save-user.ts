import type { Database, Transaction } from '../../database/database.ts'
import type { Values, WrittenDocument } from '../../documents/desired-state.ts'
import type { WriteTerms } from '../../documents/rows/write-terms.ts'
import { findTaken } from '../../documents/unique/unique-conflicts.ts'
import { hashPasswords } from '../../documents/values/hash-passwords.ts'
import { writeDocuments } from '../../documents/write-documents.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'

export interface SaveTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
}

/** What is told where another user has a value already. */
export interface TakenWords {
  readonly email: string
  readonly username: string
}

export interface SavedUser {
  readonly documentId: string
  /** Passwords as hashes. */
  readonly values: Values
}

/** For values that are nobody else's business to have. */
export const NOT_TAKEN: TakenWords = { email: '', username: '' }

const UNIQUE = 'This attribute must be unique'

/** Makes or changes a user; throws a RequestFault where a value is another's. */
export async function saveUser(
  { documentId, values }: SavedUser,
  words: TakenWords,
  transaction: Transaction,
  terms: SaveTerms,
): Promise<void> {
  const documents = [toDocument(documentId, values, terms.model)]
  const writing = writeTerms(transaction, terms)
  const [taken] = (await findTaken(documents, writing)).toSorted(mailFirst)
  if (taken) throw new RequestFault(fault('application', wordsFor(taken.attribute.name, words)))
  await writeDocuments(documents, writing)
}

const mailFirst = (a: { attribute: { name: string } }, b: { attribute: { name: string } }): number =>
  Number(b.attribute.name === 'email') - Number(a.attribute.name === 'email')

const wordsFor = (attribute: string, words: TakenWords): string =>
  attribute === 'email' || attribute === 'username' ? words[attribute] : UNIQUE

const toDocument = (documentId: string, values: Values, { builtIn }: Model): WrittenDocument => ({
  type: builtIn.user,
  documentId,
  versions: [{ locale: null, statuses: ['published'], values }],
})

const writeTerms = (transaction: Transaction, { database, model, storage }: SaveTerms): WriteTerms => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: false,
})

/** Some 50 ms of work: before a transaction begins. */
export async function hashUserValues(values: Values, model: Model): Promise<Values> {
  const [document] = await hashPasswords([toDocument('', values, model)])
  return document?.versions[0]?.values ?? values
}

/** The documentId of the role of a key; null: there is none. */
export async function findRole(
  key: string,
  transaction: Transaction,
  { model, storage }: SaveTerms,
): Promise<string | null> {
  const table = storage.table(model.builtIn.role)
  const { rows } = await transaction.run({
    name: 'find a role',
    text: `SELECT ${name(table.documentId)} FROM ${name(table.name)} WHERE ${name(storage.column(model.builtIn.role, 'type'))} = $1::text`,
    values: [key],
  })
  const found = rows[0]?.[0]
  return typeof found === 'string' ? found : null
}

/** A role as the value of a user's `role`. */
export const roleValue = (documentId: string | null) =>
  ({
    kind: 'links',
    targets: documentId === null ? [] : [{ documentId, locale: null, status: null }],
  }) as const

export const scalarValue = (value: string | number | boolean | null) => ({ kind: 'scalar', value }) as const

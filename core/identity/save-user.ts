import { trusted } from '../access/trusted.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { findTaken } from '../documents/find-taken.ts'
import { hashPasswords } from '../documents/hash-passwords.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { WriteTerms } from '../documents/write-terms.ts'
import type { Values, WrittenDocument } from '../documents/written.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { planQuery } from '../plan/plan-query.ts'
import type { Filter } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { printAnswer } from '../sql/print.ts'
import { EVERY_USER } from './user-values.ts'

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

const UNIQUE = 'This attribute must be unique'

/** A transaction whose work may throw a RequestFault; a value that another took at the same moment is refused too. */
export async function transact<Value>(
  database: Database,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Result<Value, Fault>> {
  try {
    return ok(await database.transaction(work))
  } catch (error) {
    if (error instanceof RequestFault) return failed(error.fault)
    if (error instanceof DatabaseFailure && error.fault.kind === 'unique')
      return failed(fault('application', UNIQUE))
    throw error
  }
}

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

/** Whether a document meets a condition, as it is in this transaction. */
export async function holds(
  filter: Filter | null,
  { type, documentId }: { readonly type: ContentType; readonly documentId: string },
  transaction: Transaction,
  { model, storage }: SaveTerms,
): Promise<boolean> {
  if (filter === null) return true
  const query = trusted({
    ...EVERY_USER,
    type,
    take: { kind: 'one', documentId },
    selection: { fields: [], named: true, populate: [] },
    filter,
  })
  const plan = { storage, defaultLocale: model.defaultLocale, shape: 'flat' } as const
  const { rows } = await transaction.run(printAnswer(planQuery(query, plan)))
  return rows.length > 0
}

/** The documentId of a role by one of its columns; null: there is none. */
export async function findRole(
  by: { readonly type: string } | { readonly id: number } | { readonly documentId: string },
  transaction: Transaction,
  { model, storage }: SaveTerms,
): Promise<string | null> {
  const table = storage.table(model.builtIn.role)
  const [key = '', value] = Object.entries(by)[0] ?? []
  const { rows } = await transaction.run({
    name: `find a role by ${key}`,
    text: `SELECT ${name(table.documentId)} FROM ${name(table.name)} WHERE ${name(storage.column(model.builtIn.role, key))}::text = $1::text`,
    values: [String(value)],
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

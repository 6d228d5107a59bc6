import type { Database, Transaction } from '../database/database.ts'
import type { WrittenDocument, WrittenValue } from '../documents/desired-state.ts'
import { newDocumentId } from '../documents/rows/document-id.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

export interface MirrorTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
}

/** What the project declares, as the row that mirrors it: texts by attribute. */
export interface Declared {
  readonly key: string
  readonly fields: Readonly<Record<string, string>>
}

/** The row of a declaration, or of one that is no longer there. */
export interface Mirrored {
  readonly key: string
  readonly documentId: string
  readonly fields: Readonly<Record<string, string>>
}

export interface Mirror {
  readonly type: ContentType
  /** The attribute that holds the key. */
  readonly key: string
  /** The attributes that are compared. */
  readonly fields: readonly string[]
}

type Runner = Pick<Transaction, 'run'>

/** The rows that there are, in the order of their ids. */
export async function readMirror(
  runner: Runner,
  { type, key, fields }: Mirror,
  storage: Storage,
): Promise<readonly Mirrored[]> {
  const table = storage.table(type)
  const columns = [table.documentId, ...[key, ...fields].map(field => storage.column(type, field))]
  const { rows } = await runner.run({
    name: `read ${type.pluralApiId}`,
    text: `SELECT ${columns.map(name).join(', ')} FROM ${name(table.name)} ORDER BY ${name(table.id)}`,
    values: [],
  })
  return rows.map(([documentId, found, ...values]) => ({
    documentId: String(documentId),
    key: String(found),
    fields: Object.fromEntries(fields.map((field, index) => [field, String(values[index] ?? '')])),
  }))
}

/** Whether every declaration has its row, every row its declaration, and both say the same. */
export const isMirrored = (declared: readonly Declared[], rows: readonly Mirrored[]): boolean =>
  declared.length === rows.length &&
  declared.every(({ key, fields }) => {
    const row = rows.find(each => each.key === key)
    return row !== undefined && Object.entries(fields).every(([field, value]) => row.fields[field] === value)
  })

/** Makes and changes rows until the declarations have theirs; rows keep their ids. Rows without a declaration stay. */
export async function writeMirror(
  mirror: Mirror,
  declared: readonly Declared[],
  rows: readonly Mirrored[],
  terms: Omit<MirrorTerms, 'database'> & { readonly transaction: Transaction; readonly schema: string },
): Promise<void> {
  const documents = declared.map(({ key, fields }): WrittenDocument => {
    const documentId = rows.find(row => row.key === key)?.documentId ?? newDocumentId()
    const values = new Map<string, WrittenValue>(
      Object.entries({ ...fields, [mirror.key]: key }).map(([field, value]) => [
        field,
        { kind: 'scalar', value },
      ]),
    )
    return { type: mirror.type, documentId, versions: [{ locale: null, statuses: ['published'], values }] }
  })
  await writeDocuments(documents, writeTerms(terms))
}

const writeTerms = ({
  transaction,
  schema,
  model,
  storage,
}: Parameters<typeof writeMirror>[3]): WriteTerms => ({
  transaction,
  schema,
  storage,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: false,
})

/** Takes rows away. */
export async function removeMirrored(
  runner: Runner,
  type: ContentType,
  rows: readonly Mirrored[],
  storage: Storage,
): Promise<void> {
  if (rows.length === 0) return
  const table = storage.table(type)
  await runner.run({
    name: `delete ${type.pluralApiId}`,
    text: `DELETE FROM ${name(table.name)} WHERE ${name(table.documentId)} = ANY ($1::text[])`,
    values: [rows.map(({ documentId }) => documentId)],
  })
}

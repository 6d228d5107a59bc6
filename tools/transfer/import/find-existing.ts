import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { quoteIdentifier as name } from '../../../core/sql/identifier.ts'
import { type LinkNames, namingColumn } from './link-names.ts'

/** A document in the database. */
export interface ExistingDocument {
  readonly key: number
  readonly documentId: string
}

/** Documents by their name in the stream. */
export type FindExisting = (type: ContentType, called: string) => ExistingDocument | undefined

/** One statement per type. The document of a single type matches any name, because there is only one. */
export async function findExistingDocuments(names: LinkNames, terms: WriteTerms): Promise<FindExisting> {
  const found = new Map<ContentType, ReadonlyMap<string, ExistingDocument>>()
  const reads = [...names].map(async ([type, called]) => {
    found.set(type, await readExisting(type, [...called], terms))
  })
  await Promise.all(reads)
  return (type, called) => {
    const documents = found.get(type)
    return type.kind === 'single' ? [...(documents?.values() ?? [])][0] : documents?.get(called)
  }
}

async function readExisting(
  type: ContentType,
  called: readonly string[],
  { transaction, storage }: WriteTerms,
): Promise<ReadonlyMap<string, ExistingDocument>> {
  const table = storage.table(type)
  const column = name(namingColumn(type, storage))
  const where = type.kind === 'single' ? '' : ` WHERE ${column} = ANY ($1::text[])`
  const { rows } = await transaction.run({
    name: `find ${type.pluralApiId} that a stream names`,
    text: `SELECT DISTINCT ${column}, ${name(table.key)}, ${name(table.documentId)} FROM ${name(table.name)}${where}`,
    values: where === '' ? [] : [called],
  })
  return new Map(
    rows.map(([called, key, documentId]) => [
      String(called),
      { key: Number(key), documentId: String(documentId) },
    ]),
  )
}

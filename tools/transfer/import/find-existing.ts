import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { quoteIdentifier as name } from '../../../core/sql/identifier.ts'
import { type LinkNames, namingColumn } from './link-names.ts'

/** A document that the database has. */
export interface Existing {
  readonly key: number
  readonly documentId: string
}

/** By what it goes by in the stream. */
export type FindExisting = (type: ContentType, called: string) => Existing | undefined

/** One statement a type. A single type's document is found whatever it goes by: there is one. */
export async function findExisting(names: LinkNames, terms: WriteTerms): Promise<FindExisting> {
  const found = new Map<ContentType, ReadonlyMap<string, Existing>>()
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
): Promise<ReadonlyMap<string, Existing>> {
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

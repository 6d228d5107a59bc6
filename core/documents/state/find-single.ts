import type { ContentType } from '../../model/model.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { WriteTerms } from '../rows/write-terms.ts'

/** The documentId of a single type's only document; null: there is none yet. */
export async function findSingle(
  type: ContentType,
  { transaction, storage }: Pick<WriteTerms, 'transaction' | 'storage'>,
): Promise<string | null> {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find the document of ${type.key}`,
    text: `SELECT ${name(table.documentId)} FROM ${name(table.name)} ORDER BY ${name(table.id)} LIMIT 1`,
    values: [],
  })
  const id = rows[0]?.[0]
  return typeof id === 'string' ? id : null
}

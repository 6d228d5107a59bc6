import type { ContentType } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import { failUnless } from '../sql/print-changes.ts'

/** Removes the rows of a document, with their links. Fails if there is none. `status`: of the rows; null: all. */
export function printRemoval(
  type: ContentType,
  documentId: string,
  { storage, status }: { readonly storage: Storage; readonly status: Status | null },
): Statement {
  const { name, documentId: column } = storage.table(type)
  const only = status === null ? '' : ` AND status = ${quoteText(status)}`
  const gone = `DELETE FROM ${ident(name)} WHERE ${ident(column)} = $1::text${only} RETURNING id`
  return {
    name: `delete from ${name}`,
    text: `WITH gone$ AS (${gone}) SELECT ${failUnless('(SELECT count(*) FROM gone$) > 0')}`,
    values: [documentId],
    keepsPlan: true,
  }
}

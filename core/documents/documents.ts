import type { Shape } from '../plan/row.ts'
import type { RestrictedQuery } from '../query/query.ts'

/**
 * The only way to data. Takes queries that access has narrowed; each read is one statement, whatever it
 * populates. Rejects with a DatabaseFailure where the database does.
 */
export interface Documents {
  /** A list: its JSON text, and the number of all matching documents where the query asks for it. */
  findMany(query: RestrictedQuery, shape: Shape): Promise<FoundMany>
  /** The JSON text of one document, or null where there is none to see. */
  findOne(query: RestrictedQuery, shape: Shape): Promise<string | null>
}

export interface FoundMany {
  /** A JSON array of documents. */
  readonly text: string
  readonly total: number | null
}

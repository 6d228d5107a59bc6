import { LruCache } from '../../base/lru-cache.ts'
import { memoryBytes } from '../../base/text.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Database, Rows, RunOptions } from '../database.ts'
import { printIsCurrent, requireGeneration } from './generations.ts'

const TEXTS = { entries: 4000, bytes: 16_000_000 } as const

/**
 * The same database for one generation of the tables (generations.ts). A read compares it in its own statement, so of its
 * own snapshot. Whatever writes compares it last, in the same transaction and at no round trip: it holds the locks of
 * all that it wrote by then, and a migration that changes those tables has either committed, which fails the comparison,
 * or waits for the end of the transaction.
 */
export function guardStatements(database: Database, hash: string): Database {
  const { schema } = database
  const guard = requireGeneration(schema, hash)
  const textOf = guardTexts(printIsCurrent(schema, hash))
  /** No row is found, or the tables are of another generation: the comparison alone tells which. */
  const prove = (found: Rows) => (found.rows.length > 0 ? found : database.run(guard).then(() => found))
  const read = (statement: Statement, options: RunOptions) =>
    database.run({ ...statement, text: textOf(statement.text) }, options).then(prove)
  return {
    ...database,
    run(statement, options) {
      if (options?.transaction) return database.run(statement, options)
      if (options?.readonly) return read(statement, options)
      return database.run(statement, { ...options, guard })
    },
    transaction: (work, options) => database.transaction(work, { ...options, guard }),
  }
}

/** Does not call a function that fails, which would cost each read more than the comparison does. */
function guardTexts(condition: string): (text: string) => string {
  const texts = new LruCache<string>(TEXTS, memoryBytes)
  return text => {
    const known = texts.get(text)
    if (known !== undefined) return known
    const guarded = `SELECT * FROM (${text}) AS answer WHERE ${condition}`
    texts.set(text, guarded)
    return guarded
  }
}

import type { Client } from 'pg'
import type { Statement } from '../sql/statement.ts'
import { cellTypes } from './cell-types.ts'
import type { Rows } from './database.ts'
import { toDriverError } from './database-fault.ts'
import type { PreparedStatements } from './prepared-statements.ts'

/** One connection of the pool: pg's client with what this room keeps beside it. */
export interface Connection extends Omit<Client, 'connection'> {
  /** pg's record of what this connection has parsed, by name; its types leave it out. */
  readonly connection: Wire
  /** Absent: statements run unprepared. */
  plinthStatements?: PreparedStatements
  /** Set when the connection must not go back to the pool. Sequelize's own mark, which its pool checks. */
  _invalid?: boolean
}

interface Wire {
  readonly parsedStatements: Record<string, string | undefined>
  close(message: { readonly type: 'S'; readonly name: string }): void
}

interface DriverResult {
  readonly rows: Rows['rows']
  readonly rowCount: number | null
}

/**
 * Runs one statement; rejects with the driver's error. Milliseconds after which the answer is no longer waited
 * for (0: for ever) guard against a network that swallows packets; the server's own timeout comes first.
 */
export function runOn(connection: Connection, statement: Statement, patience: number): Promise<Rows> {
  const { text, values } = statement
  const name = connection.plinthStatements && prepare(connection, connection.plinthStatements, text)
  const query = { name, text, values, rowMode: 'array', types: cellTypes, query_timeout: patience }
  return new Promise((resolve, reject) => {
    const answer = (error: Error | null, result: DriverResult) => {
      if (!error) return resolve({ rows: result.rows, count: result.rowCount ?? 0 })
      // Its answer is still to come, and would meet the next statement.
      if (error.message === 'Query read timeout') connection._invalid = true
      reject(error)
    }
    // pg's types know neither `query_timeout` nor read-only values.
    connection.query(query as unknown as string, answer as never)
  })
}

/** The statement's name; makes room for it first. The Close message travels with the query, at no round trip. */
function prepare(connection: Connection, statements: PreparedStatements, text: string): string {
  const name = statements.nameOf(text)
  const evicted = statements.evict()
  if (evicted !== undefined) deallocate(connection, evicted)
  return name
}

function deallocate(connection: Connection, name: string): void {
  delete connection.connection.parsedStatements[name]
  connection.connection.close({ type: 'S', name })
}

/** After a change of a table's columns, or a pooler's switch of servers: the next run parses the text anew. */
export function forgetStatement(connection: Connection, text: string): void {
  const name = connection.plinthStatements?.forget(text)
  if (name !== undefined) deallocate(connection, name)
}

/** `cached plan must not change result type`, and a prepared statement that the server does not know. */
export function isStale(error: unknown): boolean {
  const driver = toDriverError(error)
  if (driver?.code === '26000') return true
  return driver?.code === '0A000' && driver.routine === 'RevalidateCachedQuery'
}

import { randomBytes } from 'node:crypto'
import type { Connection } from '../connection.ts'
import { OpeningError } from './opening-fault.ts'

// A pooler in transaction mode (PgBouncer, RDS Proxy, …) gives a connection another server for each transaction:
// settings and prepared statements of a session are lost in the next transaction.

/** pg's types leave out the process id that the server reported. A pooler makes one up. */
type ReportedProcess = Connection & { readonly processID?: number | null }

export const reportedPid = (connection: Connection): number | null =>
  (connection as ReportedProcess).processID ?? null

/** The parameters that a new transaction does not have by default. A role may have them from ALTER ROLE … SET. */
export async function findMissingParameters(
  connection: Connection,
  parameters: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const text = `SELECT w.name FROM unnest($1::text[], $2::text[]) AS w (name, value)
    JOIN pg_settings AS s ON lower(s.name) = lower(w.name) WHERE s.setting IS DISTINCT FROM w.value`
  const values = [Object.keys(parameters), Object.values(parameters)]
  const { rows } = await connection.query<{ name: string }>({ text, values })
  const missing = new Set(rows.map(({ name }) => name))
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => missing.has(name)))
}

/** Prepares a statement and asks the server whether it has one of this name. */
export async function keepsStatementNames(connection: Connection): Promise<boolean> {
  const name = `plinth_probe_${randomBytes(8).toString('hex')}`
  await connection.query('BEGIN')
  const text = 'SELECT name FROM pg_prepared_statements WHERE name = $1'
  const { rows } = await connection.query({ name, text, values: [name] })
  if (rows.length > 0) await connection.query(`DEALLOCATE ${name}`)
  await connection.query('COMMIT')
  return rows.length > 0
}

/**
 * Rejects if prepared statements would be lost between transactions. Two connections that are open at the same time share
 * a server process only if the pooler assigns it for a transaction.
 */
export async function assertStatementsKept(one: Connection, other: Connection): Promise<void> {
  if (!one.pooler?.keepsNames || !one.preparedStatements) return
  const [first, second] = [await backendPid(one), await backendPid(other)]
  if (first === second) throw new OpeningError('pooler', STATEMENTS_LOST)
}

async function backendPid(connection: Connection): Promise<unknown> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}

const STATEMENTS_LOST =
  'database.url leads to a pooler that gives each transaction another server and does not keep prepared statements: set database.preparedStatements to false, or have the pooler keep them (PgBouncer from 1.21: max_prepared_statements)'

import { randomBytes } from 'node:crypto'
import type { Connection } from '../connection.ts'
import { OpeningError } from './opening-fault.ts'

// A pooler in transaction mode (PgBouncer, RDS Proxy, …) gives a connection another server for each transaction:
// nothing that was set or prepared for the session holds in the next one.

/** pg's types leave out the process that a connection was told it talks to: a pooler makes one up. */
type Told = Connection & { readonly processID?: number | null }

export const toldPid = (connection: Connection): number | null => (connection as Told).processID ?? null

/** Those parameters whose values a new transaction would not have by itself: a role may have them from ALTER ROLE … SET. */
export async function missingOf(
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

/** Prepares a statement, and asks the server whether it knows it by this name. */
export async function passesNames(connection: Connection): Promise<boolean> {
  const name = `plinth_probe_${randomBytes(8).toString('hex')}`
  await connection.query('BEGIN')
  const text = 'SELECT name FROM pg_prepared_statements WHERE name = $1'
  const { rows } = await connection.query({ name, text, values: [name] })
  if (rows.length > 0) await connection.query(`DEALLOCATE ${name}`)
  await connection.query('COMMIT')
  return rows.length > 0
}

/**
 * Refuses to prepare statements where the next transaction would not find them. Two connections that are open at the
 * same time have the same server only where the pooler gives it to each for a transaction alone.
 */
export async function assertKept(one: Connection, other: Connection): Promise<void> {
  if (!one.plinthPooled?.passesNames || !one.plinthStatements) return
  const [first, second] = [await pidOf(one), await pidOf(other)]
  if (first === second) throw new OpeningError('pooler', NOT_KEPT)
}

async function pidOf(connection: Connection): Promise<unknown> {
  const { rows } = await connection.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}

const NOT_KEPT =
  'database.url leads to a pooler that gives each transaction another server and does not keep prepared statements: set database.preparedStatements to false, or have the pooler keep them (PgBouncer from 1.21: max_prepared_statements)'

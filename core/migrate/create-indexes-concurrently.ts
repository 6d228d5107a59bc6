import { poolOf } from '../database/connect/pool.ts'
import type { Connection } from '../database/connection.ts'
import type { Database } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { workOf } from '../database/scheduling/scheduled-work.ts'
import { isOvertaken, lockName, untilFree, untilNotOvertaken } from './migration-lock.ts'
import { MigrationRefused } from './migration-refused.ts'
import type { MigrationLimits } from './migration-terms.ts'
import { type Apart, refusal, type Step } from './schema/finding.ts'

/**
 * Makes indexes of large tables while others write, outside of any transaction, on a connection that ends with it.
 * Where the process dies meanwhile, an index is left that PostgreSQL calls invalid: the next migration drops it, and
 * begins again. Answers what was done, without what another process had done by then.
 */
export async function makeApart(
  database: Database,
  steps: readonly Step[],
  limits: MigrationLimits,
): Promise<readonly string[]> {
  if (steps.length === 0) return []
  const pool = poolOf(database.sequelize, null)
  const connection = await pool.acquire(workOf('write'))
  const made: string[] = []
  try {
    if (connection.plinthPooled) throw new MigrationRefused([refusal('database', null, POOLED)])
    await takeSession(connection, database.schema, limits)
    for (const step of steps)
      if (await untilNotOvertaken(limits, () => makeOne(connection, step))) made.push(step.summary)
  } finally {
    pool.discard(connection)
  }
  return made
}

const POOLED =
  'indexes of large tables are made outside of a transaction, which a pooler cannot keep a server for: migrate once (`plinth migrate`) with a database.url that leads to PostgreSQL itself; all before it was done'

/** For the whole session: there is no transaction that could hold the lock. */
async function takeSession(connection: Connection, schema: string, limits: MigrationLimits): Promise<void> {
  await connection.query(`SET statement_timeout = 0`)
  await connection.query(`SET lock_timeout = 0`)
  await untilFree(async () => {
    const text = 'SELECT pg_try_advisory_lock(hashtextextended($1::text, 0)) AS taken'
    const { rows } = await connection.query<{ taken: boolean }>({ text, values: [lockName(schema)] })
    return rows[0]?.taken === true
  }, limits)
}

/**
 * Whoever had the lock before may have made it (false), or begun to. Others who wait for one another may make it a
 * deadlock's victim.
 */
async function makeOne(connection: Connection, { apart, summary }: Step): Promise<boolean> {
  if (apart === null || (await isThere(connection, apart))) return false
  await connection.query(apart.undo)
  try {
    await connection.query(apart.make)
    return true
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (fault === undefined || fault.kind === 'unavailable' || fault.kind === 'busy') throw error
    await connection.query(apart.undo)
    if (isOvertaken(error)) throw error
    const code = fault.kind === 'unique' ? 'not-unique' : 'database'
    throw new MigrationRefused([refusal(code, null, `${summary}: PostgreSQL refused it: ${fault.message}`)])
  }
}

async function isThere(connection: Connection, { index }: Apart): Promise<boolean> {
  const text = 'SELECT count(*) > 0 AS there FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid'
  const { rows } = await connection.query<{ there: boolean }>({ text, values: [index] })
  return rows[0]?.there === true
}

import type { Sequelize, Transaction as SequelizeTransaction } from 'sequelize'
import { within } from '../base/within.ts'
import type { DatabaseSettings } from '../project/settings.ts'
import type { Connection } from './connection.ts'
import type { Database, Ping } from './database.ts'
import { type Pool, poolOf } from './pool.ts'
import { runAbortable } from './run-abortable.ts'
import { type RunTerms, runStatement } from './run-statement.ts'
import { patienceFor } from './session.ts'
import { runTransaction } from './transaction.ts'

export interface PooledDatabaseParts {
  readonly kind: Database['kind']
  readonly sequelize: Sequelize
  readonly settings: DatabaseSettings
  /** After the last connection has ended. */
  afterClose(): Promise<void>
}

/** The Database over Sequelize's pool, whatever its connections lead to. */
export async function pooledDatabase(parts: PooledDatabaseParts): Promise<Database> {
  const { kind, sequelize, settings } = parts
  const { statementTimeout, schema } = settings
  const pool = poolOf(sequelize, settings.replicas.length > 0)
  const patience = patienceFor(statementTimeout)
  const read: RunTerms = { use: 'read', readonly: true, patience }
  const write: RunTerms = { use: 'write', readonly: false, patience }
  const adopt = await adopter(sequelize)
  let closing: Promise<void> | undefined
  return {
    kind,
    schema,
    sequelize,
    run(statement, options) {
      if (options?.transaction) return options.transaction.run(statement)
      const run = options?.readonly ? read : write
      if (!options?.signal) return runStatement(pool, statement, run)
      return runAbortable(pool, statement, { ...run, signal: options.signal, isServer: kind === 'server' })
    },
    transaction: (work, options = {}) => runTransaction({ pool, statementTimeout, adopt }, work, options),
    ping: () => ping(pool),
    close() {
      closing ??= close(sequelize).then(parts.afterClose)
      return closing
    },
  }
}

/** Sequelize's transaction object over a connection that is in a transaction already: all that its queries read. */
async function adopter(sequelize: Sequelize): Promise<(connection: Connection) => SequelizeTransaction> {
  const { Transaction } = await import('sequelize')
  return connection => Object.assign(new Transaction(sequelize, {}), { connection })
}

const PING_PATIENCE = 2_000

async function ping(pool: Pool): Promise<Ping> {
  const start = performance.now()
  const terms: RunTerms = { use: 'write', readonly: true, patience: PING_PATIENCE }
  const answer = runStatement(pool, { text: 'SELECT 1', values: [] }, terms).then(
    (): Ping => ({ ok: true, milliseconds: performance.now() - start }),
    (error: Error): Ping => ({ ok: false, message: error.message }),
  )
  return within(PING_PATIENCE, answer, { ok: false, message: 'The database did not answer in time' })
}

/** Milliseconds that work in progress has to end when the database is closed. */
const CLOSE_PATIENCE = 10_000

const close = (sequelize: Sequelize): Promise<void> => within(CLOSE_PATIENCE, sequelize.close(), undefined)

import { setMaxListeners } from 'node:events'
import type { Sequelize, Transaction as SequelizeTransaction } from 'sequelize'
import { withTimeout } from '../base/with-timeout.ts'
import type { DatabaseSettings } from '../project/settings/settings.ts'
import type { Statement } from '../sql/statement.ts'
import type { Pool } from './connect/pool.ts'
import type { Connection } from './connection.ts'
import type { Database, Ping, RunOptions, Transaction } from './database.ts'
import { toDatabaseFault } from './database-fault.ts'
import { currentWhole, type WholeTransaction } from './generations/write-storage.ts'
import type { Position } from './lsn.ts'
import type { OpenReplicas } from './replicas/open-replicas.ts'
import { workOf } from './scheduling/scheduled-work.ts'
import type { Scheduler } from './scheduling/scheduler.ts'
import { patienceFor, readPatience } from './session.ts'
import { runAbortable } from './statements/run-abortable.ts'
import { ownRead, runStatement } from './statements/run-statement.ts'
import { currentSession, noteWrite, stayOnPrimary } from './statements/session-scope.ts'
import { runTransaction } from './transaction.ts'

export interface PooledDatabaseParts {
  readonly kind: Database['kind']
  readonly sequelize: Sequelize
  readonly settings: DatabaseSettings
  readonly pool: Pool
  readonly scheduler: Scheduler
  readonly replicas: OpenReplicas | null
  readonly dedicate: Database['dedicate']
  /** Its signal ends the connections. */
  readonly aborting: AbortController
  /** See Database; absent: no other process works through this one. */
  endForeign?(): void
  /** After the last connection has ended. */
  afterClose(): Promise<void>
}

/** Each connection listens to its signal. */
export function openAborting(): AbortController {
  const aborting = new AbortController()
  setMaxListeners(0, aborting.signal)
  return aborting
}

/** The Database over Sequelize's pool, whatever its connections lead to. */
export async function pooledDatabase(parts: PooledDatabaseParts): Promise<Database> {
  const { kind, sequelize, settings, pool, scheduler, replicas, endForeign = () => {} } = parts
  const { statementTimeout, schema } = settings
  const patience = { read: readPatience(settings), write: patienceFor(statementTimeout) }
  const runHere = (statement: Statement, options: RunOptions = {}) => {
    const lane = options.readonly ? 'read' : 'write'
    const { signal, maxBytes = Number.POSITIVE_INFINITY, guard } = options
    const terms = { work: workOf(lane, options), patience: patience[lane], maxBytes, guard }
    return signal ? runAbortable(pool, statement, { ...terms, signal }) : runStatement(pool, statement, terms)
  }
  const adopt = await adopter(sequelize)
  let closing: Promise<void> | undefined
  return {
    kind,
    schema,
    sequelize,
    replicas,
    dedicate: parts.dedicate,
    connections: () => ({ ...pool.state(), waiting: scheduler.waiting }),
    run(statement, options) {
      const transaction = options?.transaction ?? currentWhole()?.transaction
      if (transaction) return transaction.run(statement)
      if (replicas === null || !options?.readonly || options.onPrimary) return runHere(statement, options)
      return replicas.run(statement, options).then(rows => rows ?? runHere(statement, options))
    },
    transaction(work, options = {}) {
      const whole = currentWhole()
      if (whole) return nest(whole, work)
      const committed = replicas === null ? undefined : noteWrites()
      const terms = { pool, statementTimeout, adopt, committed }
      return runTransaction(terms, work, options)
    },
    ping: () => ping(pool),
    endForeign,
    abort() {
      endForeign()
      parts.aborting.abort()
    },
    close() {
      endForeign()
      const patience = parts.aborting.signal.aborted ? ABORT_PATIENCE : CLOSE_PATIENCE
      closing ??= withTimeout(patience, closeAll(sequelize, replicas), undefined).then(parts.afterClose)
      return closing
    },
  }
}

async function nest<Value>(
  whole: WholeTransaction,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  const value = await whole.transaction.nest(work)
  whole.isTouched = true
  return value
}

/** The session's, whatever comes of it: its reads beside the transaction are the primary's, too. */
function noteWrites(): (position: Position) => void {
  const session = currentSession()
  stayOnPrimary()
  return position => session && noteWrite(session, position)
}

/** Sequelize's transaction object over a connection that is in a transaction already: all that its queries read. */
async function adopter(sequelize: Sequelize): Promise<(connection: Connection) => SequelizeTransaction> {
  const { Transaction } = await import('sequelize')
  return connection => Object.assign(new Transaction(sequelize, {}), { connection })
}

const PING_PATIENCE = 2_000

async function ping(pool: Pool): Promise<Ping> {
  const start = performance.now()
  const answer = runStatement(pool, TAKES_WRITES, ownRead(PING_PATIENCE)).then(
    ({ rows }): Ping => {
      if (rows[0]?.[0] === 'on')
        return { ok: false, message: 'The database takes no writes', isReadonly: true }
      return { ok: true, milliseconds: performance.now() - start }
    },
    (error: Error): Ping => ({ ok: false, message: error.message, isReadonly: isReadonly(error) }),
  )
  return withTimeout(PING_PATIENCE, answer, SILENT)
}

const TAKES_WRITES: Statement = { text: `SELECT current_setting('transaction_read_only')`, values: [] }

const SILENT: Ping = { ok: false, message: 'The database did not answer in time', isReadonly: false }

function isReadonly(error: Error): boolean {
  const fault = toDatabaseFault(error)
  return fault?.kind === 'unavailable' && fault.isReadonly === true
}

/** Milliseconds that work in progress has to end when the database is closed. */
const CLOSE_PATIENCE = 10_000

/** Milliseconds that work has to notice that it was aborted: code of the project may never. */
const ABORT_PATIENCE = 500

async function closeAll(sequelize: Sequelize, replicas: OpenReplicas | null): Promise<void> {
  await Promise.all([sequelize.close(), replicas?.close()])
}

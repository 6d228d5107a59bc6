import { withTimeout } from '../../base/with-timeout.ts'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Statement } from '../../sql/statement.ts'
import { cancelStatement } from '../connect/cancel.ts'
import { type ConnectOptions, createConnector, printHost, type Target } from '../connect/open-connection.ts'
import { type ConnectionPool, createPool } from '../connect/pool.ts'
import { type AnswerLimits, type Connection, runBounded, settingsOf } from '../connection.ts'
import type { Replicas, Rows, RunOptions } from '../database.ts'
import { toDatabaseFault, toFailure } from '../database-fault.ts'
import { FIRST_LSN, furthest, hasReplayed, type Lsn, READ_LSN, toLsn } from '../lsn.ts'
import type { Work } from '../scheduling/scheduled-work.ts'
import { createWork } from '../scheduling/scheduled-work.ts'
import { clientReadTimeout, clientTimeout } from '../session.ts'
import { runStatement, serverRead } from '../statements/run-statement.ts'
import { currentReplicaSession } from '../statements/session-scope.ts'
import { chooseReplica, type Replica, takeOut } from './replica.ts'
import { watchReplicas } from './watch-replicas.ts'

export interface OpenReplicas extends Replicas {
  /** Runs a read on a replica. Resolves to null if the primary must answer. Rejects on timeout or abort. */
  run(
    statement: Statement,
    options: Pick<RunOptions, 'signal' | 'purpose' | 'maxBytes'>,
  ): Promise<Rows | null>
  close(): Promise<void>
}

export interface ReplicasTerms {
  readonly targets: readonly Target[]
  readonly settings: DatabaseSettings
  readonly connecting: Pick<ConnectOptions, 'session' | 'observe'>
}

/** Probes come so often that their connection is never idle for long. */
const PROBE_POOL = { max: 1, idle: 60_000, acquire: 5_000 }

/** Milliseconds for the connections to end: a server that is paused never answers. */
const CLOSE_TIMEOUT = 2_000

/** Milliseconds that a start waits for the first probe: replicas need not be available. */
const FIRST_PROBE_TIMEOUT = 1_000

/** Probes each replica once. They need not be available. */
export async function openReplicas(
  { targets, settings, connecting }: ReplicasTerms,
  primary: ConnectionPool,
): Promise<OpenReplicas> {
  const replicas = targets.map(target => createReplica(target, settings, connecting))
  const { replicaLag, statementTimeout } = settings
  const watch = watchReplicas(replicas, { primary, replicaLag, observe: connecting.observe })
  await withTimeout(FIRST_PROBE_TIMEOUT, watch.begun, undefined)
  let floor = FIRST_LSN
  let turn = 0
  return {
    async run(statement, options) {
      const session = currentReplicaSession()
      if (!session || session.onPrimary) return null
      const replica = chooseReplica(replicas, furthest(floor, session.after ?? FIRST_LSN), turn++)
      if (!replica) return null
      const { signal, maxBytes = Number.POSITIVE_INFINITY } = options
      return runOnReplica(replica, statement, {
        ...{ after: session.after, signal, work: createWork('read', options) },
        ...{ timeout: clientReadTimeout(settings), maxBytes },
      })
    },
    async startFromHere() {
      const { rows } = await runStatement(primary, READ_LSN, serverRead(clientTimeout(statementTimeout)))
      floor = furthest(floor, toLsn(rows[0]?.[0]) ?? FIRST_LSN)
    },
    states: () => replicas.map(({ state }) => state.kind),
    async close() {
      watch.stop()
      const closed = replicas.flatMap(({ pool, probePool }) => [pool.close(), probePool.close()])
      await withTimeout<unknown>(CLOSE_TIMEOUT, Promise.all(closed), undefined)
    },
  }
}

function createReplica(
  target: Target,
  settings: DatabaseSettings,
  connecting: ReplicasTerms['connecting'],
): Replica {
  const connect = createConnector({ ...connecting, target })
  return {
    place: printHost(target),
    pool: createPool(connect, settings),
    probePool: createPool(connect, { ...settings, pool: PROBE_POOL }),
    busy: new Set(),
    state: { kind: 'away', message: 'it was not looked at yet' },
  }
}

interface ReplicaTerms extends AnswerLimits {
  /**
   * The position that the read must see. The connection that answers checks it, because one address may lead to several
   * servers. null: any.
   */
  readonly after: Lsn | null
  readonly work: Work
  readonly signal?: AbortSignal | undefined
}

/** Runs one read. Resolves to null if this replica cannot answer it and the primary must. */
async function runOnReplica(
  replica: Replica,
  statement: Statement,
  terms: ReplicaTerms,
): Promise<Rows | null> {
  const connection = await replica.pool.acquire(terms.work).catch((error: unknown) => {
    if (isFinal(error)) throw error
    recordFailure(replica, error)
    return null
  })
  if (connection === null) return null
  const cancel = () => cancelStatement(connection)
  terms.signal?.addEventListener('abort', cancel, { once: true })
  replica.busy.add(connection)
  try {
    const rows = await read(connection, statement, terms)
    replica.pool.release(connection)
    return rows
  } catch (error) {
    replica.pool.settle(connection, error)
    if (terms.signal?.aborted || isFinal(error)) throw toFailure(error)
    recordFailure(replica, error)
    return null
  } finally {
    replica.busy.delete(connection)
    terms.signal?.removeEventListener('abort', cancel)
  }
}

async function read(
  connection: Connection,
  statement: Statement,
  { after, ...limits }: ReplicaTerms,
): Promise<Rows | null> {
  const check = after === null ? [] : [hasReplayed(after)]
  const results = await runBounded(connection, [...settingsOf(connection), ...check, statement], limits)
  if (after !== null && results.at(-2)?.rows[0]?.[0] !== true) return null
  return results.at(-1) ?? null
}

/** The primary would be as slow and its answer as large. Moved load would block its writes, too. */
function isFinal(error: unknown): boolean {
  const kind = toDatabaseFault(error)?.kind
  return kind === 'timeout' || kind === 'busy' || kind === 'aborted' || kind === 'too-large'
}

/**
 * Takes the replica out if the server is gone. Other errors concern the statement only: its tables are not replayed yet, or
 * replay cancelled it.
 */
function recordFailure(replica: Replica, error: unknown): void {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'unavailable' && replica.state.kind === 'well')
    takeOut(replica, { kind: 'away', message: fault.message })
}

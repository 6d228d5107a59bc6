import { withTimeout } from '../../base/with-timeout.ts'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Statement } from '../../sql/statement.ts'
import { type ConnectOptions, createConnector, printHost, type Target } from '../connect/open-connection.ts'
import { type ConnectionPool, createPool } from '../connect/pool.ts'
import type { Replicas, Rows, RunOptions } from '../database.ts'
import { FIRST_LSN, furthest, READ_LSN, toLsn } from '../lsn.ts'
import { createWork } from '../scheduling/scheduled-work.ts'
import { clientReadTimeout, clientTimeout } from '../session.ts'
import { runStatement, serverRead } from '../statements/run-statement.ts'
import { currentReplicaSession } from '../statements/session-scope.ts'
import { chooseReplica, type Replica } from './replica.ts'
import { runOnReplica } from './run-on-replica.ts'
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

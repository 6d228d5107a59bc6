import { withTimeout } from '../../base/with-timeout.ts'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Statement } from '../../sql/statement.ts'
import { type ConnectOptions, connect, type Target } from '../connect/connect.ts'
import { type Pool, poolOf } from '../connect/pool.ts'
import type { Replicas, Rows, RunOptions } from '../database.ts'
import { furthest, OWN_POSITION, START, toPosition } from '../lsn.ts'
import { workOf } from '../scheduling/scheduled-work.ts'
import { Scheduler, schedulerTerms } from '../scheduling/scheduler.ts'
import { patienceFor, readPatience } from '../session.ts'
import { ownRead, runStatement } from '../statements/run-statement.ts'
import { currentSession } from '../statements/session-scope.ts'
import { chooseReplica, type Replica } from './replica.ts'
import { runOnReplica } from './run-on-replica.ts'
import { watchReplicas } from './watch-replicas.ts'

/** The replicas, as those see them who run statements. */
export interface OpenReplicas extends Replicas {
  /** Runs a read on a replica; null: use the primary. Rejects on timeout or abort. */
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

/** Milliseconds for a look's connection; and looks come so often that it stays. */
const LOOKOUT = { max: 1, idle: 60_000, acquire: 5_000 }

/** Milliseconds that their connections have to end: one that stands still never answers. */
const FAREWELL = 2_000

/** Milliseconds that a start waits for a first look: none of them need be there. */
const FIRST_LOOK = 1_000

/** Looks at each once; none of them need be there. */
export async function openReplicas(
  { targets, settings, connecting }: ReplicasTerms,
  primary: Pool,
): Promise<OpenReplicas> {
  const { replicaLag, statementTimeout } = settings
  const opened = await Promise.all(targets.map(target => openReplica(target, { ...connecting, settings })))
  const replicas = opened.map(({ replica }) => replica)
  const watch = watchReplicas(replicas, { primary, replicaLag, observe: connecting.observe })
  await withTimeout(FIRST_LOOK, watch.begun, undefined)
  const patience = patienceFor(statementTimeout)
  let floor = START
  let turn = 0
  return {
    async run(statement, options) {
      const session = currentSession()
      if (!session || session.onPrimary) return null
      const replica = chooseReplica(replicas, furthest(floor, session.after ?? START), turn++)
      if (!replica) return null
      const { signal, maxBytes = Number.POSITIVE_INFINITY } = options
      return runOnReplica(replica, statement, {
        ...{ after: session.after, signal, work: workOf('read', options) },
        ...{ patience: readPatience(settings), maxBytes },
      })
    },
    async startFromHere() {
      const { rows } = await runStatement(primary, OWN_POSITION, ownRead(patience))
      floor = furthest(floor, toPosition(rows[0]?.[0]) ?? START)
    },
    states: () => replicas.map(({ state }) => state.kind),
    async close() {
      watch.stop()
      await withTimeout(FAREWELL, Promise.all(opened.map(({ close }) => close())), [])
    },
  }
}

interface OpenReplica {
  readonly replica: Replica
  close(): Promise<void>
}

type ReplicaTerms = Pick<ReplicasTerms, 'settings'> & ReplicasTerms['connecting']

async function openReplica(target: Target, { settings, ...terms }: ReplicaTerms): Promise<OpenReplica> {
  const sequelize = await connect({ ...terms, target, pool: settings.pool })
  const lookout = await connect({ ...terms, target, pool: LOOKOUT })
  const replica: Replica = {
    place: target.host.startsWith('/') ? target.host : `${target.host}:${target.port}`,
    pool: poolOf(sequelize, new Scheduler(schedulerTerms(settings.pool.max, settings))),
    lookout: poolOf(lookout, null),
    busy: new Set(),
    state: { kind: 'away', message: 'it was not looked at yet' },
  }
  return { replica, close: async () => void (await Promise.all([sequelize.close(), lookout.close()])) }
}

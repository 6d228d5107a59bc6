import { setTimeout as pause } from 'node:timers/promises'
import { withTimeout } from '../../base/with-timeout.ts'
import type { ConnectionPool } from '../connect/pool.ts'
import type { Cell } from '../database.ts'
import { toDatabaseFault } from '../database-fault.ts'
import { type Lsn, READ_LSN, toLsn } from '../lsn.ts'
import type { Observe } from '../open-options.ts'
import { runStatement, serverRead } from '../statements/run-statement.ts'
import { type Replica, type ReplicaState, takeOut } from './replica.ts'

/** Milliseconds between probes. */
const PROBE_INTERVAL = 500

/** Milliseconds for the answer to a probe. */
const PROBE_TIMEOUT = 2_000

export interface WatchTerms {
  readonly primary: ConnectionPool
  /** The allowed lag in milliseconds. */
  readonly replicaLag: number
  readonly observe: Observe
}

export interface ReplicaWatch {
  /** Resolves when every replica was probed once. */
  readonly begun: Promise<void>
  stop(): void
}

/** The primary's position at a moment, as of performance.now(). */
interface PrimaryMark {
  readonly position: Lsn
  readonly at: number
}

/** Probes the replicas regularly, updates their states and reports changes. */
export function watchReplicas(replicas: readonly Replica[], terms: WatchTerms): ReplicaWatch {
  let isOver = false
  const probes = replicas.map(replica => createProbe(replica, terms))
  let identity: DatabaseIdentity = null
  const round = async () => {
    const read = await readPrimary(terms.primary)
    identity = read?.identity ?? identity
    const mark = read && { position: read.position, at: performance.now() }
    await Promise.all(probes.map(probe => probe(mark, identity)))
  }
  const begun = round()
  const repeat = async () => {
    await begun
    while (!isOver) {
      await pause(PROBE_INTERVAL, undefined, { ref: false })
      if (!isOver) await round()
    }
  }
  void repeat()
  return {
    begun,
    stop() {
      isOver = true
    },
  }
}

type Probe = (mark: PrimaryMark | null, identity: DatabaseIdentity) => Promise<void>

function createProbe(replica: Replica, { replicaLag, observe }: WatchTerms): Probe {
  const measureLag = createLagMeter()
  let reported: ReplicaState['kind'] = 'well'
  return async (mark, identity) => {
    const result = await probeReplica(replica.probePool, identity)
    const state =
      result.kind === 'replica'
        ? toState(result.replayed, measureLag(result.replayed, mark), replicaLag)
        : result
    if (state.kind === 'well') replica.state = state
    else takeOut(replica, state)
    if (state.kind !== reported)
      observe({ event: 'database.replica', place: replica.place, ...describe(state) })
    reported = state.kind
  }
}

const toState = (replayed: Lsn, lag: number, allowed: number): ReplicaState =>
  lag > allowed ? { kind: 'behind', milliseconds: lag } : { kind: 'well', replayed }

const describe = (state: ReplicaState) => {
  switch (state.kind) {
    case 'well':
      return { isWell: true, message: '' }
    case 'behind':
      return { isWell: false, message: `it is ${Math.round(state.milliseconds / 1_000)} s behind` }
    default:
      return { isWell: false, message: state.message }
  }
}

/**
 * Measures the milliseconds since the oldest mark that the replica has not reached. So it needs no clock of the servers and
 * stays 0 while nothing is written.
 */
function createLagMeter(): (replayed: Lsn, mark: PrimaryMark | null) => number {
  let awaited: PrimaryMark | null = null
  return (replayed, mark) => {
    if (awaited && replayed >= awaited.position) awaited = null
    if (mark && replayed < mark.position) awaited ??= mark
    return awaited ? performance.now() - awaited.at : 0
  }
}

/** The cluster and the database: a replica has those of its primary. null: not yet known. */
type DatabaseIdentity = Cell

type ProbeResult =
  | { readonly kind: 'replica'; readonly replayed: Lsn }
  | { readonly kind: 'away' | 'stranger'; readonly message: string }

/** Resolves to the first row. */
async function queryRow(pool: ConnectionPool, text: string): Promise<readonly Cell[]> {
  const running = runStatement(pool, { text, values: [] }, serverRead(PROBE_TIMEOUT))
  const answer = await withTimeout(PROBE_TIMEOUT, running, null)
  if (answer === null) throw new Error('it does not answer in time')
  return answer.rows[0] ?? []
}

const IDENTITY = `(SELECT c.system_identifier || '/' || d.oid FROM pg_control_system() c, pg_database d WHERE d.datname = current_database())`

/** null: the primary does not answer, or its address does not lead to a primary now. */
async function readPrimary(
  primary: ConnectionPool,
): Promise<{ readonly position: Lsn; readonly identity: DatabaseIdentity } | null> {
  const row = await queryRow(primary, `${READ_LSN.text}, ${IDENTITY}`).catch(() => null)
  const position = toLsn(row?.[0])
  return position === null ? null : { position, identity: row?.[1] ?? null }
}

async function probeReplica(pool: ConnectionPool, identity: DatabaseIdentity): Promise<ProbeResult> {
  try {
    const [isReplica, replayed, own] = await queryRow(pool, PROBE)
    const position = toLsn(replayed)
    if (isReplica !== true || position === null) return stranger('it is no replica (any more)')
    if (identity !== null && own !== identity) return stranger('it is the replica of another database')
    return { kind: 'replica', replayed: position }
  } catch (error) {
    return { kind: 'away', message: toDatabaseFault(error)?.message ?? String(error) }
  }
}

const PROBE = `SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::text, ${IDENTITY}`

const stranger = (message: string): ProbeResult => ({ kind: 'stranger', message })

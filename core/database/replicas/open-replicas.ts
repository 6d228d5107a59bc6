import { setTimeout as pause } from 'node:timers/promises'
import { withTimeout } from '../../base/with-timeout.ts'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Statement } from '../../sql/statement.ts'
import { cancelStatement } from '../connect/cancel.ts'
import {
  type ConnectionOptions,
  createConnector,
  printHost,
  type Target,
} from '../connect/open-connection.ts'
import { type ConnectionPool, createPool } from '../connect/pool.ts'
import { type AnswerLimits, type Connection, runBounded, settingsOf } from '../connection.ts'
import type { Cell, Replicas, Rows, RunOptions } from '../database.ts'
import { toDatabaseFault, toFailure } from '../database-fault.ts'
import { FIRST_LSN, furthest, hasReplayed, type Lsn, READ_LSN, toLsn } from '../lsn.ts'
import type { Observe } from '../open-options.ts'
import { createWork, type Work } from '../scheduling/scheduled-work.ts'
import { clientReadTimeout, clientTimeout } from '../session.ts'
import { runStatement, serverRead } from '../statements/run-statement.ts'
import { currentReplicaSession } from '../statements/session-scope.ts'

export interface OpenReplicas extends Replicas {
  /** Runs a read on a replica. Resolves to null if the primary must answer. Rejects on timeout or abort. */
  run(
    statement: Statement,
    options: Pick<RunOptions, 'signal' | 'purpose' | 'maxBytes'>,
  ): Promise<Rows | null>
  close(): Promise<void>
}

export interface ReplicasOptions {
  readonly targets: readonly Target[]
  readonly settings: DatabaseSettings
  readonly connecting: Pick<ConnectionOptions, 'session' | 'observe'>
}

/** Probes come so often that their connection is never idle for long. */
const PROBE_POOL = { max: 1, idle: 60_000, acquire: 5_000 }

/** Milliseconds for the connections to end: a server that is paused never answers. */
const CLOSE_TIMEOUT = 2_000

/** Milliseconds that a start waits for the first probe: replicas need not be available. */
const FIRST_PROBE_TIMEOUT = 1_000

/** Probes each replica once. They need not be available. */
export async function openReplicas(
  { targets, settings, connecting }: ReplicasOptions,
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
  connecting: ReplicasOptions['connecting'],
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

interface ReplicaOptions extends AnswerLimits {
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
  options: ReplicaOptions,
): Promise<Rows | null> {
  const connection = await replica.pool.acquire(options.work).catch((error: unknown) => {
    if (isFinal(error)) throw error
    recordFailure(replica, error)
    return null
  })
  if (connection === null) return null
  const cancel = () => cancelStatement(connection)
  options.signal?.addEventListener('abort', cancel, { once: true })
  replica.busy.add(connection)
  try {
    const rows = await read(connection, statement, options)
    replica.pool.release(connection)
    return rows
  } catch (error) {
    replica.pool.settle(connection, error)
    if (options.signal?.aborted || isFinal(error)) throw toFailure(error)
    recordFailure(replica, error)
    return null
  } finally {
    replica.busy.delete(connection)
    options.signal?.removeEventListener('abort', cancel)
  }
}

async function read(
  connection: Connection,
  statement: Statement,
  { after, ...limits }: ReplicaOptions,
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

/** Milliseconds between probes. */
const PROBE_INTERVAL = 500

/** Milliseconds for the answer to a probe. */
const PROBE_TIMEOUT = 2_000

interface WatchOptions {
  readonly primary: ConnectionPool
  /** The allowed lag in milliseconds. */
  readonly replicaLag: number
  readonly observe: Observe
}

interface ReplicaWatch {
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
function watchReplicas(replicas: readonly Replica[], options: WatchOptions): ReplicaWatch {
  let isOver = false
  const probes = replicas.map(replica => createProbe(replica, options))
  let identity: DatabaseIdentity = null
  const round = async () => {
    const read = await readPrimary(options.primary)
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

function createProbe(replica: Replica, { replicaLag, observe }: WatchOptions): Probe {
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

type ReplicaState =
  /** `replayed`: how far it had replayed the log at the last probe. */
  | { readonly kind: 'well'; readonly replayed: Lsn }
  /** Its lag exceeds `replicaLag`. */
  | { readonly kind: 'behind'; readonly milliseconds: number }
  | { readonly kind: 'away'; readonly message: string }
  /** It answers but is not a replica of this primary: a primary itself, or the replica of another database. */
  | { readonly kind: 'stranger'; readonly message: string }

/** A server that follows the primary and may answer reads. */
interface Replica {
  /** Host and port, for logs. Never a user or a password. */
  readonly place: string
  readonly pool: ConnectionPool
  /** A connection for probes only: load must not make the replica look unavailable. */
  readonly probePool: ConnectionPool
  /** Connections with a statement in progress. */
  readonly busy: Set<Connection>
  /** The result of the last probe. */
  state: ReplicaState
}

/** Removes it from use until a probe succeeds. Its statements in progress move to the primary. */
function takeOut(replica: Replica, state: Exclude<ReplicaState, { kind: 'well' }>): void {
  replica.state = state
  if (state.kind === 'behind') return
  for (const connection of replica.busy) connection.connection.stream.destroy()
}

/** Round-robin over the replicas that are well and have replayed the position. */
function chooseReplica(replicas: readonly Replica[], after: Lsn, turn: number): Replica | undefined {
  const fit = replicas.filter(({ state }) => state.kind === 'well' && state.replayed >= after)
  return fit[turn % fit.length]
}

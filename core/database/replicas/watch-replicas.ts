import { setTimeout as pause } from 'node:timers/promises'
import type { Pool } from '../connect/pool.ts'
import type { Position } from '../lsn.ts'
import type { Observe } from '../observation.ts'
import type { ReplicaState } from '../replica-state.ts'
import { type Identity, lookAt, readMark } from './probe-replica.ts'
import { type Replica, takeOut } from './replica.ts'

/** Milliseconds between looks. */
const INTERVAL = 500

export interface WatchTerms {
  readonly primary: Pool
  /** Milliseconds that a replica may be behind. */
  readonly replicaLag: number
  readonly observe: Observe
}

export interface Watch {
  /** Resolves when each was looked at once. */
  readonly begun: Promise<void>
  stop(): void
}

/** Where the primary's log was at a moment, as of performance.now(). */
interface Mark {
  readonly position: Position
  readonly at: number
}

/** Looks again and again how far replicas have come: changes their states, and tells when they become other ones. */
export function watchReplicas(replicas: readonly Replica[], terms: WatchTerms): Watch {
  let isOver = false
  const lookers = replicas.map(replica => openLooker(replica, terms))
  let identity: Identity = null
  const round = async () => {
    const read = await readMark(terms.primary)
    identity = read?.identity ?? identity
    const mark = read && { position: read.position, at: performance.now() }
    await Promise.all(lookers.map(look => look(mark, identity)))
  }
  const begun = round()
  const goOn = async () => {
    await begun
    while (!isOver) {
      await pause(INTERVAL, undefined, { ref: false })
      if (!isOver) await round()
    }
  }
  void goOn()
  return {
    begun,
    stop() {
      isOver = true
    },
  }
}

type Looker = (mark: Mark | null, identity: Identity) => Promise<void>

function openLooker(replica: Replica, { replicaLag, observe }: WatchTerms): Looker {
  const lagOf = openLag()
  let told: ReplicaState['kind'] = 'well'
  return async (mark, identity) => {
    const sight = await lookAt(replica.lookout, identity)
    const state =
      sight.kind === 'replica' ? judge(sight.replayed, lagOf(sight.replayed, mark), replicaLag) : sight
    if (state.kind === 'well') replica.state = state
    else takeOut(replica, state)
    if (state.kind !== told) observe({ event: 'database.replica', place: replica.place, ...toNews(state) })
    told = state.kind
  }
}

const judge = (replayed: Position, milliseconds: number, most: number): ReplicaState =>
  milliseconds > most ? { kind: 'behind', milliseconds } : { kind: 'well', replayed }

const toNews = (state: ReplicaState) => {
  switch (state.kind) {
    case 'well':
      return { isWell: true, message: '' }
    case 'behind':
      return { isWell: false, message: `it is ${Math.round(state.milliseconds / 1_000)} s behind` }
    default:
      return { isWell: false, message: state.message }
  }
}

/** Milliseconds since the oldest mark that it has not reached: needs no clock of the servers', and holds while nothing is written. */
function openLag(): (replayed: Position, mark: Mark | null) => number {
  let awaited: Mark | null = null
  return (replayed, mark) => {
    if (awaited && replayed >= awaited.position) awaited = null
    if (mark && replayed < mark.position) awaited ??= mark
    return awaited ? performance.now() - awaited.at : 0
  }
}

import { setTimeout as pause } from 'node:timers/promises'
import { median } from '../rounds.ts'
import type { Peer } from './contender.ts'

const STARTS = Number(process.env.PEERS_STARTS ?? 3)
const IDLE = 10_000

/** Memory before the first request. */
export interface AtRest {
  readonly peer: Peer
  /** Milliseconds from a start to the first answer. */
  readonly start: number
  /** MB (10^6) ten seconds after it. */
  readonly memory: number
}

/** The products start alternately, each alone, so that other load of the machine affects all alike. */
export async function lookAtRest(peers: readonly Peer[]): Promise<readonly AtRest[]> {
  const looks = new Map<Peer, Look[]>(peers.map(peer => [peer, []]))
  for (let count = 0; count < STARTS; count++) {
    for (const [peer, looked] of looks) looked.push(await look(peer))
  }
  return [...looks].map(([peer, looked]) => ({
    peer,
    start: median(looked.map(({ start }) => start)),
    memory: median(looked.map(({ memory }) => memory)),
  }))
}

type Look = Omit<AtRest, 'peer'>

async function look(peer: Peer): Promise<Look> {
  const server = await peer.start()
  try {
    await pause(IDLE)
    return { start: server.startedIn, memory: server.memory() }
  } finally {
    await server.stop()
  }
}

import type { Socket } from 'node:net'
import { openProxy } from '../harness/proxy.ts'
import type { Test } from './own-process.ts'

/** A proxy before PostgreSQL that can hold a session back before its k-th statement. */
export interface StatementGate {
  /** The database's address through the proxy. */
  readonly url: string
  /** Counts from here on, and holds every session back before statement number `before` (1: the first). */
  arm(before: number): ArmedGate
}

export interface ArmedGate {
  /** Resolves once the statement has arrived and is held. */
  readonly reached: Promise<void>
  /** Sends on what was held, and counts no more. */
  release(): void
}

/** Types of frontend messages that run a statement: Execute and Query. */
const RUNS = new Set(['E', 'Q'])

interface Holding {
  left: number
  readonly held: (() => void)[]
  reach(): void
}

export async function openStatementGate(t: Test, to: string): Promise<StatementGate> {
  let holding: Holding | null = null
  const forward = (client: Socket, database: Socket) => {
    database.on('data', part => client.write(part))
    const split = messageSplitter()
    let isHeld = false
    const waiting: Buffer[] = []
    const pass = (message: Buffer): void => {
      if (isHeld) {
        waiting.push(message)
        return
      }
      if (holding && RUNS.has(String.fromCharCode(message[0] ?? 0)) && --holding.left <= 0) {
        isHeld = true
        waiting.push(message)
        // Earlier messages have to reach the server, although no Sync follows.
        database.write(FLUSH)
        holding.held.push(() => {
          isHeld = false
          for (const each of waiting.splice(0)) database.write(each)
        })
        holding.reach()
        return
      }
      database.write(message)
    }
    client.on('data', part => {
      for (const message of split(part)) pass(message)
    })
  }
  const { url } = await openProxy(t, to, { forward })
  return {
    url,
    arm(before) {
      const { promise, resolve } = withResolvers()
      const armed: Holding = { left: before, held: [], reach: resolve }
      holding = armed
      return {
        reached: promise,
        release() {
          holding = null
          for (const send of armed.held.splice(0)) send()
        },
      }
    },
  }
}

const FLUSH = Buffer.from([0x48, 0, 0, 0, 4])

function withResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>(done => {
    resolve = done
  })
  return { promise, resolve }
}

/** Splits what a client sends into messages: the first has no type, the others a type and a length. */
function messageSplitter(): (part: Buffer) => readonly Buffer[] {
  let rest: Buffer = Buffer.alloc(0)
  let isStarted = false
  return part => {
    rest = Buffer.concat([rest, part])
    const messages: Buffer[] = []
    for (;;) {
      const head = isStarted ? 1 : 0
      if (rest.length < head + 4) return messages
      const end = head + rest.readUInt32BE(head)
      if (rest.length < end) return messages
      messages.push(rest.subarray(0, end))
      rest = rest.subarray(end)
      isStarted = true
    }
  }
}

import type { Socket } from 'node:net'
import { openProxy } from '../harness/proxy.ts'
import type { Test } from './own-process.ts'

/** An attack of a server, a proxy or a network on a connection at one message of the server. */
export interface Attack {
  readonly name: string
  /** The bytes sent to the client instead of the message; `null`: the message unchanged. */
  readonly bytes: (message: Buffer) => Buffer | null
  /** The state of the connection afterwards. */
  readonly after: 'continue' | 'end' | 'reset' | 'silence'
}

/** A proxy before PostgreSQL that attacks one connection at one message of the server. */
export interface HostileWire {
  readonly url: string
  /** The next connection is attacked at its message of this number, from 0 on. */
  attack(attack: Attack, at: number): void
  /** True if the attack took place. */
  isDone(): boolean
  /** The types of the messages that the last connection got, one letter each. */
  messages(): string
}

/** A message of the protocol: its type, its length, its body. */
export function message(type: string, body: Buffer | string): Buffer {
  const bytes = Buffer.from(body)
  const head = Buffer.alloc(5)
  head.write(type, 0, 'latin1')
  head.writeUInt32BE(bytes.length + 4, 1)
  return Buffer.concat([head, bytes])
}

export const refusal = (severity: string, code: string, text: string): Buffer =>
  message('E', `S${severity}\0V${severity}\0C${code}\0M${text}\0\0`)

interface Planned {
  readonly attack: Attack
  readonly at: number
}

interface Traffic {
  planned: Planned | null
  isDone: boolean
  seen: string
}

export async function openHostileWire(t: Test, to: string): Promise<HostileWire> {
  const traffic: Traffic = { planned: null, isDone: false, seen: '' }
  const { url } = await openProxy(t, to, {
    forward: (client, database) => carry(client, database, traffic),
  })
  return {
    url,
    attack(attack, at) {
      traffic.planned = { attack, at }
      traffic.isDone = false
    },
    isDone: () => traffic.isDone,
    messages: () => traffic.seen,
  }
}

function carry(client: Socket, database: Socket, traffic: Traffic): void {
  const planned = traffic.planned
  traffic.planned = null
  traffic.seen = ''
  let pending = Buffer.alloc(0)
  let count = 0
  let isOver = false
  client.on('data', part => !isOver && database.write(part))
  database.on('data', part => {
    pending = Buffer.concat([pending, part])
    const out: Buffer[] = []
    while (!isOver && pending.length >= 5 && pending.length > pending.readUInt32BE(1)) {
      const whole = pending.subarray(0, pending.readUInt32BE(1) + 1)
      pending = pending.subarray(whole.length)
      traffic.seen += String.fromCharCode(whole[0] ?? 0)
      if (planned?.at !== count++) {
        out.push(whole)
        continue
      }
      traffic.isDone = true
      out.push(planned.attack.bytes(whole) ?? whole)
      isOver = planned.attack.after !== 'continue'
    }
    if (out.length > 0) client.write(Buffer.concat(out))
    if (isOver) finish(client, planned?.attack.after)
  })
}

function finish(client: Socket, how: Attack['after'] | undefined): void {
  if (how === 'end') client.end()
  // Earlier writes still have to arrive.
  if (how === 'reset') setImmediate(() => client.resetAndDestroy())
}

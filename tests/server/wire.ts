import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { openProxy } from '../harness/proxy.ts'
import type { Test } from './own-process.ts'

/** The way between a server and its database, and what becomes of what is sent on it. */
/** The statement, not the isolation level READ COMMITTED: texts end with a zero byte on the wire. */
export const COMMIT = 'COMMIT\u0000'

export interface Wire {
  readonly url: string
  /** Each part takes so many milliseconds longer. */
  delay: number
  /** Drops all packets without closing the connection, like a network partition. */
  isSilent: boolean
  /**
   * The next connection that sends this text is cut: before the database gets it, or once it has answered it, which the
   * server never learns. Resolves when that was done.
   */
  cut(text: string, when: 'before' | 'after'): Promise<void>
  /** The same with the message of this place, counted from now on, whichever connection sends it. */
  cutAt(place: number, when: 'before' | 'after'): { isDone(): boolean; end(): void }
}

interface Cut {
  readonly is: (part: Buffer) => boolean
  readonly when: 'before' | 'after'
  readonly done: () => void
}

export async function openWire(t: Test, to: string): Promise<Wire> {
  let awaited: Cut | null = null
  const carry = async (part: Buffer, out: Socket) => {
    if (wire.isSilent) return
    if (wire.delay > 0) await pause(wire.delay)
    out.write(part)
  }
  const forward = (client: Socket, database: Socket) => {
    let lost: Cut | null = null
    const end = (cut: Cut) => {
      client.destroy()
      database.destroy()
      cut.done()
    }
    client.on('data', part => {
      const cut = awaited?.is(part) ? awaited : null
      if (cut) awaited = null
      if (cut?.when === 'before') return end(cut)
      lost ??= cut
      void carry(part, database)
    })
    database.on('data', part => (lost ? end(lost) : void carry(part, client)))
  }
  const { url } = await openProxy(t, to, { forward })
  const wire: Wire = {
    url,
    delay: 0,
    isSilent: false,
    cut: (text, when) =>
      new Promise(done => {
        awaited = { is: part => part.includes(text), when, done }
      }),
    cutAt(place, when) {
      let isDone = false
      let at = 0
      const done = () => {
        isDone = true
      }
      const one: Cut = { is: () => at++ === place, when, done }
      awaited = one
      return {
        isDone: () => isDone,
        end() {
          if (awaited === one) awaited = null
        },
      }
    },
  }
  return wire
}

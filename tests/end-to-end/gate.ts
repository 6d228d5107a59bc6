import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** A way to a database that can be shut: connections break as they do when a server dies. */
export interface Gate {
  readonly url: string
  shut(): void
  open(): void
  /** Connections that came while it was shut. */
  refused(): number
}

/** Shuts by itself after so many parts of answers, where a number is given. */
export async function openGate(
  t: Pick<ExecutionContext, 'teardown'>,
  to: string,
  answers = Number.POSITIVE_INFINITY,
): Promise<Gate> {
  const target = new URL(to)
  const sockets = new Set<Socket>()
  let isOpen = true
  let left = answers
  let refused = 0
  const shut = () => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer(client => {
    if (!isOpen) {
      refused++
      client.destroy()
      return
    }
    const database = connect(Number(target.port), target.hostname)
    for (const [one, other] of [[client, database] as const, [database, client] as const]) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
    database.on('data', () => {
      left--
      if (left <= 0) shut()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    shut()
    server.close()
  })
  const url = new URL(to)
  const address = server.address()
  url.host = `127.0.0.1:${address !== null && typeof address === 'object' ? address.port : 0}`
  return {
    url: url.href,
    shut,
    refused: () => refused,
    open: () => {
      isOpen = true
    },
  }
}

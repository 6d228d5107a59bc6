import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { ExecutionContext } from 'ava'

/** A TCP proxy in front of a database server. */
export interface Proxy {
  /** The database's URL, through the proxy. */
  readonly url: string
  /** Destroys every open connection. New ones are still accepted. */
  disconnect(): void
}

export interface Forwarding {
  /** True to forward a new connection, false to close it. Absent: all are forwarded. */
  accepts?(): boolean
  /** Forwards the data of a new connection in both directions. */
  forward(client: Socket, database: Socket): void
}

/** Listens until the test ends. When one end of a connection closes, so does the other. */
export async function openProxy(
  t: Pick<ExecutionContext, 'teardown'>,
  to: string,
  { accepts, forward }: Forwarding,
): Promise<Proxy> {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  const disconnect = () => {
    for (const socket of sockets) socket.destroy()
  }
  // Forwarded messages are small, and Nagle's algorithm would hold each of them back for 40 ms.
  const server = createServer({ noDelay: true }, client => {
    if (accepts && !accepts()) {
      client.destroy()
      return
    }
    const database = connect({ port: Number(port), host: hostname, noDelay: true })
    join(sockets, client, database)
    join(sockets, database, client)
    forward(client, database)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    disconnect()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError(`No port: ${address}`)
  const url = new URL(to)
  url.host = `127.0.0.1:${address.port}`
  return { url: url.href, disconnect }
}

function join(sockets: Set<Socket>, socket: Socket, other: Socket): void {
  sockets.add(socket)
  socket.on('error', () => other.destroy())
  socket.on('close', () => {
    sockets.delete(socket)
    other.destroy()
  })
}

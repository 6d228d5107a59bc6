import { connect } from 'node:net'
import type { Connection } from '../connection.ts'

/** What the protocol has for asking a server to end what another connection is doing (PostgreSQL manual, 55.7). */
const CANCEL_REQUEST = 80_877_102

/** Milliseconds. Where the request does not come through, the server's own statement timeout ends the statement. */
const PATIENCE = 2_000

/** Ends the statement of a connection, which is never used again, since the end may come late. */
export function abandon(connection: Connection): void {
  connection._invalid = true
  if (connection.plinthCancels) requestCancel(connection)
}

/** pg's types leave out by what a connection is known to its server. */
type Known = Connection & { readonly processID?: number; readonly secretKey?: number }

function requestCancel({ host, port, processID, secretKey }: Known): void {
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(PATIENCE, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  // The server ends it; a pooler would take an end of ours for a change of mind.
  socket.on('connect', () => socket.write(request))
  socket.unref()
}

import { connect } from 'node:net'
import type { Connection } from '../connection.ts'

/** The request code of CancelRequest (PostgreSQL manual, 55.7). */
const CANCEL_REQUEST = 80_877_102

/** Milliseconds. If the request is lost, the server's statement timeout ends the statement. */
const TIMEOUT = 2_000

/** Cancels the running statement. The connection is not used again: the cancellation may arrive late. */
export function cancelStatement(connection: Connection): void {
  connection.isInvalid = true
  if (connection.canCancel) requestCancel(connection)
}

/** pg's types leave out the key that identifies a session. */
type SessionKey = Connection & { readonly processID?: number; readonly secretKey?: number }

function requestCancel({ host, port, processID, secretKey }: SessionKey): void {
  if (typeof processID !== 'number' || typeof secretKey !== 'number') return
  const request = Buffer.alloc(16)
  request.writeInt32BE(16, 0)
  request.writeInt32BE(CANCEL_REQUEST, 4)
  request.writeInt32BE(processID, 8)
  request.writeInt32BE(secretKey, 12)
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host)
  socket.setTimeout(TIMEOUT, () => socket.destroy())
  socket.on('error', () => socket.destroy())
  // The server closes the socket. A pooler would take an earlier close for a withdrawal of the request.
  socket.on('connect', () => socket.write(request))
  socket.unref()
}

import type { Connection } from '../connection.ts'
import { isFinal } from '../database-fault.ts'
import type { Observe } from '../open-options.ts'
import { ProtocolError } from './batch.ts'
import { cancelStatement } from './cancel.ts'
import type { ServerParameter } from './primary.ts'

/** The parts of pg's protocol layer that are watched. */
interface WatchedWire {
  readonly stream: { destroy(error?: Error): void }
  attachListeners(stream: Source): void
  on(event: 'errorMessage', listen: (error: ServerError) => void): void
  on(event: 'parameterStatus', listen: (parameter: ServerParameter) => void): void
}

interface ServerError extends Error {
  /** Absent: the message is not an error of PostgreSQL. */
  readonly code?: string
  readonly severity?: string
}

interface Source {
  on(event: string, listen: (chunk: Buffer) => void): unknown
}

interface WatchTerms {
  readonly observe: Observe
  /** Milliseconds until `setReady` must be called. */
  readonly timeout: number
  readonly aborted: AbortSignal | undefined
}

/**
 * Handles the errors of a new client from its construction on. A server may end a connection in the packet that
 * completes the login, before the code that awaits the login runs. An `error` event without a listener, or an error
 * thrown while a packet is read, would end the process.
 */
export function watchClient(connection: Connection, { observe, timeout, aborted }: WatchTerms): Connection {
  const wire = connection.connection as unknown as WatchedWire
  const lose = (error: Error) => {
    connection.isInvalid = true
    connection.lostError ??= error
  }
  const end = (error: Error) => {
    lose(error)
    wire.stream.destroy(error)
  }
  const timer = setTimeout(() => wire.stream.destroy(new Error('timeout expired')), timeout)
  connection.isInvalid = false
  connection.setReady = () => clearTimeout(timer)
  connection.on('end', connection.setReady)
  connection.on('error', error => {
    if (!connection.lostError) observe({ event: 'database.connection-lost', message: error.message })
    lose(error)
  })
  guardParser(wire, end)
  if (aborted) endOnAbort(connection, aborted, end)
  wire.on('errorMessage', error => {
    if (error.code === undefined) end(toProtocolError(error))
    else if (isFinal(error)) connection.isInvalid = true
  })
  wire.on('parameterStatus', parameter => connection.onParameter?.(parameter))
  return connection
}

/** The server would notice the closed socket only after the statement, so the statement is cancelled as well. */
function endOnAbort(connection: Connection, aborted: AbortSignal, end: (error: Error) => void): void {
  const stop = () => {
    cancelStatement(connection)
    end(new Error('The database is being closed'))
  }
  aborted.addEventListener('abort', stop, { once: true })
  connection.once('end', () => aborted.removeEventListener('abort', stop))
}

/** An error thrown while a packet is read ends the connection instead of the process. */
function guardParser(wire: WatchedWire, end: (error: Error) => void): void {
  const attach = wire.attachListeners.bind(wire)
  wire.attachListeners = stream =>
    attach({
      on: (event, listen) =>
        stream.on(event, chunk => {
          try {
            listen(chunk)
          } catch (error) {
            end(toProtocolError(error))
          }
        }),
    })
}

const toProtocolError = (error: unknown): ProtocolError =>
  new ProtocolError(error instanceof Error ? error.message : String(error), error)

import type { Client, ClientConfig } from 'pg'
import type { Connection, Parameter } from '../connection.ts'
import { isFinal } from '../database-fault.ts'
import type { Observe } from '../observation.ts'
import { ProtocolError } from './batch.ts'
import { abandon } from './cancel.ts'

/** pg's end of the protocol, as far as it has to be watched. */
interface WatchedWire {
  readonly stream: { destroy(error?: Error): void }
  attachListeners(stream: Source): void
  on(event: 'errorMessage', listen: (error: ServerError) => void): void
  on(event: 'parameterStatus', listen: (parameter: Parameter) => void): void
}

interface ServerError extends Error {
  /** Absent: what came is no error of PostgreSQL. */
  readonly code?: string
  readonly severity?: string
}

interface Source {
  on(event: string, listen: (chunk: Buffer) => void): unknown
}

interface WatchTerms {
  readonly observe: Observe
  /** Milliseconds until it has to be ready for statements: connected, with TLS, login and settings. */
  readonly timeout: number
  /** Once it is aborted, the running statement is cancelled and the connection ends. */
  readonly aborted: AbortSignal | undefined
}

/**
 * pg's client whose errors are handled from its construction on. A server may end a connection in the packet that
 * completes its login, before anybody who waits for the login runs; an `error` event without a listener, or an error
 * thrown while a packet is read, would end the process.
 */
export function watchedClient(Base: typeof Client, terms: WatchTerms): typeof Client {
  return class WatchedClient extends Base {
    constructor(config?: string | ClientConfig) {
      super(config)
      watch(this as unknown as Connection, terms)
    }
  }
}

function watch(connection: Connection, { observe, timeout, aborted }: WatchTerms): void {
  const wire = connection.connection as unknown as WatchedWire
  const lose = (error: Error) => {
    connection._invalid = true
    connection.plinthLost ??= error
  }
  const patience = setTimeout(() => wire.stream.destroy(new Error('timeout expired')), timeout)
  connection.plinthReady = () => clearTimeout(patience)
  connection.on('end', connection.plinthReady)
  connection.on('error', error => {
    if (!connection.plinthLost) observe({ event: 'database.connection-lost', message: error.message })
    lose(error)
  })
  const end = (error: Error) => {
    lose(error)
    wire.stream.destroy(error)
  }
  guardParser(wire, end)
  if (aborted) endOnAbort(connection, aborted, end)
  wire.on('errorMessage', error => {
    if (error.code === undefined) end(noProtocol(error))
    else if (isFinal(error)) connection._invalid = true
  })
  wire.on('parameterStatus', parameter => connection.plinthReports?.(parameter))
}

/** The server notices the end of a connection only after the statement: that has to be cancelled for itself. */
function endOnAbort(connection: Connection, aborted: AbortSignal, end: (error: Error) => void): void {
  const stop = () => {
    abandon(connection)
    end(new Error('The database is being closed'))
  }
  aborted.addEventListener('abort', stop, { once: true })
  connection.once('end', () => aborted.removeEventListener('abort', stop))
}

/** An error that is thrown while a packet is read ends the connection, not the process. */
function guardParser(wire: WatchedWire, end: (error: Error) => void): void {
  const attach = wire.attachListeners.bind(wire)
  wire.attachListeners = stream =>
    attach({
      on: (event, listen) =>
        stream.on(event, chunk => {
          try {
            listen(chunk)
          } catch (error) {
            end(noProtocol(error))
          }
        }),
    })
}

const noProtocol = (error: unknown): ProtocolError =>
  new ProtocolError(error instanceof Error ? error.message : String(error), error)

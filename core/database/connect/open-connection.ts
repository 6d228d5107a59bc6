import type { ClientConfig } from 'pg'
import { startTimeout } from '../../base/with-timeout.ts'
import type { Connection } from '../connection.ts'
import { isFinal, toDriverError } from '../database-fault.ts'
import type { Observe } from '../open-options.ts'
import { type SessionSettings, setUpSession } from '../session.ts'
import { AnswerSizeLimit } from './answer-size.ts'
import { ProtocolError } from './batch.ts'
import { cancelStatement } from './cancel.ts'
import { loadPg } from './load-pg.ts'
import { OpeningError } from './opening-fault.ts'
import type { Primary, ServerParameter } from './primary.ts'

export interface Host {
  readonly host: string
  readonly port: number
}

/** For messages and logs: `10.0.0.7:5432`, or the folder of a socket. */
export const printHost = ({ host, port }: Host): string => (host.startsWith('/') ? host : `${host}:${port}`)

/** The server and the login, in the terms of pg's `ClientConfig`. */
export interface Target extends Host {
  /** All servers of a multi-host URL, `host` included: one of them takes writes. Absent: there is only `host`. */
  readonly hosts?: readonly Host[]
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly ssl?: object | boolean
  readonly options?: string
  /** Creates the stream to the server, instead of a TCP connection. */
  stream?(): object
}

export interface ConnectionOptions {
  readonly target: Target
  readonly session: SessionSettings
  readonly observe: Observe
  /** Present: connections that cannot write are refused. */
  readonly primary?: Primary
  /** Its abort cancels running statements, ends all connections and prevents new ones. */
  readonly aborted?: AbortSignal
  /** Milliseconds until a connection must be ready for statements. Default: CONNECT_TIMEOUT or MULTI_HOST_TIMEOUT. */
  readonly timeout?: number
}

export type Connect = () => Promise<Connection>

/** Milliseconds for TCP, TLS, login and session settings together. */
const CONNECT_TIMEOUT = 5_000

/** The same if another server can be tried. */
const MULTI_HOST_TIMEOUT = 2_000

/** Returns a function that opens one connection: to the first host that accepts it, beginning with the last that did. */
export function createConnector(options: ConnectionOptions): Connect {
  const { target } = options
  const hosts = target.hosts ?? [target]
  let preferred = 0
  return async () => {
    let failure: unknown
    const from = preferred
    for (let step = 0; step < hosts.length; step++) {
      const at = (from + step) % hosts.length
      try {
        const connection = await connectTo(hosts[at] ?? target, options)
        preferred = at
        return connection
      } catch (error) {
        failure = isMoreSpecific(error, failure) ? error : failure
      }
    }
    throw failure
  }
}

async function connectTo({ host, port }: Host, options: ConnectionOptions): Promise<Connection> {
  const { target, session, primary, aborted } = options
  aborted?.throwIfAborted()
  const pg = loadPg()
  const { hosts, ...config } = target
  const client = new pg.Client({ ...config, host, port, keepAlive: true } as ClientConfig)
  const connection = watchClient(client as unknown as Connection, {
    observe: options.observe,
    timeout: options.timeout ?? (hosts ? MULTI_HOST_TIMEOUT : CONNECT_TIMEOUT),
    aborted,
  })
  connection.canCancel = session.mayBePooled
  connection.answerSize = new AnswerSizeLimit(connection.connection.stream, () => endAnswer(connection))
  try {
    await logIn(connection)
    await setUpSession(connection, session, primary)
    connection.setReady()
    return connection
  } catch (error) {
    // Not awaited: the server may never answer.
    connection.end().catch(() => undefined)
    throw connection.lostError ?? error
  }
}

/** pg does not call back if `end` is called meanwhile. */
const logIn = (connection: Connection): Promise<void> =>
  new Promise((resolve, reject) => {
    const ended = () => reject(new Error('Connection terminated'))
    connection.once('end', ended)
    connection.connect((error?: Error) => {
      connection.off('end', ended)
      if (error) reject(error)
      else resolve()
    })
  })

/**
 * Ends an answer that is too large. The embedded database has computed it by then and serves other clients over the same
 * session, so its stream stays open.
 */
function endAnswer(connection: Connection): void {
  cancelStatement(connection)
  connection.lostError ??= new Error('Its answer was too large')
  if (connection.canCancel) connection.connection.stream.destroy()
}

/** The most informative of several hosts' errors: an answer before a missing server, a refusal before a standby. */
const isMoreSpecific = (error: unknown, other: unknown): boolean => specificity(error) > specificity(other)

function specificity(error: unknown): number {
  if (error === undefined) return 0
  if (error instanceof OpeningError) return error.fault.kind === 'readonly' ? 2 : 3
  return isLoginRefused(error) ? 3 : 1
}

/** An unknown user or database: the other hosts will give the same answer. */
function isLoginRefused(error: unknown): boolean {
  const code = toDriverError(error)?.code
  return typeof code === 'string' && /^(28|3D)/.test(code)
}

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

interface WatchOptions {
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
function watchClient(connection: Connection, { observe, timeout, aborted }: WatchOptions): Connection {
  const wire = connection.connection as unknown as WatchedWire
  const lose = (error: Error) => {
    connection.isInvalid = true
    connection.lostError ??= error
  }
  const end = (error: Error) => {
    lose(error)
    wire.stream.destroy(error)
  }
  connection.isInvalid = false
  connection.setReady = startTimeout(timeout, () => wire.stream.destroy(new Error('timeout expired')))
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

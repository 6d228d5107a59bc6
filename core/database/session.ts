import type { DatabaseSettings } from '../project/settings.ts'
import type { Connection } from './connection.ts'
import { toDriverError } from './database-fault.ts'
import { OpeningError } from './opening-fault.ts'
import { PreparedStatements } from './prepared-statements.ts'

const OLDEST_VERSION = 140_000

/** Milliseconds to wait for a lock that somebody else holds, and for a transaction that does nothing. */
const LOCK_TIMEOUT = 10_000
export const IDLE_IN_TRANSACTION = 60_000

/** Prepared statements a connection keeps; a plan of a lateral query takes the server some 100 KB. */
const STATEMENT_LIMIT = 250

/** Milliseconds that the network may add to a statement's time before its answer is given up. */
const NETWORK_SLACK = 5_000

/** Prepares a new connection for this work, in one round trip; refuses a server that is too old, or a database that cannot hold every letter. */
export async function setUpSession(connection: Connection, settings: SessionSettings): Promise<void> {
  const parameters = Object.entries(parametersOf(settings))
  const calls = parameters.map((_, index) => `set_config($${index * 2 + 1}, $${index * 2 + 2}, false)`)
  const text = `SELECT current_setting('server_version_num')::int4, current_setting('server_version'), current_setting('server_encoding'), ${calls.join(', ')}`
  const answer = await connection
    .query<unknown[]>({ text, values: parameters.flat(), rowMode: 'array' })
    .catch(refuse)
  const [number, version, encoding] = answer.rows[0] ?? []
  if (Number(number) < OLDEST_VERSION) throw tooOld(`PostgreSQL ${String(version)}`)
  if (encoding !== 'UTF8') throw notUnicode(String(encoding))
  if (settings.preparedStatements) {
    connection.plinthStatements = new PreparedStatements(
      settings.statementPrefix(),
      settings.statementLimit ?? STATEMENT_LIMIT,
    )
  }
}

export interface SessionSettings
  extends Pick<DatabaseSettings, 'schema' | 'statementTimeout' | 'preparedStatements'> {
  /** How many prepared statements a connection keeps. */
  readonly statementLimit?: number
  /** What the names of a new connection's prepared statements begin with. */
  statementPrefix(): string
}

/** Compiling a lateral JSON query costs more than running it, hence no jit (architecture 14). */
function parametersOf({ schema, statementTimeout }: SessionSettings): Readonly<Record<string, string>> {
  return {
    jit: 'off',
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
    client_min_messages: 'warning',
    application_name: 'plinth',
    search_path: `"${schema.replaceAll('"', '""')}"`,
    statement_timeout: String(statementTimeout),
    lock_timeout: String(LOCK_TIMEOUT),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION),
  }
}

/** Milliseconds to wait for an answer to a statement that may run so long; 0: for ever. */
export const patienceFor = (statementTimeout: number): number =>
  statementTimeout === 0 ? 0 : statementTimeout + NETWORK_SLACK

/** `jit` came with PostgreSQL 11: a server that does not know it is older. */
function refuse(error: unknown): never {
  if (toDriverError(error)?.code === '42704') throw tooOld('a PostgreSQL older than 11')
  throw error
}

const tooOld = (found: string) =>
  new OpeningError('tooOld', `Plinth needs PostgreSQL 14 or newer; the server of database.url is ${found}`)

const notUnicode = (encoding: string) =>
  new OpeningError(
    'encoding',
    `Plinth needs a database whose encoding is UTF8; the one of database.url has ${encoding}. Make another (createdb --encoding=UTF8 --template=template0 …), or change database.url`,
  )

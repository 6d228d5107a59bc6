import type { DatabaseSettings } from '../project/settings/settings.ts'
import { quoteIdentifier } from '../sql/identifier.ts'
import { PreparedStatements } from './connect/batch.ts'
import { OpeningError } from './connect/opening-fault.ts'
import { findMissingParameters, keepsStatementNames, reportedPid } from './connect/pooler.ts'
import { admitToPrimary, type Primary, type ServerHistory } from './connect/primary.ts'
import type { Connection } from './connection.ts'
import { toDriverError } from './database-fault.ts'

const OLDEST_VERSION = 140_000

/** Milliseconds. */
const LOCK_TIMEOUT = 10_000
export const IDLE_IN_TRANSACTION = 60_000

/** Prepared statements per connection. The plan of a lateral query takes some 100 KB on the server. */
const STATEMENT_LIMIT = 250

/** Milliseconds that the network may add to a statement's time before the client stops waiting for the answer. */
const NETWORK_SLACK = 5_000

/**
 * Sets up a new connection, in one round trip without a pooler. Rejects if the server is too old, or the database is not
 * in UTF-8.
 */
export async function setUpSession(
  connection: Connection,
  settings: SessionSettings,
  primary: Primary | undefined,
): Promise<void> {
  const parameters = sessionParameters(settings)
  const { isPooled, isReadonly } = await applyParameters(connection, parameters, settings)
  if (primary) {
    const history = isReadonly || isPooled ? null : await readHistory(connection, primary)
    admitToPrimary(primary, connection, { isReadonly, history })
  }
  if (isPooled) await setUpPooled(connection, parameters, settings)
  if (settings.preparedStatements) {
    connection.preparedStatements = new PreparedStatements(
      settings.statementPrefix(),
      settings.statementLimit ?? STATEMENT_LIMIT,
    )
  }
}

type Parameters = Readonly<Record<string, string>>

interface ServerInfo {
  /** A pooler may give each transaction another server: session settings are lost. */
  readonly isPooled: boolean
  /** It is a standby, or was set to take no writes. */
  readonly isReadonly: boolean
}

async function applyParameters(
  connection: Connection,
  parameters: Parameters,
  { mayBePooled, preparedStatements }: SessionSettings,
): Promise<ServerInfo> {
  const text = `SELECT current_setting('server_version_num')::int4, current_setting('server_version'), current_setting('server_encoding'), ${IS_POOLED}, current_setting('transaction_read_only') = 'on', ${SET_KNOWN}`
  const pid = preparedStatements ? reportedPid(connection) : NO_PROCESS
  const values = [mayBePooled ? pid : null, Object.keys(parameters), Object.values(parameters)]
  const answer = await connection.query<unknown[]>({ text, values, rowMode: 'array' })
  const [number, version, encoding, isPooled, isReadonly] = answer.rows[0] ?? []
  if (Number(number) < OLDEST_VERSION) throw tooOld(`PostgreSQL ${String(version)}`)
  if (encoding !== 'UTF8') throw notUnicode(String(encoding))
  return { isPooled: isPooled === true, isReadonly: isReadonly === true }
}

/**
 * Returns null if the server does not report it. Some services lack the functions, so that refusal is remembered. Any
 * other error fails the connection: a server that shuts down or is a standby by now must not end the comparison.
 */
async function readHistory(connection: Connection, primary: Primary): Promise<ServerHistory | null> {
  if (!primary.reportsHistory) return null
  try {
    const { rows } = await connection.query<[string, string]>({ text: HISTORY, rowMode: 'array' })
    const [name = '', system = ''] = rows[0] ?? []
    const timeline = Number.parseInt(name, 16)
    return timeline > 0 ? { system, timeline } : null
  } catch (error) {
    if (!LACKS_HISTORY.has(String(toDriverError(error)?.code))) throw error
    primary.reportsHistory = false
    return null
  }
}

/** Not supported, not permitted, no such function. */
const LACKS_HISTORY: ReadonlySet<string> = new Set(['0A000', '42501', '42883'])

/** A WAL file name begins with the timeline in hexadecimal digits. */
const HISTORY =
  'SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8), system_identifier::text FROM pg_control_system()'

/** True if the server's process is not the reported one ($1); null: none was reported. */
const IS_POOLED = 'coalesce($1::int4 <> pg_backend_pid(), false)'
const NO_PROCESS = 0

/** A server of an older version, or of another make, does not know all of them. */
const SET_KNOWN = `(SELECT count(set_config(name, value, ${IS_POOLED}))
  FROM unnest($2::text[], $3::text[]) AS w (name, value) WHERE current_setting(name, true) IS NOT NULL)`

/** Each transaction sets the parameters that the server does not set for it. */
async function setUpPooled(
  connection: Connection,
  parameters: Parameters,
  settings: SessionSettings,
): Promise<void> {
  const missing = await findMissingParameters(connection, parameters)
  const values = Object.entries(missing).flat()
  if (values.length > 0)
    connection.transactionSettings = {
      name: 'set up a transaction',
      text: `SELECT ${Object.keys(missing).map((_, index) => `set_config($${2 * index + 1}, $${2 * index + 2}, true)`)}`,
      values,
    }
  const keepsNames = settings.preparedStatements && (await keepsStatementNames(connection))
  connection.pooler = { keepsNames }
}

export interface SessionSettings
  extends Pick<DatabaseSettings, 'schema' | 'statementTimeout' | 'preparedStatements'> {
  /** False for a server inside this process. */
  readonly mayBePooled: boolean
  /** Milliseconds after which PostgreSQL ends a session whose transaction has nothing to do; 0: never. Absent: IDLE_IN_TRANSACTION. */
  readonly idleInTransaction?: number
  /** Prepared statements per connection. */
  readonly statementLimit?: number
  /** Returns the prefix of a new connection's statement names. */
  statementPrefix(): string
}

/**
 * No jit: compiling a lateral JSON query costs more than running it. A server, database or role may have other defaults
 * of the rest, which would change what statements mean or how PostgreSQL writes values.
 */
export function sessionParameters({
  schema,
  statementTimeout,
  idleInTransaction = IDLE_IN_TRANSACTION,
}: SessionSettings): Readonly<Record<string, string>> {
  return {
    jit: 'off',
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
    client_min_messages: 'warning',
    standard_conforming_strings: 'on',
    // Every digit of a floating-point number: with fewer, an answer or a cursor has another number than the row.
    extra_float_digits: '1',
    bytea_output: 'hex',
    array_nulls: 'on',
    // A limit leaves out documents that a search would find.
    gin_fuzzy_search_limit: '0',
    transform_null_equals: 'off',
    // A migration compares what PostgreSQL writes of types and constraints.
    quote_all_identifiers: 'off',
    // A writer that waited for a lock continues with the rows that it finds then.
    default_transaction_isolation: 'read committed',
    application_name: 'plinth',
    search_path: /^[a-z_][a-z0-9_]*$/.test(schema) ? schema : quoteIdentifier(schema),
    statement_timeout: String(statementTimeout),
    lock_timeout: String(LOCK_TIMEOUT),
    idle_in_transaction_session_timeout: String(idleInTransaction),
    // The connection that shows the process to migrations is always idle. The pool closes its idle connections itself.
    idle_session_timeout: '0',
    // Since PostgreSQL 17. A migration, an import or an export may take longer, and its statements have limits of their own.
    transaction_timeout: '0',
  }
}

/** Milliseconds after which the client stops waiting for a statement with this server timeout; 0: never. */
export const clientTimeout = (statementTimeout: number): number =>
  statementTimeout === 0 ? 0 : statementTimeout + NETWORK_SLACK

/** Like clientTimeout, for a read outside a transaction: its request has a time limit, too. */
export const clientReadTimeout = ({
  statementTimeout,
  limits,
}: Pick<DatabaseSettings, 'statementTimeout' | 'limits'>): number =>
  Math.min(limits.time || UNLIMITED, clientTimeout(statementTimeout) || UNLIMITED) % UNLIMITED

/** Settings write an absent limit as 0. */
const UNLIMITED = 2 ** 31

const tooOld = (found: string) =>
  new OpeningError('tooOld', `Plinth needs PostgreSQL 14 or newer; the server of database.url is ${found}`)

const notUnicode = (encoding: string) =>
  new OpeningError(
    'encoding',
    `Plinth needs a database whose encoding is UTF8; the one of database.url has ${encoding}. Make another (createdb --encoding=UTF8 --template=template0 …), or change database.url`,
  )

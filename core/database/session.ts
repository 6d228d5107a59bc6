import type { DatabaseSettings } from '../project/settings/settings.ts'
import { quoteIdentifier } from '../sql/identifier.ts'
import { admit } from './connect/admit-primary.ts'
import { OpeningError } from './connect/opening-fault.ts'
import { missingOf, passesNames, toldPid } from './connect/pooler.ts'
import { PreparedStatements } from './connect/prepared-statements.ts'
import type { Primary } from './connect/primary.ts'
import type { Connection } from './connection.ts'
import { isSqlstate, toDriverError } from './database-fault.ts'

const OLDEST_VERSION = 140_000

/** Milliseconds to wait for a lock that somebody else holds, and for a transaction that does nothing. */
const LOCK_TIMEOUT = 10_000
export const IDLE_IN_TRANSACTION = 60_000

/** Prepared statements a connection keeps; a plan of a lateral query takes the server some 100 KB. */
const STATEMENT_LIMIT = 250

/** Milliseconds that the network may add to a statement's time before its answer is given up. */
const NETWORK_SLACK = 5_000

/**
 * Prepares a new connection for this work: in one round trip, where no pooler stands between. Refuses a server that is
 * too old, or a database that cannot hold every letter.
 */
export async function setUpSession(
  connection: Connection,
  settings: SessionSettings,
  primary: Primary | undefined,
): Promise<void> {
  const parameters = parametersOf(settings)
  const { isPooled, isReadonly } = await greet(connection, parameters, settings)
  if (primary) {
    const timeline = isReadonly || isPooled ? null : await readTimeline(connection, primary)
    admit(primary, connection, { isReadonly, timeline })
  }
  if (isPooled) await setUpPooled(connection, parameters, settings)
  if (settings.preparedStatements) {
    connection.plinthStatements = new PreparedStatements(
      settings.statementPrefix(),
      settings.statementLimit ?? STATEMENT_LIMIT,
    )
  }
}

type Parameters = Readonly<Record<string, string>>

interface Greeting {
  /** A pooler may give the connection another server: nothing of what was set stays. */
  readonly isPooled: boolean
  /** It is a standby, or was set to take no writes. */
  readonly isReadonly: boolean
}

async function greet(
  connection: Connection,
  parameters: Parameters,
  { mayBePooled, preparedStatements }: SessionSettings,
): Promise<Greeting> {
  const text = `SELECT current_setting('server_version_num')::int4, current_setting('server_version'), current_setting('server_encoding'), ${IS_POOLED}, current_setting('transaction_read_only') = 'on', ${printSettings(parameters, IS_POOLED, 2)}`
  const told = preparedStatements ? toldPid(connection) : OF_NO_PROCESS
  const values = [mayBePooled ? told : null, ...Object.entries(parameters).flat()]
  const answer = await connection.query<unknown[]>({ text, values, rowMode: 'array' }).catch(refuse)
  const [number, version, encoding, isPooled, isReadonly] = answer.rows[0] ?? []
  if (Number(number) < OLDEST_VERSION) throw tooOld(`PostgreSQL ${String(version)}`)
  if (encoding !== 'UTF8') throw notUnicode(String(encoding))
  return { isPooled: isPooled === true, isReadonly: isReadonly === true }
}

/** null: the server does not tell. One that refused it once is not asked again: some services have no such functions. */
async function readTimeline(connection: Connection, primary: Primary): Promise<number | null> {
  if (!primary.tellsTimeline) return null
  try {
    const { rows } = await connection.query<[string]>({ text: TIMELINE, rowMode: 'array' })
    return Number.parseInt(rows[0]?.[0] ?? '', 16) || null
  } catch (error) {
    if (connection._invalid || !isSqlstate(toDriverError(error)?.code)) throw error
    primary.tellsTimeline = false
    return null
  }
}

/** The name of a file of the log begins with the timeline, in hexadecimal digits. */
const TIMELINE = 'SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)'

/** The server is another one than it was told to be; null: nothing was told. */
const IS_POOLED = 'coalesce($1::int4 <> pg_backend_pid(), false)'
const OF_NO_PROCESS = 0

/** SQL whose values are the names and values of the parameters in turn, from this number on. */
const printSettings = (parameters: Parameters, isLocal: string, first: number): string =>
  Object.keys(parameters)
    .map((_, index) => `set_config($${first + index * 2}, $${first + index * 2 + 1}, ${isLocal})`)
    .join(', ')

/** Each transaction is told what it would not have by itself. */
async function setUpPooled(
  connection: Connection,
  parameters: Parameters,
  settings: SessionSettings,
): Promise<void> {
  const missing = await missingOf(connection, parameters)
  const values = Object.entries(missing).flat()
  if (values.length > 0)
    connection.plinthSettings = {
      name: 'set up a transaction',
      text: `SELECT ${printSettings(missing, 'true', 1)}`,
      values,
    }
  const passes = settings.preparedStatements && (await passesNames(connection))
  connection.plinthPooled = { passesNames: passes }
}

export interface SessionSettings
  extends Pick<DatabaseSettings, 'schema' | 'statementTimeout' | 'preparedStatements'> {
  /** Whether something may stand between us and the server: not where that is a part of the process. */
  readonly mayBePooled: boolean
  /** How many prepared statements a connection keeps. */
  readonly statementLimit?: number
  /** What the names of a new connection's prepared statements begin with. */
  statementPrefix(): string
}

/** Compiling a lateral JSON query costs more than running it, hence no jit (architecture 14). */
export function parametersOf({
  schema,
  statementTimeout,
}: SessionSettings): Readonly<Record<string, string>> {
  return {
    jit: 'off',
    TimeZone: 'UTC',
    DateStyle: 'ISO, YMD',
    client_min_messages: 'warning',
    application_name: 'plinth',
    search_path: /^[a-z_][a-z0-9_]*$/.test(schema) ? schema : quoteIdentifier(schema),
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

/** The same for a read outside of a transaction, which has a shorter limit of its own. */
export const readPatience = ({
  statementTimeout,
  limits,
}: Pick<DatabaseSettings, 'statementTimeout' | 'limits'>): number =>
  Math.min(limits.time || NEVER, patienceFor(statementTimeout) || NEVER) % NEVER

/** Stands for no limit, which settings write as 0. */
const NEVER = 2 ** 31

const tooOld = (found: string) =>
  new OpeningError('tooOld', `Plinth needs PostgreSQL 14 or newer; the server of database.url is ${found}`)

const notUnicode = (encoding: string) =>
  new OpeningError(
    'encoding',
    `Plinth needs a database whose encoding is UTF8; the one of database.url has ${encoding}. Make another (createdb --encoding=UTF8 --template=template0 …), or change database.url`,
  )

import type { DatabaseSettings } from '../project/settings.ts'
import { type ConnectOptions, connect, type Target } from './connect.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { toDriverError } from './database-fault.ts'
import type { OpenOptions } from './open-options.ts'
import { openReplicas } from './open-replicas.ts'
import { OpeningError, type OpeningFaultKind } from './opening-fault.ts'
import { poolOf } from './pool.ts'
import { pooledDatabase } from './pooled-database.ts'
import { assertKept } from './pooler.ts'
import { Scheduler, schedulerTerms } from './scheduler.ts'
import { SERVER_READ } from './work.ts'

/** A database by URL. Rejects with an OpeningError unless one connection stands. */
export async function openServer(
  settings: DatabaseSettings,
  { observe, statementLimit }: OpenOptions,
): Promise<Database> {
  const target = await parseTarget(settings.url, 'database.url')
  const targets = await Promise.all(
    settings.replicas.map((url, index) => parseTarget(url, `database.replicas[${index}]`)),
  )
  const session = {
    ...settings,
    statementPrefix: () => 'p',
    mayBePooled: true,
    ...(statementLimit !== undefined && { statementLimit }),
  }
  const sequelize = await connect({ target, pool: settings.pool, session, observe })
  const scheduler = new Scheduler(schedulerTerms(settings.pool.max, settings))
  const pool = poolOf(sequelize, scheduler)
  try {
    const connection = await pool.acquire(SERVER_READ)
    try {
      await assertPrepares(connection, { target, session, observe })
    } finally {
      pool.release(connection)
    }
  } catch (error) {
    await sequelize.close()
    throw toOpeningError(error, target)
  }
  const connecting = { session, observe }
  const replicas = targets.length === 0 ? null : await openReplicas({ targets, settings, connecting }, pool)
  return pooledDatabase({
    ...{ kind: 'server', sequelize, settings, pool, scheduler, replicas },
    afterClose: async () => {},
  })
}

/** A second connection, at the same time, tells whether a pooler keeps a server for the first. */
async function assertPrepares(connection: Connection, terms: Omit<ConnectOptions, 'pool'>): Promise<void> {
  if (!connection.plinthPooled?.passesNames) return
  const sequelize = await connect({ ...terms, pool: ONE })
  const pool = poolOf(sequelize, null)
  try {
    const other = await pool.acquire(SERVER_READ)
    await assertKept(connection, other).finally(() => pool.release(other))
  } finally {
    await sequelize.close()
  }
}

const ONE = { max: 1, idle: 1_000, acquire: 5_000 }

/** pg reads its own URLs: hosts, sockets, `sslmode` and the rest of libpq's words. */
async function parseTarget(url: string, key: string): Promise<Target> {
  const { default: pg } = await import('pg')
  if (!/^postgres(ql)?:\/\//.test(url)) throw invalidUrl(key)
  try {
    const client = new pg.Client({ connectionString: url }) as unknown as ParsedClient
    const { host, port, user, password, database, connectionParameters: parameters } = client
    const dialectOptions = {
      ...(parameters.ssl && { ssl: parameters.ssl }),
      ...(parameters.options && { options: parameters.options }),
    }
    return { host, port, username: user, ...(password && { password }), database, dialectOptions }
  } catch (error) {
    if (error instanceof TypeError) throw invalidUrl(key)
    // Certificates that the address names are read at once.
    if (error instanceof Error && 'syscall' in error)
      throw new OpeningError('url', `${key} names a file that cannot be read: ${error.message}`, error)
    throw error
  }
}

/** What pg's types leave out of a client. */
interface ParsedClient {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string | null
  readonly database: string
  readonly connectionParameters: { readonly ssl?: object | boolean; readonly options?: string }
}

const invalidUrl = (key: string) =>
  new OpeningError(
    'url',
    `${key} must be ${key === 'database.url' ? '`embedded` or ' : ''}like postgres://user:password@host:5432/database`,
  )

/** The user and the place of a URL are named, its password never. */
function toOpeningError(error: unknown, target: Target): OpeningError {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (reason instanceof OpeningError) return reason
  const driver = toDriverError(reason)
  const code = typeof driver?.code === 'string' ? driver.code : ''
  const known = KINDS[code]
  const kind = known ?? (/^[0-9A-Z]{5}$/.test(code) && !/^(08|57P)/.test(code) ? 'refused' : 'unreachable')
  return new OpeningError(kind, explain(kind, target, driver?.message ?? String(reason)), reason)
}

/** By SQLSTATE: invalid_password, invalid_authorization_specification, invalid_catalog_name. */
const KINDS: Readonly<Record<string, OpeningFaultKind>> = {
  '28P01': 'login',
  '28000': 'login',
  '3D000': 'missing',
  // What poolers say of whatever they refuse.
  '08P01': 'refused',
}

function explain(
  kind: OpeningFaultKind,
  { host, port, username, database }: Target,
  message: string,
): string {
  const place = host.startsWith('/') ? host : `${host}:${port}`
  switch (kind) {
    case 'login':
      return `PostgreSQL at ${place} refuses the user ${username} of database.url: ${message}`
    case 'missing':
      return `PostgreSQL at ${place} has no database ${database}: create it (createdb ${database}), or change database.url`
    case 'unreachable':
      return `PostgreSQL at ${place} cannot be reached: ${message}. Is it running, and is database.url right?`
    default:
      return `PostgreSQL at ${place} refuses the connection: ${message}`
  }
}

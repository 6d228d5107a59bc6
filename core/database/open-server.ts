import type { DatabaseSettings } from '../project/settings/settings.ts'
import { type ConnectOptions, connect, type Target } from './connect/connect.ts'
import { openDedicatedSession } from './connect/dedicated-session.ts'
import { OpeningError, type OpeningFaultKind } from './connect/opening-fault.ts'
import { poolOf } from './connect/pool.ts'
import { assertKept } from './connect/pooler.ts'
import { openPrimary } from './connect/primary.ts'
import { parsePrimary, parseReplica } from './connect/target-url.ts'
import type { Host } from './connect/try-hosts.ts'
import type { Connection } from './connection.ts'
import type { Database } from './database.ts'
import { isSqlstate, toDriverError } from './database-fault.ts'
import type { OpenOptions } from './open-options.ts'
import { openAborting, pooledDatabase } from './pooled-database.ts'
import { openReplicas } from './replicas/open-replicas.ts'
import { SERVER_READ } from './scheduling/scheduled-work.ts'
import { Scheduler, schedulerTerms } from './scheduling/scheduler.ts'

/** A database by URL. Rejects with an OpeningError unless one connection stands. */
export async function openServer(
  settings: DatabaseSettings,
  { observe, statementLimit, mayBeStandby }: OpenOptions,
): Promise<Database> {
  const target = await parsePrimary(settings.url)
  const targets = await Promise.all(settings.replicas.map(parseReplica))
  const session = {
    ...settings,
    statementPrefix: () => 'p',
    mayBePooled: true,
    ...(statementLimit !== undefined && { statementLimit }),
  }
  const aborting = openAborting()
  const primary = mayBeStandby && !target.hosts ? undefined : openPrimary()
  const sequelize = await connect({
    target,
    pool: settings.pool,
    session,
    observe,
    aborted: aborting.signal,
    ...(primary && { primary }),
  })
  const scheduler = new Scheduler(schedulerTerms(settings.pool.max, settings))
  const pool = poolOf(sequelize, scheduler, primary)
  try {
    const connection = await pool.acquire(SERVER_READ)
    try {
      await assertPrepares(connection, { target, session, observe, ...(primary && { primary }) })
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
    ...{ kind: 'server', sequelize, settings, pool, scheduler, replicas, aborting },
    dedicate: () =>
      openDedicatedSession({ ...connecting, target, aborted: aborting.signal, ...(primary && { primary }) }),
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

/** The user and the place of a URL are named, its password never. */
function toOpeningError(error: unknown, target: Target): OpeningError {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (reason instanceof OpeningError && reason.fault.kind !== 'readonly') return reason
  const driver = toDriverError(reason)
  const code = typeof driver?.code === 'string' ? driver.code : ''
  const known = reason instanceof OpeningError ? reason.fault.kind : KINDS[code]
  const kind = known ?? kindOf(code)
  return new OpeningError(kind, explain(kind, target, driver?.message ?? String(reason)), reason)
}

/** Of codes that have no kind of their own. */
function kindOf(code: string): OpeningFaultKind {
  if (!isSqlstate(code) || /^(08|57P)/.test(code)) return 'unreachable'
  return code.startsWith('53') ? 'full' : 'refused'
}

/** By SQLSTATE: invalid_password, invalid_authorization_specification, invalid_catalog_name. */
const KINDS: Readonly<Record<string, OpeningFaultKind>> = {
  '28P01': 'login',
  '28000': 'login',
  '3D000': 'missing',
  // What poolers say of whatever they refuse.
  '08P01': 'refused',
}

const placeOf = ({ host, port }: Host): string => (host.startsWith('/') ? host : `${host}:${port}`)

function explain(
  kind: OpeningFaultKind,
  { host, port, hosts = [{ host, port }], username, database }: Target,
  message: string,
): string {
  const place = hosts.map(placeOf).join(', ')
  switch (kind) {
    case 'login':
      return `PostgreSQL at ${place} refuses the user ${username} of database.url: ${message}`
    case 'missing':
      return `PostgreSQL at ${place} has no database ${database}: create it (createdb ${database}), or change database.url`
    case 'readonly':
      return `No PostgreSQL at ${place} takes writes: ${message}`
    case 'unreachable':
      return `PostgreSQL at ${place} cannot be reached: ${message}. Is it running, and is database.url right?`
    default:
      return `PostgreSQL at ${place} refuses the connection: ${message}`
  }
}

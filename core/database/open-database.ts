import { failed, ok, type Result } from '../base/result.ts'
import type { DatabaseSettings } from '../project/settings/settings.ts'
import { type Connect, createConnector, printHost, type Target } from './connect/open-connection.ts'
import { OpeningError, type OpeningFault, type OpeningFaultKind } from './connect/opening-fault.ts'
import { type ConnectionPool, createPool } from './connect/pool.ts'
import { assertStatementsKept } from './connect/pooler.ts'
import { createPrimary } from './connect/primary.ts'
import { parsePrimary, parseReplica } from './connect/target-url.ts'
import type { Database } from './database.ts'
import { isSqlstate, toDriverError } from './database-fault.ts'
import { openEmbedded } from './embedded/open-embedded.ts'
import type { OpenOptions } from './open-options.ts'
import { createAborting, createPooledDatabase, openDedicatedSession } from './pooled-database.ts'
import { openReplicas } from './replicas/open-replicas.ts'
import { SERVER_READ } from './scheduling/scheduled-work.ts'

/** Opens the database of `database.url` and checks with one connection that it answers. */
export async function openDatabase(
  settings: DatabaseSettings,
  options: OpenOptions,
): Promise<Result<Database, OpeningFault>> {
  const start = performance.now()
  const kind = settings.url === 'embedded' ? 'embedded' : 'server'
  try {
    const database = await (kind === 'embedded' ? openEmbedded : openServer)(settings, options)
    options.observe({ event: 'database.opened', kind, milliseconds: performance.now() - start })
    return ok(database)
  } catch (error) {
    if (error instanceof OpeningError) return failed(error.fault)
    throw error
  }
}

/** Opens the database of a URL. Rejects with an OpeningError unless one connection succeeds. */
async function openServer(
  settings: DatabaseSettings,
  { observe, statementLimit, mayBeStandby }: OpenOptions,
): Promise<Database> {
  const target = await parsePrimary(settings.url)
  const replicaTargets = await Promise.all(settings.replicas.map(parseReplica))
  const session = {
    ...settings,
    statementPrefix: () => 'p',
    mayBePooled: true,
    ...(statementLimit !== undefined && { statementLimit }),
  }
  const aborting = createAborting()
  const primary = mayBeStandby && !target.hosts ? undefined : createPrimary()
  const connecting = { session, observe }
  const connect = createConnector({
    ...{ ...connecting, target, aborted: aborting.signal },
    ...(primary && { primary }),
  })
  const pool = createPool(connect, settings, primary)
  await verify(pool, connect).catch(async (error: unknown) => {
    await pool.close()
    throw toOpeningError(error, target)
  })
  const replicas =
    replicaTargets.length === 0
      ? null
      : await openReplicas({ targets: replicaTargets, settings, connecting }, pool)
  return createPooledDatabase({
    ...{ kind: 'server', settings, pool, replicas, aborting, isShared: true },
    openSession: timeout => openDedicatedSession(() => connect().catch(error => pool.cede(error)), timeout),
    afterClose: async () => {},
  })
}

/** A second connection, open at the same time, shows whether a pooler keeps a server for the first. */
async function verify(pool: ConnectionPool, connect: Connect): Promise<void> {
  const connection = await pool.acquire(SERVER_READ)
  try {
    if (!connection.pooler?.keepsNames) return
    const other = await connect()
    await assertStatementsKept(connection, other).finally(() => other.end().catch(() => undefined))
  } finally {
    pool.release(connection)
  }
}

/** The message names the user and the hosts, never the password. */
function toOpeningError(error: unknown, target: Target): OpeningError {
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (reason instanceof OpeningError && reason.fault.kind !== 'readonly') return reason
  const driver = toDriverError(reason)
  const code = typeof driver?.code === 'string' ? driver.code : ''
  const known = reason instanceof OpeningError ? reason.fault.kind : KINDS[code]
  const kind = known ?? kindOfCode(code)
  return new OpeningError(kind, explain(kind, target, driver?.message ?? String(reason)), reason)
}

function kindOfCode(code: string): OpeningFaultKind {
  if (!isSqlstate(code) || /^(08|57P)/.test(code)) return 'unreachable'
  return code.startsWith('53') ? 'full' : 'refused'
}

/** By SQLSTATE: invalid_password, invalid_authorization_specification, invalid_catalog_name. */
const KINDS: Readonly<Record<string, OpeningFaultKind>> = {
  '28P01': 'login',
  '28000': 'login',
  '3D000': 'missing',
  // Poolers refuse with protocol_violation.
  '08P01': 'refused',
}

function explain(
  kind: OpeningFaultKind,
  { host, port, hosts = [{ host, port }], user, database }: Target,
  message: string,
): string {
  const place = hosts.map(printHost).join(', ')
  switch (kind) {
    case 'login':
      return `PostgreSQL at ${place} refuses the user ${user} of database.url: ${message}`
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

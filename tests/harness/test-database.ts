import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import type { ExecutionContext } from 'ava'
import pg from 'pg'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import type { OpenOptions } from '../../core/database/open-options.ts'
import { printReuse } from '../../core/migrate/empty-tables.ts'
import type { Table } from '../../core/model/storage.ts'
import type { DatabaseSettings } from '../../core/project/settings/settings.ts'
import { DATABASE_SETTINGS } from './database-settings.ts'
import { snapshot } from './embedded-files.ts'

export interface TestDatabaseOptions {
  readonly settings?: Partial<DatabaseSettings>
  readonly open?: Partial<OpenOptions>
  /** Those that the test creates first: an embedded database may have some of them already, empty. */
  readonly tables?: readonly Table[]
}

type Test = Pick<ExecutionContext, 'teardown'>

/** The server that tests run on; undefined: the embedded database, in memory. */
export const testServer = (): string | undefined => process.env.TEST_DATABASE_URL || undefined

/** An empty database of this test's own, gone with the test. */
export async function openTestDatabase(t: Test, options: TestDatabaseOptions = {}): Promise<Database> {
  const server = testServer()
  const url = server ? await createDatabase(t, server) : 'embedded'
  const settings = { ...DATABASE_SETTINGS, url, ...options.settings }
  const embedded = server ? undefined : await inMemory(settings, options)
  const opened = await inTurn(() =>
    openDatabase(settings, { root: tmpdir(), observe: () => {}, ...embedded, ...options.open }),
  )
  if (!opened.ok) throw new Error(opened.reasons.map(reason => reason.message).join('\n'))
  t.teardown(() => opened.value.close())
  return opened.value
}

const inMemory = async ({ schema }: DatabaseSettings, { tables }: TestDatabaseOptions) => ({
  embedded: {
    dataDir: 'memory://',
    snapshot: await snapshot(),
    ...(tables && { reuse: printReuse(schema, tables) }),
  },
})

/** The tests of a file start at once; many engines that start at once would each take all the longer. */
function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  const turn = lastTurn.then(work)
  lastTurn = turn.catch(() => undefined)
  return turn
}

let lastTurn: Promise<unknown> = Promise.resolve()

/** An empty database on the server, dropped with the test; returns its URL. */
export async function createDatabase(t: Test, server: string): Promise<string> {
  const { url, drop } = await databaseOn(server)
  t.teardown(drop)
  return url
}

export interface FreshDatabase {
  /** For `database.url` of a project. */
  readonly url: string
  drop(): Promise<void>
}

/** An empty database on the test server if there is one, else the embedded one of a project. */
export function freshDatabase(): Promise<FreshDatabase> {
  const server = testServer()
  return server ? databaseOn(server) : Promise.resolve({ url: 'embedded', drop: async () => {} })
}

async function databaseOn(server: string): Promise<FreshDatabase> {
  const name = `plinth_test_${randomBytes(6).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const drop = async () => void (await administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  return { url: url.href, drop }
}

/** Runs one statement on a connection of its own; returns its rows. */
export async function administer(
  url: string,
  statement: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query(statement).finally(() => client.end())
  return rows
}

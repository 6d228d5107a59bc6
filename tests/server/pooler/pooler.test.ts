import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import test from 'ava'
import { createConnector } from '../../../core/database/connect/open-connection.ts'
import { parsePrimary } from '../../../core/database/connect/target-url.ts'
import { openDatabase } from '../../../core/database/open-database.ts'
import type { DatabaseSettings } from '../../../core/project/settings/settings.ts'
import { assertNoOrphans, compare, reportedBy } from '../../end-to-end/kill-findings.ts'
import { makePeople, PROJECT, writeUntilGone } from '../../end-to-end/kill-writers.ts'
import { DATABASE_SETTINGS } from '../../harness/database-settings.ts'
import { temporaryFolder } from '../../harness/folder.ts'
import { startServer } from '../../harness/server.ts'
import { createDatabase, testServer } from '../../harness/test-database.ts'
import { until } from '../../harness/until.ts'
import { query } from '../cluster.ts'
import type { Test } from '../own-process.ts'
import { startPooler } from '../pooler.ts'

// A pooler between Plinth and PostgreSQL that gives each transaction another server.

const TRANSACTIONS = ['pool_mode = transaction', 'default_pool_size = 3', 'max_client_conn = 200']

const server = testServer() ?? ''

async function pooled(t: Test, settings = TRANSACTIONS) {
  const direct = await createDatabase(t, server)
  return { direct, url: await startPooler(t, direct, settings) }
}

async function opened(t: Test, settings: Partial<DatabaseSettings>) {
  const all = { ...DATABASE_SETTINGS, preparedStatements: false, ...settings }
  const result = await openDatabase(all, { root: tmpdir(), observe: () => {} })
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join())
  t.teardown(() => result.value.close())
  return result.value
}

const LISTENING = `import { defineExtension } from 'plinth'

export default defineExtension({
  register: ({ documents, app }) =>
    documents.on('article.publish', ({ documentId }) => app.log.info('heard of ' + documentId)),
})
`

const processIds = async (url: string, text: string) => (await query(url, text)).map(([id]) => id)

test.serial('a server behind a pooler starts, writes, reads, publishes and delivers events', async t => {
  const { direct, url } = await pooled(t)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT.replace('url: "', 'preparedStatements: false, url: "'))
  folder.write('extensions/listening.js', LISTENING)
  const running = await startServer({ project: folder.path, environment: { DATABASE_URL: url } })
  t.teardown(() => running.stop())
  const people = await makePeople(running)
  // Another process deletes the entry of a process that was paused for too long.
  const registered = await processIds(direct, 'DELETE FROM plinth_processes RETURNING id')
  t.is(registered.length, 1)
  const writers = await writeUntilGone(8, 80, { server: running, people, onWrite: () => {} })
  t.deepEqual(writers.doubtful, [])
  compare(t, await reportedBy(t, running, people), writers)
  const [first] = writers.acknowledged.keys()
  await until('the listener has heard', () => running.log().includes(`heard of ${first}`))
  t.notRegex(running.log(), /"level":(50|60)|failed unexpectedly/)
  const entries = () => processIds(direct, 'SELECT id FROM plinth_processes')
  await until('the process is registered again', async () => (await entries()).length === 1)
  t.notDeepEqual(await entries(), registered)
  t.is(await running.stop(), 0)
  t.deepEqual(await entries(), [])
  await assertNoOrphans(t, { folder, url: direct })
})

const SETTINGS = [
  'jit',
  'TimeZone',
  'DateStyle',
  'search_path',
  'statement_timeout',
  'lock_timeout',
  'extra_float_digits',
]
const ASK = { text: `SELECT ${SETTINGS.map(name => `current_setting('${name}')`).join(', ')}`, values: [] }

test.serial('each transaction has its session settings, and no other client gets them', async t => {
  const { direct, url } = await pooled(t)
  const database = await opened(t, { url, statementTimeout: 400, schema: 'public' })
  const wanted = ['off', 'UTC', 'ISO, YMD', 'public', '400ms', '10s', '1']
  const asked = Array.from({ length: 30 }, (_, number) =>
    number % 2 === 0 ? database.run(ASK) : database.transaction(transaction => transaction.run(ASK)),
  )
  for (const { rows } of await Promise.all(asked)) t.deepEqual(rows, [wanted])
  const limited = database.transaction(async transaction => (await transaction.run(ASK)).rows[0]?.[4], {
    statementTimeout: 0,
  })
  t.is(await limited, '0')
  t.is((await query(url, 'SHOW search_path'))[0]?.[0], '"$user", public', 'a stranger of the same pool')
  const sleep = { text: 'SELECT pg_sleep(20)', values: [] }
  const slow = await t.throwsAsync(database.run(sleep))
  t.regex(slow.message, /statement timeout/)
  const ending = new AbortController()
  const waiting = database.run({ text: 'SELECT pg_sleep(20)', values: [] }, { signal: ending.signal })
  setTimeout(() => ending.abort(), 150)
  t.regex((await t.throwsAsync(waiting)).message, /user request/)
  const taken = await database.transaction(async first => {
    await first.lock('mine')
    const others = await database.transaction(second => second.tryLock('mine'))
    return [others, await first.tryLock('mine')]
  })
  t.deepEqual(taken, [false, true])
  const left = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  t.deepEqual((await query(direct, left))[0], [0])
})

test.serial('a default isolation of the database does not reach transactions behind a pooler', async t => {
  const direct = await createDatabase(t, server)
  const name = new URL(direct).pathname.slice(1)
  await query(direct, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
  const database = await opened(t, { url: await startPooler(t, direct, TRANSACTIONS) })
  const text = "SELECT current_setting('transaction_isolation')"
  const level = () => database.transaction(transaction => transaction.run({ text, values: [] }))
  t.deepEqual((await level()).rows, [['read committed']])
})

test.serial('if the role has the settings, transactions do not set them', async t => {
  const direct = await createDatabase(t, server)
  const role = `pooled_${randomBytes(4).toString('hex')}`
  const values = `jit = off; TimeZone = 'UTC'; DateStyle = 'ISO, YMD'; client_min_messages = warning;
    application_name = plinth; search_path = public; statement_timeout = ${DATABASE_SETTINGS.statementTimeout}; lock_timeout = 10000;
    idle_in_transaction_session_timeout = 60000; standard_conforming_strings = on; extra_float_digits = 1; bytea_output = hex;
    array_nulls = on; transform_null_equals = off; quote_all_identifiers = off;
    default_transaction_isolation = 'read committed'`
  await query(direct, `CREATE ROLE ${role} LOGIN`)
  t.teardown(() => query(direct, `DROP ROLE ${role}`))
  await query(
    direct,
    values
      .split(';')
      .map(each => `ALTER ROLE ${role} SET ${each}`)
      .join(';'),
  )
  const own = new URL(await startPooler(t, direct, TRANSACTIONS, role))
  const database = await opened(t, { url: own.href })
  const session = { ...DATABASE_SETTINGS, statementPrefix: () => 'p', mayBePooled: true }
  const target = await parsePrimary(own.href)
  const connection = await createConnector({ target, session, observe: () => {} })()
  t.is(connection.transactionSettings, undefined)
  await connection.end()
  const { rows } = await database.run(ASK)
  t.deepEqual(rows, [['off', 'UTC', 'ISO, YMD', 'public', '1min', '10s', '1']])
})

test.serial(
  'a start is refused with prepared statements behind a pooler that loses them, not with a session pooler',
  async t => {
    const { direct, url } = await pooled(t)
    const settings = { ...DATABASE_SETTINGS, url }
    const refused = await openDatabase(settings, { root: tmpdir(), observe: () => {} })
    if (refused.ok) return t.fail()
    t.is(refused.reasons[0]?.kind, 'pooler')
    t.regex(refused.reasons[0]?.message ?? '', /database\.preparedStatements.*max_prepared_statements/)
    const session = await startPooler(t, direct, ['pool_mode = session', 'default_pool_size = 5'])
    const database = await opened(t, { url: session, preparedStatements: true })
    for (let times = 0; times < 3; times++)
      t.deepEqual((await database.run({ text: 'SELECT 7', values: [] })).rows, [[7]])
  },
)

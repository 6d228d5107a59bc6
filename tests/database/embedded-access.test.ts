import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { BatchReader } from '../../core/database/embedded/wire.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { snapshot } from '../harness/embedded-files.ts'

// One embedded database, the process that has it open, and others that work through that one.

function folderOf(t: ExecutionContext): string {
  const root = mkdtempSync(join(tmpdir(), 'plinth-access-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const open = async (
  root: string,
  access: 'offer' | 'join',
  settings: Partial<typeof DATABASE_SETTINGS> = {},
) =>
  openDatabase(
    { ...DATABASE_SETTINGS, ...settings },
    { root, observe: () => {}, embedded: { snapshot: await snapshot(), access } },
  )

async function opened(t: ExecutionContext, ...options: Parameters<typeof open>): Promise<Database> {
  const database = await open(...options)
  if (!database.ok) throw new Error(database.reasons[0]?.message)
  t.teardown(() => database.value.close())
  return database.value
}

/** The owner's database, and the same one through its owner. */
async function both(t: ExecutionContext, settings: Partial<typeof DATABASE_SETTINGS> = {}) {
  const root = folderOf(t)
  const owner = await opened(t, root, 'offer')
  return { root, owner, other: await opened(t, root, 'join', settings) }
}

const rowsOf = async (database: Database, text: string) => (await database.run({ text, values: [] })).rows

const SETTINGS = `SELECT current_setting('search_path'), current_setting('statement_timeout'),
  current_setting('default_transaction_read_only'), current_setting('DateStyle'), current_user,
  (SELECT count(*) FROM pg_prepared_statements WHERE from_sql), (SELECT count(*) FROM pg_cursors),
  to_regclass('pg_temp.stray') IS NULL`

test('session settings changed by one client do not reach the next', async t => {
  const { owner, other } = await both(t)
  const before = await rowsOf(owner, SETTINGS)
  for (const change of [
    'SET search_path = pg_catalog',
    "SET statement_timeout = '1ms'",
    'SET default_transaction_read_only = on',
    "SET DateStyle = 'German'",
    'CREATE ROLE guest',
    'SET ROLE guest',
    'SET SESSION AUTHORIZATION guest',
    'PREPARE stray AS SELECT 1',
    'DECLARE stray CURSOR WITH HOLD FOR SELECT 1',
    'CREATE TEMP TABLE stray (id int)',
  ]) {
    await rowsOf(other, change)
    t.deepEqual(await rowsOf(owner, SETTINGS), before, change)
    t.deepEqual(await rowsOf(other, SETTINGS), before, change)
  }
})

test('a client uses the settings of its own project, and the owner those of its own', async t => {
  const { owner, other } = await both(t, { schema: 'elsewhere', statementTimeout: 12_345 })
  const settings = "SELECT current_setting('search_path'), current_setting('statement_timeout')"
  const own = await rowsOf(owner, settings)
  t.deepEqual(await rowsOf(other, settings), [['elsewhere', '12345ms']])
  const inside = await other.transaction(transaction => transaction.run({ text: settings, values: [] }))
  t.deepEqual(inside.rows, [['elsewhere', '12345ms']])
  t.deepEqual(await rowsOf(owner, settings), own)
})

test('transactions of a client and the owner are serialised, and prepared statements keep working', async t => {
  const { owner, other } = await both(t)
  await rowsOf(owner, 'CREATE TABLE plate (id int)')
  const add = (database: Database) =>
    database.transaction(async transaction => {
      const { rows } = await transaction.run({ text: 'SELECT count(*)::int FROM plate', values: [] })
      await transaction.run({ text: 'INSERT INTO plate VALUES ($1)', values: [Number(rows[0]?.[0])] })
    })
  await Promise.all(Array.from({ length: 60 }, (_, at) => add(at % 2 === 0 ? owner : other)))
  t.deepEqual(await rowsOf(owner, 'SELECT count(*)::int, count(DISTINCT id)::int FROM plate'), [[60, 60]])
})

test('large statements and large results arrive complete', async t => {
  const { other } = await both(t)
  const text = 'x'.repeat(20_000_000)
  const { rows } = await other.run({ text: 'SELECT md5($1), $1', values: [text] })
  t.is(rows[0]?.[0], createHash('md5').update(text).digest('hex'))
  t.true(rows[0]?.[1] === text)
})

test('a batch that arrives in small pieces is read completely, in linear time', t => {
  const message = (type: string, body: Buffer) => {
    const head = Buffer.from(`${type}\0\0\0\0`)
    head.writeUInt32BE(body.length + 4, 1)
    return Buffer.concat([head, body])
  }
  const startup = Buffer.from([0, 0, 0, 8, 0, 3, 0, 0])
  const batch = [
    message('P', Buffer.alloc(300, 1)),
    message('B', Buffer.alloc(70_000, 2)),
    message('S', Buffer.alloc(0)),
  ]
  const bytes = Buffer.concat([startup, ...batch, ...batch, message('X', Buffer.alloc(0))])
  for (const size of [1, 7, 1000, bytes.length]) {
    const reader = new BatchReader()
    const read: { kind: string; bytes: Buffer }[] = []
    for (let at = 0; at < bytes.length; at += size) read.push(...reader.read(bytes.subarray(at, at + size)))
    t.deepEqual(
      read.map(({ kind }) => kind),
      ['startup', 'query', 'query', 'terminate'],
    )
    t.deepEqual(Buffer.concat(read.map(one => one.bytes)), bytes)
  }
})

test('an owner that closes sends its clients the reason, and rolls back their transactions', async t => {
  const { root, owner, other } = await both(t)
  await rowsOf(owner, 'CREATE TABLE plate (id int)')
  const lost = other.transaction(async transaction => {
    await transaction.run({ text: 'INSERT INTO plate VALUES (1)', values: [] })
    await owner.close()
    await transaction.run({ text: 'INSERT INTO plate VALUES (2)', values: [] })
  })
  const fault = toDatabaseFault(await t.throwsAsync(lost))
  t.is(fault?.kind, 'unavailable')
  t.regex(fault?.message ?? '', /the process that holds the embedded database stopped/)
  t.false(existsSync(join(root, '.plinth', 'database.socket')))
  const next = await opened(t, root, 'join')
  t.deepEqual(await rowsOf(next, 'SELECT id FROM plate'), [])
})

test('a client that disconnects in a transaction releases the session', async t => {
  const { root, owner } = await both(t)
  await rowsOf(owner, 'CREATE TABLE plate (id int)')
  const socket = createConnection(readFileSync(join(root, '.plinth', 'database.socket'), 'utf8'))
  socket.write(Buffer.from([0, 0, 0, 8, 0, 3, 0, 0]))
  const text = 'BEGIN; INSERT INTO plate VALUES (1)\0'
  const query = Buffer.from(`Q\0\0\0\0${text}`)
  query.writeUInt32BE(query.length - 1, 1)
  socket.write(query)
  let answer = Buffer.alloc(0)
  for await (const part of socket) {
    answer = Buffer.concat([answer, part as Buffer])
    // ReadyForQuery in a transaction: leaving the loop destroys the socket.
    if (answer.includes('Z\0\0\0\u0005T')) break
  }
  t.deepEqual(await rowsOf(owner, 'SELECT id FROM plate'), [])
})

test('a socket record that names a regular file is ignored, and the file is kept', async t => {
  const root = folderOf(t)
  await opened(t, root, 'offer')
  const record = join(root, '.plinth', 'database.socket')
  const precious = join(root, 'precious')
  writeFileSync(precious, 'mine')
  writeFileSync(record, precious)
  const refused = await open(root, 'join')
  t.is(refused.ok ? undefined : refused.reasons[0]?.kind, 'locked')
  t.is(readFileSync(precious, 'utf8'), 'mine')
})

test('a server that starts while a command holds the database opens it once the command has ended', async t => {
  const root = folderOf(t)
  const command = await open(root, 'join')
  if (!command.ok) return t.fail(command.reasons[0]?.message)
  const starting = open(root, 'offer')
  t.is(await Promise.race([starting, pause(500)]), undefined)
  await command.value.close()
  const server = await starting
  if (!server.ok) return t.fail(server.reasons[0]?.message)
  t.teardown(() => server.value.close())
  const second = await open(root, 'offer')
  t.is(second.ok ? undefined : second.reasons[0]?.kind, 'locked')
})

test('two projects have two databases', async t => {
  const [one, two] = [await both(t), await both(t)]
  await rowsOf(one.other, 'CREATE TABLE plate (id int)')
  t.deepEqual(await rowsOf(two.other, "SELECT to_regclass('plate') IS NULL"), [[true]])
  t.deepEqual(await rowsOf(one.owner, "SELECT to_regclass('plate') IS NULL"), [[false]])
})

import { randomBytes } from 'node:crypto'
import { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import type { Database } from '../../core/database/database.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import type { CustomMigration } from '../../core/migrate/custom-migrations/custom-migration.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { readHistory } from '../../core/migrate/recorded-schema.ts'
import type { Table } from '../../core/model/storage.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { administer, testServer } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'

// The state of a database after its migration was killed, or after many migrations ran concurrently.

const SERVER = testServer() ?? ''

const BEFORE = `
contentTypes:
  tag: { attributes: { name: string, size: string, spare: string } }
  book: { draftAndPublish: true, attributes: { title: string, first: { type: relation, relation: manyToOne, target: tag } } }
`

/** One step of each kind: renamed, made, changed, filled, tightened, indexed, dropped. */
const AFTER = `
contentTypes:
  label:
    renamedFrom: tag
    attributes: { name: { type: string, unique: true, required: true, backfill: none }, size: integer }
  book: { draftAndPublish: true, attributes: { title: text, first: { type: relation, relation: manyToOne, target: label } } }
  shelf: { attributes: { books: { type: relation, relation: oneToMany, target: book } } }
`

const FILL = `
INSERT INTO tags (document_id, created_at, updated_at, published_at, name, size, spare)
  SELECT n, now(), now(), now(), nullif('tag ' || n, 'tag 3'), n, 'old' FROM generate_series(1, 3) AS n;
INSERT INTO books (document_id, document_key, status, created_at, updated_at, title, first_key)
  SELECT n, n, 'draft', now(), now(), 'Book ' || n, n FROM generate_series(1, 3) AS n;
CREATE TABLE log (line text);`

const file = (name: string, moment: CustomMigration['moment'], text: string): CustomMigration => ({
  name,
  moment,
  checksum: text,
  load: async () => ({ kind: 'sql', text, newDatabases: false }),
})

const FILES = [
  file('1.before.sql', 'before', `INSERT INTO log VALUES ('before')`),
  file('1.after.sql', 'after', `INSERT INTO log SELECT 'after ' || count(size) FROM labels`),
]

/** Every table is large, so that the unique index is made concurrently. */
const TERMS = { allowing: 'destructive', manyRows: 2, files: FILES } as const

const open = async (url: string): Promise<Database> => {
  const settings = { ...DATABASE_SETTINGS, url, pool: { max: 2, idle: 10_000, acquire: 5_000 } }
  const opened = await openDatabase(settings, { root: '.', observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join('\n'))
  return opened.value
}

const urlOf = (name: string): string => Object.assign(new URL(SERVER), { pathname: `/${name}` }).href

/** A copy of a filled database, of this test's own. */
async function copyOf(t: ExecutionContext, template: string): Promise<string> {
  const name = `plinth_test_${randomBytes(6).toString('hex')}`
  await administer(SERVER, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  t.teardown(() => administer(SERVER, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
  return urlOf(name)
}

async function filled(t: ExecutionContext): Promise<string> {
  const url = await copyOf(t, 'template0')
  const database = await open(url)
  const { tables } = await storageOf(BEFORE)
  const made = await migrate(database, tables)
  t.true(made.ok)
  await database.close()
  await administer(url, FILL)
  return new URL(url).pathname.slice(1)
}

/** All that there is to see: columns, constraints, indexes, rows. */
async function stateOf(database: Database): Promise<unknown> {
  const parts = [
    `SELECT json_agg(c ORDER BY c) FROM (SELECT table_name || '.' || column_name || ' ' || data_type || is_nullable AS c
      FROM information_schema.columns WHERE table_schema = 'public') AS x`,
    `SELECT json_agg(indexdef ORDER BY indexdef) FROM pg_indexes WHERE schemaname = 'public'`,
    `SELECT count(*) FROM pg_index WHERE NOT indisvalid`,
    `SELECT json_agg(conname || pg_get_constraintdef(oid) ORDER BY conname) FROM pg_constraint WHERE connamespace = 'public'::regnamespace`,
    `SELECT json_agg(json_build_array(document_id, name, size) ORDER BY id) FROM labels`,
    `SELECT json_agg(json_build_array(document_id, title, first_key) ORDER BY id) FROM books`,
    'SELECT json_agg(line) FROM log',
    'SELECT json_agg(name ORDER BY name) FROM plinth_migration_files',
    `SELECT json_agg(t ORDER BY t.name) FROM plinth_tables AS t`,
  ]
  const answers = await Promise.all(parts.map(text => database.run({ text, values: [] })))
  return answers.map(({ rows }) => rows[0]?.[0])
}

const plainWrite = Socket.prototype.write

/** Before a message that changes nothing, a cut leaves what the cut before it did. */
const CHANGES = /INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|RENAME|COMMIT|advisory/

/** From the changing message of this number on, none reaches the server: what a server sees of a killed process. */
function dieAt(number: number): { readonly sent: () => number; revive(): void } {
  let sent = 0
  Socket.prototype.write = function (this: Socket, ...message: Parameters<typeof plainWrite>) {
    if (this.remotePort !== Number(new URL(SERVER).port)) return plainWrite.apply(this, message)
    if (CHANGES.test(String(message[0]))) sent += 1
    if (sent < number) return plainWrite.apply(this, message)
    this.destroy()
    return false
  } as typeof plainWrite
  return {
    sent: () => sent,
    revive() {
      Socket.prototype.write = plainWrite
    },
  }
}

async function migrateUntil(url: string, tables: readonly Table[], number: number): Promise<number> {
  const death = dieAt(number)
  try {
    const database = await open(url)
    await migrate(database, tables, TERMS).finally(() => database.close())
  } catch {
    // Whatever a process that is dead would say of it.
  } finally {
    death.revive()
  }
  return death.sent()
}

async function finish(t: ExecutionContext, url: string, tables: readonly Table[]): Promise<unknown> {
  const database = await open(url)
  const done = await migrate(database, tables, TERMS)
  t.deepEqual(done.ok ? [] : done.reasons, [])
  t.deepEqual((await planMigration(database, tables, TERMS)).steps, [])
  const state = await stateOf(database)
  await database.close()
  return state
}

test.serial('an interrupted migration is completed by the next one, for any interruption', async t => {
  const template = await filled(t)
  const { tables } = await storageOf(AFTER)
  const expected = await finish(t, await copyOf(t, template), tables)
  let cuts = 0
  for (let number = 1; ; number += 1) {
    const url = await copyOf(t, template)
    const sent = await migrateUntil(url, tables, number)
    t.deepEqual(await finish(t, url, tables), expected, `cut at message ${number}`)
    if (sent < number) break
    cuts += 1
  }
  t.log(`${cuts} cuts`)
  t.true(cuts > 15)
})

test.serial('processes that start concurrently on an outdated database run each step once', async t => {
  const url = await copyOf(t, await filled(t))
  const { tables } = await storageOf(AFTER)
  const databases = await Promise.all(Array.from({ length: 5 }, () => open(url)))
  const done = await Promise.all(databases.map(database => migrate(database, tables, TERMS)))
  t.deepEqual(
    done.flatMap(result => (result.ok ? [] : result.reasons)),
    [],
  )
  const [database] = databases
  if (database === undefined) return t.fail()
  t.deepEqual((await database.run({ text: 'SELECT line FROM log', values: [] })).rows, [
    ['before'],
    ['after 3'],
  ])
  const steps = (await readHistory(database)).flatMap(one => one.steps)
  t.is(steps.filter(step => step.startsWith('rename table')).length, 1)
  t.is(steps.filter(step => step.startsWith('add unique index')).length, 1)
  await Promise.all(databases.map(one => one.close()))
})

test.serial(
  'an index of a large table is created without blocking writes; an invalid one is created again',
  async t => {
    const url = await copyOf(t, await filled(t))
    const database = await open(url)
    t.teardown(() => database.close())
    const { tables } = await storageOf(BEFORE.replace('name: string', 'name: { type: string, unique: true }'))
    const migrated = async () => {
      const done = await migrate(database, tables, { allowing: 'slow', manyRows: 2 })
      return done.ok ? done.value.steps : done.reasons.map(({ code, partly }) => [code, partly])
    }
    const writer = new pg.Client({ connectionString: url })
    await writer.connect()
    t.teardown(() => writer.end())
    const index = `SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('tags__name__unique')`
    const broken = `CREATE UNIQUE INDEX CONCURRENTLY tags__name__unique ON tags (name)`
    const double = `INSERT INTO tags (document_id, created_at, updated_at, published_at, name)
      VALUES ('d', now(), now(), now(), 'tag 1')`

    await writer.query('BEGIN')
    await writer.query(double)
    const migrating = migrated()
    // It waits for the writer, who is not held up by it.
    await until(async () => {
      const waits = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'CREATE UNIQUE%' AND wait_event_type = 'Lock'`
      return (await database.run({ text: waits, values: [] })).rows.length > 0
    })
    await writer.query(`UPDATE tags SET size = '9' WHERE document_id = '2'`)
    await writer.query('COMMIT')
    t.deepEqual(await migrating, [['not-unique', true]])
    t.deepEqual((await writer.query(index)).rows, [])

    await t.throwsAsync(writer.query(broken))
    t.deepEqual((await writer.query(index)).rows, [{ indisvalid: false }])
    await writer.query(`DELETE FROM tags WHERE document_id = 'd'`)
    t.deepEqual(await migrated(), [
      'drop index "tags__name__unique" of "tags"',
      'add unique index "tags__name__unique" to "tags"',
    ])
    t.deepEqual((await writer.query(index)).rows, [{ indisvalid: true }])
  },
)

async function until(look: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 500; turn += 1) {
    if (await look()) return
    await pause(20)
  }
  throw new Error('it never came to that')
}

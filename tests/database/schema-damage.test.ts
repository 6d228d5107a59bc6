import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { readHistory } from '../../core/migrate/recorded-schema.ts'
import { storageOf } from '../model/compiled.ts'
import { forget, type SchemaCase, schemaCase } from './schema-case.ts'

const TAG = `
  tag: { attributes: { name: string } }
`

const PROJECT = `contentTypes:
  article:
    search: { attributes: { title: A } }
    attributes:
      title: { type: string, required: true }
      price: decimal
      seen: datetime
      size: integer
      at: time
      tags: { type: relation, relation: manyToMany, target: tag }${TAG}`

const ROW = `INSERT INTO articles (document_id, title, price, seen, size, at, created_at, updated_at)
  VALUES ('first', 'Dune', 1.5, '2026-02-28T10:00:00Z', 7, '09:30', now(), now())`

/** The functions and triggers of Plinth, with their bodies and states. */
const routines = ({ sql }: SchemaCase) =>
  sql(`SELECT proname, md5(prosrc), '' FROM pg_proc WHERE proname LIKE 'plinth\\_%'
    UNION ALL SELECT tgname, pg_get_triggerdef(oid), tgenabled::text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2`)

/** Starts after a change by hand; the plan and the start agree, and nothing is left to do. */
async function repaired(one: SchemaCase, project = PROJECT): Promise<readonly string[]> {
  const { tables } = await storageOf(project)
  const planned = await planMigration(one.database, tables)
  const steps = await one.started(project)
  const again = await planMigration(one.database, tables)
  if (planned.steps.map(step => step.summary).join() !== steps.join() || again.steps.length > 0)
    throw new Error(`planned ${planned.steps.map(step => step.summary)}, did ${steps}`)
  return steps
}

test('trigger functions that were replaced by hand are created again', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  const before = await routines(one)
  for (const kind of ['plinth_version_', 'plinth_search_fill_']) {
    const [[name] = []] = await one.sql(
      `SELECT tgfoid::regproc::text FROM pg_trigger WHERE tgrelid = 'articles'::regclass AND tgname LIKE '${kind}%' LIMIT 1`,
    )
    await one.sql(
      `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'`,
    )
  }
  t.deepEqual(await repaired(one), [
    'let writes to "articles" fill its search vectors',
    'let writes to "articles" record what they change',
  ])
  t.deepEqual(await routines(one), before)
})

test('functions of the search that are another build or a change by hand are replaced', async t => {
  const searched = PROJECT.replace('{ title: A } }', '{ title: A }, typos: true }')
  const one = await schemaCase(t)
  await one.started(searched)
  const definitions = () =>
    one.sql(`SELECT proname, pg_get_functiondef(oid) FROM pg_proc WHERE proname LIKE 'plinth\\_%' ORDER BY 1`)
  const before = await definitions()
  const replaced = [
    `plinth_escape(text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN $1`,
    `plinth_highlight(configuration regconfig, given text, query tsquery) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS 'BEGIN RETURN given; END'`,
    `plinth_similar_rank(vector tsvector, alternatives tsquery[], similarities real[]) RETURNS real LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS 'BEGIN RETURN 0; END'`,
  ]
  for (const text of replaced) await one.sql(`CREATE OR REPLACE FUNCTION ${text}`)
  t.notDeepEqual(await definitions(), before)
  t.deepEqual(await one.started(searched), [])
  t.deepEqual(await definitions(), before)
})

test('triggers that fire only for replication are enabled again', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  const before = await routines(one)
  const triggers = await one.sql(
    `SELECT tgname FROM pg_trigger WHERE tgrelid = 'tags'::regclass AND tgname LIKE 'plinth%'`,
  )
  for (const [name] of triggers) await one.sql(`ALTER TABLE tags ENABLE REPLICA TRIGGER ${name}`)
  t.deepEqual(await repaired(one), ['let writes to "tags" move its version again'])
  t.deepEqual(await routines(one), before)
})

test('columns that were given another length, precision or width by hand keep their values', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql(ROW)
  const columns = `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = 'articles'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY 1`
  const before = await one.sql(columns)
  const values = await one.sql('SELECT title, price, seen, size, at FROM articles')
  const changes = [
    ['title', 'varchar(20)'],
    ['title', 'varchar(1000)'],
    ['title', 'varchar'],
    ['price', 'numeric(20,5)'],
    ['price', 'numeric'],
    ['seen', 'timestamptz'],
    ['seen', "timestamp USING seen AT TIME ZONE 'UTC'"],
    ['size', 'smallint'],
    ['at', 'time'],
  ] as const
  await one.sql('ALTER TABLE articles DISABLE TRIGGER USER')
  for (const [column, type] of changes) {
    const [[trigger] = []] = await one.sql(
      `SELECT tgname FROM pg_trigger WHERE tgrelid = 'articles'::regclass AND tgname LIKE 'plinth_search%' LIMIT 1`,
    )
    await one.sql(`DROP TRIGGER ${trigger} ON articles`)
    await one.sql(`ALTER TABLE articles ALTER ${column} TYPE ${type}`)
    const steps = await repaired(one)
    t.true(
      steps.some(step => step.startsWith(`change \`${column}\``)),
      type,
    )
    t.deepEqual(await one.sql(columns), before, type)
    t.deepEqual(await one.sql('SELECT title, price, seen, size, at FROM articles'), values, type)
  }
})

test('an index, a domain and a collation that change which values are equal or valid are changed back', async t => {
  const one = await schemaCase(t)
  const project = PROJECT.replace(
    'seen: datetime',
    'seen: datetime\n      code: { type: string, unique: true }',
  )
  await one.started(project)
  await one.sql(ROW)
  await one.sql(`UPDATE articles SET code = 'a'`)
  const state = `SELECT attname, atttypid::regtype::text, atttypmod, attcollation::text FROM pg_attribute
    WHERE attrelid = 'articles'::regclass AND attnum > 0
    UNION ALL SELECT pg_get_indexdef(indexrelid), '', 0, '' FROM pg_index WHERE indrelid = 'articles'::regclass ORDER BY 1`
  const before = await one.sql(state)
  const create = `CREATE UNIQUE INDEX articles__code__unique ON articles (code)`
  const changes = [
    ['DROP INDEX articles__code__unique', `${create} NULLS NOT DISTINCT`],
    [
      'CREATE DOMAIN short AS varchar(255) CHECK (length(value) < 5)',
      'ALTER TABLE articles ALTER code TYPE short',
    ],
    [
      `CREATE COLLATION same (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`,
      'ALTER TABLE articles ALTER code TYPE varchar(255) COLLATE same',
    ],
  ] as const
  const steps = [
    [
      'drop index "articles__code__unique" of "articles"',
      'add unique index "articles__code__unique" to "articles"',
    ],
    ['change `code` of content-type `article` from short to varchar(255)'],
    ['change `code` of content-type `article` from COLLATE same to varchar(255)'],
  ]
  for (const [index, statements] of changes.entries()) {
    if (index === 0 && (await lacksNullsNotDistinct(one))) continue
    for (const statement of statements) await one.sql(statement)
    t.deepEqual(await repaired(one, project), steps[index])
    t.deepEqual(await one.sql(state), before)
    t.deepEqual(await one.sql('SELECT code FROM articles'), [['a']])
  }
})

/** PostgreSQL 14. */
const lacksNullsNotDistinct = async ({ sql }: SchemaCase): Promise<boolean> =>
  Number((await sql(`SHOW server_version_num`))[0]?.[0]) < 150_000

test('JSON that became a text by hand is refused with the statement that reads it back', async t => {
  const one = await schemaCase(t)
  const yaml = `contentTypes:
  note:
    attributes:
      data: json
      list: array
      body: blocks`
  await one.started(yaml)
  const body = '[{"type":"paragraph","children":[{"type":"text","text":"x"}]}]'
  await one.sql(
    `INSERT INTO notes (document_id, data, list, body, created_at, updated_at) VALUES
    ('a', '{"n":[1,"x"]}', '["x"]', '${body}', now(), now()), ('b', '"text"', NULL, NULL, now(), now())`,
  )
  const values = () => one.sql('SELECT data, list, body FROM notes ORDER BY id')
  const before = await values()
  for (const type of ['text', 'varchar(1000)']) {
    for (const column of ['data', 'list', 'body'])
      await one.sql(`ALTER TABLE notes ALTER ${column} TYPE ${type} USING ${column}::text`)
    const { refusals } = await planMigration(one.database, (await storageOf(yaml)).tables)
    const messages = await one.refused(yaml)
    t.deepEqual(
      refusals.map(({ code, message }) => `${code} ${message}`),
      messages.map(message => `type-change ${message}`),
    )
    t.deepEqual(
      messages.map(message => message.split(': ')[0]),
      [
        ['data', 2],
        ['list', 1],
        ['body', 1],
      ].map(
        ([column, rows]) =>
          `column "${column}" of table "notes" (\`${column}\` of content-type \`note\`) was changed by hand from jsonb to ${type.replace('varchar', 'character varying')} and has values in ${rows} row${rows === 1 ? '' : 's'}`,
      ),
    )
    for (const message of messages) await one.sql(message.split(' with: ')[1] ?? '')
    t.deepEqual(await one.started(yaml), [])
    t.deepEqual(await values(), before)
  }
  await one.sql('DELETE FROM notes')
  await one.sql('ALTER TABLE notes ALTER list TYPE text USING list::text')
  t.deepEqual(await one.started(yaml), ['change `list` of content-type `note` from text to jsonb'])
})

test('a table that was renamed by hand is found by its indexes', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql('ALTER TABLE articles_tags_links RENAME TO elsewhere')
  const [message = ''] = await one.refused(PROJECT)
  t.regex(
    message,
    /^table "articles_tags_links" \(attribute `article\.tags`\) needs the index name ".+", which table "elsewhere" uses/,
  )
  const [, statement = ''] = /run `(.+?)`/.exec(message) ?? []
  t.is(statement, 'ALTER TABLE "public"."elsewhere" RENAME TO "articles_tags_links"')
  const plan = await planMigration(one.database, (await storageOf(PROJECT)).tables)
  t.deepEqual(
    plan.refusals.map(refusal => refusal.message),
    [message],
  )
  await one.sql(statement)
  t.deepEqual(await one.started(PROJECT), [])
})

test('a dropped table takes its trigger functions along', async t => {
  const without = `contentTypes:${TAG}`
  const one = await schemaCase(t)
  await one.started(without)
  const own = async () =>
    (await routines(one)).filter(([name]) => /^plinth_(version|search_fill)_/.test(String(name)))
  const before = await own()
  await one.started(PROJECT)
  t.true((await own()).length > before.length)
  const { tables } = await storageOf(without)
  t.true((await migrate(one.database, tables, { allowing: 'destructive', stage: 'all' })).ok)
  t.deepEqual(await own(), before)
})

// What is left of a row of `plinth_tables` after a careless change, and the message about it.
const NONSENSE = [
  ['columns', `'{"id": 1}'`, 'its columns must be a list of names'],
  ['columns', `'[1, null]'`, 'its columns must be a list of names'],
  ['indexes', `'"articles_pkey"'`, 'its indexes must be a list of names'],
  ['constraints', "'7'", 'its constraints must be a list of names'],
  ['kinds', `'["string"]'`, 'its kinds must be an object of texts'],
  ['shape', `'{}'`, 'its shape must be what a migration has written'],
  ['shape', `jsonb_set(shape, '{attributes}', '[{}]')`, 'its shape must be what a migration has written'],
  [
    'shape',
    `jsonb_set(shape, '{attributes,4}', '{"kind":"link","name":"tags","target":"tag"}')`,
    'its shape must be what a migration has written',
  ],
] as const

test('a record of tables that was changed by hand is refused with the statement that restores it', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql(ROW)
  const changed = PROJECT.replace('decimal', '{ type: decimal, min: 1 }').replace(
    'size: integer',
    'size: integer\n      more: string',
  )
  for (const [column, nonsense, message] of NONSENSE) {
    await one.sql(`UPDATE plinth_tables SET ${column} = ${nonsense} WHERE name = 'articles'`)
    const [refused = '', ...others] = await one.refused(changed)
    t.deepEqual(others, [])
    const [what = '', restore = ''] = refused.split('. Restore it with: ')
    t.is(what, `the record of table "articles" in plinth_tables was changed by hand: ${message}`)
    const { refusals } = await planMigration(one.database, (await storageOf(changed)).tables)
    t.deepEqual(
      refusals.map(({ code }) => code),
      ['damaged-record'],
    )
    await one.sql(restore)
    await forget(one)
    t.deepEqual(await repaired(one), [], `${column} ${nonsense}`)
  }
  t.deepEqual(await one.sql('SELECT title FROM articles'), [['Dune']])
})

test('records of tables that were deleted by hand are refused with the statements that restore them', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql(ROW)
  await one.sql('DELETE FROM plinth_tables')
  const messages = await one.refused(PROJECT)
  for (const table of ['articles', 'tags', 'articles_tags_links', 'plinth_versions'])
    t.true(
      messages.some(message => message.startsWith(`the record of table "${table}" `)),
      table,
    )
  for (const message of messages) {
    const [what = '', restore = ''] = message.split('. Restore it with: ')
    t.regex(what, /^the record of table ".+" \(.+\) in plinth_tables was deleted by hand$/)
    await one.sql(restore)
  }
  await forget(one)
  t.deepEqual(await repaired(one), [])
  t.deepEqual(await one.sql('SELECT title FROM articles'), [['Dune']])
})

test('a dropped table of records is refused with the statement that creates it', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql('DROP TABLE plinth_tables')
  const { tables } = await storageOf(PROJECT)
  const { refusals } = await planMigration(one.database, tables)
  const [message = '', ...more] = await one.refused(PROJECT)
  t.deepEqual([refusals.map(one => one.message), more], [[message], []])
  const create = /^table "plinth_tables" was dropped by hand: .* how to restore its rows: (.*)$/.exec(
    message,
  )?.[1]
  await one.sql(create ?? '')
  for (const record of await one.refused(PROJECT)) await one.sql(record.split('. Restore it with: ')[1] ?? '')
  t.deepEqual(await repaired(one), [])
})

test('the plan says that it creates what was dropped by hand, with its values or rows', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql('ALTER TABLE articles DROP COLUMN size')
  await one.sql('DROP TABLE articles_tags_links')
  t.deepEqual(
    (await repaired(one)).filter(step => step.includes('by hand')),
    [
      'create table "articles_tags_links" (attribute `article.tags`), which was dropped or renamed by hand, with its rows',
      'add column "size" to "articles" (`size` of content-type `article`), which was dropped or renamed by hand, with its values',
    ],
  )
})

test('links to a table that was dropped by hand are refused: new rows would get them', async t => {
  const one = await schemaCase(t)
  const project = PROJECT.replace(
    'at: time',
    'at: time\n      main: { type: relation, relation: manyToOne, target: tag }',
  )
  await one.started(project)
  await one.sql(ROW)
  await one.sql(`INSERT INTO tags (document_id, created_at, updated_at) VALUES ('first', now(), now())`)
  await one.sql('UPDATE articles SET main_key = 1')
  await one.sql('INSERT INTO articles_tags_links (owner_id, target_key, position) VALUES (1, 1, 1024)')
  await one.sql('DROP TABLE tags')
  const messages = await one.refused(project)
  t.deepEqual(
    messages.map(message => message.split(' to rows of')[0]),
    [
      '`main` in table "articles" (content-type `article`) has links in 1 row',
      '`tags` in table "articles_tags_links" (attribute `article.tags`) has links in 1 row',
    ],
  )
  for (const message of messages) await one.sql(message.split('remove the links: ')[1] ?? '')
  t.deepEqual(
    (await one.started(project)).filter(step => step.includes('by hand')),
    ['create table "tags" (content-type `tag`), which was dropped or renamed by hand, with its rows'],
  )
  t.deepEqual(await one.sql('SELECT title, main_key FROM articles'), [['Dune', null]])
})

test('a history of migrations that was changed by hand is shown as it is', async t => {
  const one = await schemaCase(t)
  await one.started(PROJECT)
  await one.sql(`UPDATE plinth_migrations SET steps = '"by hand"'`)
  t.deepEqual(
    (await readHistory(one.database)).map(({ steps }) => steps),
    [['by hand']],
  )
})

import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { readHistory } from '../../core/migrate/recorded-schema.ts'
import { storageOf } from '../model/compiled.ts'
import { type SchemaCase, schemaCase } from './schema-case.ts'

const BEFORE = `
contentTypes:
  tag: { attributes: { name: string, size: string, spare: string } }
  book:
    attributes:
      title: string
      tags: { type: relation, relation: manyToMany, target: tag }
      first: { type: relation, relation: manyToOne, target: tag }
`

const AFTER = `
contentTypes:
  tag: { attributes: { name: { type: string, required: true, backfill: none }, size: date } }
`

async function filled(one: SchemaCase): Promise<void> {
  await one.started(BEFORE)
  await one.sql(`INSERT INTO tags (document_id, created_at, updated_at, published_at, name, size)
    SELECT n, now(), now(), now(), 'tag ' || n, n FROM generate_series(1, 3) AS n`)
  await one.sql(`INSERT INTO books (document_id, created_at, updated_at, published_at, title, first_key)
    SELECT 'b', now(), now(), now(), 'Dune', min(id) FROM tags`)
  await one.sql('INSERT INTO books_tags_links (owner_id, target_key, position) SELECT 1, id, id FROM tags')
}

const planOf = async ({ database }: SchemaCase, yaml: string) =>
  planMigration(database, (await storageOf(yaml)).tables)

test.serial('a plan lists each step with its cost in execution order, and runs none', async t => {
  const one = await schemaCase(t)
  await filled(one)
  const { steps, refusals, left } = await planOf(one, AFTER)
  t.deepEqual(
    steps.map(({ weight, summary, notes }) => [weight, summary, ...notes]),
    [
      ['safe', 'drop the foreign keys of "books_tags_links"'],
      [
        'destructive',
        'change `size` of content-type `tag` from character varying(255) to date',
        'loses values in 3 rows: "1 (1)", "2 (1)", "3 (1)"',
      ],
      ['safe', 'require `name` of content-type `tag`'],
      ['safe', 'drop column "spare" of "tags" (content-type `tag`)'],
      ['destructive', 'drop table "books" (content-type `book`)', 'loses 1 row'],
      ['destructive', 'drop table "books_tags_links" (attribute `book.tags`)', 'loses 3 rows'],
    ],
  )
  t.deepEqual(refusals, [])
  // Objects dropped by --allow-destructive are part of the plan, not leftovers.
  t.deepEqual(left, [])
  t.deepEqual(await one.started(BEFORE), [])
  t.deepEqual(await one.sql('SELECT count(*)::integer FROM books_tags_links'), [[3]])
})

test.serial('destructive steps run if they are allowed, and leave nothing behind', async t => {
  const one = await schemaCase(t)
  await filled(one)
  const { tables } = await storageOf(AFTER)
  const refused = await migrate(one.database, tables, { allowing: 'slow' })
  t.deepEqual(refused.ok ? [] : refused.reasons.map(({ code }) => code).sort(), [
    'type-change',
    'vanished-table',
    'vanished-table',
  ])
  const done = await migrate(one.database, tables, { allowing: 'destructive' })
  t.deepEqual(done.ok && done.value.left, [])
  t.deepEqual(await one.sql(`SELECT to_regclass('books')::text, to_regclass('books_tags_links')::text`), [
    [null, null],
  ])
  t.deepEqual(await one.sql('SELECT name, size FROM tags ORDER BY id LIMIT 1'), [['tag 1', null]])
  t.deepEqual(await one.sql(`SELECT count(*)::integer FROM plinth_tables WHERE name LIKE 'books%'`), [[0]])
  t.deepEqual((await planOf(one, AFTER)).steps, [])
  t.deepEqual(await one.started(BEFORE.replace('size: string', 'size: date')), [
    'create table "books" (content-type `book`)',
    'create table "books_tags_links" (attribute `book.tags`)',
    'let `name` of content-type `tag` be empty',
    'add column "spare" to "tags" (`spare` of content-type `tag`)',
  ])
})

test.serial(
  'a plan whose dropped object is used by a view of another application is refused completely',
  async t => {
    const one = await schemaCase(t)
    await filled(one)
    await one.sql('CREATE VIEW titles AS SELECT title FROM books')
    const { tables } = await storageOf(AFTER)
    const refused = await migrate(one.database, tables, { allowing: 'destructive' })
    t.deepEqual(refused.ok ? [] : refused.reasons.map(({ code }) => code), ['database'])
    t.deepEqual(await one.sql('SELECT title FROM titles'), [['Dune']])
    t.deepEqual(await one.sql('SELECT count(size)::integer FROM tags'), [[3]])
  },
)

test.serial('a plan for an empty database creates nothing', async t => {
  const one = await schemaCase(t)
  const { steps } = await planOf(one, BEFORE)
  t.true(steps.some(({ summary }) => summary.startsWith('create table "tags"')))
  t.true(steps.every(({ weight }) => weight === 'safe'))
  t.deepEqual(await one.sql(`SELECT to_regclass('tags')::text, to_regclass('plinth_tables')::text`), [
    [null, null],
  ])
  t.deepEqual(await readHistory(one.database), [])
})

test.serial('the history lists migrations, newest first', async t => {
  const one = await schemaCase(t)
  await one.started(BEFORE)
  await one.started(`${BEFORE}  more: { attributes: { a: string } }\n`)
  const [last, first, ...others] = await readHistory(one.database)
  t.deepEqual(last?.steps, ['create table "mores" (content-type `more`)'])
  t.true((first?.steps.length ?? 0) > 3)
  t.regex(last?.appliedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  t.deepEqual(others, [])
})

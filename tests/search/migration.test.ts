import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import type { RunMigrationOptions } from '../../core/migrate/migration-options.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'

const project = (search: string, title = 'title: string') => `
components: { part.quote: { attributes: { text: text } } }
contentTypes:
  article:
    attributes: { ${title}, body: text, quotes: { type: component, component: part.quote, repeatable: true } }
    ${search}
`
const PLAIN = project('')
const TITLE = project('search: { attributes: { title: A } }')
const TEXTS = project('search: { attributes: { title: A, body: C, quotes.text: D } }')

const ROWS = `INSERT INTO articles (document_id, title, body, created_at, updated_at)
  SELECT 'd' || n, 'wine ' || n, 'red sauce', now(), now() FROM generate_series(1, 5) AS n;
  INSERT INTO components_part_quote (status, owner, owner_key, position, text)
  SELECT 'published', 'article.quotes', id, 1, 'zebra' FROM articles WHERE id = 2`

async function bring(database: Database, yaml: string, options: RunMigrationOptions = {}) {
  const done = await migrate(database, (await storageOf(yaml)).tables, options)
  return done.ok ? done.value.steps : done.reasons.map(({ code, message }) => `${code}: ${message}`)
}

async function planned(database: Database, yaml: string, options: { readonly manyRows?: number } = {}) {
  const { steps } = await planMigration(database, (await storageOf(yaml)).tables, options)
  return steps.map(({ weight, window, summary }) => `${weight} ${window}: ${summary}`)
}

const vectorOf = async (yaml: string): Promise<string> =>
  (await storageOf(yaml)).tables.flatMap(({ columns }) => columns).find(({ type }) => type === 'tsvector')
    ?.name ?? ''

const run = async (database: Database, statements: string): Promise<void> => {
  for (const text of statements.split(';')) await database.run({ text, values: [] })
}

async function count(database: Database, yaml: string, query: string): Promise<unknown> {
  const text = `SELECT count(*)::integer FROM articles WHERE "${await vectorOf(yaml)}" @@ websearch_to_tsquery('english', $1)`
  return (await database.run({ text, values: [query] })).rows[0]?.[0]
}

async function started(t: ExecutionContext, yaml = PLAIN): Promise<Database> {
  const database = await openTestDatabase(t)
  await bring(database, yaml)
  await run(database, ROWS)
  return database
}

test('adding a search is planned without risk and fills the rows that are there', async t => {
  const database = await started(t)
  const steps = await planned(database, TEXTS)
  const vector = await vectorOf(TEXTS)
  t.deepEqual(steps, [
    `safe expand: add column "${vector}" to "articles" (column "${vector}" of content-type \`article\`)`,
    'safe expand: let writes to "articles" fill its search vectors',
    'safe expand: fill the search vectors of "articles"',
    'safe expand: let writes to "components_part_quote" fill the search vectors of "articles"',
    steps.at(-1),
  ])
  t.regex(String(steps.at(-1)), /^safe expand: add index "articles__.*" to "articles"$/)
  await bring(database, TEXTS)
  t.is(await count(database, TEXTS, 'wine sauce'), 5)
  t.is(await count(database, TEXTS, 'zebra'), 1)
  t.deepEqual(await planned(database, TEXTS), [])
})

test('a changed search replaces its vectors, a removed one drops them, and an attribute can be renamed', async t => {
  const database = await started(t, TITLE)
  t.is(await count(database, TITLE, 'wine -3'), 4)
  await bring(database, TEXTS)
  t.is(await count(database, TEXTS, 'sauce'), 5)
  const { rows } = await database.run({
    text: `SELECT count(*)::integer FROM pg_proc WHERE proname LIKE 'plinth_search_%'`,
    values: [],
  })
  t.is(rows[0]?.[0], 2)
  const RENAMED = project('search: { attributes: { name: A } }', 'name: { type: string, renamedFrom: title }')
  await bring(database, RENAMED)
  t.is(await count(database, RENAMED, 'wine'), 5)
  await bring(database, project('', 'name: string'))
  t.deepEqual(await planned(database, project('', 'name: string')), [])
  const left = await database.run({
    text: `SELECT (SELECT count(*) FROM pg_proc WHERE proname LIKE 'plinth_search_%') + (SELECT count(*) FROM pg_attribute WHERE attname LIKE '\\_search\\_%' AND NOT attisdropped)`,
    values: [],
  })
  t.is(Number(left.rows[0]?.[0]), 0)
})

test('a searched attribute and one of a component change their types, and are searched by what is left of them', async t => {
  const database = await started(t, TEXTS)
  const LONG = TEXTS.replace('title: string', 'title: text')
  t.deepEqual(await planned(database, LONG), [
    'safe contract: drop the former search triggers of "articles"',
    'safe stop: change `title` of content-type `article` from character varying(255) to text',
    'safe expand: let writes to "articles" fill its search vectors',
  ])
  await bring(database, LONG)
  await run(
    database,
    `UPDATE articles SET title = repeat('wine ', 60) || 'kraken' WHERE id = 1;
    UPDATE components_part_quote SET text = repeat('zebra ', 60) || 'giraffe'`,
  )
  t.is(await count(database, LONG, 'kraken'), 1)
  t.is(await count(database, LONG, 'giraffe'), 1)
  const SHORT = TEXTS.replace('text: text', 'text: string')
  await bring(database, SHORT, { allowing: 'destructive' })
  t.is(await count(database, SHORT, 'wine'), 5)
  t.is(await count(database, SHORT, 'kraken'), 0)
  t.is(await count(database, SHORT, 'zebra'), 1)
  t.is(await count(database, SHORT, 'giraffe'), 0)
  t.deepEqual(await planned(database, SHORT), [])
})

test('vectors that a rolling deploy leaves to the older version are dropped after it', async t => {
  const database = await started(t, TITLE)
  await bring(database, TEXTS, { stage: 'expand' })
  t.is(await count(database, TITLE, 'wine'), 5)
  await run(database, `UPDATE articles SET title = 'beer' WHERE id < 3`)
  t.is(await count(database, TITLE, 'beer'), 2)
  t.is(await count(database, TEXTS, 'beer'), 2)
  const former = await vectorOf(TITLE)
  t.true(
    (await bring(database, TEXTS, { stage: 'all' })).includes(
      `drop column "${former}" of "articles" (content-type \`article\`)`,
    ),
  )
  t.is(await count(database, TEXTS, 'beer'), 2)
  t.deepEqual(await planned(database, TEXTS), [])
})

test('a large table is filled and indexed by an explicit migration only', async t => {
  const database = await started(t)
  const refused = await bring(database, TEXTS, { manyRows: 2 })
  t.regex(
    refused.join('\n'),
    /^too-large: the search vectors of "articles" cannot be filled at start, because the table holds 5 rows/,
  )
  const slow = (await planned(database, TEXTS, { manyRows: 2 })).filter(line => line.startsWith('slow'))
  t.is(slow.length, 2)
  await bring(database, TEXTS, { manyRows: 2, allowing: 'slow', stage: 'all' })
  t.is(await count(database, TEXTS, 'wine sauce'), 5)
  t.is(await count(database, TEXTS, 'zebra'), 1)
  t.deepEqual(await planned(database, TEXTS, { manyRows: 2 }), [])
})

test('a migration finds triggers that were dropped or disabled by hand, and fills what they missed', async t => {
  const database = await started(t, TITLE)
  const { rows } = await database.run({
    text: `SELECT tgname FROM pg_trigger WHERE tgname LIKE 'plinth_search_fill%'`,
    values: [],
  })
  await run(
    database,
    `ALTER TABLE articles DISABLE TRIGGER "${rows[0]?.[0]}"; UPDATE articles SET title = 'beer' WHERE id < 3`,
  )
  t.is(await count(database, TITLE, 'beer'), 0)
  t.deepEqual(await planned(database, TITLE), [
    'safe expand: let writes to "articles" fill its search vectors',
    'safe expand: fill the search vectors of "articles"',
  ])
  await bring(database, TITLE)
  t.is(await count(database, TITLE, 'beer'), 2)
})

test('texts beyond the limit of a vector are searched in part', async t => {
  const database = await started(t, TEXTS)
  const words = `SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 40000) AS n`
  await run(database, `UPDATE articles SET body = (${words}) || ' end', title = 'long' WHERE id = 1`)
  t.is(await count(database, TEXTS, 'long'), 1)
  await run(database, `UPDATE articles SET title = 'short', body = '' WHERE id = 1`)
  t.is(await count(database, TEXTS, 'short'), 1)
})

test('writes of other sessions fill the vectors, whatever their search path', async t => {
  const database = await started(t, TEXTS)
  await run(database, `DELETE FROM components_part_quote`)
  t.is(await count(database, TEXTS, 'zebra'), 0)
  const other = `SET search_path = pg_catalog; UPDATE public.articles SET title = 'Élan' WHERE id = 4; SET search_path = public`
  await run(database, other)
  t.is(await count(database, TEXTS, 'elan'), 1)
})

test('drafts that are switched on are searched', async t => {
  const database = await started(t, TEXTS)
  const drafts = TEXTS.replace('  article:\n', '  article:\n    draftAndPublish: true\n')
  await bring(database, drafts, { allowing: 'destructive', stage: 'all' })
  t.is(await count(database, drafts, 'wine sauce'), 10)
  t.is(await count(database, drafts, 'zebra'), 2)
  t.deepEqual(await planned(database, drafts), [])
})

const TYPOS = TEXTS.replace('quotes.text: D }', 'quotes.text: D }, typos: true')

const wordsOf = async (database: Database): Promise<readonly unknown[]> =>
  (
    await database.run({
      text: `SELECT DISTINCT word COLLATE "C" FROM plinth_words_articles ORDER BY 1`,
      values: [],
    })
  ).rows.map(([word]) => word)

test('typos that are switched on get the words of the rows that are there, and lose them without consent', async t => {
  const database = await started(t, TEXTS)
  t.deepEqual(
    (await planned(database, TYPOS)).filter(line => !line.startsWith('safe')),
    [],
  )
  await bring(database, TYPOS)
  t.deepEqual(await wordsOf(database), ['red', 'sauc', 'wine', 'zebra'])
  t.deepEqual(await planned(database, TYPOS), [])
  await run(database, `UPDATE articles SET title = 'natural wine 2024' WHERE id = 1`)
  await run(database, `UPDATE components_part_quote SET text = 'giraffe'`)
  t.deepEqual(await wordsOf(database), ['giraff', 'natur', 'red', 'sauc', 'wine', 'zebra'])
  await bring(database, TEXTS)
  t.deepEqual(await planned(database, TEXTS), [])
  t.is(await count(database, TEXTS, 'natural giraffe'), 0)
  t.is(await count(database, TEXTS, 'giraffe'), 1)
  await t.throwsAsync(wordsOf(database))
  await bring(database, TYPOS)
  t.deepEqual(await wordsOf(database), ['giraff', 'natur', 'red', 'sauc', 'wine'])
})

test('a large table is filled again after its triggers were dropped, and gets words when typos are switched on', async t => {
  const database = await started(t, TEXTS)
  const large = { manyRows: 2, allowing: 'slow', stage: 'all' } as const
  const { rows } = await database.run({
    text: `SELECT tgname FROM pg_trigger WHERE tgname LIKE 'plinth_search_fill%'`,
    values: [],
  })
  await run(
    database,
    `DROP TRIGGER "${rows[0]?.[0]}" ON articles; UPDATE articles SET title = 'beer' WHERE id < 3`,
  )
  await bring(database, TEXTS, large)
  t.is(await count(database, TEXTS, 'beer'), 2)
  await bring(database, TYPOS, large)
  t.deepEqual(await wordsOf(database), ['beer', 'red', 'sauc', 'wine', 'zebra'])
})

test('the words of a text beyond the limit of a vector are known', async t => {
  const database = await started(t, TYPOS)
  const long = `SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 40000) AS n`
  await run(database, `UPDATE articles SET body = 'landscape ' || (${long}), title = 'winery' WHERE id = 1`)
  const words = await wordsOf(database)
  t.true(['landscap', 'wineri'].every(word => words.includes(word)))
})

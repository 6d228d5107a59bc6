import test, { type ExecutionContext } from 'ava'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import type { Database } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { planSchema } from '../../core/migrate/plan-steps.ts'
import type { Statement } from '../../core/sql/statement.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { faultsOf, storageOf } from '../model/compiled.ts'
import { must, parseRequest, toStatement } from '../plan/golden.ts'

const attributes = '{ title: string, body: text, pages: integer, tags: json }'
const INDEXED = `indexes: [[pages], { attributes: [title, body, pages, documentId], kind: text }]`
const types = (keys = INDEXED) => `
contentTypes:
  book: { attributes: ${attributes}, ${keys} }
  plain: { attributes: ${attributes} }
roles: { public: { permissions: { book: [find], plain: [find] } } }
`

async function blueprintOf(yaml: string): Promise<Blueprint> {
  const folder = temporaryFolder()
  try {
    folder.write('project.yaml', `name: Library\n${yaml}`)
    return must(await compileApp(folder.path, {}))
  } finally {
    folder.remove()
  }
}

const PIECES = [
  'wine',
  'WINE',
  'Éa',
  'éa',
  'ÅNGström',
  'ß',
  'İi',
  'Σας',
  '%',
  '_',
  '\\',
  '50 %',
  'a',
  'ab',
  ' ',
  '👩‍👧',
  'e\u0301',
  '日本語',
]

/** Deterministic, so that a failure can be repeated. */
function pieces(): () => string {
  let state = 11
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  return () =>
    Array.from({ length: 1 + next(3) }, () => PIECES[next(PIECES.length)]).join(next(2) === 0 ? '' : ' ')
}

/** A table that fits into a few pages would be read as a whole. */
async function runByIndex(database: Database, { text, values }: Statement): Promise<readonly unknown[][]> {
  return database.transaction(async transaction => {
    await transaction.run({ text: 'SET LOCAL enable_seqscan = off', values: [] })
    const { rows } = await transaction.run({ text, values })
    return rows.map(row => [...row])
  })
}

async function filled(t: ExecutionContext, blueprint: Blueprint): Promise<Database> {
  const database = await openTestDatabase(t)
  must(await migrate(database, blueprint.storage.tables))
  const text = pieces()
  const rows = Array.from({ length: 100 }, (_, n) => [`d${n}`, text(), `${text()} ${text()}`, n])
  const values = rows.map(
    (_, at) => `($${at * 4 + 1}, $${at * 4 + 2}, $${at * 4 + 3}, $${at * 4 + 4}::integer, now(), now())`,
  )
  const insert = (table: string) =>
    `INSERT INTO ${table} (document_id, title, body, pages, created_at, updated_at) VALUES ${values.join(', ')}`
  await database.run({ text: insert('books'), values: rows.flat() })
  await database.run({
    text: `INSERT INTO books (document_id, title, body, pages, created_at, updated_at)
      SELECT 'f' || n, md5(n::text), md5(n::text) || md5(n::text), n, now(), now() FROM generate_series(1000, 6000) AS n`,
    values: [],
  })
  await database.run({ text: 'INSERT INTO plains SELECT * FROM books', values: [] })
  return database
}

const OPERATORS = [
  '$contains',
  '$containsi',
  '$notContains',
  '$notContainsi',
  '$startsWith',
  '$startsWithi',
  '$endsWith',
  '$endsWithi',
  '$eq',
  '$eqi',
  '$nei',
]

test('results are the same with and without text indexes, for any text', async t => {
  const blueprint = await blueprintOf(types())
  const database = await filled(t, blueprint)
  const text = pieces()
  const ask = async (plural: string, query: string) => {
    const { query: parsed, shape } = parseRequest(`GET /api/${plural}?${query}`, blueprint)
    return runByIndex(database, toStatement(parsed, shape, blueprint))
  }
  for (let round = 0; round < 33; round++) {
    const value = encodeURIComponent(text())
    const operator = OPERATORS[round % OPERATORS.length]
    for (const filter of [
      `filters[title][${operator}]=${value}`,
      `filters[$or][0][body][${operator}]=${value}&filters[$or][1][title]=x`,
      `_q=${value}`,
    ]) {
      const query = `${filter}&fields=title&sort=pages&pagination[pageSize]=100`
      t.deepEqual(await ask('books', query), await ask('plains', query), decodeURIComponent(query))
    }
  }
})

test('the operators on texts and _q read the text indexes', async t => {
  const blueprint = await blueprintOf(types())
  const database = await filled(t, blueprint)
  const planOf = async (query: string) => {
    const { query: parsed, shape } = parseRequest(`GET /api/books?${query}`, blueprint)
    const { text, values } = toStatement(parsed, shape, blueprint)
    const rows = await runByIndex(database, { text: `EXPLAIN ${text}`, values })
    return rows.map(([line]) => String(line)).join('\n')
  }
  for (const operator of [
    '$contains',
    '$containsi',
    '$startsWith',
    '$startsWithi',
    '$endsWith',
    '$endsWithi',
    '$eqi',
  ])
    for (const name of ['title', 'body'])
      t.regex(
        await planOf(`filters[${name}][${operator}]=0cc175b9c0f1b6a8`),
        new RegExp(`Index Scan on books__${name}__text`),
        operator,
      )
  const plan = await planOf('_q=0cc175b9c0f1b6a8')
  for (const name of ['title', 'body', 'pages', 'document_id'])
    t.true(plan.includes(`books__${name}__text`), plan)
})

test('a migration installs the extension, and adds, renames and drops text indexes', async t => {
  const database = await openTestDatabase(t)
  const tablesOf = async (yaml: string) => (await storageOf(yaml)).tables
  const planned = async (yaml: string) =>
    (await planMigration(database, await tablesOf(yaml))).steps.map(({ summary }) => summary)
  must(await migrate(database, await tablesOf(types('indexes: []'))))
  t.deepEqual(await planned(types()), [
    'install the extension pg_trgm',
    'add index "books__pages__index" to "books"',
    'add index "books__title__text" to "books"',
    'add index "books__body__text" to "books"',
    'add index "books__pages__text" to "books"',
    'add index "books__document_id__text" to "books"',
  ])
  must(await migrate(database, await tablesOf(types())))
  t.deepEqual(await planned(types()), [])
  const renamed = types('indexes: [{ attributes: [name, pages], kind: text }]').replace(
    'title: string',
    'name: { type: string, renamedFrom: title }',
  )
  t.true((await planned(renamed)).includes('rename index "books__title__text" to "books__name__text"'))
  must(await migrate(database, await tablesOf(renamed)))
  t.deepEqual(await planned(renamed), [])
  const none = types('indexes: []').replace('title: string', 'name: string')
  t.deepEqual(await planned(none), [
    'drop index "books__name__text" of "books"',
    'drop index "books__pages__text" of "books"',
  ])
})

test('a text index stays in a type whose attributes are named like a type or a schema of PostgreSQL', async t => {
  const database = await openTestDatabase(t)
  const { tables } = await storageOf(`contentTypes:
  book:
    draftAndPublish: true
    indexes: [{ attributes: [title, text, pages], kind: text }, [text]]
    attributes:
      title: { type: string, unique: true, required: true }
      text: string
      pages: integer
      ${database.schema}: string
      kind: { type: enumeration, enum: [text, character] }`)
  t.true((await migrate(database, tables)).ok)
  const { steps } = await planMigration(database, tables)
  t.deepEqual(
    steps.map(({ summary }) => summary),
    [],
  )
})

test('a plan that cannot have the extension is refused with what to do', async t => {
  const { tables } = await storageOf(types())
  const catalogue = {
    schema: 'public',
    tables: new Map(),
    otherNames: new Set<string>(),
    owned: new Map(),
    damaged: [],
  }
  const refused = (trigrams: { isAvailable: boolean; mayCreate: boolean }) =>
    planSchema(tables, { ...catalogue, trigrams: { schema: null, ...trigrams } }).refusals.map(
      ({ code, message }) => `${code}: ${message}`,
    )
  const what =
    'no-extension: the index of kind text of "books" (content-type `book`) needs the extension pg_trgm'
  t.deepEqual(refused({ isAvailable: false, mayCreate: true }), [
    `${what}, which this server does not have: install it there (Debian: the package postgresql-contrib), or remove the index`,
  ])
  t.deepEqual(refused({ isAvailable: true, mayCreate: false }), [
    `${what}, which this user may not install: run \`CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA "public"\` as the owner of the database, or remove the index`,
  ])
  t.deepEqual(refused({ isAvailable: true, mayCreate: true }), [])
})

test('without the extension, a search without typos is what remains', async t => {
  const { tables } = await storageOf(
    'contentTypes: { book: { search: { attributes: { title: A }, typos: true }, attributes: { title: string } } }',
  )
  const { refusals } = planSchema(tables, {
    ...{ schema: 'public', tables: new Map(), otherNames: new Set<string>(), owned: new Map(), damaged: [] },
    trigrams: { schema: null, isAvailable: false, mayCreate: true },
  })
  t.deepEqual(
    refusals.map(({ message }) => message),
    [
      '`typos` of the search of "plinth_words_books" (search words of content-type `book`) needs the extension pg_trgm, which this server does not have: install it there (Debian: the package postgresql-contrib), or remove `typos`',
    ],
  )
})

test('an index of kind text names texts, numbers and the documentId', async t => {
  const faults = await faultsOf(types('indexes: [{ attributes: [titel, tags, documentId], kind: text }]'))
  t.deepEqual(
    faults.map(fault => fault.replace(/^\S+ /, '')),
    [
      'contentTypes.book.indexes[0].attributes[0]: unknown attribute `titel`: did you mean `title`?',
      'contentTypes.book.indexes[0].attributes[1]: `book.tags` is of type json: an index of kind text takes `documentId` and attributes of type string, text, richtext, email, uid, enumeration, integer, biginteger, decimal, float',
    ],
  )
})

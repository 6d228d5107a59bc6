import test from 'ava'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { storageOf } from '../model/compiled.ts'
import { forget, schemaCase } from './schema-case.ts'

// Whatever of the names of a type, a component or an attribute changes, its rows and links stay.

const TAGS = '  tag: { attributes: { name: string } }\n'
const type = (head: string, more = '') => `contentTypes:
  ${head}attributes: { title: string, tags: { type: relation, relation: manyToMany, target: tag }, seo: { type: component, component: shared.seo } }${more} }
${TAGS}components:
  shared.seo: { attributes: { text: string } }
`
const BEFORE = type('article: { ')

const FILL = [
  `INSERT INTO articles (document_id, title, created_at, updated_at, published_at) VALUES ('a', 'one', now(), now(), now())`,
  `INSERT INTO tags (document_id, name, created_at, updated_at, published_at) VALUES ('t', 'red', now(), now(), now())`,
  `INSERT INTO articles_tags_links (owner_id, target_key, position) VALUES (1, 1, 1)`,
  `INSERT INTO components_shared_seo (status, owner, owner_key, position, text) VALUES ('published', 'article.seo', 1, 1, 'x')`,
]

/** All tables, indexes and sequences. */
const NAMES = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind <> 't' ORDER BY 1`

for (const [name, after, tables] of [
  ['pluralApiId', type('article: { pluralApiId: essays, '), ['essays', 'essays_tags_links', 'article.seo']],
  ['tableName', type('article: { tableName: texts, '), ['texts', 'texts_tags_links', 'article.seo']],
  [
    'pluralApiId, displayName and tableName',
    type('article: { pluralApiId: essays, displayName: Essay, tableName: texts, '),
    ['texts', 'texts_tags_links', 'article.seo'],
  ],
  ['the key', type('essay: { renamedFrom: article, '), ['essays', 'essays_tags_links', 'essay.seo']],
  [
    'the key and the plural',
    type('essay: { renamedFrom: article, pluralApiId: writings, '),
    ['writings', 'writings_tags_links', 'essay.seo'],
  ],
  [
    'the key, but not the table',
    type('essay: { renamedFrom: article, tableName: articles, '),
    ['articles', 'articles_tags_links', 'essay.seo'],
  ],
] as const)
  test(`a type keeps its rows, links and components if ${name} changes`, async t => {
    const one = await schemaCase(t)
    await one.started(BEFORE)
    for (const text of FILL) await one.sql(text)
    const steps = await one.started(after)
    const [table, links, owner] = tables
    t.deepEqual(await one.sql(`SELECT title FROM ${table}`), [['one']], steps.join('\n'))
    t.deepEqual(await one.sql(`SELECT owner_id, target_key FROM ${links}`), [[1, 1]])
    t.deepEqual(await one.sql('SELECT owner, text FROM components_shared_seo'), [[owner, 'x']])
    const fresh = await schemaCase(t)
    await fresh.started(after)
    t.deepEqual(await one.sql(NAMES), await fresh.sql(NAMES))
    const again = await planMigration(one.database, (await storageOf(after)).tables)
    t.deepEqual([...again.steps, ...again.refusals, ...again.left], [])
  })

test('a renamed type whose plural had changed before is found by the name that created its table', async t => {
  const one = await schemaCase(t)
  await one.started(type('article: { pluralApiId: essays, '))
  await one.sql(
    `INSERT INTO essays (document_id, title, created_at, updated_at, published_at) VALUES ('a', 'one', now(), now(), now())`,
  )
  await one.started(type('story: { renamedFrom: article, '))
  t.deepEqual(await one.sql('SELECT title FROM stories'), [['one']])
})

test('a plural that changes twice between starts, and back again, keeps the rows', async t => {
  const one = await schemaCase(t)
  await one.started(BEFORE)
  await one.sql(FILL[0] ?? '')
  for (const plural of ['essays', 'texts', 'articles']) {
    await one.started(type(`article: { pluralApiId: ${plural}, `))
    await forget(one)
    t.deepEqual(await one.sql(`SELECT title FROM ${plural}`), [['one']])
  }
})

test('a key that changes without renamedFrom is refused with the line to add', async t => {
  const one = await schemaCase(t)
  await one.started(BEFORE)
  for (const text of FILL) await one.sql(text)
  const refused = await one.refused(type('essay: { '))
  t.regex(refused.join('\n'), /`renamedFrom: article` in `essay`/)
  t.regex(refused.join('\n'), /--allow-destructive/)
})

test('two types that swap their tables are refused', async t => {
  const one = await schemaCase(t)
  const two = (a: string, b: string) =>
    `contentTypes:\n  a: { tableName: ${a}, attributes: { x: string } }\n  b: { tableName: ${b}, attributes: { x: string } }\n`
  await one.started(two('one', 'two'))
  const refused = await one.refused(two('two', 'one'))
  t.regex(refused.join('\n'), /table "two" .* holds the rows of `api::b\.b`/)
})

test('a type that takes the table of one that is gone does not get its documents unasked', async t => {
  const one = await schemaCase(t)
  const type = (key: string, more = '') =>
    `contentTypes: { ${key}: { tableName: texts, ${more} attributes: { title: string } } }`
  await one.started(type('essay'))
  t.deepEqual(await one.refused(type('note')), [])
  await one.started(type('essay'))
  await one.sql(
    `INSERT INTO texts (document_id, created_at, updated_at, title) VALUES ('a', now(), now(), 'Dune')`,
  )
  t.deepEqual(await one.refused(type('note')), [
    'table "texts" (content-type `note`) holds 1 row of content-type `essay`, which is no longer in the project: put it back, name it as `renamedFrom: essay` of its successor, give this one another `tableName`, or delete the rows: DELETE FROM "public"."texts"',
  ])
  await one.started(type('note', 'renamedFrom: essay,'))
  await one.started(type('note'))
  t.deepEqual(await one.sql('SELECT title FROM texts'), [['Dune']])
})

import test from 'ava'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { storageOf } from '../model/compiled.ts'
import { schemaCase } from './schema-case.ts'

const STAMPS = 'document_id, created_at, updated_at, published_at'
const NOW = 'now(), now(), now()'

const CASES = [
  {
    kind: 'column',
    attribute: (former = '') => `{ type: string${former} }`,
    fill: `INSERT INTO books (${STAMPS}, a) VALUES ('b', ${NOW}, 'kept')`,
    read: 'SELECT b FROM books',
    expected: 'kept',
    what: 'column "a" of table "books" (content-type `book`) is no longer in the project and has values in 1 row',
    names: ['b', 'a'],
    back: 'put the attribute back',
    given: 'its values',
    drop: (name: string) => `ALTER TABLE "public"."books" DROP COLUMN "${name}"`,
  },
  {
    kind: 'column',
    attribute: (former = '') => `{ type: relation, relation: manyToOne, target: tag${former} }`,
    fill: `INSERT INTO books (${STAMPS}, a_key) SELECT 'b', ${NOW}, id FROM tags`,
    read: 'SELECT b_key::integer FROM books',
    expected: 1,
    what: 'column "a_key" of table "books" (content-type `book`) is no longer in the project and has values in 1 row',
    names: ['b_key', 'a_key'],
    back: 'put the attribute back',
    given: 'its values',
    drop: (name: string) => `ALTER TABLE "public"."books" DROP COLUMN "${name}"`,
  },
  {
    kind: 'table',
    attribute: (former = '') => `{ type: relation, relation: manyToMany, target: tag${former} }`,
    fill: `WITH b AS (INSERT INTO books (${STAMPS}) VALUES ('b', ${NOW}) RETURNING id) INSERT INTO books_a_links (owner_id, target_key, position) SELECT b.id, tags.id, 1 FROM b, tags`,
    read: 'SELECT target_key::integer FROM books_b_links',
    expected: 1,
    what: 'table "books_a_links" (attribute `book.a`) is no longer in the project and holds 1 row',
    names: ['books_b_links', 'books_a_links'],
    back: 'put it back',
    given: 'its rows',
    drop: (name: string) => `DROP TABLE "public"."${name}"`,
  },
] as const

const yaml = (attributes: string) => `
contentTypes:
  tag: { attributes: { name: string } }
  book: { attributes: { title: string${attributes} } }
`

for (const [index, { kind, attribute, fill, read, expected, ...one }] of CASES.entries())
  test(`a rename to the name of a ${kind} that a removed attribute left is refused with its way out (${index + 1})`, async t => {
    const site = await schemaCase(t)
    await site.started(yaml(`, a: ${attribute()}, b: ${attribute()}`))
    await site.started(yaml(`, a: ${attribute()}`))
    await site.sql(`INSERT INTO tags (${STAMPS}) VALUES ('t', ${NOW})`)
    await site.sql(fill)
    const renamed = yaml(`, b: ${attribute(', renamedFrom: a')}`)
    const [now, then] = one.names
    const lost = `, which ${kind} "${now}" (\`renamedFrom\`) does not get, because it is there already`
    t.deepEqual(await site.refused(renamed), [
      `${one.what}${lost}: ${one.back}, drop the other one first with ${one.drop(now)}, or give ${one.given} up with \`plinth migrate --allow-destructive\`, or with: ${one.drop(then)}`,
    ])
    const { steps } = await planMigration(site.database, (await storageOf(renamed)).tables)
    const lossy = steps.filter(({ weight }) => weight === 'destructive').flatMap(({ notes }) => notes)
    t.deepEqual(lossy, [`loses ${kind === 'column' ? 'values in ' : ''}1 row${lost}`])
    await site.sql(one.drop(now))
    await site.started(renamed)
    t.deepEqual(await site.sql(read), [[expected]])
  })

test('a removed type whose successor has a table already is not advised to be named as renamedFrom', async t => {
  const site = await schemaCase(t)
  const types = (more: string) => `contentTypes: { ${more} }`
  await site.started(types('old: { attributes: { a: string } }, fresh: { attributes: { a: string } }'))
  await site.started(types('old: { attributes: { a: string } }'))
  await site.sql(`INSERT INTO olds (${STAMPS}, a) VALUES ('b', ${NOW}, 'kept')`)
  const renamed = types('fresh: { renamedFrom: old, attributes: { a: string } }')
  const [taken, vanished] = await site.refused(renamed)
  t.regex(taken ?? '', /^content-type `fresh` is renamed from `old`, but the database has both/)
  t.regex(
    vanished ?? '',
    /^table "olds" \(content-type `old`\) .* which table "freshes" \(`renamedFrom`\) does not get, because it is there already: put it back, drop the other one first with DROP TABLE "public"."freshes", or/,
  )
  await site.sql('DROP TABLE freshes')
  await site.started(renamed)
  t.deepEqual(await site.sql('SELECT a FROM freshes'), [['kept']])
})

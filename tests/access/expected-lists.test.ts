import test from 'ava'
import { checkedProjectStorage } from '../../core/access/compile/compile-access.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { compiled, tableOf } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'
import { printIndex } from '../model/print-tables.ts'

const project = (indexes: 'derived' | 'declared', permissions: string, declared = '') => `
database: { indexes: ${indexes} }
contentTypes:
  article:
    draftAndPublish: true
    localized: true
    ${declared}
    attributes:
      title: string
      body: text
      featured: boolean
      kind: { type: enumeration, enum: [news, opinion] }
      rating: integer
      day: date
      owner: { type: relation, relation: manyToOne, target: person }
  person: { attributes: { name: string } }
  front: { kind: single, attributes: { line: string } }
roles:
  public: { permissions: { article: { find: ${permissions} } } }
`

async function tablesOf(yaml: string) {
  const declared = await declare(yaml)
  const storage = checkedProjectStorage(declared, compiled(declared))
  if (!storage.ok) throw new Error(storage.reasons.map(({ message }) => message).join('\n'))
  return storage.value
}

/** Permissions that are not declared and not implied. */
async function added(permissions: string, { table = 'articles', declared = '' } = {}) {
  const indexes = async (mode: 'derived' | 'declared') =>
    tableOf(await tablesOf(project(mode, permissions, declared)), table).indexes.map(printIndex)
  const bare = await indexes('declared')
  return (await indexes('derived')).filter(index => !bare.includes(index))
}

const STAMPS = ['index (status, locale, created_at)', 'index (locale, published_at) where status = published']

test('lists sorted by a timestamp have an index, except by updatedAt and for single types', async t => {
  t.deepEqual(await added('true'), STAMPS)
  t.deepEqual(await added('true', { table: 'people' }), ['index (created_at)'])
  t.deepEqual(await added('true', { table: 'fronts' }), [])
  const declared = 'indexes: [[publishedAt, kind], [createdAt]]'
  t.deepEqual(await added('true', { declared }), [])
})

for (const [where, index] of [
  ['{ featured: true }', 'featured'],
  ['{ rating: { $gte: 3 }, kind: news }', 'kind, rating'],
  ['{ kind: { $in: [news] }, day: { $notNull: true } }', 'kind, day'],
  ['{ $or: [{ featured: true }, { rating: { $lt: 0 } }] }', 'featured, rating'],
  ['{ $not: { kind: { $eq: opinion } } }', 'kind'],
  ['{ title: { $containsi: a }, kind: news }', 'kind'],
  ['{ owner: { name: { $ne: Eve } }, kind: news }', 'kind'],
] as const) {
  test(`a permission with ${where} has an index`, async t => {
    t.deepEqual(await added(`{ where: ${where} }`), [`index (status, locale, ${index})`, ...STAMPS])
  })
}

for (const where of [
  '{ owner: { id: { $eq: 5 } }, featured: true }',
  '{ title: { $contains: a } }',
  '{ body: { $null: true } }',
  '{ id: { $in: [1] } }',
  '{ $or: [{ featured: true }, { owner: { name: a } }] }',
]) {
  test(`a permission with ${where} has no index, because none would serve it`, async t => {
    t.deepEqual(await added(`{ where: ${where} }`), STAMPS)
  })
}

test('a declared index also serves a condition', async t => {
  const declared = 'indexes: [[rating, kind, day]]'
  t.deepEqual(await added('{ where: { kind: news, rating: 5 } }', { declared }), STAMPS)
  t.deepEqual(await added('{ where: { day: { $null: false } } }', { declared }), [
    'index (status, locale, day)',
    ...STAMPS,
  ])
})

test('many roles with different conditions cause at most five indexes', async t => {
  const names = ['title', 'featured', 'kind', 'rating', 'day', 'createdAt']
  const roles = names.map(
    name => `  r${name}: { permissions: { article: { find: { where: { ${name}: { $null: true } } } } } }`,
  )
  const storage = await tablesOf(`${project('derived', 'false').trimEnd()}\n${roles.join('\n')}\n`)
  const indexes = tableOf(storage, 'articles').indexes.map(printIndex)
  t.is(indexes.filter(index => index.startsWith('index (status, locale, ')).length, 5 + 1)
})

test('a changed permission replaces its index while the running version keeps serving', async t => {
  const database = await openTestDatabase(t)
  const wanting = async (where: string) => (await tablesOf(project('derived', `{ where: ${where} }`))).tables
  const done = await migrate(database, await wanting('{ featured: true }'))
  t.true(done.ok)
  const { steps, refusals } = await planMigration(database, await wanting('{ rating: { $gt: 3 } }'))
  t.deepEqual(refusals, [])
  t.deepEqual(
    steps.map(({ weight, window, summary }) => [weight, window, summary]),
    [
      ['safe', 'expand', 'drop index "articles__status__locale__featured__index" of "articles"'],
      ['safe', 'expand', 'add index "articles__status__locale__rating__index" to "articles"'],
    ],
  )
})

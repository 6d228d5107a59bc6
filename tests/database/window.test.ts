import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import type { Stage } from '../../core/migrate/migration-options.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { openWritingOver } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { modelOf } from '../model/compiled.ts'

const OLD = `
components: { shared.seo: { attributes: { title: string } } }
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      gone: { type: string, required: true }
      seo: { type: component, component: shared.seo }
      extra: { type: component, component: shared.seo }
  book:
    attributes:
      title: string
      kind: { type: enumeration, enum: [a, b] }
      gone: { type: string, required: true }
`

const NEW = `
components: { shared.seo: { attributes: { title: string, more: { type: integer, required: true, default: 3 } } } }
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: { type: string }
      rating: { type: integer, required: true, backfill: 5 }
      seo: { type: component, component: shared.seo, repeatable: true }
      books: { type: relation, relation: manyToMany, target: book, inversedBy: articles }
  book:
    indexes: [[title]]
    attributes:
      title: { type: string, unique: true }
      kind: { type: enumeration, enum: [a, b, c] }
      pages: { type: integer, required: true, backfill: 100 }
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: books }
  shelf: { attributes: { name: { type: string, required: true } } }
`

async function versions(t: Parameters<typeof openTestDatabase>[0]) {
  const database = await openTestDatabase(t)
  const [oldModel, newModel] = [await modelOf(OLD), await modelOf(NEW)]
  const bring = async (model: typeof oldModel, stage: Stage) => {
    const done = await migrate(database, compileStorage(model).tables, {
      stage,
      allowing: stage === 'start' ? 'safe' : 'slow',
    })
    return done.ok ? done.value.steps : done.reasons.map(({ code }) => code)
  }
  await bring(oldModel, 'start')
  return {
    database,
    older: openWritingOver(database, oldModel),
    newer: openWritingOver(database, newModel),
    bring: (version: 'older' | 'newer', stage: Stage) =>
      bring(version === 'older' ? oldModel : newModel, stage),
    plan: (stage: 'expand' | 'all' = 'all') =>
      planMigration(database, compileStorage(newModel).tables, { stage }),
  }
}

test('expand steps keep the older version reading and writing, and contract steps follow after it ended', async t => {
  const { older, newer, bring, plan, database } = await versions(t)
  const first = await older.create('article', {
    title: 'one',
    gone: 'x',
    seo: { title: 's' },
    extra: { title: 'e' },
  })
  const book = await older.create('book', { title: 'b', kind: 'a', gone: 'x' })
  const whole = await plan()
  t.deepEqual([...new Set(whole.steps.map(({ window }) => window))].sort(), ['contract', 'expand'])
  const expanding = await plan('expand')
  t.true(expanding.steps.length > 4)
  t.deepEqual(
    await bring('newer', 'expand'),
    expanding.steps.map(({ summary }) => summary),
  )
  // The older version does not write a new required attribute, so its column keeps the default for now.
  const statements = (steps: typeof whole.steps) => steps.flatMap(step => step.statements).join('; ')
  t.regex(statements(whole.steps), /"pages" DROP DEFAULT/)
  t.notRegex(statements(expanding.steps), /"pages" DROP DEFAULT/)
  t.deepEqual((await plan('expand')).steps, [])
  t.deepEqual(await bring('newer', 'expand'), [])

  // Either version restarts meanwhile, and changes nothing.
  t.deepEqual(await bring('newer', 'start'), [])
  t.deepEqual(await bring('older', 'start'), [])
  const second = await older.create('book', { title: 'c', kind: 'b', gone: 'y' })
  const third = await newer.create('book', { title: 'd', kind: 'c', pages: 7, articles: [first.documentId] })
  t.is((await newer.find('book', second.documentId))?.pages, 100)
  t.is((await newer.find('book', book.documentId))?.pages, 100)
  t.like(await older.find('book', third.documentId), { title: 'd', kind: 'c', gone: null })
  await older.update('book', third.documentId, { title: 'e', kind: 'a', gone: 'z' })
  t.like(await newer.find('book', third.documentId), { title: 'e', pages: 7 })
  const written = await older.create('article', { title: 'two', gone: 'y', seo: { title: 't' } })
  await older.update('article', first.documentId, { title: 'One' })
  t.is((await newer.find('article', first.documentId))?.rating, 5)
  await newer.create('article', { rating: 1, seo: [{ title: 'n' }] })
  await newer.create('shelf', { name: 's' })

  const rest = await plan()
  t.true(rest.steps.length > 0 && rest.steps.every(({ window }) => window === 'contract'))
  // `gone` holds what the project has given up: only said aloud does it go.
  t.deepEqual(await bring('newer', 'all'), ['vanished-column', 'vanished-column', 'vanished-rows'])
  await database.run({ text: 'UPDATE articles SET gone = NULL', values: [] })
  await database.run({ text: 'UPDATE books SET gone = NULL', values: [] })
  await database.run({ text: `DELETE FROM components_shared_seo WHERE owner = 'article.extra'`, values: [] })
  const empty = await plan()
  t.deepEqual(
    await bring('newer', 'all'),
    empty.steps.map(({ summary }) => summary),
  )
  t.deepEqual((await plan()).steps, [])
  t.is((await newer.find('article', written.documentId))?.rating, 5)
  t.deepEqual(await bring('newer', 'all'), [])
  await t.throwsAsync(database.run({ text: 'UPDATE books SET pages = NULL', values: [] }))
})

test('breaking steps do not run while an older version serves', async t => {
  const { database, bring } = await versions(t)
  const later = async (yaml: string) => {
    const tables = compileStorage(await modelOf(yaml)).tables
    const done = await migrate(database, tables, { stage: 'expand', allowing: 'destructive' })
    return done.ok ? done.value.steps : done.reasons.map(({ message }) => message)
  }
  t.deepEqual(
    await later(
      OLD.replace('title: string\n      kind', 'name: { type: string, renamedFrom: title }\n      kind'),
    ),
    [
      'this cannot be done while another version is serving: rename column "title" of "books" to "name": end that one, and run `plinth migrate`',
    ],
  )
  t.regex(
    String(await later(OLD.replace('  book:\n', '  book:\n    draftAndPublish: true\n'))),
    /content-type `book`: make what is there published/,
  )
  t.deepEqual(await bring('older', 'all'), [])
})

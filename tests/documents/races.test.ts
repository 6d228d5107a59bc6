import test from 'ava'
import type { Database, Transaction } from '../../core/database/database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { modelOf } from '../model/compiled.ts'
import { openWriting, openWritingOver, type Row, refusal } from './writing.ts'

const model = await modelOf(`
components:
  shared.seo: { attributes: { metaTitle: { type: string, required: true } } }
  shared.link: { attributes: { label: string, url: string } }
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      code: { type: string, unique: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      best: { type: relation, relation: oneToOne, target: author, inversedBy: bestOf }
      categories: { type: relation, relation: manyToMany, target: category, inversedBy: articles }
      seo: { type: component, component: shared.seo }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.link] }
  author:
    attributes:
      name: { type: string, required: true }
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
      bestOf: { type: relation, relation: oneToOne, target: article, mappedBy: best }
  category:
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: categories }
  setting: { kind: single, attributes: { name: string } }
`)

const times = <Value>(count: number, work: (index: number) => Promise<Value>): Promise<Value[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)))

test.serial(
  'one of many concurrent writes of a unique value succeeds, the others get a conflict',
  async t => {
    const { tryCreate, rows } = await openWriting(t, model)
    const results = await times(6, index => tryCreate('article', { title: `t${index}`, code: 'same' }))
    t.is(results.filter(({ ok }) => ok).length, 1)
    for (const result of results)
      if (!result.ok)
        t.like(refusal(result), {
          status: 400,
          name: 'ValidationError',
          message: 'This attribute must be unique',
        })
    t.deepEqual(await rows('SELECT count(*) FROM articles'), [[2]])
  },
)

test.serial('the last of many concurrent writes of a one-to-one partner keeps it', async t => {
  const { create, tryUpdate, rows, find } = await openWriting(t, model)
  const author = await create('author', { name: 'a' })
  const articles = await times(5, index => create('article', { title: `t${index}` }))
  const results = await times(5, index =>
    tryUpdate('article', String(articles[index]?.documentId), { best: author.documentId }),
  )
  t.true(results.every(({ ok }) => ok))
  t.deepEqual(
    await rows('SELECT status, count(*) FROM articles WHERE best_key IS NOT NULL GROUP BY 1 ORDER BY 1'),
    [
      ['draft', 1],
      ['published', 1],
    ],
  )
  t.truthy((await find('author', author.documentId))?.bestOf)
})

test.serial('concurrent updates of one document are all applied', async t => {
  const { create, tryUpdate, find } = await openWriting(t, model)
  const article = await create('article', { title: 'x' }, { status: 'draft' })
  const categories = await times(6, index => create('category', { name: `c${index}` }))
  const results = await times(6, index =>
    tryUpdate('article', String(article.documentId), {
      categories: { connect: [categories[index]?.documentId] },
    }),
  )
  t.true(results.every(({ ok }) => ok))
  t.is(((await find('article', article.documentId)) as { categories: unknown[] }).categories.length, 6)
})

test.serial('components of concurrent updates replace each other', async t => {
  const { create, tryUpdate, rows } = await openWriting(t, model)
  const { documentId } = await create('article', { title: 'x' }, { status: 'draft' })
  const results = await times(8, index => {
    const links = [{ label: `${index}` }, { url: `${index}` }]
    return tryUpdate('article', String(documentId), { links }, { status: 'draft' })
  })
  t.true(results.every(({ ok }) => ok))
  t.deepEqual(await rows('SELECT count(*), max(label) = max(url) FROM components_shared_link'), [[2, true]])
})

test.serial('a deletion removes the components of a concurrent update', async t => {
  const { create, tryUpdate, tryRemove, rows } = await openWriting(t, model)
  const links = [{ label: 'a' }, { label: 'b' }]
  const articles = await times(6, index =>
    create('article', { title: `t${index}`, links }, { status: 'draft' }),
  )
  await Promise.all(
    articles.flatMap(({ documentId }) => [
      tryUpdate('article', String(documentId), { links }, { status: 'draft' }),
      tryRemove('article', String(documentId)),
    ]),
  )
  t.deepEqual(await rows('SELECT count(*) FROM articles'), [[0]])
  t.deepEqual(await rows('SELECT count(*) FROM components_shared_link'), [[0]])
})

test.serial('one of many concurrent writes creates the document of a single type', async t => {
  const { tryUpdate, rows } = await openWriting(t, model)
  const results = await times(4, index => tryUpdate('setting', null, { name: `s${index}` }))
  t.true(results.every(({ ok }) => ok))
  t.deepEqual(await rows('SELECT count(*) FROM settings'), [[1]])
})

/** The single type's rows are gone after `times` searches for them, as if another request had deleted them. */
function deletingAfterFound(database: Database, times: number): Database {
  let left = times
  const deleting = (transaction: Transaction): Transaction => ({
    ...transaction,
    run: async statement => {
      const found = await transaction.run(statement)
      if (statement.name === 'find the document of setting' && found.rows.length > 0 && left-- > 0)
        await transaction.run({ text: 'DELETE FROM settings', values: [] })
      return found
    },
  })
  const transaction: Database['transaction'] = (work, options) =>
    database.transaction(own => work(deleting(own)), options)
  return { ...database, transaction }
}

test.serial('an update of a single type that is deleted at the same time creates it', async t => {
  const database = await openTestDatabase(t)
  await migrate(database, compileStorage(model).tables)
  const { tryUpdate, rows } = openWritingOver(deletingAfterFound(database, 1), model)
  const first = await tryUpdate('setting', null, { name: 'first' })
  const second = await tryUpdate('setting', null, { name: 'second' })
  t.true(first.ok && second.ok)
  t.deepEqual(await rows('SELECT name FROM settings'), [['second']])
  const tagged = openWritingOver(deletingAfterFound(database, 1), model)
  const refused = await tagged.tryUpdate('setting', null, { name: 'third' }, { tags: ['"of the second"'] })
  t.is(refusal(refused).status, 412)
})

test.serial('a write that is refused half-way is rolled back', async t => {
  const { tryCreate, tryUpdate, create, find, rows } = await openWriting(t, model)
  const seo = { metaTitle: 'kept' }
  const made = await create('article', { title: 'x', seo })
  const before = await find('article', made.documentId)
  const never = { kind: 'or', filters: [] } as const
  const values = { title: 'y', seo: { metaTitle: 'gone' }, links: [{ label: 'l' }] }
  const forbidden = { conditions: { after: never } }
  t.is(refusal(await tryUpdate('article', String(made.documentId), values, forbidden)).status, 403)
  t.is(
    refusal(await tryUpdate('article', String(made.documentId), values, { conditions: { before: never } }))
      .status,
    403,
  )
  t.is(refusal(await tryCreate('article', values, forbidden)).status, 403)
  t.deepEqual(await find('article', made.documentId), before)
  t.deepEqual(await rows('SELECT count(*) FROM components_shared_link'), [[0]])
  t.deepEqual(await rows('SELECT count(*) FROM articles'), [[2]])
})

test.serial('documents that a caller may not find cannot be linked to', async t => {
  const { create, tryCreate } = await openWriting(t, model)
  const author = await create('author', { name: 'a' })
  const type = [...model.contentTypes.values()].find(({ key }) => key === 'author')
  const targets = new Map(type ? [[type, []]] : [])
  const result = await tryCreate(
    'article',
    { title: 'x', author: author.documentId },
    { conditions: { targets } },
  )
  t.is(refusal(result).message, `Document with id "${author.documentId}", locale "null" not found`)
})

test.serial(
  'a document with every kind of attribute is created in few statements, and updating one value costs few',
  async t => {
    const { create, update, statements } = await openWriting(t, model)
    const author = await create('author', { name: 'a' })
    const ids = (await times(3, index => create('category', { name: `c${index}` }))).map(
      each => each.documentId,
    )
    statements.length = 0
    const seo = { metaTitle: 's' }
    const links = [{ label: 'a' }, { label: 'b' }]
    const blocks = [
      { __component: 'shared.seo', ...seo },
      { __component: 'shared.link', label: 'c' },
    ]
    const made: Row = await create('article', {
      title: 'x',
      code: 'u',
      author: author.documentId,
      categories: ids,
      seo,
      links,
      blocks,
    })
    t.true(statements.length <= 9, statements.join('\n'))
    statements.length = 0
    await update('article', made.documentId, { title: 'y' }, { status: 'draft' })
    t.deepEqual(statements, ['update articles', statements.at(-1) ?? ''])
    statements.length = 0
    await update('article', made.documentId, { title: 'z' })
    t.true(statements.length <= 9, statements.join('\n'))
    statements.length = 0
    await update('author', author.documentId, { name: 'b' })
    t.is(statements.length, 2, statements.join('\n'))
  },
)

import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { names, openWriting, refusal } from './writing.ts'

const model = await modelOf(`
components:
  shared.seo: { attributes: { metaTitle: { type: string, required: true }, note: string } }
  shared.link: { attributes: { label: string, url: { type: string, minLength: 3 } } }
contentTypes:
  article:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true, minLength: 3 }
      rating: { type: integer, max: 10 }
      code: { type: string, unique: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      categories: { type: relation, relation: manyToMany, target: category, inversedBy: articles }
      seo: { type: component, component: shared.seo }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.link] }
  author:
    attributes:
      name: { type: string, required: true }
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  category:
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: categories }
`)

test('publishing a change publishes the whole draft, earlier draft-only changes included, and ids stay', async t => {
  const { create, update, find } = await openWriting(t, model)
  const made = await create('article', { title: 'One', seo: { metaTitle: 'seo', note: 'kept' } })
  t.is(made.title, 'One')
  t.truthy(made.publishedAt)
  const { documentId } = made
  await update('article', documentId, { rating: 4 }, { status: 'draft' })
  t.is((await find('article', documentId))?.rating, null)
  const seo = (await find('article', documentId, { status: 'draft' }))?.seo as { id: number }
  const after = await update('article', documentId, { seo: { id: seo.id, metaTitle: 'new' } })
  t.is(after.id, made.id)
  t.is(after.rating, 4)
  t.deepEqual(after.seo, { id: seo.id, metaTitle: 'new', note: 'kept' })
  t.true(String(after.updatedAt) >= String(made.updatedAt))
})

test('relations follow connect, disconnect, set and positions', async t => {
  const { create, update } = await openWriting(t, model)
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) ids.push(String((await create('category', { name })).documentId))
  const [a, b, c, d] = ids
  const made = await create('article', { title: 'One', categories: [a, b] })
  t.deepEqual(names(made.categories), ['a', 'b'])
  const change = (categories: unknown) => update('article', made.documentId, { categories })
  t.deepEqual(
    names((await change({ connect: [c, { documentId: d, position: { before: a } }] })).categories),
    ['d', 'a', 'b', 'c'],
  )
  t.deepEqual(names((await change({ connect: [a], disconnect: [b] })).categories), ['d', 'c', 'a'])
  t.deepEqual(names((await change({ set: [b, b, a] })).categories), ['b', 'a'])
  t.deepEqual(names((await change(null)).categories), [])
})

test('a refused write reports all errors', async t => {
  const { tryCreate, tryUpdate, create } = await openWriting(t, model)
  t.like(refusal(await tryCreate('article', { title: 'ab', rating: 11 })), {
    message: 'rating must be less than or equal to 10',
  })
  t.like(refusal(await tryCreate('article', { title: 'ab', links: [{ url: 'x' }] })), {
    message: '2 errors occurred',
  })
  const many = refusal(
    await tryCreate('article', { title: 'abc', links: Array.from({ length: 1_500 }, () => ({ url: 'x' })) }),
  )
  t.is(many.message, '1500 errors occurred')
  t.is((many.details as { errors: readonly unknown[] }).errors.length, 1_000)
  t.like(refusal(await tryCreate('author', {})), { message: 'name must be defined.' })
  await create('article', { title: 'One', code: 'x' })
  t.like(refusal(await tryCreate('article', { title: 'Two', code: 'x' })), {
    message: 'This attribute must be unique',
  })
  t.like(refusal(await tryCreate('article', { title: 'Two', author: 'abcdefghijklmnopqrstuvwx' })), {
    message: 'Document with id "abcdefghijklmnopqrstuvwx", locale "null" not found',
  })
  t.is(refusal(await tryUpdate('article', 'abcdefghijklmnopqrstuvwx', {})).status, 404)
})

import test from 'ava'
import { modelOf } from '../model/compiled.ts'
import { names, openWriting, refusal } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.seo: { attributes: { title: { type: string, required: true }, note: string } }
contentTypes:
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true, unique: true }
      count: { type: integer, localized: false }
      parts: { type: component, component: shared.seo, repeatable: true }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: pages }
  tag:
    draftAndPublish: true
    attributes:
      name: string
      pages: { type: relation, relation: manyToMany, target: page, mappedBy: tags }
  setting:
    kind: single
    draftAndPublish: true
    attributes: { name: { type: string, required: true } }
  note:
    attributes: { name: string }
`)

const draft = { status: 'draft' } as const
const fr = { locale: 'fr' } as const

test('publishing copies the draft to the published version and returns it', async t => {
  const { create, update, change, find, tryChange } = await openWriting(t, model)
  const tag = await create('tag', { name: 'a' })
  const parts = [{ title: 'one' }, { title: 'two' }]
  const { documentId: id } = await create('page', { title: 'x', parts, tags: [tag.documentId] }, draft)
  const [published, ...none] = await change('publish', 'page', id)
  t.deepEqual(none, [])
  t.like(published, { documentId: id, title: 'x', locale: 'en' })
  t.truthy(published?.publishedAt)
  t.deepEqual(names(published?.parts, 'title'), ['one', 'two'])
  t.deepEqual(names(published?.tags), ['a'])
  await update('page', id, { title: 'y', count: 2, parts: [] }, draft)
  t.like(await find('page', id), { title: 'x', count: null })
  t.like((await change('publish', 'page', id))[0], { title: 'y', count: 2, parts: [], id: published?.id })
  const other = await create('page', { title: 'y' }, draft)
  t.is(
    refusal(await tryChange('publish', 'page', String(other.documentId))).message,
    'This attribute must be unique',
  )
  const empty = await create('page', {}, draft)
  t.is(
    refusal(await tryChange('publish', 'page', String(empty.documentId))).message,
    'title must be a `string` type, but the final value was: `null`.',
  )
})

test('unpublishing keeps the draft, and every link to the document for when it is published again', async t => {
  const { create, change, find, rows } = await openWriting(t, model)
  const page = await create('page', { title: 'x', parts: [{ title: 'one' }] })
  const tag = await create('tag', { name: 'a', pages: [page.documentId] })
  const [left] = await change('unpublish', 'page', page.documentId)
  t.like(left, { title: 'x', publishedAt: null })
  t.is(await find('page', page.documentId), null)
  t.deepEqual((await find('tag', tag.documentId))?.pages, [])
  t.deepEqual(names((await find('tag', tag.documentId, draft))?.pages, 'title'), ['x'])
  t.deepEqual(await rows('SELECT status FROM components_shared_seo'), [['draft']])
  t.deepEqual(await change('unpublish', 'page', page.documentId), [])
  await change('publish', 'page', page.documentId)
  t.deepEqual(names((await find('tag', tag.documentId))?.pages, 'title'), ['x'])
})

test('a discarded draft equals the published version, and counts as unmodified', async t => {
  const { create, update, change, find, rows } = await openWriting(t, model)
  const tag = await create('tag', { name: 'a' })
  const page = await create('page', { title: 'x', parts: [{ title: 'one' }], tags: [tag.documentId] })
  const id = page.documentId
  await update('page', id, { title: 'fr', count: 1 }, fr)
  await update('page', id, { title: 'changed', parts: [{ title: 'two' }], tags: [], count: 7 }, draft)
  await update('page', id, { title: 'changed too' }, { ...draft, ...fr })
  const [back] = await change('discardDraft', 'page', id)
  t.like(back, { title: 'x', count: 1, publishedAt: null })
  t.deepEqual(names(back?.parts, 'title'), ['one'])
  t.deepEqual(names(back?.tags), ['a'])
  t.deepEqual(names(back?.parts, 'id'), names(page.parts, 'id'))
  t.is((await find('page', id, { ...draft, ...fr }))?.title, 'changed too')
  const modified = await rows(
    `SELECT d.locale, d.updated_at > p.updated_at FROM pages d JOIN pages p USING (document_key, locale) WHERE d.status = 'draft' AND p.status = 'published' ORDER BY 1`,
  )
  t.deepEqual(modified, [
    ['en', false],
    ['fr', true],
  ])
})

test('a status change applies to all locales of a document, or to none', async t => {
  const { create, update, change, tryChange, find } = await openWriting(t, model)
  const { documentId: id } = await create('page', { title: 'en' }, draft)
  await update('page', id, { title: null }, { ...draft, ...fr })
  t.is(refusal(await tryChange('publish', 'page', String(id), { all: true })).status, 400)
  t.is(await find('page', id), null)
  await update('page', id, { title: 'fr' }, { ...draft, ...fr })
  t.deepEqual(names(await change('publish', 'page', id, { all: true }), 'title'), ['en', 'fr'])
  await change('unpublish', 'page', id, fr)
  t.is(await find('page', id, fr), null)
  t.is((await find('page', id))?.title, 'en')
  t.deepEqual(names(await change('discardDraft', 'page', id, { all: true }), 'title'), ['en'])
  t.is((await change('unpublish', 'page', id, { all: true })).length, 1)
})

test('a missing document, or a type without drafts, has no status to change', async t => {
  const { create, change, tryChange } = await openWriting(t, model)
  const page = await create('page', { title: 'en' }, draft)
  const note = await create('note', { name: 'n' })
  for (const kind of ['publish', 'unpublish', 'discardDraft'] as const) {
    t.is(refusal(await tryChange(kind, 'page', 'abcdefghijklmnopqrstuvwx')).status, 404)
    t.is(refusal(await tryChange(kind, 'page', String(page.documentId), fr)).status, 404)
    t.is(refusal(await tryChange(kind, 'setting', null)).status, 404)
    const dry = refusal(await tryChange(kind, 'note', String(note.documentId)))
    t.is(dry.name, 'ValidationError')
    t.regex(
      String(dry.message),
      /^Documents of note cannot be .+: the type has no drafts \(draftAndPublish\)$/,
    )
  }
  t.deepEqual(await change('discardDraft', 'page', page.documentId), [])
  await create('setting', { name: 's' }, draft)
  t.is(names(await change('publish', 'setting', null))?.toString(), 's')
  t.is(names(await change('unpublish', 'setting', null))?.toString(), 's')
})

test('a caller who may publish some documents cannot change the status of others', async t => {
  const { create, tryChange } = await openWriting(t, model)
  const type = [...model.contentTypes.values()].find(({ key }) => key === 'page')
  const attribute = type?.attributes.get('title')
  if (attribute?.kind !== 'scalar') return t.fail()
  const mine = { kind: 'comparison', attribute, operator: '$eq', values: ['mine'] } as const
  const conditions = { before: mine, after: null }
  const own = await create('page', { title: 'mine' }, draft)
  const other = await create('page', { title: 'his' })
  for (const kind of ['publish', 'unpublish', 'discardDraft'] as const) {
    t.is(refusal(await tryChange(kind, 'page', String(other.documentId), { conditions })).status, 403)
    t.true((await tryChange(kind, 'page', String(own.documentId), { conditions })).ok)
  }
})

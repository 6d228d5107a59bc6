import test from 'ava'
import { entityTag } from '../../core/base/text.ts'
import { modelOf } from '../model/compiled.ts'
import { openWriting, refusal } from './writing.ts'

const model = await modelOf(`
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.deep: { attributes: { word: string } }
  shared.seo: { attributes: { title: string, deep: { type: component, component: shared.deep }, page: { type: relation, relation: oneToOne, target: page } } }
contentTypes:
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      shared: { type: string, localized: false }
      seo: { type: component, component: shared.seo, localized: false }
      parts: { type: component, component: shared.seo, repeatable: true }
      next: { type: relation, relation: oneToOne, target: page }
  note:
    attributes:
      name: string
      pages: { type: relation, relation: manyToMany, target: page }
      page: { type: relation, relation: manyToOne, target: page }
  setting:
    kind: single
    attributes: { name: string }
`)

test('deleting a locale keeps the others and their shared values; deleting the last removes every link', async t => {
  const { create, update, remove, find, rows } = await openWriting(t, model)
  const seo = { title: 's', deep: { word: 'w' } }
  const { documentId } = await create('page', { title: 'en', shared: 'x', seo, parts: [seo] })
  await update('page', documentId, { title: 'fr', parts: [seo, seo] }, { locale: 'fr' })
  await update('page', documentId, { next: documentId })
  const other = await create('page', { title: 'other', next: documentId })
  const pages = [documentId, { documentId, locale: 'fr' }]
  const note = await create('note', { name: 'n', pages, page: { documentId, locale: 'fr' } })
  t.is((note.pages as unknown[]).length, 2)
  await remove('page', documentId, { locale: 'fr' })
  const left = await find('note', note.documentId)
  t.is([left?.pages].flat().length, 1)
  t.is(left?.page, null)
  t.is(await find('page', documentId, { locale: 'fr' }), null)
  const en = await find('page', documentId)
  t.like(en, { title: 'en', shared: 'x', seo: { title: 's' } })
  t.deepEqual(await rows('SELECT count(*) FROM components_shared_deep'), [[4]])
  await remove('page', documentId)
  t.deepEqual(await rows('SELECT count(*) FROM components_shared_deep'), [[0]])
  t.deepEqual(await rows('SELECT count(*) FROM components_shared_seo'), [[0]])
  t.deepEqual(await rows('SELECT count(*) FROM notes_pages_links'), [[0]])
  t.deepEqual(await rows('SELECT count(*) FROM pages WHERE next_key IS NOT NULL'), [[0]])
  t.is((await find('page', other.documentId))?.next, null)
})

test('deleting a missing document is no error; a deleted single type can be created again', async t => {
  const { update, remove, find, tryRemove, tryUpdate } = await openWriting(t, model)
  await remove('note', 'abcdefghijklmnopqrstuvwx')
  await remove('setting', null)
  const first = await update('setting', null, { name: 'a' })
  t.is((await update('setting', null, {})).documentId, first.documentId)
  await remove('setting', null)
  t.is(await find('setting', null), null)
  t.is(refusal(await tryRemove('setting', null, { tags: ['*'] })).status, 412)
  t.is(refusal(await tryUpdate('setting', null, {}, { tags: ['*'] })).status, 412)
  t.not((await update('setting', null, { name: 'b' })).documentId, first.documentId)
})

test('a write is refused if the document changed since the caller read it', async t => {
  const { create, tryUpdate, tryRemove } = await openWriting(t, model)
  const made = await create('note', { name: 'n' })
  const id = String(made.documentId)
  t.is(refusal(await tryUpdate('note', id, { name: 'm' }, { tags: ['1'] })).status, 412)
  t.is(refusal(await tryRemove('note', id, { tags: ['1'] })).status, 412)
  const tag = entityTag(`<${JSON.stringify(made)}>`)
  t.true((await tryUpdate('note', id, { name: 'o' }, { tags: ['x', tag] })).ok)
  t.true((await tryRemove('note', id, { tags: ['*'] })).ok)
})

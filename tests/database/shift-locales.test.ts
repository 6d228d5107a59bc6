import test from 'ava'
import { names, type Row } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { stage } from './shift-case.ts'

// Locales that are renamed in the same redeploy as what their rows mean.

const project = (locales: string, book: string, shared = '') => `
i18n: ${locales}
components: { shared.seo: { attributes: { title: string } } }
contentTypes:
  tag: { localized: true, attributes: { name: string } }
  book:
    ${book}
    attributes:
      name: { type: string${shared} }
      seo: { type: component, component: shared.seo${shared} }
      tags: { type: relation, relation: manyToMany, target: tag }
      main: { type: relation, relation: manyToOne, target: tag }
`

const BEFORE = '{ defaultLocale: en, locales: [en, de, fr] }'
const RENAMED =
  '{ defaultLocale: en-GB, locales: [{ code: en-GB, renamedFrom: en }, { code: nl, renamedFrom: de }, fr] }'

test('a type that loses its locales keeps components and links of a default locale that is renamed at once', async t => {
  const first = await stage(await openTestDatabase(t), project(BEFORE, 'localized: true'))
  const tag = await first.create('tag', { name: 'a' })
  const links = { tags: [tag.documentId], main: tag.documentId }
  const { documentId: id } = await first.create('book', { name: 'Dune', seo: { title: 's' }, ...links })
  const after = project(RENAMED, '')
  t.deepEqual(await first.losses(after), [])
  const row = await (await first.become(after)).find('book', id)
  t.is((row?.seo as Row | null)?.title, 's')
  t.deepEqual([names(row?.tags), names(row?.main)], [['a'], 'a'])
})

test('what further locales lose is counted by the leading locale under its new code', async t => {
  const first = await stage(await openTestDatabase(t), project(BEFORE, 'localized: true'))
  const { documentId: id } = await first.create('book', { name: 'Dune' })
  await first.update('book', id, { seo: { title: 'de' } }, { locale: 'de' })
  const other = await first.create('book', { name: 'Emma' }, { locale: 'fr' })
  await first.update('book', other.documentId, { name: 'Emma', seo: { title: 'of de' } }, { locale: 'de' })
  const after = project(RENAMED, 'localized: true', ', localized: false')
  t.deepEqual(await first.losses(after), [
    'loses the other values of further locales in 1 row',
    'loses components of further locales in 2 rows',
  ])
  const then = await first.become(after)
  t.deepEqual((await then.find('book', id, { locale: 'nl' }))?.name, 'Dune')
  t.is((await then.find('book', other.documentId, { locale: 'nl' }))?.seo, null)
})

test('a type that loses its locales together with a change of the default one keeps the versions of the new one', async t => {
  const first = await stage(await openTestDatabase(t), project(BEFORE, 'localized: true'))
  const tags = [await first.create('tag', { name: 'a' }), await first.create('tag', { name: 'b' })]
  for (const [index, tag] of tags.entries())
    await first.update('tag', tag.documentId, { name: 'ab'[index] }, { locale: 'de' })
  const linked = (index: number) => ({ tags: [tags[index]?.documentId], main: tags[index]?.documentId })
  const { documentId: both } = await first.create('book', { name: 'en', seo: { title: 'en' }, ...linked(0) })
  await first.update('book', both, { name: 'de', seo: { title: 'de' }, ...linked(1) }, { locale: 'de' })
  const { documentId: old } = await first.create('book', { name: 'en', seo: { title: 'en' }, ...linked(0) })
  const { documentId: third } = await first.create('book', { name: 'fr' }, { locale: 'fr' })
  for (const locales of [
    '{ defaultLocale: de, locales: [de, en, fr] }',
    '{ defaultLocale: nl, locales: [{ code: nl, renamedFrom: de }, en, fr] }',
  ]) {
    const after = project(locales, '')
    t.deepEqual(await first.losses(after), [
      'loses 2 rows of other locales than de, with their components and links: "en (1)", "fr (1)"',
      `loses 1 row with no version in de or en, as documents: "${third} (1)"`,
    ])
  }
  const then = await first.become(
    project('{ defaultLocale: nl, locales: [{ code: nl, renamedFrom: de }, fr, en] }', ''),
  )
  const found = async (id: unknown) => {
    const row = await then.find('book', String(id))
    return row && [row.name, (row.seo as Row | null)?.title, names(row.tags), names(row.main)]
  }
  t.deepEqual(await found(both), ['de', 'de', ['b'], 'b'])
  t.deepEqual(await found(old), ['en', 'en', ['a'], 'a'])
  t.falsy(await found(third))
})

test('a type that loses its locales keeps those of the former default if the project never had the new one', async t => {
  const first = await stage(await openTestDatabase(t), project(BEFORE, 'localized: true'))
  const { documentId: id } = await first.create('book', { name: 'Dune', seo: { title: 's' } })
  const after = project('{ defaultLocale: pt, locales: [pt, en, de, fr] }', '')
  t.deepEqual(await first.losses(after), [])
  const row = await (await first.become(after)).find('book', id)
  t.deepEqual([row?.name, (row?.seo as Row | null)?.title], ['Dune', 's'])
})

import test from 'ava'
import { openSite, type Site } from '../content/site.ts'
import { modelOf } from '../model/compiled.ts'
import { openWriting } from './writing.ts'

const PROJECT = `
i18n: { locales: [en, fr], defaultLocale: en }
contentTypes:
  note: { attributes: { title: string, text: string, slug: { type: uid, targetField: title, generate: true } } }
  page:
    draftAndPublish: true
    localized: true
    attributes: { title: string, text: string, slug: { type: uid, targetField: title, generate: true } }
`

const slugsOf = async (site: Site, table: string): Promise<readonly string[]> =>
  (await site.rows(`SELECT concat_ws(' ', document_id, slug) FROM ${table} ORDER BY document_id, slug`)).map(
    ([slug]) => String(slug),
  )

test('a generated uid has the first free number, also among values of the same write', async t => {
  const before = [
    { documentId: 'a', title: 'One', slug: 'one' },
    { documentId: 'b', title: 'Two', slug: 'one-2' },
    { documentId: 'c', title: 'Three', slug: 'one-more' },
  ]
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/notes.yaml': JSON.stringify(before) })
  await site.must()
  const more = [
    { documentId: 'd', title: 'One' },
    { documentId: 'e', title: 'One' },
    { documentId: 'f', title: 'One 3' },
    { documentId: 'g', title: 'One' },
    { documentId: 'h', slug: 'one-4' },
    { documentId: 'i', title: 'One 3' },
    { documentId: 'j', title: '!' },
  ]
  await site.must({ 'content/notes.yaml': JSON.stringify([...before, ...more]) })
  t.deepEqual((await slugsOf(site, 'notes')).slice(3), [
    'd one-1',
    'e one-3',
    'f one-3-1',
    'g one-5',
    'h one-4',
    'i one-3-2',
    'j note',
  ])
})

test('a uid is made of a text as in Strapi: transliterated, with words in lower case', async t => {
  const slugs = {
    'Straße nach Österreich': 'strasse-nach-oesterreich',
    'Crème brûlée!': 'creme-brulee',
    'Новости дня': 'novosti-dnya',
    'Bread & butter': 'bread-and-butter',
    'My iPhone 12': 'my-i-phone-12',
    '１ ﬁsh_bone': '1-fish-bone',
    日本語: 'note',
    [`${'long '.repeat(50)}end`]: 'long-'.repeat(48).slice(0, -1),
  }
  const notes = Object.keys(slugs).map((title, index) => ({ documentId: `n${index}`, title }))
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/notes.yaml': JSON.stringify(notes) })
  await site.must()
  const wanted = Object.values(slugs).map((slug, index) => `n${index} ${slug}`)
  t.deepEqual(await slugsOf(site, 'notes'), wanted)
})

test('a generated uid is free among drafts and published versions of its locale', async t => {
  const before = [
    { documentId: 'a', title: 'One', slug: 'one' },
    { documentId: 'b', status: 'draft', title: 'Two', slug: 'one-1' },
    { documentId: 'c', title: 'Three', slug: 'three', locales: { fr: { title: 'Trois', slug: 'one-2' } } },
  ]
  const site = await openSite(t, { 'project.yaml': PROJECT, 'content/pages.yaml': JSON.stringify(before) })
  await site.must()
  const d = { documentId: 'd', title: 'One', locales: { fr: { title: 'One' } } }
  await site.must({ 'content/pages.yaml': JSON.stringify([...before, d]) })
  t.deepEqual(
    await site.rows(`SELECT DISTINCT locale, slug FROM pages WHERE document_id = 'd' ORDER BY locale`),
    [
      ['en', 'one-2'],
      ['fr', 'one'],
    ],
  )
})

test('generating a uid uses an index, for any number of documents', async t => {
  const site = await openSite(t, {
    'project.yaml': PROJECT,
    'content/pages.yaml': '[{ documentId: a, title: One }]',
  })
  await site.must()
  const statement = site.statements.find(({ name }) => name === 'find uids of page')
  await site.rows(
    `INSERT INTO pages (document_id, document_key, status, locale, slug, created_at, updated_at)
     SELECT 'p' || i, i, s, 'en', 'other-' || i, now(), now() FROM generate_series(10, 5000) AS i, unnest(ARRAY['draft', 'published']) AS s`,
  )
  await site.rows('ANALYZE pages')
  const plan = await site.rows(`EXPLAIN ${statement?.text}`, statement?.values)
  t.notRegex(plan.join('\n'), /Seq Scan on pages|Hash/)
})

test('an update that does not name a generated uid keeps it', async t => {
  const { create, update, find } = await openWriting(t, await modelOf(PROJECT))
  for (const key of ['note', 'page']) {
    for (const status of ['draft', 'published'] as const) {
      const { documentId, slug } = await create(key, { title: 'One' }, { status })
      t.regex(String(slug), /^one/)
      await update(key, documentId, { title: 'Another' }, { status })
      await update(key, documentId, { text: 'a' }, { status })
      t.like(
        await find(key, documentId, { status }),
        { title: 'Another', text: 'a', slug },
        `${key} ${status}`,
      )
      const emptied = await update(key, documentId, { slug: null }, { status })
      t.regex(String(emptied.slug), /^another/, 'it is generated again where it is emptied')
    }
  }
})

test('a uid that is generated again is not in the way of itself', async t => {
  const { create, update, find } = await openWriting(t, await modelOf(PROJECT))
  for (const key of ['note', 'page']) {
    const { documentId } = await create(key, { title: 'Own' })
    for (const slug of [null, '', null]) t.is((await update(key, documentId, { slug })).slug, 'own', key)
    t.is((await create(key, { title: 'Own' })).slug, 'own-1', key)
  }
  const [page] = [await create('page', { title: 'Draft' })]
  for (const slug of [null, '']) {
    await update('page', page.documentId, { slug }, { status: 'draft' })
    t.is((await find('page', page.documentId, { status: 'draft' }))?.slug, 'draft')
  }
})

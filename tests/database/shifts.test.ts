import test from 'ava'
import { names, type Row } from '../documents/writing.ts'
import { openTestDatabase } from '../support/database.ts'
import { stage } from './shift-case.ts'

const draft = { status: 'draft' } as const

/** What drafts and locales may be turned on for, with all that hangs on its documents. */
const project = (article: string, tag = '') => `
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.link: { attributes: { label: string, tag: { type: relation, relation: oneToOne, target: tag } } }
  shared.seo:
    attributes:
      title: string
      links: { type: component, component: shared.link, repeatable: true }
      tags: { type: relation, relation: oneToMany, target: tag }
contentTypes:
  article:
    ${article}
    attributes:
      title: { type: string, required: true }
      slug: { type: uid, targetField: title }
      seo: { type: component, component: shared.seo }
      zone: { type: dynamiczone, components: [shared.seo, shared.link] }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: articles }
      main: { type: relation, relation: manyToOne, target: tag, inversedBy: mains }
      related: { type: relation, relation: manyToMany, target: article }
      next: { type: relation, relation: oneToOne, target: article, inversedBy: previous }
      previous: { type: relation, relation: oneToOne, target: article, mappedBy: next }
  tag:
    ${tag}
    attributes:
      name: string
      articles: { type: relation, relation: manyToMany, target: article, mappedBy: tags }
      mains: { type: relation, relation: oneToMany, target: article, mappedBy: main }
  page:
    attributes:
      name: string
      best: { type: relation, relation: manyToOne, target: article }
      list: { type: relation, relation: manyToMany, target: article }
      seo: { type: component, component: shared.seo }
`

const PLAIN = project('')

async function filled(one: Awaited<ReturnType<typeof stage>>) {
  const { create, update } = one
  const a = await create('tag', { name: 'a' })
  const b = await create('tag', { name: 'b' })
  const [ta, tb] = [a.documentId, b.documentId]
  const seo = { title: 's', links: [{ label: 'l1', tag: ta }, { label: 'l2' }], tags: [tb, ta] }
  const first = await create('article', { title: 'First', seo, tags: [tb, ta], main: ta })
  const zone = [
    { __component: 'shared.link', label: 'z1', tag: tb },
    { __component: 'shared.seo', title: 'z2', links: [{ label: 'deep', tag: ta }] },
  ]
  const second = await create('article', {
    title: 'Second',
    zone,
    related: [first.documentId],
    tags: [ta],
    main: ta,
    next: first.documentId,
  })
  await update('article', first.documentId, { related: [second.documentId, first.documentId] })
  const page = await create('page', {
    name: 'p',
    best: first.documentId,
    list: [second.documentId, first.documentId],
    seo: { title: 'ps', tags: [ta] },
  })
  return { first, second, page, a, b }
}

/** What shows of an article, in the words of what it holds. */
const wordsOf = (row: Row | null) => ({
  title: row?.title,
  seo: partOf(row?.seo as Row | null),
  zone: (row?.zone as Row[] | undefined)?.map(partOf),
  tags: names(row?.tags),
  main: names(row?.main),
  related: names(row?.related, 'title'),
  next: names(row?.next, 'title'),
  previous: names(row?.previous, 'title'),
})

const partOf = (part: Row | null): unknown =>
  part && {
    id: part.id,
    title: part.title,
    label: part.label,
    tag: names(part.tag),
    tags: names(part.tags),
    links: (part.links as Row[] | undefined)?.map(partOf),
  }

test.serial(
  'drafts turned on: all is published with an equal draft, and so is all that it leads to',
  async t => {
    const plain = await stage(await openTestDatabase(t), PLAIN)
    const { first, second, page, a } = await filled(plain)
    const before = await plain.find('article', first.documentId)
    const other = await plain.find('article', second.documentId)
    const tag = await plain.find('tag', a.documentId)
    t.deepEqual(await plain.losses(project('draftAndPublish: true')), [])
    const drafts = await plain.become(project('draftAndPublish: true'))
    for (const where of [draft, {}]) {
      t.deepEqual(wordsOf(await drafts.find('article', first.documentId, where)), wordsOf(before))
      t.deepEqual(wordsOf(await drafts.find('article', second.documentId, where)), wordsOf(other))
      const found = await drafts.find('page', page.documentId, where)
      t.is(names(found?.best, 'title'), 'First')
      t.deepEqual(names(found?.list, 'title'), ['Second', 'First'])
      const seen = await drafts.find('tag', a.documentId, where)
      t.deepEqual(names(seen?.articles, 'title'), names(tag?.articles, 'title'))
      t.deepEqual(names(seen?.mains, 'title'), names(tag?.mains, 'title'))
    }
    t.is((await drafts.find('article', first.documentId))?.id, before?.id)
    t.is((await drafts.find('article', first.documentId, draft))?.publishedAt, null)
    await drafts.update(
      'article',
      first.documentId,
      { title: 'New', seo: null, tags: [], next: second.documentId },
      draft,
    )
    t.deepEqual(wordsOf(await drafts.find('article', first.documentId)), wordsOf(before))
    t.is((await drafts.find('article', first.documentId, draft))?.title, 'New')
    await drafts.change('publish', 'article', first.documentId)
    t.is((await drafts.find('article', first.documentId))?.seo, null)
    await drafts.create('article', { title: 'Third' })
  },
)

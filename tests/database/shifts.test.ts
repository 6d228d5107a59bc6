import test from 'ava'
import { names, type Row, type Where } from '../documents/writing.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { type Stage, stage } from './shift-case.ts'

const draft = { status: 'draft' } as const

/** The types whose drafts and locales are turned on, with all their relations and components. */
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

type Filled = Awaited<ReturnType<typeof filled>>

async function filled(one: Stage) {
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

/** The visible state of an article. */
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

const BOTH = [draft, {}]

const seen = async (one: Stage, id: unknown, where: Where = {}) =>
  wordsOf(await one.find('article', id, where))

const pageWords = (row: Row | null) => ({
  best: names(row?.best, 'title'),
  list: names(row?.list, 'title'),
  seo: partOf(row?.seo as Row | null),
})

/** All that shows of the documents that `filled` makes. */
async function shown(one: Stage, { first, second, page, a, b }: Filled, where: Where = {}) {
  const tags = await Promise.all([a, b].map(tag => one.find('tag', tag.documentId, where)))
  return {
    first: await seen(one, first.documentId, where),
    second: await seen(one, second.documentId, where),
    page: pageWords(await one.find('page', page.documentId, where)),
    articles: tags.map(tag => names(tag?.articles, 'title')),
    mains: tags.map(tag => names(tag?.mains, 'title')),
  }
}

const [D, L] = ['draftAndPublish: true', 'localized: true']
const DL = `${D}\n    ${L}`

/** Articles and tags: drafts are turned on and off on either side, with the other and without. */
const TURNS = [
  [D, ''],
  [D, DL],
  ['', L],
  [L, D],
  [DL, ''],
  ['', D],
  [DL, DL],
  ['', ''],
] as const

test.serial('turning drafts and locales on and off without dependent rows loses nothing visible', async t => {
  const database = await openTestDatabase(t)
  let one = await stage(database, PLAIN)
  const documents = await filled(one)
  const before = await shown(one, documents)
  for (const [article, tag] of TURNS) {
    const words = `article: ${article || 'plain'}; tag: ${tag || 'plain'}`
    t.deepEqual(await one.losses(project(article, tag)), [], words)
    one = await one.become(project(article, tag))
    for (const where of BOTH) t.deepEqual(await shown(one, documents, where), before, words)
  }
})

test.serial(
  'turning drafts on publishes every document with an equal draft, related documents included',
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

const fr = { locale: 'fr' } as const

test.serial('turning drafts off removes what was never published, and counts it before', async t => {
  const one = await stage(await openTestDatabase(t), project('draftAndPublish: true'))
  const { first, second, page } = await filled(one)
  const unseen = await one.create('article', { title: 'Unseen', seo: { title: 'u' } }, draft)
  await one.update('article', first.documentId, { title: 'Edited', seo: null, tags: [] }, draft)
  await one.update('page', page.documentId, {
    best: unseen.documentId,
    list: [unseen.documentId, first.documentId],
  })
  const published = [await seen(one, first.documentId), await seen(one, second.documentId)]
  t.deepEqual(await one.losses(PLAIN), [
    `loses 1 row of documents that were never published, with their components and links: "${unseen.documentId} (1)"`,
    `loses changes not yet published in 1 row: "${first.documentId} (1)"`,
  ])
  const plain = await one.become(PLAIN)
  t.deepEqual([await seen(plain, first.documentId), await seen(plain, second.documentId)], published)
  t.is(await plain.find('article', unseen.documentId), null)
  t.deepEqual(pageWords(await plain.find('page', page.documentId)), {
    best: undefined,
    list: ['First'],
    seo: pageWords(page).seo,
  })
  t.deepEqual(
    await plain.rows(
      'SELECT count(*)::integer FROM articles WHERE id NOT IN (SELECT owner_key FROM components_shared_seo WHERE owner = $$article.seo$$ UNION SELECT owner_key FROM components_shared_link)',
    ),
    [[0]],
  )
})

test.serial(
  'turning locales off keeps the default locale, and counts the values of others before',
  async t => {
    const localized = project('localized: true\n    draftAndPublish: true')
    const one = await stage(await openTestDatabase(t), localized)
    const { first, second, page, a } = await filled(one)
    const english = await seen(one, first.documentId)
    await one.update(
      'article',
      first.documentId,
      { title: 'Premier', tags: [a.documentId], seo: { title: 'fr' } },
      fr,
    )
    const alone = await one.create('article', { title: 'Seul', seo: { title: 'seul' } }, fr)
    await one.update('page', page.documentId, {
      list: [{ documentId: first.documentId, locale: 'fr' }, alone.documentId, second.documentId].slice(0, 1),
    })
    t.deepEqual(await one.losses(project('draftAndPublish: true')), [
      'loses 4 rows of other locales than en, with their components and links: "fr (4)"',
      `loses 2 rows with no version in en, as documents: "${alone.documentId} (2)"`,
    ])
    const drafts = await one.become(project('draftAndPublish: true'))
    for (const where of BOTH) {
      t.deepEqual(await seen(drafts, first.documentId, where), english)
      t.is(await drafts.find('article', alone.documentId, where), null)
      t.deepEqual(names((await drafts.find('page', page.documentId, where))?.list, 'title'), ['First'])
    }
    t.deepEqual(
      await drafts.rows(`SELECT count(*)::integer FROM components_shared_seo WHERE title IN ('fr', 'seul')`),
      [[0]],
    )
  },
)

const shares = (shared: boolean) => `
i18n: { defaultLocale: en, locales: [en, fr] }
components:
  shared.note: { attributes: { text: string, notes: { type: component, component: shared.sub, repeatable: true } } }
  shared.sub: { attributes: { text: string, tags: { type: relation, relation: oneToMany, target: tag } } }
contentTypes:
  tag: { attributes: { name: string } }
  article:
    localized: true
    draftAndPublish: true
    attributes:
      title: string
      count: { type: integer, localized: ${!shared} }
      note: { type: component, component: shared.note, localized: ${!shared} }
      image: { type: media, localized: ${!shared} }
      images: { type: media, multiple: true, localized: ${!shared} }
`

test.serial('a shared attribute may become localized, and a localized one shared', async t => {
  const one = await stage(await openTestDatabase(t), shares(true))
  const tag = await one.create('tag', { name: 'a' })
  const file = (name: string) =>
    one.rows(`INSERT INTO plinth_files (document_id, created_at, updated_at, name, hash, mime, size, url, provider)
      VALUES ('${name}', now(), now(), '${name}', '${name}', 'image/png', 1, '/${name}', 'local') RETURNING id`)
  await file('x')
  await file('y')
  await file('z')
  const note = { text: 'n', notes: [{ text: 's1', tags: [tag.documentId] }, { text: 's2' }] }
  const { documentId: id } = await one.create('article', {
    title: 'en',
    count: 1,
    note,
    image: 'x',
    images: ['y', 'x'],
  })
  await one.update('article', id, { title: 'fr' }, fr)
  await one.update('article', id, { title: 'de brouillon' }, { ...draft, ...fr })
  const words = (row: Row | null) => {
    const own = row?.note as Row | undefined
    const notes = own?.notes as Row[] | undefined
    return {
      count: row?.count,
      text: own?.text,
      notes: notes?.map(each => [each.text, names(each.tags)]),
      image: names(row?.image),
      images: names(row?.images),
    }
  }
  const all = async (stage: Stage) =>
    Promise.all(
      [{}, draft, fr, { ...draft, ...fr }].map(async where => words(await stage.find('article', id, where))),
    )
  const before = await all(one)
  t.deepEqual(before[3], {
    count: 1,
    text: 'n',
    notes: [
      ['s1', ['a']],
      ['s2', []],
    ],
    image: 'x',
    images: ['y', 'x'],
  })
  t.deepEqual(await one.losses(shares(false)), [])
  const apart = await one.become(shares(false))
  t.deepEqual(await all(apart), before)
  await apart.update('article', id, { note: { text: 'autre' }, count: 2, images: ['x', 'z'] }, fr)
  const changed = await all(apart)
  t.deepEqual([changed[0], changed[1]], [before[0], before[1]])
  t.deepEqual(changed[2], { count: 2, text: 'autre', notes: [], image: 'x', images: ['x', 'z'] })
  t.deepEqual(await apart.losses(shares(true)), [
    'loses the other values of further locales in 2 rows',
    'loses components of further locales in 2 rows',
    'loses links of further locales in 2 rows',
  ])
  t.deepEqual(await all(await apart.become(shares(true))), before)
})

const parts = (attributes: string) => `
components:
  shared.inner: { attributes: { text: string } }
  shared.one: { attributes: { text: string, inner: { type: component, component: shared.inner } } }
  shared.two: { attributes: { text: string } }
contentTypes:
  page: { draftAndPublish: true, attributes: { name: string${attributes} } }
`

const one = (text: string) => ({ __component: 'shared.one', text, inner: { text: `in ${text}` } })
const two = (text: string) => ({ __component: 'shared.two', text })

const SINGLE = ', part: { type: component, component: shared.one }'
const LIST = ', part: { type: component, component: shared.one, repeatable: true }'
const ZONE = ', part: { type: dynamiczone, components: [shared.one, shared.two] }'
const OTHER = ', part: { type: component, component: shared.two }'

interface PartsChange {
  readonly change: string
  readonly before: string
  readonly after: string
  readonly held: unknown
  readonly losses: readonly string[]
  /** The remaining values as text. */
  readonly stays: readonly string[]
}

const changesOfParts: readonly PartsChange[] = [
  { change: 'one to a list', before: SINGLE, after: LIST, held: one('a'), losses: [], stays: ['a in a'] },
  {
    change: 'a list to one',
    before: LIST,
    after: SINGLE,
    held: [one('a'), one('b')],
    losses: ['loses components after the first in 2 rows', 'loses 2 rows of nested components'],
    stays: ['a in a'],
  },
  {
    change: 'a list of one to one',
    before: LIST,
    after: SINGLE,
    held: [one('a')],
    losses: [],
    stays: ['a in a'],
  },
  { change: 'one to a zone', before: SINGLE, after: ZONE, held: one('a'), losses: [], stays: ['a in a'] },
  {
    change: 'a zone to a list',
    before: ZONE,
    after: LIST,
    held: [two('x'), one('a'), one('b')],
    losses: ['loses 2 rows: "page.part (2)"'],
    stays: ['a in a', 'b in b'],
  },
  {
    change: 'another component',
    before: SINGLE,
    after: OTHER,
    held: one('a'),
    losses: ['loses 2 rows: "page.part (2)"', 'loses 2 rows of nested components'],
    stays: [],
  },
  {
    change: 'another name',
    before: SINGLE,
    after: SINGLE.replace('part: {', 'piece: { renamedFrom: part,'),
    held: one('a'),
    losses: [],
    stays: ['a in a'],
  },
  {
    change: 'gone',
    before: SINGLE,
    after: '',
    held: one('a'),
    losses: ['loses 2 rows: "page.part (2)"', 'loses 2 rows of nested components'],
    stays: [],
  },
  { change: 'gone, and held nothing', before: SINGLE, after: '', held: null, losses: [], stays: [] },
]

test.serial('components move with their attribute, and those without a new place are counted', async t => {
  const database = await openTestDatabase(t)
  for (const { change, before, after, held, losses, stays } of changesOfParts) {
    const first = await stage(database, parts(before))
    const body = before === ZONE || held === null ? held : withoutNames(held)
    const { documentId: id } = await first.create('page', { name: 'p', ...(body ? { part: body } : {}) })
    t.deepEqual(await first.losses(parts(after)), losses, change)
    const next = await first.become(parts(after))
    for (const where of BOTH) {
      const row = await next.find('page', id, where)
      const value = row?.part ?? row?.piece ?? []
      const list = (Array.isArray(value) ? value : [value]) as readonly Row[]
      t.deepEqual(
        list.map(({ text, inner }) => [text, names(inner, 'text')].join(' ')),
        stays,
        change,
      )
    }
    const orphans = `SELECT count(*)::integer FROM components_shared_inner AS i WHERE NOT EXISTS
      (SELECT FROM components_shared_one AS o WHERE o.id = i.owner_key AND o.status = i.status)`
    t.deepEqual(await next.rows(orphans), [[0]], change)
  }
})

const withoutNames = (held: unknown): unknown =>
  Array.isArray(held) ? held.map(withoutNames) : { ...(held as Row), __component: undefined }

const RENAMED = `
i18n: { defaultLocale: de, locales: [{ code: de, renamedFrom: en }, fr] }
components:
  shared.anchor: { renamedFrom: shared.link, attributes: { label: string, topic: { renamedFrom: tag, type: relation, relation: manyToMany, target: topic } } }
  shared.meta:
    renamedFrom: shared.seo
    attributes:
      title: string
      anchors: { renamedFrom: links, type: component, component: shared.anchor, repeatable: true }
      tags: { type: relation, relation: oneToMany, target: topic }
contentTypes:
  post:
    renamedFrom: article
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      slug: { type: uid, targetField: title }
      meta: { renamedFrom: seo, type: component, component: shared.meta, localized: false }
      zone: { type: dynamiczone, components: [shared.meta, shared.anchor] }
      topics: { renamedFrom: tags, type: relation, relation: manyToMany, target: topic, mappedBy: posts }
      main: { type: relation, relation: manyToMany, target: topic }
      related: { type: relation, relation: manyToMany, target: post }
      next: { type: relation, relation: oneToOne, target: post, mappedBy: previous }
      previous: { type: relation, relation: oneToOne, target: post, inversedBy: next }
  topic:
    renamedFrom: tag
    draftAndPublish: true
    attributes:
      name: string
      posts: { renamedFrom: articles, type: relation, relation: manyToMany, target: post, inversedBy: topics }
  page:
    attributes:
      name: string
      best: { type: relation, relation: manyToMany, target: post }
      list: { type: relation, relation: manyToMany, target: post }
      meta: { renamedFrom: seo, type: component, component: shared.meta }
`

test.serial('name, kind, drafts and locales of a type may change at once', async t => {
  const plain = await stage(await openTestDatabase(t), PLAIN)
  const { first, second, page } = await filled(plain)
  const before = await seen(plain, first.documentId)
  t.deepEqual(await plain.losses(RENAMED), [])
  const all = await plain.become(RENAMED)
  for (const where of BOTH) {
    const row = await all.find('post', first.documentId, where)
    const meta = row?.meta as Row
    t.like(row, { title: before.title, locale: 'de' })
    t.deepEqual(names(row?.topics), before.tags)
    t.deepEqual(names(row?.main), [before.main])
    t.deepEqual(names(row?.related, 'title'), before.related)
    t.deepEqual(names(row?.previous, 'title'), before.previous)
    t.deepEqual(names(meta.tags), ['b', 'a'])
    t.deepEqual(
      (meta.anchors as Row[]).map(({ label, topic }) => [label, names(topic)]),
      [
        ['l1', ['a']],
        ['l2', []],
      ],
    )
    const found = await all.find('page', page.documentId, where)
    t.deepEqual(names(found?.best, 'title'), ['First'])
    t.deepEqual(names(found?.list, 'title'), ['Second', 'First'])
    t.deepEqual(names((found?.meta as Row | undefined)?.tags), ['a'])
  }
  await all.update('post', second.documentId, { title: 'Zweiter', main: [], previous: first.documentId })
  await all.update('post', second.documentId, { title: 'Deuxième' }, fr)
})

test.serial(
  'turning drafts and locales off while a relation is removed counts the losses of each',
  async t => {
    const yaml = (article: string, more: string) => `
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  tag: { attributes: { name: string } }
  other: { attributes: { name: string } }
  article: { ${article} attributes: { title: string${more} } }
`
    const list = (name: string, target: string) =>
      `, ${name}: { type: relation, relation: manyToMany, target: ${target} }`
    const both = 'draftAndPublish: true, localized: true,'
    const first = await stage(
      await openTestDatabase(t),
      yaml(both, `${list('gone', 'tag')}${list('led', 'tag')}${list('kept', 'tag')}`),
    )
    const tag = await first.create('tag', { name: 'a' })
    const links = { gone: [tag.documentId], led: [tag.documentId], kept: [tag.documentId] }
    const { documentId: id } = await first.create('article', { title: 'en', ...links })
    await first.update('article', id, { title: 'fr', ...links }, { ...draft, ...fr })
    const english = await first.create('article', { title: 'only a draft', ...links }, draft)
    await first.update('article', english.documentId, { title: 'publié', ...links }, fr)
    const after = yaml('', `${list('led', 'other')}${list('kept', 'tag')}`)
    const lost = await first.losses(after)
    t.true(lost.includes('loses links in 6 rows'), lost.join('\n'))
    t.true(lost.some(text => /^loses 3 rows of other locales than en/.test(text)))
    t.true(
      lost.some(text =>
        /^loses 2 rows of documents that were never published, with their components and links: /.test(text),
      ),
      lost.join('\n'),
    )
    const plain = await first.become(after)
    const found = await plain.find('article', id)
    t.deepEqual([found?.title, names(found?.kept), names(found?.led)], ['en', ['a'], []])
    t.deepEqual(await plain.rows('SELECT count(*)::integer FROM articles'), [[1]])
  },
)

test.serial('turning locales off together with i18n keeps the former default locale', async t => {
  const yaml = (top: string, page: string) => `${top}
components: { shared.seo: { attributes: { title: string } } }
contentTypes:
  page: { ${page} attributes: { name: string, seo: { type: component, component: shared.seo }, next: { type: relation, relation: manyToOne, target: page } } }
  list: { attributes: { pages: { type: relation, relation: manyToMany, target: page } } }
`
  const first = await stage(
    await openTestDatabase(t),
    yaml('i18n: { defaultLocale: de, locales: [de, fr] }', 'localized: true,'),
  )
  const { documentId: id } = await first.create('page', { name: 'p', seo: { title: 's' } })
  await first.update('page', id, { next: id })
  const list = await first.create('list', { pages: [id] })
  const plain = yaml('', '')
  t.deepEqual(await first.losses(plain), [])
  const second = await first.become(plain)
  const row = await second.find('page', id)
  t.deepEqual([row?.name, names(row?.seo, 'title'), names(row?.next)], ['p', 's', 'p'])
  t.deepEqual(names((await second.find('list', list.documentId))?.pages), ['p'])
})

test('drafts are switched on for the target of a component that no content-type has', async t => {
  const unused = (tag: string) => `
components:
  shared.inner: { attributes: { tag: { type: relation, relation: manyToMany, target: tag } } }
  shared.outer: { attributes: { inner: { type: component, component: shared.inner } } }
contentTypes:
  tag: { ${tag} attributes: { name: string } }
`
  const one = await stage(await openTestDatabase(t), unused(''))
  const { documentId } = await one.create('tag', { name: 'a' })
  const then = await one.become(unused('draftAndPublish: true, localized: true,'))
  t.is((await then.find('tag', documentId, { status: 'draft' }))?.name, 'a')
})

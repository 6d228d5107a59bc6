import test from 'ava'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
i18n: { locales: [en, fr], defaultLocale: en }
contentTypes:
  post:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      topic: { type: relation, relation: manyToOne, target: topic, inversedBy: posts }
      related: { type: relation, relation: oneToMany, target: post }
  topic:
    draftAndPublish: true
    attributes:
      name: string
      posts: { type: relation, relation: oneToMany, target: post, mappedBy: topic }
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: topics }
      shelves: { type: relation, relation: oneToMany, target: shelf, mappedBy: best }
  shelf:
    attributes:
      label: string
      best: { type: relation, relation: manyToOne, target: topic, inversedBy: shelves }
      topics: { type: relation, relation: oneToMany, target: topic, mappedBy: shelf }
      marked: { type: relation, relation: oneToMany, target: topic }
roles:
  public: { permissions: { post: [find, findOne, readDrafts], topic: [find, findOne, readDrafts], shelf: [find, findOne] } }
  reader:
    permissions:
      post: [find, findOne]
      topic: [find, findOne]
      shelf: [find]
  half: { permissions: { post: [find, findOne, readDrafts], topic: [find], shelf: [find] } }
  partly:
    permissions:
      post: { find: { where: { title: { $startsWith: P } } }, readDrafts: { where: { title: { $endsWith: draft } } } }
`

const LIVE = 'data { attributes { title } }'

let endpoint: Awaited<ReturnType<typeof openEndpoint>>
const ids: Record<string, string> = {}
const endings: (() => unknown)[] = []

test.before(async t => {
  endpoint = await openEndpoint({ ...t, teardown: end => void endings.unshift(end) }, PROJECT)
  const { create, update } = endpoint
  const make = async (name: string, key: string, values: object, where: object = {}) => {
    const { documentId } = await create(key, { ...values }, where)
    ids[name] = String(documentId)
  }
  const draft = { status: 'draft' } as const
  await make('live', 'topic', { name: 'T live' })
  await make('planned', 'topic', { name: 'T planned' }, draft)
  await update('topic', ids.live, { name: 'T live, changed' }, draft)
  await make('shelf', 'shelf', { label: 'S', best: ids.planned, marked: [ids.live, ids.planned] })
  await make('a', 'post', { title: 'P one', topic: ids.live })
  await update('post', ids.a, { title: 'P one, changed draft', topic: ids.planned }, draft)
  await make('b', 'post', { title: 'P two draft', topic: ids.planned, related: [ids.a] }, draft)
  await make('c', 'post', { title: 'Q three' })
  await update('post', ids.c, { title: 'P three draft' }, draft)
  await update('post', ids.a, { title: 'P un' }, { locale: 'fr' })
  await update('post', ids.a, { related: [ids.a, ids.b, ids.c] })
  endpoint.reads.length = 0
})

test.after.always(async () => {
  for (const end of endings) await end()
})

const titles = (answer: { readonly data: Record<string, { readonly data: readonly unknown[] }> }) =>
  Object.values(answer.data).map(({ data }) => JSON.stringify(data).match(/(?<=title":")[^"]+/g) ?? [])

test.serial(
  'PREVIEW returns each document once, published if possible, else as a draft, in one statement',
  async t => {
    const { ask, reads } = endpoint
    const answer = await ask(`{
    live: posts(sort: "title") { ${LIVE} }
    preview: posts(sort: "title", publicationState: PREVIEW) { ${LIVE} }
    french: posts(locale: "fr", publicationState: PREVIEW) { ${LIVE} }
    all: posts(locale: "all", sort: "title", publicationState: PREVIEW) { ${LIVE} meta { pagination { total } } }
  }`)
    t.falsy(answer.errors)
    t.deepEqual(titles(answer), [
      ['P one, changed draft', 'Q three'],
      ['P one, changed draft', 'P two draft', 'Q three'],
      ['P un'],
      ['P one, changed draft', 'P two draft', 'P un', 'Q three'],
    ])
    t.is(answer.data.all.meta.pagination.total, 4)
    t.is(reads.length, 4)
  },
)

test.serial(
  'one document is found in any state, by its documentId or the id of any of its records',
  async t => {
    const { ask, rows } = endpoint
    const { data } = await ask(
      'query ($a: ID, $b: ID) { a: post(id: $a) { id: data { id } } draft: post(id: $b) { data { id attributes { title publishedAt } } } fr: post(id: $a, locale: "fr") { data { attributes { title } } } }',
      { a: ids.a, b: ids.b },
    )
    t.is(data.a.id.id, ids.a)
    t.deepEqual(data.draft.data, { id: ids.b, attributes: { title: 'P two draft', publishedAt: null } })
    t.is(data.fr.data.attributes.title, 'P un')
    const records = await rows(`SELECT id, locale FROM posts WHERE document_id = '${ids.a}' ORDER BY id`)
    t.true(records.length >= 4)
    for (const [record, locale] of records) {
      const answer = await ask(
        'query ($id: ID) { post(id: $id) { data { id attributes { locale publishedAt } } } }',
        {
          id: Number(record),
        },
      )
      t.is(answer.data.post.data.id, ids.a)
      t.is(answer.data.post.data.attributes.locale, locale)
      t.truthy(answer.data.post.data.attributes.publishedAt)
    }
    const absent = await ask(
      '{ n: post(id: "99999999") { data { id } } long: post(id: "99999999999999999999999") { data { id } } no: post { data { id } } }',
    )
    t.deepEqual(absent, { data: { n: { data: null }, long: { data: null }, no: { data: null } } })
  },
)

test.serial(
  'a list has its own publicationState; a single relation is published, and current below a draft',
  async t => {
    const { ask } = endpoint
    const TOPIC = 'topic { data { attributes { name } } }'
    const { data } = await ask(
      `query ($a: ID, $b: ID, $live: ID, $planned: ID) {
      published: post(id: $a) { data { attributes { ${TOPIC} related { ${LIVE} } all: related(publicationState: PREVIEW) { ${LIVE} } } } }
      draft: post(id: $b) { data { attributes { ${TOPIC} related { ${LIVE} } } } }
      topic(id: $live) { data { attributes { posts { ${LIVE} } all: posts(publicationState: PREVIEW) { ${LIVE} } } } }
      planned: topic(id: $planned) { data { attributes { shelves { data { attributes { label } } } posts { ${LIVE} } all: posts(publicationState: PREVIEW) { ${LIVE} } } } }
      shelf: shelves { data { attributes { best { data { id } } marked { data { attributes { name } } } all: marked(publicationState: PREVIEW) { data { attributes { name } } } } } }
    }`,
      ids,
    )
    const titled = (...words: string[]) => ({ data: words.map(title => ({ attributes: { title } })) })
    const named = (...words: string[]) => ({ data: words.map(name => ({ attributes: { name } })) })
    t.deepEqual(data.published.data.attributes, {
      // The published topic of the published post, whatever the drafts of either say.
      topic: { data: null },
      related: titled('P one, changed draft', 'Q three'),
      all: titled('P one, changed draft', 'P two draft', 'Q three'),
    })
    t.deepEqual(data.draft.data.attributes, {
      topic: { data: { attributes: { name: 'T planned' } } },
      related: titled('P one, changed draft'),
    })
    t.deepEqual(data.topic.data.attributes, { posts: titled(), all: titled() })
    t.deepEqual(data.planned.data.attributes, {
      shelves: { data: [{ attributes: { label: 'S' } }] },
      posts: titled('P one, changed draft'),
      all: titled('P one, changed draft', 'P two draft'),
    })
    t.deepEqual(data.shelf.data[0].attributes, {
      best: { data: null },
      marked: named('T live'),
      all: named('T live', 'T planned'),
    })
  },
)

test.serial('a caller who may not read drafts gets only published versions, on every path', async t => {
  const { ask } = endpoint
  const asked = `query ($b: ID) {
    preview: posts(sort: "title", publicationState: PREVIEW) { ${LIVE} meta { pagination { total } } }
    draft: post(id: $b) { data { id } }
    drafts: posts(publicationState: PREVIEW, filters: { publishedAt: { null: true } }) { ${LIVE} meta { pagination { total } } }
    related: posts(publicationState: PREVIEW, filters: { topic: { name: { contains: "planned" } } }) { ${LIVE} meta { pagination { total } } }
    topics(publicationState: PREVIEW) { data { attributes { name posts(publicationState: PREVIEW) { ${LIVE} } } } }
    shelfs: shelves { data { attributes { all: marked(publicationState: PREVIEW) { data { attributes { name } } } } } }
  }`
  const { data } = await ask(asked, ids, 'reader')
  t.deepEqual(titles({ data: { preview: data.preview } }), [['P one, changed draft', 'Q three']])
  t.is(data.preview.meta.pagination.total, 2)
  t.is(data.draft.data, null)
  t.deepEqual(data.drafts, { data: [], meta: { pagination: { total: 0 } } })
  t.deepEqual(data.related, { data: [], meta: { pagination: { total: 0 } } })
  t.deepEqual(data.topics.data, [{ attributes: { name: 'T live', posts: { data: [] } } }])
  t.deepEqual(data.shelfs.data, [{ attributes: { all: { data: [{ attributes: { name: 'T live' } }] } } }])
  const half = await ask(
    `query ($b: ID) { post(id: $b) { data { attributes { title topic { data { id } } } } } }`,
    ids,
    'half',
  )
  t.deepEqual(half.data.post.data.attributes, { title: 'P two draft', topic: { data: null } })
})

test.serial('versions that a role may not see are indistinguishable from missing ones', async t => {
  const { ask } = endpoint
  const answer = await ask(
    `{ preview: posts(sort: "title", publicationState: PREVIEW) { ${LIVE} meta { pagination { total } } } }`,
    {},
    'partly',
  )
  // Q three is published out of sight: its draft is what this role sees of it, as over REST.
  t.deepEqual(titles(answer), [['P one, changed draft', 'P three draft', 'P two draft']])
  t.is(answer.data.preview.meta.pagination.total, 3)
})

test('filters and sorts of PREVIEW see the components of drafts, whatever number they have', async t => {
  const { create, ask } = await openEndpoint(
    t,
    `
components:
  note.part: { attributes: { label: string, size: integer, inner: { type: component, component: note.inner } } }
  note.inner: { attributes: { label: string } }
contentTypes:
  note:
    draftAndPublish: true
    attributes:
      title: string
      parts: { type: component, component: note.part, repeatable: true }
roles:
  public: { permissions: { note: [find, readDrafts] } }
`,
  )
  // The number of a component is also that of a published document.
  for (const title of ['one', 'two', 'three']) await create('note', { title })
  const parts = [1, 2, 3, 4, 5, 6].map(size => ({
    size,
    label: `part ${size}`,
    inner: { label: `inner ${size}` },
  }))
  await create('note', { title: 'draft', parts }, { status: 'draft' })
  for (const { label, inner } of parts)
    for (const filter of [`label: { eq: "${label}" }`, `inner: { label: { eq: "${inner.label}" } }`]) {
      const { data } = await ask(
        `{ notes(publicationState: PREVIEW, filters: { parts: { ${filter} } }) { ${LIVE} meta { pagination { total } } } }`,
      )
      t.deepEqual(data.notes, {
        data: [{ attributes: { title: 'draft' } }],
        meta: { pagination: { total: 1 } },
      })
    }
  const sorted = await ask(`{ notes(publicationState: PREVIEW, sort: ["parts.size", "title"]) { ${LIVE} } }`)
  t.deepEqual(titles(sorted), [['draft', 'one', 'three', 'two']])
})

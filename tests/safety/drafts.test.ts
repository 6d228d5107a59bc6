import test from 'ava'
import { PUBLICATION_FILTERS } from '../../core/query/query.ts'
import { openTestApp } from '../harness/test-app.ts'
import { serve } from '../http/serving.ts'
import { conformanceProject } from './conformance-project.ts'
import { FULL, openWorld, type Reported, type World } from './world.ts'

// Safety rule S11: the existence and values of drafts are hidden from callers without draft access; S5: also in
// links. Every request is sent twice, and only drafts change in between.
const READER = 'reader-conformance-token-00000000000000'
const WRITER = 'writer-conformance-token-00000000000000'
const PARTLY = 'partly-conformance-token-00000000000000'
const RULED = 'ruled-conformance-token-000000000000000'
const ALL = '{ find: true, findOne: true, readDrafts: false }'

const TOKENS = `
  reader:
    type: custom
    secret: ${READER}
    permissions:
      "*": [find, findOne]
      upload: [find, findOne]
      users: [find]
  writer:
    type: custom
    secret: ${WRITER}
    permissions:
      article: { find: true, readDrafts: false, update: { where: { title: { $startsWith: Mine } } }, delete: { where: { title: { $startsWith: Mine } } } }
      category: [find, create, update]
      restaurant: ${ALL}
      homepage: { find: true, readDrafts: false, update: true }
  partly:
    type: custom
    secret: ${PARTLY}
    permissions:
      article: { find: true, readDrafts: { where: { title: { $startsWith: Mine } } } }
  ruled:
    type: custom
    secret: ${RULED}
    permissions:
      article: { find: { where: { title: { $startsWith: Mine } } }, readDrafts: { where: { title: { $notContains: secret } } } }
`

let world: World
let category: string
let draft: { readonly id: number; readonly documentId: string }
let changed: string
let twoFaced: string

test.before(async () => {
  world = await openWorld(conformanceProject(TOKENS))
  const { make } = world
  const author = await make('POST', '/api/authors', { name: 'Ann' })
  category = (await make('POST', '/api/categories', { name: 'News', position: 1 })).documentId
  const other = (await make('POST', '/api/categories', { name: 'Old', position: 2 })).documentId
  const links = { author: author.documentId, categories: [category, other] }
  const open = await make('POST', '/api/articles', { title: 'Open', rating: 5, ...links })
  draft = await make('POST', '/api/articles?status=draft', { title: 'Whisper', code: 'w', ...links })
  const modified = await make('POST', '/api/articles', {
    title: 'Modified',
    related: [draft.documentId, open.documentId],
    ...links,
  })
  changed = modified.documentId
  await make('PUT', `/api/articles/${changed}?status=draft`, { title: 'Whisper changed', rating: 9 })
  twoFaced = (await make('POST', '/api/articles', { title: 'Two-faced', ...links })).documentId
  await make('PUT', `/api/articles/${twoFaced}?locale=fr&status=draft`, { title: 'Whisper fr' })
  await make('PUT', '/api/homepage', {
    title: 'Home',
    featured: [draft.documentId, changed, open.documentId],
  })
  await make('PUT', '/api/homepage?status=draft', { title: 'Whisper home' })
  const mill = await make('POST', '/api/restaurants?status=draft', {
    name: 'Whisper mill',
    chef: author.documentId,
  })
  await make('POST', '/api/dishes', { name: 'Soup', restaurant: mill.documentId })
})
test.after.always(() => world?.close())

/** Other drafts with other words, and more of them; everything that is published stays as it is. */
async function changeDrafts(): Promise<void> {
  const { make } = world
  await make('PUT', `/api/articles/${draft.documentId}?status=draft`, {
    title: 'Another',
    rating: 1,
    code: 'x',
    categories: [],
  })
  await make('PUT', `/api/articles/${changed}?status=draft`, {
    title: 'Another changed',
    rating: 2,
    related: [],
    categories: [],
  })
  await make('PUT', `/api/articles/${twoFaced}?locale=fr&status=draft`, { title: 'Another fr', author: null })
  await make('PUT', '/api/homepage?status=draft', { title: 'Another home', featured: [] })
  await make('POST', '/api/articles?status=draft', { title: 'One more', categories: [category], code: 'y' })
  await make('PUT', '/api/homepage?status=draft&locale=fr', { title: 'Accueil' })
}

const LISTS = [
  'articles',
  'authors',
  'categories',
  'restaurants',
  'dishes',
  'homepage',
  'setting',
  'countries',
]
const LINKS: Readonly<Record<string, readonly string[]>> = {
  articles: ['related', 'localizations', 'categories.articles', 'author.articles'],
  authors: ['articles', 'articles.related', 'articles.localizations'],
  categories: ['articles', 'articles.related', 'articles.categories.articles'],
  dishes: ['restaurant'],
  homepage: ['featured', 'localizations', 'featured.related'],
}

function* questions(): Generator<string> {
  const versions = ['', 'status=published', 'status=draft', 'locale=*', 'locale=fr', 'locale=fr&status=draft']
  const publications = [
    ...PUBLICATION_FILTERS.map(word => `publicationFilter=${word}`),
    ...['hasPublishedVersion=true', 'hasPublishedVersion=false'],
  ]
  for (const list of LISTS) {
    for (const version of [...versions, ...publications])
      for (const rest of ['', 'populate=*', '_q=whisper', 'sort=updatedAt:desc'])
        yield `/api/${list}?${version}&${rest}`
    for (const way of LINKS[list] ?? []) {
      for (const version of versions)
        for (const rest of waysThrough(way.split('.'))) yield `/api/${list}?${version}&${rest}`
    }
  }
  for (const id of [draft.documentId, changed, twoFaced])
    for (const version of [...versions, ...publications]) yield `/api/articles/${id}?${version}&populate=*`
}

function waysThrough(steps: readonly string[]): readonly string[] {
  const keys = steps.map(step => `[${step}]`).join('')
  const populate = `populate[${steps.join('][populate][')}]`
  const name = steps.at(-1) === 'restaurant' ? 'name' : 'title'
  return [
    `${populate}=*`,
    `${populate}[count]=true`,
    `${populate}[filters][${name}][$startsWith]=Whisper`,
    `${populate}[sort]=${name}:desc`,
    `filters${keys}[${name}][$startsWith]=Whisper`,
    `filters${keys}[id][$notNull]=true`,
    `filters$[$not]${keys}[${name}][$startsWith]=Whisper`.replace('$[', '['),
    `filters${keys}[documentId]=${draft.documentId}`,
    `filters${keys}[publishedAt][$null]=true`,
    `sort=${steps.join('.')}.${name}:desc`,
    `sort=${steps.join('.')}.updatedAt`,
  ]
}

test.serial('changes of drafts do not change responses to a caller who may not read drafts', async t => {
  const asked = [...questions()]
  const ask = async (): Promise<readonly Reported[]> => {
    const answers: Reported[] = []
    for (const path of asked) answers.push(await world.ask('GET', path, { as: READER }))
    return answers
  }
  const before = await ask()
  await changeDrafts()
  const after = await ask()
  const reported = asked.filter((_, index) => before[index]?.text !== after[index]?.text)
  t.deepEqual(reported, [])
  t.deepEqual(
    asked.filter((_, index) => /Whisper|Another|"publishedAt":null/.test(before[index]?.text ?? '')),
    [],
  )
  t.true(before.filter(({ status }) => status === 200).length > asked.length / 3)
})

test.serial('drafts of a type are refused to callers who may not read them, on every path', async t => {
  for (const query of [
    'status=draft',
    ...PUBLICATION_FILTERS.map(word => `publicationFilter=${word}`),
    'hasPublishedVersion=true',
  ]) {
    for (const path of ['/api/articles', `/api/articles/${changed}`, '/api/homepage', '/api/restaurants']) {
      const { status } = await world.ask('GET', `${path}?${query}`, { as: READER })
      t.is(status, 403, `${path}?${query}`)
    }
  }
})

test.serial('an ETag does not depend on hidden drafts', async t => {
  const { url } = await serve(t, world.responders)
  const headers = { authorization: `Bearer ${READER}` }
  const paths = [
    '/api/articles?populate=*',
    `/api/articles/${changed}`,
    '/api/categories?populate=articles',
    '/api/homepage?populate=*',
  ]
  const tags = await Promise.all(
    paths.map(async path => (await fetch(url + path, { headers })).headers.get('etag') ?? ''),
  )
  await changeDrafts()
  for (const [index, path] of paths.entries()) {
    const { status } = await fetch(url + path, {
      headers: { ...headers, 'if-none-match': tags[index] ?? '' },
    })
    t.is(status, 304, path)
  }
})

test.serial('a hidden draft cannot be linked, and is indistinguishable from a missing document', async t => {
  const path = `/api/categories/${category}`
  const absent = { documentId: 'nothing', id: 99999 }
  const before = await world.make('GET', `${path}?populate=articles&status=draft`)
  const changesOf = ({ documentId, id }: typeof absent): readonly unknown[] => [
    ...[
      [documentId],
      documentId,
      [id],
      { connect: [documentId] },
      { connect: [{ id }] },
      { set: [documentId] },
    ],
    ...[
      { disconnect: [documentId] },
      { disconnect: [{ id }] },
      { connect: [{ documentId, status: 'draft' }] },
    ],
    ...[{ connect: [{ documentId, locale: 'en' }] }, { set: [{ documentId, status: 'published' }] }],
    { connect: [{ documentId: changed, position: { before: documentId } }] },
  ]
  const missing = changesOf(absent)
  for (const [index, articles] of changesOf(draft).entries()) {
    const answer = await world.ask('PUT', path, { as: WRITER, data: { articles } })
    const other = await world.ask('PUT', path, { as: WRITER, data: { articles: missing[index] } })
    t.is(other.status, 400)
    const text = other.text.replaceAll('nothing', draft.documentId).replaceAll('99999', String(draft.id))
    t.deepEqual(answer, { ...other, text }, JSON.stringify(articles))
    const made = await world.ask('POST', '/api/categories', {
      as: WRITER,
      data: { name: `n${index}`, articles },
    })
    t.is(made.status, 400, JSON.stringify(articles))
  }
  t.deepEqual(await world.make('GET', `${path}?populate=articles&status=draft`), before)
  const linked = await world.ask('PUT', path, { as: WRITER, data: { articles: { connect: [changed] } } })
  t.is(linked.status, 200, linked.text)
})

test.serial(
  'If-Match on a hidden document is refused for any ETag, so that its content cannot be guessed',
  async t => {
    const { url } = await serve(t, world.responders)
    const path = `${url}/api/articles/${changed}?fields=title`
    const right = (await fetch(path, { headers: { authorization: `Bearer ${FULL}` } })).headers.get('etag')
    const answers = await Promise.all(
      ['PUT', 'DELETE'].flatMap(method =>
        [right ?? '', '"guess"'].map(async tag => {
          const answer = await fetch(path, {
            method,
            headers: {
              authorization: `Bearer ${WRITER}`,
              'if-match': tag,
              'content-type': 'application/json',
            },
            ...(method === 'PUT' ? { body: '{"data":{}}' } : {}),
          })
          return [answer.status, await answer.text()]
        }),
      ),
    )
    const forbidden = [
      403,
      '{"data":null,"error":{"status":403,"name":"ForbiddenError","message":"Forbidden","details":{}}}',
    ]
    t.deepEqual(answers, Array(4).fill(forbidden))
  },
)

interface Version {
  readonly documentId: string
  readonly locale: string
  readonly updatedAt: string
}

const keyOf = ({ documentId, locale }: Version): string => `${documentId} ${locale}`

/** The expected result of each publication filter for one row, from the versions that its caller can list. */
const PUBLICATIONS: Readonly<
  Record<
    (typeof PUBLICATION_FILTERS)[number],
    (row: Version, draft: readonly Version[], published: readonly Version[]) => boolean
  >
> = {
  'never-published': (row, _, published) => !same(row, published),
  'has-published-version': (row, _, published) => same(row, published) !== undefined,
  'never-published-document': (row, _, published) => !anyOf(row, published),
  'has-published-version-document': (row, _, published) => anyOf(row, published),
  modified: (row, draft, published) =>
    same(row, draft) !== undefined &&
    same(row, published) !== undefined &&
    same(row, draft)?.updatedAt !== same(row, published)?.updatedAt,
  unmodified: (row, draft, published) =>
    same(row, draft) !== undefined && same(row, draft)?.updatedAt === same(row, published)?.updatedAt,
  'published-without-draft': (row, draft, published) =>
    same(row, published) !== undefined && !same(row, draft),
  'published-with-draft': (row, draft, published) =>
    same(row, published) !== undefined && same(row, draft) !== undefined,
}

const same = (row: Version, versions: readonly Version[]): Version | undefined =>
  versions.find(version => keyOf(version) === keyOf(row))

const anyOf = ({ documentId }: Version, versions: readonly Version[]): boolean =>
  versions.some(version => version.documentId === documentId)

test.serial(
  'publication filters consider only visible versions, also for callers who may read some drafts',
  async t => {
    const { make } = world
    const titles = ['Mine and kept', 'Mine, then taken', 'Mine, then secret', 'Not yet', 'Mine and changed']
    const [, taken, secret, mine, mended] = await Promise.all(
      titles.map(async title => (await make('POST', '/api/articles', { title })).documentId),
    )
    const drafts = [
      [taken, 'Taken'],
      [secret, 'Mine and secret'],
      [mine, 'Mine now'],
      [mended, 'Mine and mended'],
    ] as const
    for (const [id, title] of drafts) await make('PUT', `/api/articles/${id}?status=draft`, { title })
    await make('POST', '/api/articles?status=draft', { title: 'Mine, never published' })
    await make('PUT', `/api/articles/${taken}?locale=fr&status=draft`, { title: 'Mine in French' })
    const list = async (as: string, query: string): Promise<readonly Version[]> => {
      const asked = `/api/articles?locale=*&pagination[pageSize]=100&${query}`
      const { status, text } = await world.ask('GET', asked, { as })
      t.is(status, 200, text)
      return JSON.parse(text).data
    }
    for (const as of [PARTLY, RULED]) {
      const draft = await list(as, 'status=draft')
      const published = await list(as, 'status=published')
      for (const word of PUBLICATION_FILTERS) {
        for (const [status, rows] of Object.entries({ draft, published })) {
          const expected = rows.filter(row => PUBLICATIONS[word](row, draft, published))
          const found = await list(as, `status=${status}&publicationFilter=${word}`)
          t.deepEqual(found.map(keyOf), expected.map(keyOf), `${as} ${status} ${word}`)
        }
      }
      t.true(draft.length > 2 && published.length > 2)
    }
  },
)

test('a published version that a condition protects is not removed after a change of its draft', async t => {
  const attributes = { title: { type: 'string' }, state: { type: 'string' } }
  const where = { state: { $ne: 'live' } }
  const granted = { find: true, update: true, publish: { where }, delete: { where } }
  const { request, graphql, app } = await openTestApp(t, {
    project: {
      name: 'Protected',
      i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
      contentTypes: {
        page: { draftAndPublish: true, attributes },
        post: { draftAndPublish: true, localized: true, attributes },
      },
      roles: { public: { permissions: { page: granted, post: granted } } },
    },
  })
  const make = async (key: string, published: string, draft: string): Promise<string> => {
    const documents = app.documents(key)
    const { documentId } = await documents.create({ data: { state: published }, status: 'published' })
    if (key === 'post')
      await documents.update({ documentId, locale: 'fr', data: { state: 'new' }, status: 'published' })
    await documents.update({ documentId, data: { state: draft } })
    return String(documentId)
  }
  const removals: Record<string, (key: string, id: string) => Promise<unknown>> = {
    delete: (key, id) => request('DELETE', `/api/${key}s/${id}`),
    'delete all': (key, id) => request('DELETE', `/api/${key}s/${id}${key === 'post' ? '?locale=*' : ''}`),
    unpublish: (key, id) => request('POST', `/api/actions/${key}s/${id}/unpublish`),
    'unpublish all': (key, id) =>
      request('POST', `/api/actions/${key}s/${id}/unpublish${key === 'post' ? '?locale=*' : ''}`),
    'GraphQL delete': (key, id) =>
      graphql(`mutation { delete${key === 'post' ? 'Post' : 'Page'}(id: "${id}") { data { id } } }`),
    'GraphQL unpublish': (key, id) =>
      graphql(
        `mutation { update${key === 'post' ? 'Post' : 'Page'}(id: "${id}", data: { publishedAt: null }) { data { id } } }`,
      ),
  }
  for (const key of ['page', 'post']) {
    for (const [name, remove] of Object.entries(removals)) {
      const find = (documentId: string) => app.documents(key).findOne({ documentId, status: 'published' })
      const protects = await make(key, 'live', 'old')
      const answer = JSON.stringify(await remove(key, protects))
      t.regex(answer, /Forbidden/, `${key}: ${name}`)
      t.like(await find(protects), { state: 'live' }, `${key}: ${name}`)
      const free = await make(key, 'old', 'older')
      const done = JSON.stringify(await remove(key, free))
      t.is(await find(free), null, `${key}: ${name} ${done}`)
    }
    const draft = await app.documents(key).create({ data: { state: 'old' } })
    t.is((await request('DELETE', `/api/${key}s/${draft.documentId}`)).status, 204)
    const replaced = await make(key, 'live', 'old')
    t.is((await request('PUT', `/api/${key}s/${replaced}`, { body: { data: {} } })).status, 200)
  }
})

test('a refused publication repeats no stored value that its caller may not read', async t => {
  const fields = ['label']
  const { request, graphql, app } = await openTestApp(t, {
    project: {
      name: 'Stored',
      graphql: { config: { v4CompatibilityMode: false } },
      components: {
        'a.part': {
          attributes: {
            word: { type: 'string', private: true, minLength: 20 },
            mark: { type: 'string', private: true, unique: true },
          },
        },
      },
      contentTypes: {
        note: {
          draftAndPublish: true,
          attributes: {
            label: 'string',
            hidden: { type: 'string', private: true, minLength: 20 },
            code: { type: 'string', private: true, unique: true },
            shown: { type: 'string', minLength: 20 },
            part: { type: 'component', component: 'a.part' },
            zone: { type: 'dynamiczone', components: ['a.part'] },
          },
        },
      },
      roles: {
        public: {
          permissions: { note: { find: { fields }, findOne: { fields }, update: { fields }, publish: true } },
        },
      },
      apiTokens: { all: { type: 'full-access', secret: 'all-all-all-all-all-all-all-all-all' } },
    },
  })
  const notes = app.documents('note')
  const part = { mark: 'taken-secret' }
  const taken = { code: 'taken-secret', part, zone: [{ __component: 'a.part', mark: 'other-secret' }] }
  await notes.create({ data: taken, status: 'published' })
  const drafts = [
    { hidden: 'my-secret' },
    { code: 'taken-secret' },
    { part: { word: 'my-secret' } },
    { part },
    {
      zone: [
        { __component: 'a.part', word: 'my-secret' },
        { __component: 'a.part', mark: 'other-secret' },
      ],
    },
    { shown: 'my-text' },
  ]
  for (const data of drafts) {
    const { documentId } = await notes.create({ data })
    for (const asked of [{}, { token: 'all-all-all-all-all-all-all-all-all' }]) {
      const put = (body: object) =>
        request('PUT', `/api/notes/${documentId}`, { body: { data: body }, ...asked })
      const mutation = `mutation { updateNote(documentId: "${documentId}", data: {}) { documentId } }`
      for (const answer of [
        (await put({})).body,
        (await put({ label: 'a' })).body,
        await graphql(mutation, {}, asked),
      ]) {
        const text = JSON.stringify(answer)
        t.regex(text, /ValidationError/)
        t.notRegex(text, /secret/)
        t.is(text.includes('my-text'), 'shown' in data && 'token' in asked, text)
      }
    }
  }
})

import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

const TOKEN = 'a-secret-of-forty-letters-that-no-client-guesses'
const NOTER = 'another-secret-of-forty-letters-for-notes-alone'
const TRANSLATOR = 'another-secret-of-forty-letters-for-translators'

/** A component that leads back to the type whose zone has it. */
const PART = 'part.part-0'

const projectWith = (parts: readonly string[]) => ({
  rest: { responseFormat: 'v4' },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  components: {
    'shared.seo': {
      attributes: {
        title: 'string',
        image: { type: 'media' },
        pictures: { type: 'media', multiple: true },
        author: toOne('author'),
      },
    },
    'shared.quote': { attributes: { text: 'string' } },
    ...Object.fromEntries(parts.map(uid => [uid, { attributes: { article: toOne('article') } }])),
  },
  contentTypes: {
    article: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: { type: 'string', localized: true },
        author: toOne('author'),
        cover: { type: 'media' },
        gallery: { type: 'media', multiple: true },
        seo: { type: 'component', component: 'shared.seo' },
        blocks: { type: 'dynamiczone', components: ['shared.seo', 'shared.quote', ...parts] },
      },
    },
    author: { attributes: { name: 'string', secret: 'boolean' } },
    note: {
      attributes: {
        text: 'string',
        stamp: { type: 'string', writable: false },
        author: toOne('author'),
        home: { type: 'relation', relation: 'manyToMany', target: 'article' },
        seo: { type: 'component', component: 'shared.seo' },
      },
    },
    home: { kind: 'single', attributes: { title: 'string' } },
    landing: { kind: 'single', localized: true, attributes: { title: { type: 'string', localized: true } } },
  },
  user: { attributes: { phone: 'string' } },
  roles: {
    public: {
      permissions: {
        auth: ['register'],
        article: ['find', 'findOne'],
        author: {
          find: { where: { secret: false } },
          findOne: { where: { secret: false } },
          delete: { where: { secret: false } },
          update: { where: { secret: false } },
        },
      },
    },
  },
  apiTokens: {
    all: { type: 'full-access', secret: TOKEN },
    noter: {
      type: 'custom',
      secret: NOTER,
      permissions: { note: ['find', 'create', 'update'], article: ['find'] },
    },
    translator: {
      type: 'custom',
      secret: TRANSLATOR,
      permissions: { article: ['findOne', 'createLocalization', 'readDrafts'], author: ['find'] },
    },
  },
})

function toOne(target: string) {
  return { type: 'relation', relation: 'manyToOne', target }
}

interface Entry {
  readonly id: number
  readonly documentId: string
  readonly attributes: Readonly<Record<string, unknown>>
}

interface Site {
  readonly app: TestApp
  send(method: string, path: string, data?: object, headers?: Record<string, string>): Promise<Sent>
}

interface Sent {
  readonly status: number
  readonly data: Entry
  readonly list: readonly Entry[]
  readonly body: unknown
}

async function openSite(
  t: ExecutionContext,
  listen = false,
  rest: object = {},
  parts: readonly string[] = [PART],
): Promise<Site> {
  const declared = projectWith(parts)
  const project = { ...declared, rest: { ...declared.rest, ...rest } }
  const app = await openTestApp(t, { project, listen })
  return {
    app,
    async send(method, path, data, headers = {}) {
      const { status, body } = await app.request(method, `/api/${path}`, {
        ...(data && { body: { data } }),
        ...(headers.anonymous === undefined && { token: TOKEN }),
        headers,
      })
      const { data: found } = (body ?? {}) as { data: Entry & readonly Entry[] }
      return { status, data: found, list: found, body }
    },
  }
}

const ANONYMOUS = { anonymous: 'yes' }
const V5 = { 'strapi-response-format': 'v5' }

test('a numeric id addresses a document, of its own locale, in reads, writes and deletes', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', { title: 'one' })
  t.deepEqual([typeof data.id, data.attributes.title, data.attributes.locale], ['number', 'one', 'en'])
  const french = await send('POST', 'articles', { title: 'un', locale: 'fr' })
  t.is(french.data.attributes.locale, 'fr')

  t.like(await send('GET', `articles/${data.id}`), { status: 200, data: { attributes: { title: 'one' } } })
  t.like(await send('GET', `articles/${french.data.id}`), {
    data: { attributes: { title: 'un', locale: 'fr' } },
  })
  const changed = await send('PUT', `articles/${french.data.id}`, { title: 'deux' })
  t.like(changed, { status: 200, data: { id: french.data.id, attributes: { title: 'deux', locale: 'fr' } } })

  const removed = await send('DELETE', `articles/${french.data.id}`)
  t.like(removed, { status: 200, data: { id: french.data.id, attributes: { title: 'deux' } } })
  for (const method of ['GET', 'DELETE']) t.is((await send(method, `articles/${french.data.id}`)).status, 404)
  t.is((await send('PUT', `articles/${french.data.id}`, { title: 'gone' })).status, 404)
  t.is((await send('GET', `articles/${data.id}`)).status, 200)
})

test('a position in `connect` names a linked document by its numeric id', async t => {
  const { send } = await openSite(t)
  const ids: number[] = []
  for (const title of ['one', 'two', 'three']) ids.push((await send('POST', 'articles', { title })).data.id)
  const [one, two, three] = ids
  const linked = async (method: string, path: string, home: object) => {
    const { body } = await send(method, `${path}?populate[home][fields]=title`, { home })
    const { data, error } = body as {
      data: { id: number; attributes: { home: { data: Entry[] } } } | null
      error?: { message: string }
    }
    const titles = data?.attributes.home.data.map(({ attributes }) => attributes.title)
    return { id: data?.id, found: titles?.join(' ') ?? error?.message }
  }
  const { id } = await linked('POST', 'notes', { connect: [one, two] })
  const put = async (home: object) => (await linked('PUT', `notes/${id}`, home)).found
  t.is(await put({ connect: [{ id: three, position: { before: one } }] }), 'three one two')
  t.is(await put({ connect: [{ id: three, position: { after: String(one) } }] }), 'one three two')
  t.is(await put({ connect: { id: two, position: { start: true } } }), 'two one three')
  t.is(
    await put({ disconnect: [one, three], connect: [one, { id: three, position: { before: one } }] }),
    'two three one',
  )
  t.regex(String(await put({ connect: [{ id: one, position: { before: 999 } }] })), /1 relation\(s\) of type/)
  t.regex(
    String(await put({ connect: [{ id: one, position: { before: one } }] })),
    /needs to be connected first/,
  )
})

test('a delete answers 404 if there is no document, and the document of a single type', async t => {
  const { send } = await openSite(t)
  const ids = ['999999', '2147483647', '2147483648', '9999999999', '99999999999999999999', '0']
  for (const id of ids) t.is((await send('GET', `articles/${id}`)).status, 404, id)
  for (const path of [...ids.map(id => `articles/${id}`), 'articles/abcdefghijklmnopqrstuvwx', 'home'])
    t.is((await send('DELETE', path)).status, 404, path)
  await send('PUT', 'home', { title: 'here' })
  t.like(await send('DELETE', 'home'), { status: 200, data: { attributes: { title: 'here' } } })
})

test('a hidden document is not found by its numeric id', async t => {
  const { send } = await openSite(t)
  const hidden = await send('POST', 'authors', { name: 'Ann', secret: true })
  const open = await send('POST', 'authors', { name: 'Bob', secret: false })
  const found = await send('GET', `authors/${hidden.data.id}`, undefined, ANONYMOUS)
  const absent = await send('GET', 'authors/999999', undefined, ANONYMOUS)
  t.deepEqual([found.status, found.body], [404, absent.body])
  t.is((await send('GET', `authors/${open.data.id}`, undefined, ANONYMOUS)).status, 200)
  const requests = [
    ['GET', '?filters[bad]=1'],
    ['GET', '?fields=bad'],
    ['GET', '?publicationState=bad'],
    ['PUT', '', { name: 'x' }],
    ['PUT', '', { bad: 1 }],
    ['PUT', '?fields=bad', { name: 'x' }],
    ['DELETE', ''],
    ['DELETE', '?fields=bad'],
  ] as const
  for (const [method, query, data] of requests) {
    const [one, other] = [hidden.data.id, 999_999].map(id =>
      send(method, `authors/${id}${query}`, data, ANONYMOUS),
    )
    t.deepEqual((await one)?.body, (await other)?.body, `${method} ${query}`)
  }
  const { documentId } = hidden.data
  t.is((await send('DELETE', `authors/${documentId}`, undefined, ANONYMOUS)).status, 404)
  t.is((await send('GET', `authors/${documentId}`)).data.attributes.name, 'Ann')
  const removed = await send('DELETE', `authors/${open.data.id}`, undefined, ANONYMOUS)
  t.deepEqual([removed.status, removed.data.attributes.name], [200, 'Bob'])
})

test('a hidden draft, and a locale of the request, do not distinguish an id from an unknown one', async t => {
  const { send } = await openSite(t)
  const draft = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  for (const query of ['', '?fields=bad', '?locale=de', '?locale[a]=1', '?publicationState=preview'])
    t.deepEqual(
      (await send('GET', `articles/${draft.data.id}${query}`, undefined, ANONYMOUS)).body,
      (await send('GET', `articles/999999${query}`, undefined, ANONYMOUS)).body,
      query,
    )
})

test('a preview has one entry for a document: the published version, or the draft if there is none', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', { title: 'one' })
  const draft = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  const preview = async (query = '') =>
    (await send('GET', `articles?publicationState=preview&sort=id${query}`)).list.map(each => each.id)
  t.deepEqual(await preview(), [data.id, draft.data.id])
  t.deepEqual(await preview('&filters[publishedAt][$null]=true'), [draft.data.id])
  t.deepEqual(await preview(`&filters[id]=${data.id}`), [data.id])
  await send('PUT', `articles/${data.id}?publicationState=preview`, { title: 'two' })
  t.is((await send('GET', 'articles')).list[0]?.attributes.title, 'two')
})

test('limit=-1 lists as many as one list may have', async t => {
  const { send } = await openSite(t)
  for (const title of ['one', 'two', 'three']) await send('POST', 'articles', { title })
  const { body, list } = await send('GET', 'articles?pagination[limit]=-1&pagination[start]=1')
  t.is(list.length, 2)
  t.like(body, { meta: { pagination: { start: 1, limit: 100, total: 3 } } })
  t.is((await send('GET', 'articles?pagination[limit]=-1', undefined, V5)).list.length, 1)
})

test('a list of files without any is null, as Strapi 4 answers it', async t => {
  const { send } = await openSite(t)
  await send('POST', 'articles', { title: 'one', seo: { title: 's' } })
  const { list } = await send(
    'GET',
    'articles?populate[gallery]=true&populate[seo][populate]=*&populate[cover]=true',
  )
  t.like(list[0]?.attributes, {
    gallery: { data: null },
    seo: { pictures: { data: null } },
    cover: { data: null },
  })
  const flat = await send('GET', 'articles?populate[gallery]=true', undefined, V5)
  t.like(flat.list[0], { gallery: [] })
})

test('a delete of a draft answers the draft', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  t.like(await send('DELETE', `articles/${data.id}`), {
    status: 200,
    data: { attributes: { title: 'draft' } },
  })
  t.is((await send('GET', 'articles?publicationState=preview')).list.length, 0)
})

test('numeric ids link documents, and filter by linked documents', async t => {
  const { send } = await openSite(t)
  const { data: author } = await send('POST', 'authors', { name: 'Ann', secret: false })
  await send('POST', 'articles', { title: 'one', author: author.id })
  await send('POST', 'articles', { title: 'two', author: { connect: [{ id: author.id }] } })
  await send('POST', 'articles', { title: 'none' })
  const { list } = await send(
    'GET',
    `articles?filters[author][id][$eq]=${author.id}&sort=title&populate=author`,
  )
  t.deepEqual(
    list.map(({ attributes }) => attributes.title),
    ['one', 'two'],
  )
  t.like(list[0]?.attributes.author, { data: { id: author.id, attributes: { name: 'Ann' } } })
})

test('publicationState shows drafts to permitted callers, and publishedAt: null writes a draft', async t => {
  const { send } = await openSite(t)
  await send('POST', 'articles', { title: 'published', publishedAt: '2026-01-01T00:00:00.000Z', id: 5 })
  const draft = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  t.is(draft.status, 200)
  const titles = async (query: string, headers = {}) =>
    (await send('GET', `articles?sort=title${query}`, undefined, headers)).list.map(
      each => each.attributes.title,
    )
  t.deepEqual(await titles(''), ['published'])
  t.deepEqual(await titles('&publicationState=live'), ['published'])
  t.deepEqual(await titles('&publicationState=preview'), ['draft', 'published'])
  t.is((await send('GET', `articles/${draft.data.id}`)).status, 200)
  t.is((await send('GET', `articles/${draft.data.id}`, undefined, ANONYMOUS)).status, 404)
  const changed = await send('PUT', `articles/${draft.data.id}`, { title: 'draft' })
  t.like(changed, { status: 200, data: { id: draft.data.id, attributes: { publishedAt: null } } })
  t.deepEqual(await titles(''), ['published'])
  t.is((await send('GET', `articles/${draft.data.id}?publicationState=preview`)).status, 200)
  const preview = await send('GET', 'articles?publicationState=preview', undefined, ANONYMOUS)
  t.not(JSON.stringify(preview.body).includes('"draft"'), true)
  await send('PUT', `articles/${draft.data.id}`, { publishedAt: '2026-01-02T00:00:00.000Z' })
  t.deepEqual(await titles(''), ['draft', 'published'])
  t.like((await send('GET', 'articles?publicationState=both')).body, {
    error: { message: 'Invalid value for publicationState: expected live or preview' },
  })
})

test('publishedAt is stored, and an update without it keeps it, as in Strapi 4', async t => {
  const { app, send } = await openSite(t)
  const FIRST = '2023-08-30T00:00:00.000Z'
  const published = async (path: string) => (await send('GET', path)).data.attributes.publishedAt
  const old = await send('POST', 'articles', { title: 'old', publishedAt: FIRST })
  t.like(old, { status: 200, data: { attributes: { publishedAt: FIRST } } })
  const path = `articles/${old.data.id}`
  t.like(await send('PUT', path, { title: 'corrected' }), {
    data: { id: old.data.id, attributes: { title: 'corrected', publishedAt: FIRST } },
  })
  t.is(await published(path), FIRST)
  await send('PUT', path, { publishedAt: '2024-01-01T01:00:00+01:00' })
  t.is(await published(path), '2024-01-01T00:00:00.000Z')
  await send('PUT', `articles/${old.data.documentId}`, { title: 'v5' }, V5)
  t.not(await published(path), '2024-01-01T00:00:00.000Z')

  const draft = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  await send('PUT', `articles/${draft.data.id}`, { publishedAt: FIRST })
  t.is((await send('GET', 'articles?filters[title]=draft')).list[0]?.attributes.publishedAt, FIRST)
  t.not((await send('POST', 'articles', { title: 'now' })).data.attributes.publishedAt, null)
  const french = { locale: 'fr', title: 'vieux', publishedAt: FIRST }
  await app.request('POST', `/api/${path}/localizations`, { body: french, token: TOKEN })
  t.is((await send('GET', 'articles?locale=fr')).list[0]?.attributes.publishedAt, FIRST)
})

test('a publishedAt that is no time is refused, so that it does not decide that a draft is published', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', { title: 'draft', publishedAt: null })
  for (const publishedAt of ['soon', '', false, true, [], {}])
    for (const [method, path] of [
      ['PUT', `articles/${data.id}`],
      ['POST', 'articles'],
    ] as const)
      t.like(await send(method, path, { title: 'changed', publishedAt }), {
        status: 400,
        body: {
          error: {
            message: 'Invalid value for publishedAt: expected a timestamp, an ISO date or null',
            details: { key: 'publishedAt', source: 'body' },
          },
        },
      })
  t.deepEqual((await send('GET', 'articles')).list, [])
  await send('PUT', `articles/${data.id}`, { publishedAt: 1_767_225_600_000 })
  t.is((await send('GET', 'articles')).list.length, 1)
})

test('locale=all lists all locales', async t => {
  const { send } = await openSite(t)
  await send('POST', 'articles', { title: 'one' })
  await send('POST', 'articles?locale=fr', { title: 'un' })
  const locales = async (query: string) =>
    (await send('GET', `articles?sort=title${query}`)).list.map(each => each.attributes.locale)
  t.deepEqual(await locales(''), ['en'])
  t.deepEqual(await locales('&locale=all'), ['en', 'fr'])
  t.deepEqual(await locales('&locale=fr'), ['fr'])
})

test('a POST to localizations creates a locale of a document', async t => {
  const { app, send } = await openSite(t)
  const ann = await send('POST', 'authors', { name: 'Ann' })
  const { data } = await send('POST', 'articles', { title: 'one', author: ann.data.id })
  const localize = async (path: string, body: object, token = TOKEN, headers = {}) => {
    const { status, body: answered } = await app.request('POST', `/api/${path}/localizations`, {
      body,
      token,
      headers,
    })
    const { error, ...entry } = answered as { error?: { message: string; name: string } } & Record<
      string,
      unknown
    >
    return { status, entry, error }
  }
  const path = `articles/${data.id}`
  const french = await localize(path, { locale: 'fr', title: 'un', unknown: 1 })
  t.like(french, { status: 200, entry: { title: 'un', locale: 'fr', publishedAt: null } })
  t.like((french.entry.localizations as object[])[0], { locale: 'en', title: 'one' })
  t.is((await send('GET', `articles/${String(french.entry.id)}`)).data.attributes.title, 'un')
  t.is((await send('GET', `articles/${data.id}`)).data.attributes.title, 'one')
  t.deepEqual((await send('GET', 'articles?locale=fr')).list, [])
  const preview = await send('GET', 'articles?locale=all&publicationState=preview&sort=id')
  t.deepEqual(
    preview.list.map(({ attributes }) => attributes.locale),
    ['en', 'fr'],
  )

  const refusals = [
    [path, { locale: 'fr', title: 'deux' }, 400, 'locale is already used'],
    [path, { title: 'deux' }, 400, 'locale is missing'],
    [path, { data: { locale: 'fr' } }, 400, 'locale is missing'],
    [
      path,
      { locale: 'fr', publishedAt: 'soon' },
      400,
      'Invalid value for publishedAt: expected a timestamp, an ISO date or null',
    ],
    ['articles/999', { locale: 'fr' }, 404, 'Not Found'],
    ['landing', { locale: 'fr' }, 404, 'Not Found'],
  ] as const
  for (const [at, body, status, message] of refusals) {
    const { status: answered, error } = await localize(at, body)
    t.deepEqual([answered, error?.message], [status, message])
  }
  t.regex((await localize(path, { locale: 'xx' })).error?.message ?? '', /xx/)
  const other = await send('POST', 'articles', { title: 'two' })
  const second = `articles/${other.data.id}`
  t.is(
    (await localize(second, { locale: 'fr', title: 'deux', publishedAt: '2026-01-01' }, TRANSLATOR)).status,
    403,
  )
  t.like(await localize(second, { locale: 'fr', title: 'deux' }, TRANSLATOR), {
    status: 200,
    entry: { title: 'deux', publishedAt: null },
  })
  t.is((await localize('home', { locale: 'fr' })).status, 405)
  t.is((await localize(second, { locale: 'fr' }, TOKEN, V5)).status, 405)

  await send('PUT', 'landing', { title: 'here' })
  t.like(await localize('landing', { locale: 'fr', title: 'ici' }), {
    status: 200,
    entry: { title: 'ici', locale: 'fr', localizations: [{ locale: 'en' }] },
  })
  t.like(await send('GET', 'landing?locale=fr'), { data: { attributes: { title: 'ici' } } })
})

test('names that a type does not have are ignored in populate, at each level', async t => {
  const { send } = await openSite(t)
  const { data: author } = await send('POST', 'authors', { name: 'Ann', secret: false })
  const blocks = [
    { __component: 'shared.seo', title: 'block', author: author.id },
    { __component: 'shared.quote', text: 'quote' },
  ]
  await send('POST', 'articles', {
    title: 'one',
    author: author.id,
    seo: { title: 'seo', author: author.id },
    blocks,
  })
  const read = async (query: string) => {
    const { status, list, body } = await send('GET', `articles?${query}`)
    t.is(status, 200, `${query}: ${JSON.stringify(body)}`)
    return list[0]?.attributes ?? {}
  }
  const ann = { data: { id: author.id, attributes: { name: 'Ann' } } }
  for (const query of [
    'populate=author,unknown,title,author.unknown',
    'populate[0]=author&populate[1]=unknown.deep',
    'populate[author]=*&populate[unknown]=*',
    'populate[author][unknown]=true',
    'populate[author][populate][unknown]=true&populate[createdBy]=true',
    'populate[0]=author&populate[seo][populate]=unknown',
  ])
    t.like((await read(query)).author, ann, query)
  for (const query of [
    'populate[seo]=*',
    'populate[seo][populate]=*',
    'populate=seo.author',
    'populate[seo][populate][author]=true',
  ])
    t.like((await read(query)).seo, { title: 'seo', author: ann }, query)
  for (const query of [
    'populate[blocks][populate]=*',
    'populate[blocks]=*',
    'populate[blocks][populate][author]=true',
    'populate[blocks][populate]=author,unknown',
    'populate=blocks.author',
    'populate[blocks][on][shared.seo][populate]=author&populate[blocks][on][shared.quote]=true&populate[blocks][on][shared.none]=true',
  ]) {
    const zone = (await read(query)).blocks as readonly { readonly author?: unknown }[]
    t.is(zone.length, 2, query)
    t.like(zone[0]?.author, ann, query)
  }
  t.is((await read('populate=unknown')).author, undefined)
  t.is((await read('populate[toString]=true&populate[__proto__]=true')).author, undefined)
})

test('populate=deep populates to a depth, within permissions, if the project declares it', async t => {
  const { send } = await openSite(t, false, { populateDeep: 4 })
  const ann = await send('POST', 'authors', { name: 'Ann', secret: true })
  const first = await send('POST', 'articles', { title: 'first', author: ann.data.id })
  await send('PUT', `articles/${first.data.id}`, {
    seo: { title: 's', author: ann.data.id },
    blocks: [{ __component: PART, article: first.data.id }],
  })
  const at = async (query: string, headers = {}) =>
    (await send('GET', `articles/${first.data.id}?${query}`, undefined, headers)).data.attributes
  const author = { data: { attributes: { name: 'Ann' } } }
  const article = { data: { attributes: { title: 'first' } } }
  t.is((await at('populate=deep,1')).author, undefined)
  const two = await at('populate=deep,2')
  t.like(two, { author, cover: { data: null }, localizations: { data: [] }, seo: { title: 's' } })
  t.deepEqual(two.blocks, [{ id: 1, __component: PART }])
  t.like(await at('populate[0]=deep&populate[1]=3'), { seo: { author }, blocks: [{ article }] })
  const four = { blocks: [{ article: { data: { attributes: { author, seo: { title: 's' } } } } }] }
  t.like(await at('populate=deep'), four)
  t.deepEqual(await at('pLevel'), await at('populate=deep'))
  t.like(await at('pLevel=3'), { seo: { author }, blocks: [{ article }] })
  const flat = await send('GET', `articles/${first.data.documentId}?populate=deep,2`, undefined, V5)
  t.like(flat.data, { author: { name: 'Ann' }, seo: { title: 's' } })
  const hidden = await at('populate=deep,3', ANONYMOUS)
  t.like(hidden, { author: { data: null }, seo: { author: { data: null } } })
})

test('populate=deep is refused without its key, and beyond the limits of a populate', async t => {
  const parts = Array.from({ length: 30 }, (_, index) => `part.part-${index}`)
  const { send } = await openSite(t, false, { populateDeep: 5 }, parts)
  const refusal = async (query: string) => {
    const { status, body } = await send('GET', `articles?${query}`)
    return [status, (body as { error: { message: string } }).error.message]
  }
  const tooDeep = 'populate=deep,9 of article exceeds the limits of a populate: use populate=deep,4'
  t.deepEqual(await refusal('populate=deep,9'), [400, tooDeep])
  const expected = 'Invalid value for populate: expected'
  t.deepEqual(await refusal('populate=deep,x'), [400, `${expected} a depth of 1 or more`])
  t.deepEqual(await refusal('populate=deep,0'), [400, `${expected} a depth of 1 or more`])
  const words = `${expected} deep, or deep and a depth such as deep,3`
  t.deepEqual(await refusal('populate=deep,3,author'), [400, words])
  t.deepEqual(await refusal('pLevel[a]=1'), [400, 'Invalid value for pLevel: expected a depth of 1 or more'])

  const plain = await openSite(t)
  const key =
    'Invalid key deep: populate=deep needs rest.populateDeep in project.yaml, the depth to populate to'
  const { status, body } = await plain.send('GET', 'articles?populate=deep,3', undefined, V5)
  t.like(body, { error: { message: key, details: { key: 'deep', param: 'populate' } } })
  t.is(status, 400)
  t.is((await plain.send('GET', 'articles?populate=deep,3')).status, 200, 'Strapi 4 ignores an unknown name')
  t.is((await plain.send('GET', 'articles?pLevel=3')).status, 200)
})

test('any text as the value of a populated name populates it', async t => {
  const { send } = await openSite(t)
  const author = (await send('POST', 'authors', { name: 'Ann', secret: false })).data.id
  await send('POST', 'articles', { title: 'one', author, seo: { title: 's' } })
  const found = { author: { data: { id: author } }, seo: { title: 's' } }
  for (const query of ['populate[author]=author&populate[seo]=yes', 'populate[author]=*&populate[seo]=*']) {
    const { status, list } = await send('GET', `articles?${query}`)
    t.is(status, 200, query)
    t.like(list, [{ attributes: found }], query)
  }
  const { list } = await send('GET', 'articles?populate[author]=false&populate[seo]=seo')
  t.false(Object.hasOwn(list[0]?.attributes ?? {}, 'author'))
})

test('names that a type, component or user does not have are ignored in bodies, as Strapi 4 does', async t => {
  const { app, send } = await openSite(t)
  const { data, status } = await send('POST', 'articles?populate=seo,blocks', {
    title: 'one',
    captcha: 'x',
    seo: { title: 's', unknown: { a: 1 } },
    blocks: [{ __component: 'shared.quote', text: 'q', unknown: 1 }],
  })
  t.is(status, 200)
  t.like(data.attributes, { title: 'one', seo: { title: 's' }, blocks: [{ text: 'q' }] })
  t.is((await send('PUT', `articles/${data.id}`, { title: 'two', captcha: 'x' })).status, 200)
  t.is((await send('PUT', 'home', { title: 'h', unknown: 1 })).status, 200)
  t.is((await send('POST', 'articles', { captcha: 'x' }, V5)).status, 400)

  const ann = { username: 'ann', email: 'ann@example.org', password: 'Password-1' }
  const body = { ...ann, repeated: 'Password-1', phone: '1', role: 'editor' }
  const registered = await app.request('POST', '/api/auth/local/register', { body })
  t.is(registered.status, 200, JSON.stringify(registered.body))
  const { id, phone } = (registered.body as { user: { id: number; phone: string | null } }).user
  t.is(phone, null)
  const changed = await app.request('PUT', `/api/users/${id}`, {
    body: { id, phone: '2', repeated: 'x' },
    token: TOKEN,
  })
  t.like(changed, { status: 200, body: { phone: '2' } })
  const made = { username: 'bob', email: 'bob@example.org', password: 'Password-2', role: 'authenticated' }
  t.is((await app.request('POST', '/api/users', { body: { ...made, more: 1 }, token: TOKEN })).status, 201)
})

test('links to types that the caller may not find, and read-only attributes, are dropped from bodies', async t => {
  const { app, send } = await openSite(t)
  const ann = await send('POST', 'authors', { name: 'Ann' })
  const article = await send('POST', 'articles', { title: 'one' })
  const values = {
    text: 'a',
    stamp: 'forged',
    author: ann.data.id,
    home: [article.data.id],
    seo: { title: 's', author: { connect: [ann.data.id] } },
  }
  const write = (method: string, path: string, data: object, headers = {}) =>
    app.request(method, `/api/${path}`, { body: { data }, token: NOTER, headers })
  const created = await write('POST', 'notes', values)
  t.is(created.status, 200, JSON.stringify(created.body))
  const { id, documentId } = (created.body as { data: Entry }).data
  const populate = 'populate[author]=true&populate[home]=true&populate[seo][populate]=author'
  const written = async () => (await send('GET', `notes/${id}?${populate}`)).data.attributes
  t.like(await written(), {
    ...{ text: 'a', stamp: null, author: { data: null }, seo: { title: 's', author: { data: null } } },
    home: { data: [{ id: article.data.id }] },
  })
  await send('PUT', `notes/${id}`, { author: ann.data.id })
  t.is((await write('PUT', `notes/${id}`, { text: 'b', author: null })).status, 200)
  t.like(
    await written(),
    { text: 'b', author: { data: { id: ann.data.id } } },
    'a dropped null clears nothing',
  )
  const unknown = await write('PUT', `notes/${id}`, { home: [99] })
  t.is(unknown.status, 400, 'a document that does not exist')
  for (const data of [{ author: null }, { stamp: 'x' }])
    t.is((await write('PUT', `notes/${documentId}`, data, V5)).status, 400)
})

test('lists of users are populated as in Strapi 4', async t => {
  const { app } = await openSite(t)
  const body = { username: 'ann', email: 'ann@example.org', password: 'Password-1', role: 'authenticated' }
  await app.request('POST', '/api/users', { body, token: TOKEN })
  for (const query of [
    'populate[role]=*',
    'populate=role,unknown',
    'populate[0]=role&populate[1]=unknown.a',
  ]) {
    const answer = await app.request('GET', `/api/users?${query}`, { token: TOKEN })
    t.like(answer, { status: 200, body: [{ username: 'ann', role: { type: 'authenticated' } }] }, query)
  }
})

test('related of a file is populated as in Strapi 4, with its types, and by code', async t => {
  const { app, send } = await openSite(t, true)
  const form = new FormData()
  form.append('files', new Blob(['x']), 'x.txt')
  const init = { method: 'POST', body: form, headers: { authorization: `Bearer ${TOKEN}` } }
  const [file] = (await (await fetch(`${app.url}/api/upload`, init)).json()) as { id: number }[]
  const author = (await send('POST', 'authors', { name: 'Ann', secret: false })).data.id
  await send('POST', 'articles', {
    title: 'one',
    author,
    cover: file?.id,
    seo: { title: 's', image: file?.id },
  })
  const entry = { __type: 'api::article.article', title: 'one' }
  const ann = { id: author, name: 'Ann' }
  for (const [query, ...expected] of [
    ['populate[cover][populate]=related', entry],
    ['populate[cover][populate]=*', entry],
    ['populate=cover.related', entry],
    ['populate=cover.related.author,cover.related.unknown', { ...entry, author: ann }],
    ['populate[cover][populate][related][populate][author]=true', { ...entry, author: ann }],
    [
      'populate[cover][populate][related][on][api::article.article][populate]=author',
      { ...entry, author: ann },
    ],
    ['populate[cover][populate][related][on][shared.seo]=true', { __type: 'shared.seo', title: 's' }],
  ] as const) {
    const { status, list } = await send('GET', `articles?${query}`)
    t.is(status, 200, query)
    t.like(list, [{ attributes: { cover: { data: { attributes: { related: expected } } } } }], query)
  }
  const stored = await app.app.documents('plugin::upload.file').findMany({ populate: ['related'] })
  t.like(stored, [{ related: [entry] }])
})

test('the header gives one answer the format of Strapi 5, and its parameters', async t => {
  const { send } = await openSite(t)
  const { data } = await send('POST', 'articles', { title: 'one' })
  const headers = V5
  const { list } = await send('GET', 'articles', undefined, headers)
  t.like(list[0], { id: data.id, title: 'one' })
  t.is((await send('GET', `articles/${data.id}`, undefined, headers)).status, 404)
  t.is((await send('GET', 'articles?populate=unknown', undefined, headers)).status, 400)
  t.is((await send('GET', 'articles?populate=unknown')).status, 200)
})

test('v4-flat takes requests of Strapi 4 and answers flat documents', async t => {
  const { send } = await openSite(t, false, { responseFormat: 'v4-flat' })
  const ann = await send('POST', 'authors', { name: 'Ann' })
  const made = await send('POST', 'articles?populate=author', {
    title: 'one',
    author: ann.data.id,
    unknown: 1,
  })
  t.is(made.status, 200)
  t.like(made.data, { title: 'one', author: { id: ann.data.id, name: 'Ann' } })
  const list = await send(
    'GET',
    'articles?publicationState=preview&locale=all&populate[author]=*&populate[nothing]=1',
  )
  t.like(list.list[0], { id: made.data.id, title: 'one', author: { name: 'Ann' } })
  const nested = await send('GET', `articles/${made.data.id}`, undefined, { 'strapi-response-format': 'v4' })
  t.like(nested.data, { id: made.data.id, attributes: { title: 'one' } })
  t.is((await send('GET', `articles/${made.data.id}`, undefined, V5)).status, 404)
  t.like(await send('DELETE', `articles/${made.data.id}`), { status: 200, data: { title: 'one' } })
})

test('bad input is refused as in the format of Strapi 5', async t => {
  const { send } = await openSite(t)
  for (const [method, path, data] of [
    ['GET', 'articles?filters[unknown]=1'],
    ['GET', `articles?populate=${'blocks.article.'.repeat(20)}author`],
    ['GET', 'articles?locale[a]=all'],
    ['GET', 'articles?publicationState[]=preview'],
    ['POST', 'articles', { blocks: [{ __component: 'shared.unknown' }] }],
    ['POST', 'articles', { title: 'x', locale: 'de' }],
    ['PUT', 'articles/1e3', { title: 'x' }],
  ] as const) {
    const { status } = await send(method, path, data)
    t.true(status === 400 || status === 404, `${method} ${path}: ${status}`)
  }
})

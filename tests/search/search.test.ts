import test from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { AnswerCheck } from '../openapi/answer-check.ts'

const FULL = 'a-secret-of-forty-letters-that-is-not-guessed'
const TITLES = 'a-token-of-forty-letters-that-reads-the-titles'
const RATINGS = 'a-token-of-forty-letters-that-reads-no-texts'

const PROJECT = {
  graphql: { endpoints: { '/nested': 'nested', '/flat': 'flat' } },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  server: { rateLimit: { api: false, auth: false, account: false } },
  components: { 'part.quote': { attributes: { text: 'text', secret: { type: 'string', private: true } } } },
  contentTypes: {
    article: {
      draftAndPublish: true,
      localized: true,
      search: {
        attributes: { title: 'A', slug: 'B', body: 'C', rich: 'D', 'quotes.text': 'D', 'zone.text': 'D' },
      },
      attributes: {
        title: 'string',
        slug: 'uid',
        body: 'text',
        rich: 'blocks',
        rating: 'integer',
        quotes: { type: 'component', component: 'part.quote', repeatable: true },
        zone: { type: 'dynamiczone', components: ['part.quote'] },
      },
    },
    note: { attributes: { text: 'string' } },
    place: {
      search: { attributes: { name: 'A', address: 'B' } },
      attributes: { name: 'string', address: 'string' },
    },
  },
  roles: {
    public: {
      permissions: {
        article: { find: { fields: ['title', 'body'], where: { rating: { $gt: 1 } } } },
        note: ['find'],
      },
    },
  },
  apiTokens: {
    all: { type: 'full-access', secret: FULL },
    titles: {
      type: 'custom',
      secret: TITLES,
      permissions: { article: { find: { fields: ['title', 'rating'] } } },
    },
    ratings: { type: 'custom', secret: RATINGS, permissions: { article: { find: { fields: ['rating'] } } } },
  },
}

const shared = teardownOfFile(test.after.always)
let app: TestApp

const blocks = (text: string) => [{ type: 'paragraph', children: [{ type: 'text', text }] }]

test.before(async () => {
  app = await openTestApp(shared, { project: PROJECT })
  const { documents } = app.app
  const make = (data: Record<string, unknown>, locale = 'en') =>
    documents('api::article.article').create({ data, locale, status: 'published' })
  await make({ title: 'Wines of France', body: 'Red and white', rating: 5 })
  await make({ title: 'Cooking', body: 'A red sauce with natural wine', rating: 4 })
  await make({ title: 'Hidden', body: 'natural wine', rating: 1 })
  await make({ title: 'Café Müller', body: '<b>Tea & "cake"</b>', rich: blocks('Strudel'), rating: 3 })
  await make({ title: 'Les chevaux', body: 'Un cheval', rating: 3 }, 'fr')
  await make({
    title: 'Quoted',
    quotes: [{ text: 'zebra', secret: 'okapi' }],
    zone: [{ __component: 'part.quote', text: 'giraffe' }],
    rating: 3,
  })
})

interface Found {
  readonly data: readonly { readonly title: string; readonly _highlight?: Readonly<Record<string, string>> }[]
  readonly meta: { readonly pagination: { readonly total: number } }
}

const get = async (query: string, token: string | undefined = FULL) =>
  app.request('GET', `/api/articles?${query}`, token === '' ? {} : { token })

async function find(search: string, rest = '', token: string = FULL): Promise<readonly string[]> {
  const { status, body } = await get(`search=${encodeURIComponent(search)}&${rest}`, token)
  if (status !== 200) throw new Error(JSON.stringify(body))
  const { data, meta } = body as Found
  if (meta.pagination.total !== data.length) throw new Error('the total differs')
  return data.map(({ title }) => title)
}

test.serial(
  'a search finds stems, phrases and exclusions, ignores accents and case, and ranks by weight',
  async t => {
    t.deepEqual(await find('wine'), ['Wines of France', 'Cooking', 'Hidden'])
    t.deepEqual(await find('wine -red'), ['Hidden'])
    t.deepEqual(await find('"natural wine" sauce'), ['Cooking'])
    t.deepEqual(await find('france or strudel', 'sort=title'), ['Café Müller', 'Wines of France'])
    t.deepEqual(await find('CAFE muller'), ['Café Müller'])
    t.deepEqual(await find('the'), [])
    t.deepEqual(await find('wine', 'sort=title:desc&pagination[pageSize]=5'), [
      'Wines of France',
      'Hidden',
      'Cooking',
    ])
    t.deepEqual(await find('wine', 'sort=relevance&filters[rating][$lt]=5'), ['Cooking', 'Hidden'])
  },
)

test.serial('each locale has its language', async t => {
  t.deepEqual(await find('cheval', 'locale=fr'), ['Les chevaux'])
  t.deepEqual(await find('cheval'), [])
  t.deepEqual(await find('cheval or cafe', 'locale=*&sort=title'), ['Café Müller', 'Les chevaux'])
  t.is((await find('cheval or cafe', 'locale=*')).length, 2)
})

test.serial('drafts and published versions are searched on their own', async t => {
  const { documents } = app.app
  const { documentId } = await documents('api::article.article').create({
    data: { title: 'Platypus' },
    status: 'draft',
  })
  t.deepEqual(await find('platypus'), [])
  t.deepEqual(await find('platypus', 'status=draft'), ['Platypus'])
  await documents('api::article.article').publish({ documentId })
  t.deepEqual(await find('platypus'), ['Platypus'])
  await documents('api::article.article').update({ documentId, data: { title: 'Echidna' } })
  t.deepEqual(await find('platypus', 'status=draft'), [])
  t.deepEqual(await find('platypus'), ['Platypus'])
  await documents('api::article.article').delete({ documentId })
  t.deepEqual(await find('platypus or echidna', 'status=draft'), [])
})

test.serial('the text of components is found, also after it changed', async t => {
  t.deepEqual(await find('zebra giraffe'), ['Quoted'])
  t.deepEqual(await find('okapi'), [])
  const { documents } = app.app
  const { documentId } = await documents('api::article.article').create({
    data: { title: 'Zoo', quotes: [{ text: 'lynx' }] },
  })
  t.deepEqual(await find('zoo lynx', 'status=draft'), ['Zoo'])
  await documents('api::article.article').update({ documentId, data: { quotes: [{ text: 'otter' }] } })
  t.deepEqual(await find('lynx', 'status=draft'), [])
  t.deepEqual(await find('otter', 'status=draft'), ['Zoo'])
  await app.app.sequelize.query(`UPDATE components_part_quote SET text = 'beaver' WHERE text = 'otter'`)
  t.deepEqual(await find('beaver', 'status=draft'), ['Zoo'])
  await documents('api::article.article').update({ documentId, data: { quotes: [] } })
  t.deepEqual(await find('beaver', 'status=draft'), [])
  await documents('api::article.article').delete({ documentId })
})

test.serial('a letter with many combining marks is indexed and highlighted', async t => {
  const { documents } = app.app
  const body = `quokka x${'\u0301\u0323'.repeat(100_000)} tapir`
  const { documentId } = await documents('api::article.article').create({
    data: { title: 'Marks', body, rating: 2 },
    status: 'published',
  })
  const answer = await get('search=tapir%20quokka&highlight=body&fields=title,body')
  const [found] = (answer.body as Found).data
  t.like(found, { title: 'Marks', body })
  t.regex(found?._highlight?.body ?? '', /^<mark>quokka<\/mark> x/)
  await documents('api::article.article').delete({ documentId })
})

test.serial('highlight returns an excerpt as HTML with marked matches', async t => {
  const { body } = await get(`search=${encodeURIComponent('cafe cake')}&highlight=title,body&fields=title`)
  const [first] = (body as Found).data
  t.deepEqual(first?._highlight, {
    title: '<mark>Café</mark> Müller',
    body: '&lt;b&gt;Tea &amp; &quot;<mark>cake</mark>&quot;&lt;/b&gt;',
  })
})

test.serial('a caller searches only what the caller may read', async t => {
  t.deepEqual(await find('wine', '', ''), ['Wines of France', 'Cooking'])
  t.deepEqual(await find('strudel', '', ''), [])
  t.deepEqual(await find('wine', '', TITLES), ['Wines of France'])
  t.deepEqual(await find('france -red', '', TITLES), ['Wines of France'])
  const none = await get('search=wine', RATINGS)
  t.like(none, {
    status: 400,
    body: { error: { message: 'Invalid parameter search: none of its attributes is readable' } },
  })
  for (const name of ['body', 'bodi', 'rating']) {
    const { status, body } = await get(`search=wine&highlight=${name}`, TITLES)
    t.is(status, 400)
    // A fault that listed the searched attributes would name those that the caller may not read.
    const error = {
      status: 400,
      name: 'ValidationError',
      message: `Invalid key ${name} of highlight: expected a searched attribute of the type itself`,
      details: { key: name, path: null, source: 'query', param: 'highlight' },
    }
    t.deepEqual(body, { data: null, error })
  }
})

test.serial('what cannot be searched is refused with its reason', async t => {
  const refused = async (path: string) => {
    const { status, body } = await app.request('GET', path, { token: FULL })
    return `${status} ${(body as { error: { message: string } }).error.message}`
  }
  t.is(
    await refused('/api/notes?search=a'),
    '400 Invalid parameter search: `note` declares no `search:` in project.yaml',
  )
  t.is(await refused('/api/articles?search[a]=b'), '400 Invalid value for search: expected a text')
  t.is(await refused('/api/articles?search=a%00b'), '400 Invalid value for search: expected a text')
  t.is(
    await refused(`/api/articles?search=${'a'.repeat(257)}`),
    '400 Invalid value for search: at most 256 characters',
  )
  t.is(
    await refused(`/api/articles?search=${'a+'.repeat(17)}`),
    '400 Invalid value for search: at most 16 words',
  )
  t.is(
    await refused('/api/articles?search=a&highlight[a]=title'),
    '400 Invalid value for highlight: expected names of searched attributes',
  )
  for (const name of ['titel', 'rating', 'quotes.text'])
    t.is(
      await refused(`/api/articles?search=a&highlight=${name}`),
      `400 Invalid key ${name} of highlight: expected a searched attribute of the type itself`,
    )
  t.is(
    await refused('/api/articles?highlight=title'),
    '400 Invalid value for highlight: it marks the matches of `search`, which is missing',
  )
  t.is(
    await refused('/api/articles?search=a&pagination[after]='),
    '400 Invalid pagination[after]: a list that is sorted by relevance has no cursors. It takes meta.pagination.next of the page before, with the same sort; nothing for the first page',
  )
  t.is(await refused('/api/articles?sort=relevance'), '400 Invalid key relevance')
})

test.serial('no text makes a search fail', async t => {
  for (const text of [
    '"',
    '""',
    '"a',
    ':*',
    'a:*',
    '&|!',
    '!',
    '-',
    '- -',
    'or',
    'or or',
    '(',
    "'",
    "'; drop table articles; --",
    '\\',
    'שלום עולם',
    '👩‍👩‍👧',
    '<mark>',
    '%',
    '\u0301',
    'a\tb\nc',
    `${'-'.repeat(255)}a`,
    `${'-!'.repeat(127)}a`,
  ])
    t.is(
      (await get(`search=${encodeURIComponent(text)}&highlight=title,body,rich&locale=*`)).status,
      200,
      text,
    )
})

test.serial('many dashes before a word negate it, or do not, as few do', async t => {
  const found = async (dashes: number) => (await get(`search=${'-'.repeat(dashes)}wine`)).body
  t.deepEqual(await found(201), await found(1))
  t.deepEqual(await found(200), await found(2))
  t.notDeepEqual(await found(1), await found(2))
})

test.serial('GraphQL lists take the argument search in both formats', async t => {
  const ask = async (path: string, query: string, token?: string) =>
    (await app.request('POST', path, { body: { query }, ...(token !== undefined && { token }) })).body
  const nested =
    '{ articles(search: "wine") { data { attributes { title } } meta { pagination { total } } } }'
  t.deepEqual(await ask('/nested', nested), {
    data: {
      articles: {
        data: [{ attributes: { title: 'Wines of France' } }, { attributes: { title: 'Cooking' } }],
        meta: { pagination: { total: 2 } },
      },
    },
  })
  const flat = `{ articles(search: "wine", sort: "relevance", filters: { rating: { lt: 5 } }) { title }
    articles_connection(search: "wine", sort: "title:desc") { nodes { title } pageInfo { total } } }`
  t.deepEqual(await ask('/flat', flat, FULL), {
    data: {
      articles: [{ title: 'Cooking' }, { title: 'Hidden' }],
      articles_connection: {
        nodes: [{ title: 'Wines of France' }, { title: 'Hidden' }, { title: 'Cooking' }],
        pageInfo: { total: 3 },
      },
    },
  })
  t.deepEqual(await ask('/flat', '{ articles(search: "wine") { title } }', TITLES), {
    data: { articles: [{ title: 'Wines of France' }] },
  })
  const refused = await ask('/flat', '{ articles(search: "wine") { documentId } }', RATINGS)
  t.regex(JSON.stringify(refused), /none of its attributes is readable/)
  t.regex(JSON.stringify(await ask('/flat', '{ notes(search: "wine") { text } }', FULL)), /Unknown argument/)
})

test.serial('project code searches by app.documents, and a write ignores the parameter', async t => {
  const articles = app.app.documents('api::article.article')
  const found = await articles.findMany({
    search: 'wine',
    status: 'published',
    highlight: 'title',
    fields: ['title'],
  })
  t.is(found.length, 3)
  t.like(found[0], { title: 'Wines of France', _highlight: { title: '<mark>Wines</mark> of France' } })
  t.is(await articles.count({ search: 'okapi or wine', status: 'published' }), 3)
  await t.throwsAsync(articles.deleteMany({ filters: {}, search: 'wine' } as never), { message: /search/ })
  const { body } = await app.request('POST', '/api/articles?search=nothing&highlight=title', {
    token: FULL,
    body: { data: { title: 'Written' } },
  })
  const { data } = body as { data: { documentId: string; title: string; _highlight?: unknown } }
  t.is(data.title, 'Written')
  t.is(data._highlight, undefined)
  t.is(
    (await app.request('GET', `/api/articles/${data.documentId}?search=written`, { token: FULL })).status,
    200,
  )
  t.is(
    (await app.request('GET', `/api/articles/${data.documentId}?search=other`, { token: FULL })).status,
    404,
  )
  await articles.delete({ documentId: data.documentId })
})

test.serial('the OpenAPI document has the parameters of a search that the caller may use', async t => {
  const { body } = await app.request('GET', '/api/openapi.json', { token: TITLES })
  const { components } = body as {
    components: {
      parameters: Readonly<Record<string, { readonly schema: Readonly<Record<string, unknown>> }>>
    }
  }
  t.like(components.parameters.ArticleSearch, { name: 'search', schema: { type: 'string', maxLength: 256 } })
  t.deepEqual(components.parameters.ArticleHighlight?.schema.items, { type: 'string', enum: ['title'] })
  const { body: other } = await app.request('GET', '/api/openapi.json', { token: RATINGS })
  t.false(JSON.stringify(other).includes('"name":"search"'))
})

interface Match {
  readonly contentType: string
  readonly documentId: string
  readonly locale: string | null
  readonly rank: number
  readonly fields: Readonly<Record<string, string>>
}

/** Compares answers with the OpenAPI document. */
let description: AnswerCheck | undefined

async function across(query: string, token = FULL) {
  const options = token === '' ? {} : { token }
  const path = `/api/search?${query}`
  const response = await app.request('GET', path, options)
  const { status, body } = response
  description ??= new AnswerCheck(app)
  const violation =
    status === 403 ? null : await description.fault({ method: 'GET', path, ...options }, response)
  if (violation !== null) throw new Error(violation)
  if (status !== 200) return `${status} ${(body as { error: { message: string } }).error.message}`
  return (body as { data: readonly Match[] }).data
}

const titlesOf = (found: string | readonly Match[]): readonly unknown[] =>
  typeof found === 'string'
    ? [found]
    : found.map(({ contentType, fields }) => `${contentType} ${fields.title ?? fields.name}`)

test.serial(
  'a search over all types answers the best matches of those that the caller may search',
  async t => {
    const places = app.app.documents('api::place.place')
    await places.create({ data: { name: 'Wine bar', address: 'Red Square' } })
    t.deepEqual(titlesOf(await across('q=wine')), [
      'article Wines of France',
      'place Wine bar',
      'article Cooking',
      'article Hidden',
    ])
    t.deepEqual(titlesOf(await across('q=wine&limit=2')), ['article Wines of France', 'place Wine bar'])
    t.deepEqual(titlesOf(await across('q=wine&types=place')), ['place Wine bar'])
    t.deepEqual(titlesOf(await across('q=cheval&locale=fr')), ['article Les chevaux'])
    t.deepEqual(titlesOf(await across('q=wine', '')), ['article Wines of France', 'article Cooking'])
    t.deepEqual(titlesOf(await across('q=red', TITLES)), [])
    const [first] = (await across('q=france')) as readonly Match[]
    t.deepEqual(Object.keys(first ?? {}), ['contentType', 'documentId', 'locale', 'rank', 'fields'])
    t.is(await across('q=wine', RATINGS), '403 There is no content-type that you may search')
    t.is(await across('q=wine&types=place', TITLES), '400 Invalid value for types: expected article')
    t.is(await across('q='), '400 Invalid value for q: expected a text')
    t.is(await across(`q=${'a'.repeat(257)}`), '400 Invalid value for q: at most 256 characters')
    t.is(await across('q=wine&limit=0'), '400 Invalid value for limit: expected a number from 1')
    t.is(
      await across('q=wine&filters[a]=b'),
      '400 Invalid parameter filters: expected q, types, locale, limit',
    )
    t.is((await app.request('POST', '/api/search', { token: FULL })).status, 405)
    for (const search of randomSearches(20)) {
      const q = `q=${encodeURIComponent(search)}&limit=100&locale=*`
      for (const token of [FULL, TITLES, '']) {
        const found = titlesOf(await across(`${q}&types=article`, token))
        t.deepEqual(
          found,
          (await find(search, 'locale=*', token)).map(title => `article ${title}`),
        )
      }
    }
  },
)

const WORDS = [
  'wine',
  'red',
  'natural',
  'sauce',
  'france',
  'cafe',
  'zebra',
  'strudel',
  '-red',
  '"natural wine"',
  'or',
  'cheval',
]

/** Deterministic, so that a failure can be repeated. */
function* randomSearches(count: number): Generator<string> {
  let state = 7
  const next = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  for (let made = 0; made < count; made++)
    yield Array.from({ length: 1 + next(4) }, () => WORDS[next(WORDS.length)]).join(' ')
}

test.serial(
  'for every caller, a search finds a part of the list, and its total counts what it finds',
  async t => {
    for (const token of [FULL, TITLES, '']) {
      const { body } = await get('fields=title&locale=*', token)
      const listed = new Set((body as Found).data.map(({ title }) => title))
      for (const search of randomSearches(25)) {
        const found = await find(search, 'locale=*', token)
        t.true(
          found.every(title => listed.has(title)),
          `${token} ${search}`,
        )
        const sorted = await find(search, 'locale=*&sort=title', token)
        t.deepEqual([...found].toSorted(), [...sorted].toSorted(), search)
      }
    }
  },
)

test.serial('no byte of an answer depends on text that the caller may not read', async t => {
  const answers = async () => {
    const bodies: string[] = []
    for (const search of randomSearches(30))
      for (const rest of ['', '&sort=title:desc', '&highlight=title', '&locale=*&pagination[pageSize]=1'])
        bodies.push(JSON.stringify((await get(`search=${encodeURIComponent(search)}${rest}`, TITLES)).body))
    return bodies
  }
  const before = await answers()
  const { sequelize } = app.app
  await sequelize.query(
    `CREATE TABLE kept AS SELECT id, body FROM articles; UPDATE articles SET body = 'wine red france ' || title`,
  )
  try {
    t.deepEqual(await find('wine', '', FULL).then(found => found.length), 5)
    t.deepEqual(await answers(), before)
  } finally {
    await sequelize.query(
      'UPDATE articles SET body = kept.body FROM kept WHERE kept.id = articles.id; DROP TABLE kept',
    )
  }
})

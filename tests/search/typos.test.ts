import test from 'ava'
import { call, parameter, select } from '../../core/sql/build.ts'
import { printSelect } from '../../core/sql/print.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

const FULL = 'a-secret-of-forty-letters-that-is-not-guessed'
const TITLES = 'a-token-of-forty-letters-that-reads-the-titles'

const PROJECT = {
  i18n: { locales: ['en', 'de'], defaultLocale: 'en' },
  server: { rateLimit: { api: false, auth: false, account: false } },
  components: { 'part.quote': { attributes: { text: 'text' } } },
  contentTypes: {
    article: {
      localized: true,
      draftAndPublish: true,
      search: { attributes: { title: 'A', body: 'C', 'quotes.text': 'D' }, typos: true },
      attributes: {
        ...{ title: 'string', body: 'text', rating: 'integer' },
        quotes: { type: 'component', component: 'part.quote', repeatable: true },
      },
    },
    place: { search: { attributes: { name: 'A' }, typos: true }, attributes: { name: 'string' } },
  },
  apiTokens: {
    all: { type: 'full-access', secret: FULL },
    titles: {
      type: 'custom',
      secret: TITLES,
      permissions: { article: { find: { fields: ['title'], where: { rating: { $gt: 1 } } } } },
    },
  },
}

const shared = teardownOfFile(test.after.always)
let app: TestApp

test.before(async () => {
  app = await openTestApp(shared, { project: PROJECT })
  const { documents } = app.app
  const make = (data: Record<string, unknown>, locale = 'en') =>
    documents('api::article.article').create({ data, locale, status: 'published' })
  await make({ title: 'Wines of France', body: 'A magnificent landscape', rating: 5 })
  await make({ title: 'Cooking', body: 'Natural wine, and a landscape of rivers', rating: 4 })
  await make({ title: 'Vineyards', body: 'Vine 2024', rating: 3 })
  await make({ title: 'Hidden chocolate', body: 'chocolate', rating: 1 })
  await make({ title: 'Quoted', quotes: [{ text: 'zebra crossing' }], rating: 2 })
  await make({ title: 'Größere Geschwindigkeiten', body: 'Die Straße', rating: 2 }, 'de')
  await documents('api::place.place').create({ data: { name: 'Winery' } })
})

interface Found {
  readonly data: readonly { readonly title: string; readonly _highlight?: Readonly<Record<string, string>> }[]
  readonly meta: { readonly pagination: { readonly total: number } }
}

async function ask(search: string, rest = '', token = FULL): Promise<Found> {
  const { status, body } = await app.request(
    'GET',
    `/api/articles?search=${encodeURIComponent(search)}&${rest}`,
    { token },
  )
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as Found
}

async function find(search: string, rest = '', token = FULL): Promise<readonly string[]> {
  const { data, meta } = await ask(search, rest, token)
  if (meta.pagination.total !== data.length) throw new Error('the total differs')
  return data.map(({ title }) => title)
}

test.serial('one wrong, missing, additional or exchanged letter is corrected', async t => {
  for (const typed of ['landscpe', 'landscapee', 'lamdscape', 'ladnscape', 'LANDSCÁEP'])
    t.deepEqual(await find(typed, 'sort=title'), ['Cooking', 'Wines of France'], typed)
  t.deepEqual(await find('wnie france'), ['Wines of France'])
  t.deepEqual(await find('cokking'), ['Cooking'])
  t.deepEqual(await find('zebar'), ['Quoted'])
  t.deepEqual(await find('geschwindigkiet', 'locale=de'), ['Größere Geschwindigkeiten'])
  t.deepEqual(await find('grössre', 'locale=de'), ['Größere Geschwindigkeiten'])
})

test.serial('several wrong letters of a long word are corrected', async t => {
  t.deepEqual(await find('magnifisent landscap'), ['Wines of France'])
  t.deepEqual(await find('magnificant lanscapes'), ['Wines of France'])
})

test.serial('what is found as it is typed is not corrected', async t => {
  t.deepEqual(await find('vine'), ['Vineyards'])
  t.deepEqual(await find('wine'), ['Wines of France', 'Cooking'])
})

test.serial('short words, words with digits and excluded words are not corrected', async t => {
  t.deepEqual(await find('cok'), [])
  t.deepEqual(await find('2042'), [])
  t.deepEqual(await find('wi2ne'), [])
  t.deepEqual(await find('landscpe -wime'), await find('landscpe'))
  t.deepEqual(await find('landscpe -natural'), ['Wines of France'])
  t.deepEqual(await find('-wime'), await find('-nothinglikeit'))
})

test.serial('corrected words are marked, and ranked below every document that is found as typed', async t => {
  const { data } = await ask('landscpe', 'highlight=body&sort=title')
  t.deepEqual(data[0]?._highlight, { body: 'Natural wine, and a <mark>landscape</mark> of rivers' })
  const across = async (q: string) => {
    const { body } = await app.request('GET', `/api/search?q=${q}`, { token: FULL })
    return (body as { data: readonly { fields: { title?: string; name?: string }; rank: number }[] }).data
  }
  const found = await across('winery')
  t.deepEqual(
    found.map(({ fields }) => fields.title ?? fields.name),
    ['Winery', 'Wines of France', 'Cooking'],
  )
  t.deepEqual(
    found.map(({ rank }) => rank > 0),
    [true, false, false],
  )
  for (const { rank } of await across('landscpe')) t.true(rank > -1 && rank < 0, String(rank))
})

test.serial('a correction is found in each form of a request', async t => {
  const page = async (rest: string) => (await ask('landscpe', rest)).data.map(({ title }) => title)
  t.deepEqual(
    await page('sort=title&pagination[pageSize]=1&pagination[page]=2&pagination[withCount]=false'),
    ['Wines of France'],
  )
  t.deepEqual(await page('sort=title&pagination[after]=&pagination[pageSize]=1'), ['Cooking'])
  t.deepEqual(await page('filters[rating]=4'), ['Cooking'])
  t.deepEqual(await page('locale=*&sort=title'), ['Cooking', 'Wines of France'])
  t.deepEqual(await page('status=draft&sort=title'), ['Cooking', 'Wines of France'])
  const result = await app.graphql(
    '{ articles(search: "landscpe") { data { attributes { title } } meta { pagination { total } } } }',
    {},
    { token: FULL },
  )
  t.like(result.data, { articles: { meta: { pagination: { total: 2 } } } })
  const articles = app.app.documents('api::article.article')
  t.is(await articles.count({ search: 'landscpe', status: 'published' }), 2)
})

test('a statement looks up similar words once, however many of its parts use them', t => {
  const part = (column: string) => ({
    as: column,
    expression: {
      kind: 'shared-call',
      name: 'similar$',
      call: call('plinth_similar_words', parameter('wnie', 'text')),
      column,
    } as const,
  })
  const { text, parameters } = printSelect(select({ columns: [part('query'), part('similarities')] }))
  t.is(
    text,
    'WITH similar$ AS MATERIALIZED (SELECT * FROM plinth_similar_words($1::text)) SELECT (SELECT similar$."query" FROM similar$) AS "query", (SELECT similar$."similarities" FROM similar$) AS "similarities"',
  )
  t.is(parameters.length, 1)
})

test.serial('a caller gets no correction to a word that the caller may not read', async t => {
  t.deepEqual(await find('chocolte'), ['Hidden chocolate'])
  t.deepEqual(await find('chocolte', '', TITLES), [])
  t.deepEqual(await find('landscpe', '', TITLES), [])
  t.deepEqual(await find('wiines', '', TITLES), ['Wines of France'])
})

test.serial('words of changed texts and of components are corrected', async t => {
  const articles = app.app.documents('api::article.article')
  const { documentId } = await articles.create({ data: { title: 'Zoo', quotes: [{ text: 'elephant' }] } })
  t.deepEqual(await find('elehpant', 'status=draft'), ['Zoo'])
  await articles.update({ documentId, data: { quotes: [{ text: 'kangaroo' }], title: 'Aquarium' } })
  t.deepEqual(await find('elehpant', 'status=draft'), [])
  t.deepEqual(await find('kangoroo aqarium', 'status=draft'), ['Aquarium'])
  await articles.delete({ documentId })
})

test.serial('words that no text contains any more can be deleted, and words of texts stay', async t => {
  const articles = app.app.documents('api::article.article')
  const { documentId } = await articles.create({
    data: { title: 'Temporary giraffe', body: 'landscape', quotes: [{ text: 'walrus' }] },
    status: 'published',
  })
  await articles.update({
    documentId,
    data: { title: 'Permanent', quotes: [{ text: 'penguin' }] },
    status: 'published',
  })
  const known = async () => {
    const [rows] = await app.app.sequelize.query('SELECT word FROM plinth_words_articles')
    return new Set((rows as { word: string }[]).map(({ word }) => word))
  }
  const before = await known()
  for (const word of ['giraff', 'walrus', 'penguin', 'perman', 'zebra']) t.true(before.has(word), word)
  const remove = `SELECT plinth_remove_unused_words('articles', 'plinth_words_articles') AS removed`
  await app.app.sequelize.query(remove)
  const after = await known()
  t.deepEqual(
    ['giraff', 'walrus', 'penguin', 'perman', 'zebra'].map(word => after.has(word)),
    [false, false, true, true, true],
  )
  t.deepEqual(await find('pengiun'), ['Permanent'])
  await articles.update({ documentId, data: { title: 'Giraffe permanent' }, status: 'published' })
  t.deepEqual(await find('girafe'), ['Giraffe permanent'])
  const [[last]] = (await app.app.sequelize.query(remove)) as unknown as [[{ removed: unknown }]]
  t.is(Number(last.removed), 0)
  await articles.delete({ documentId })
})

test.serial('no text makes a correction fail', async t => {
  for (const text of [
    `"'"`,
    "o'neill's",
    'foo-bar.com',
    '\\',
    'a\\b',
    "''''''",
    '$1',
    'landscpe:*',
    '(((',
    'x'.repeat(256),
    'wörterbüche',
    'שלוםם',
    '"landscpe of rivvers"',
    'landscpe or rivvers -natural',
  ])
    t.true(Array.isArray(await find(text, 'highlight=title,body&locale=*')), text)
  t.deepEqual(await find('"landscpe of rivvers"'), ['Cooking'])
})

import test, { type ExecutionContext } from 'ava'
import { FULL, openTwoApps, type Site } from '../cache/two-apps.ts'

// Answers to requests for more than one response may hold.

const PROJECT = `
name: Large answers
server: { rateLimit: { api: false, auth: false } }
database: { limits: { bytes: 60kb } }
graphql: { endpoints: { /graphql: nested, /graphql5: flat } }
contentTypes:
  author:
    attributes:
      name: string
      articles: { type: relation, relation: oneToMany, target: article, mappedBy: author }
  article:
    attributes:
      title: string
      body: text
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

/** One author with twenty articles of two thousand characters. */
async function open(t: ExecutionContext): Promise<Site> {
  const apps = await openTwoApps(PROJECT)
  t.teardown(() => apps.close())
  const site = apps.plain
  const { documentId } = (await site.data('POST', '/api/authors', { name: 'Ann' })) as { documentId: string }
  for (let number = 0; number < 20; number++)
    await site.data('POST', '/api/articles', {
      ...{ title: `Title ${number}`, body: 'x'.repeat(2000), author: documentId },
    })
  return site
}

const errorOf = (text: string) =>
  (JSON.parse(text) as { error: { name: string; message: string; details: { path: string[] } } }).error

test('a populate that is too large is refused with its path and with advice on pagination', async t => {
  const site = await open(t)
  const asked = '/api/articles?pagination[pageSize]=20&fields=title&populate[author][populate][articles]=true'
  const { status, text } = await site.ask('GET', asked, { as: FULL })
  t.is(status, 400, text)
  const { name, message, details } = errorOf(text)
  t.is(name, 'ValidationError')
  t.deepEqual(details.path, ['author', 'articles'])
  t.regex(message, /61440 bytes that database\.limits\.bytes .* `author\.articles`: .*pagination\[pageSize\]/)
  const few = asked.replace('articles]=true', 'articles][fields]=title')
  t.is((await site.ask('GET', few, { as: FULL })).status, 200)
})

test('nested lists are refused by the same limit, in every format', async t => {
  const site = await open(t)
  const deep = 'populate[articles][populate][author][populate][articles]=true'
  for (const headers of [{}, { 'strapi-response-format': 'v4' }]) {
    const { status, text } = await site.ask('GET', `/api/authors?${deep}`, { as: FULL, headers })
    t.is(status, 400, text)
    t.deepEqual(errorOf(text).details.path, ['articles', 'author', 'articles'])
  }
  const few = deep.replace('=true', '[fields]=title')
  const small = `${few}&populate[articles][fields]=title`
  t.is((await site.ask('GET', `/api/authors?${small}`, { as: FULL })).status, 200)
  const query =
    '{ authors { data { attributes { articles { data { attributes { author { data { attributes { articles { data { attributes { title body } } } } } } } } } } } } }'
  const reported = JSON.parse(
    (await site.ask('POST', '/graphql', { as: FULL, body: { query } })).text,
  ) as Refused
  t.regex(reported.errors?.[0]?.message ?? '', /`articles\.author\.articles`/)
})

test('ordinary requests are answered', async t => {
  const site = await open(t)
  t.is((await site.ask('GET', '/api/articles?populate=*', { as: FULL })).status, 200)
  t.is((await site.ask('GET', '/api/authors?populate=*', { as: FULL })).status, 200)
})

test('over GraphQL the fields of one request, and the operations of a batch, share one limit', async t => {
  const site = await open(t)
  const field = (alias: string) =>
    `${alias}: articles(pagination: { limit: 20 }) { data { attributes { title body } } }`
  const ask = (body: object) => site.ask('POST', '/graphql', { as: FULL, body })
  const one = await ask({ query: `{ ${field('a')} }` })
  t.notRegex(one.text, /errors/)
  const both = JSON.parse((await ask({ query: `{ ${field('a')} ${field('b')} }` })).text) as Refused
  t.is(both.errors?.[0]?.extensions.code, 'BAD_USER_INPUT')
  t.regex(both.errors?.[0]?.message ?? '', /Too much was asked for: .*61440 bytes/)
  const batch = JSON.parse(
    (await ask([{ query: `{ ${field('a')} }` }, { query: `{ ${field('b')} }` }])).text,
  ) as Refused[]
  t.falsy(batch[0]?.errors)
  t.is(batch[1]?.errors?.[0]?.extensions.code, 'BAD_USER_INPUT')
})

/** Articles, their author, its articles and so on, in the flat format: each list multiplies what could be read. */
const chain = (relations: number, leaf: string): string =>
  relations === 0
    ? leaf
    : relations % 2 === 0
      ? `author { name ${chain(relations - 1, leaf)} }`
      : `articles(pagination: { limit: 100 }) { title ${chain(relations - 1, leaf)} }`

test('an operation that multiplies lists is stopped by limits.bytes, at the default depth', async t => {
  const site = await open(t)
  const ask = async (query: string) =>
    JSON.parse((await site.ask('POST', '/graphql5', { as: FULL, body: { query } })).text) as Refused
  const deepest = await ask(`{ articles { ${chain(28, 'title')} } }`)
  t.regex(
    deepest.errors?.[0]?.message ?? '',
    /61440 bytes that database\.limits\.bytes in project\.yaml allows/,
  )
  const wide = Array.from(
    { length: 90 },
    (_, at) => `a${at}: articles { title body author { articles { title } } }`,
  )
  t.regex(
    (await ask(`{ authors { ${wide.join(' ')} } }`)).errors?.[0]?.message ?? '',
    /database\.limits\.bytes/,
  )
  const deeper = await ask(`{ articles { ${chain(30, 'title')} } }`)
  t.regex(deeper.errors?.[0]?.message ?? '', /exceeds maximum operation depth of 30/)
})

test('a page of twenty nested lists is answered if the response is small', async t => {
  const site = await open(t)
  const one = 'articles(pagination: { limit: 100 }, filters: { title: { eq: "Title 3" } })'
  const level = (left: number): string =>
    left === 0 ? 'title' : `author { name ${one} { title ${level(left - 1)} } }`
  const query = `{ ${one} { ${level(10)} } }`
  const reported = JSON.parse(
    (await site.ask('POST', '/graphql5', { as: FULL, body: { query } })).text,
  ) as Refused
  t.is(reported.errors, undefined, JSON.stringify(reported.errors))
  t.is(JSON.stringify(reported.data).split('Title 3').length - 1, 10)
})

interface Refused {
  readonly data?: unknown
  readonly errors?: readonly { readonly message: string; readonly extensions: { readonly code: string } }[]
}

import test from 'ava'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
i18n: { locales: [en, fr] }
components:
  shared.seo: { attributes: { title: { type: string, required: true }, score: integer } }
  shared.link: { attributes: { url: string, writer: { type: relation, relation: oneToOne, target: author } } }
contentTypes:
  book:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, required: true }
      price: decimal
      weight: float
      pages: biginteger
      mood: { type: enumeration, enum: [light, two words] }
      kind: { type: enumeration, enum: [novel, essay] }
      printed: datetime
      day: date
      hour: time
      meta: json
      sold: boolean
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
      seo: { type: component, component: shared.seo }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.link] }
  author:
    attributes:
      name: { type: string, required: true }
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
      safe: { type: relation, relation: oneToOne, target: safe }
  safe: { attributes: { code: string } }
  shop: { kind: single, attributes: { motto: string, best: { type: relation, relation: oneToOne, target: author } } }
roles:
  public: { permissions: { book: [find, findOne, readDrafts], author: [find, findOne], shop: [find] } }
graphql: { config: { depthLimit: 20 } }
`

const ODD = 'quote " back\\slash \n line, "title":null, <script>, 𝄞'

async function library(t: Parameters<typeof openEndpoint>[0]) {
  const endpoint = await openEndpoint(t, PROJECT)
  const { create } = endpoint
  const safe = await create('safe', { code: 'secret' })
  const ann = await create('author', { name: 'Ann', safe: safe.documentId })
  const ben = await create('author', { name: ODD })
  await create('shop', { motto: 'Read', best: ben.documentId })
  for (const number of [1, 2, 3, 4])
    await create('book', {
      title: number === 1 ? ODD : `Book ${number}`,
      price: number + 0.5,
      weight: number / 3,
      pages: String(2n ** 60n + BigInt(number)),
      mood: number === 1 ? 'two words' : 'light',
      kind: 'novel',
      printed: '2024-05-06T05:08:09.000Z',
      day: '2024-02-29',
      hour: '10:11:12',
      meta: { deep: [1, null, { 'odd key': ODD }] },
      sold: number % 2 === 0,
      author: number < 3 ? ann.documentId : null,
      seo: number === 2 ? null : { title: `seo ${number}`, score: number },
      links: [{ url: '/1', writer: ben.documentId }, { url: '/2' }, { url: null }],
      blocks: [
        { __component: 'shared.seo', title: 'zone' },
        { __component: 'shared.link', url: ODD, writer: ben.documentId },
        { __component: 'shared.seo', title: 'another', score: number },
        { __component: 'shared.link', url: null },
      ].slice(number - 1),
    })
  return { ...endpoint, ann }
}

const SCALARS = [
  'title',
  'price',
  'weight',
  'kind',
  'printed',
  'day',
  'hour',
  'meta',
  'sold',
  'locale',
  'createdAt',
  'publishedAt',
]

const seeded = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed / 2_147_483_648
}

/** A selection below a document of a type, of any shape that the schema allows. */
function randomRows(type: 'Book' | 'Author', depth: number, random: () => number): string {
  const some = <Value>(values: readonly Value[]): Value[] => values.filter(() => random() < 0.4)
  const named = (name: string) => (random() < 0.3 ? `k${Math.floor(random() * 1e6)}: ${name}` : name)
  const scalars = type === 'Book' ? some(SCALARS) : some(['name', 'updatedAt'])
  const links = depth === 0 ? [] : type === 'Book' ? bookLinks() : authorLinks()
  const attributes = ['__typename', ...scalars.map(named), ...some(links)]
  const inner = [...some(['id', named('__typename')]), `${named('attributes')} { ${attributes.join(' ')} }`]
  return `${named('data')} { ${inner.join(' ')} } ${random() < 0.3 ? named('__typename') : ''}`

  function bookLinks(): readonly string[] {
    return [
      `${named('author')} { ${randomRows('Author', depth - 1, random)} }`,
      `localizations { ${randomRows('Book', 0, random)} }`,
      `${named('seo')} { id title score __typename }`,
      `${named('links')}(pagination: { limit: ${1 + Math.floor(random() * 3)} }) { url x: id writer { ${randomRows('Author', 0, random)} } }`,
      `${named('blocks')} { ${some(['__typename', `... on ComponentSharedSeo { ${named('score')} id title }`, `... on ComponentSharedLink { ${named('url')} writer { ${randomRows('Author', 0, random)} } }`]).join(' ') || '__typename'} }`,
      ...some(['mood', 'pages']),
    ]
  }

  function authorLinks(): readonly string[] {
    const sort = random() < 0.5 ? '(sort: "title:desc", filters: { sold: { eq: true } })' : ''
    return [`${named('books')}${sort} { ${randomRows('Book', depth - 1, random)} }`]
  }
}

test('the text that PostgreSQL returns equals the result of graphql-js, for any query', async t => {
  const { send, byField, ann } = await library(t)
  const random = seeded(7)
  const meta = 'meta { p: pagination { total page pageSize pageCount __typename } }'
  const fixed = [
    `{ books(pagination: { limit: 2 }) { ${meta} data { id attributes { title } } } }`,
    '{ books { ...B } } fragment B on BookEntityResponseCollection { data { attributes { title ... on Book { day } } } }',
    `{ a: author(id: "${ann.documentId}") { __typename data { id attributes { name books { data { id } } } } } b: author(id: "none") { data { id } } }`,
    '{ shop { data { attributes { motto best { data { attributes { name } } } } } } }',
    '{ books { data { a: attributes { title } b: attributes { price author { data { id } } } } } }',
    '{ books { data { attributes { author { x: data { id } y: data { attributes { name } } } } } } }',
    '{ books { data { attributes { seo { title } } } } }',
    '{ authors { data { attributes { name safe { data { id } } } } } }',
    '{ books(publicationState: PREVIEW, locale: "all") { data { attributes { title locale } } } }',
    '{ books(locale: "fr") { data { id } } }',
    `{ books { data { ${'very'.repeat(16)}Long: id } } }`,
    '{ books { data { attributes { blocks { ... on ComponentSharedSeo { title } } } } } }',
    '{ books { data { attributes { a: blocks { __typename } b: blocks { ...S ...L } } } } } fragment S on ComponentSharedSeo { x: title same: score } fragment L on ComponentSharedLink { x: url same: id }',
    '{ books { data { attributes { blocks { ... on ComponentSharedLink { writer { data { attributes { name safe { data { id } } } } } } } } } } }',
  ]
  const generated = Array.from(
    { length: 60 },
    () =>
      `{ ${random() < 0.7 ? `books { ${randomRows('Book', 2, random)} }` : `authors { ${randomRows('Author', 2, random)} }`} }`,
  )
  for (const query of [...fixed, ...generated]) {
    const answer = await send({ type: 'application/json', text: JSON.stringify({ query }) })
    const { data } = JSON.parse(String(answer?.body))
    t.is(JSON.stringify({ data }), await byField(query), query)
  }
})

test('hidden fields and null in non-null fields give the usual errors', async t => {
  const { ask, create } = await library(t)
  const forbidden = await ask(
    '{ authors(filters: { name: { eq: "Ann" } }) { data { attributes { name safe { data { id } } } } } }',
  )
  t.is(forbidden.data.authors.data[0].attributes.safe, null)
  t.is(forbidden.errors[0].extensions.code, 'FORBIDDEN')
  await create('book', { seo: { score: 1 } }, { status: 'draft' })
  const query =
    '{ books(publicationState: PREVIEW, sort: "id:desc") { data { attributes { price title } } } }'
  const broken = await ask(query)
  t.is(broken.data.books.data[0].attributes, null)
  t.is(broken.errors[0].extensions.code, 'INTERNAL_SERVER_ERROR')
})

test('the text of PostgreSQL is sent for an operation of generated fields', async t => {
  const { send } = await library(t)
  const query = '{ books(pagination: { limit: 1 }) { data { attributes { price } } } }'
  const answer = await send({ type: 'application/json', text: JSON.stringify({ query }) })
  // Made field by field it would be a number of JavaScript, which writes 1.5.
  t.is(answer?.body, '{"data":{"books":{"data":[{"attributes":{"price":1.50}}]}}}')
  const zone =
    '{ books(pagination: { limit: 1 }) { data { attributes { price blocks { __typename ... on ComponentSharedSeo { score } } } } } }'
  const zoned = await send({ type: 'application/json', text: JSON.stringify({ query: zone }) })
  const entries = [{ __typename: 'ComponentSharedSeo', score: null }, { __typename: 'ComponentSharedLink' }]
  const all = [...entries, { ...entries[0], score: 1 }, entries[1]]
  const blocks = `[${all.map(entry => JSON.stringify(entry)).join(', ')}]`
  t.is(zoned?.body, `{"data":{"books":{"data":[{"attributes":{"price":1.50,"blocks":${blocks}}}]}}}`)
})

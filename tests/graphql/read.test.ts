import test, { type ExecutionContext } from 'ava'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
components:
  shared.seo: { attributes: { title: string } }
  shared.link: { attributes: { url: string, writer: { type: relation, relation: oneToOne, target: author } } }
contentTypes:
  book:
    attributes:
      title: { type: string, required: true }
      pages: biginteger
      mood: { type: enumeration, enum: [light, two words] }
      secret: { type: string, private: true }
      printed: datetime
      extra: json
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
      seo: { type: component, component: shared.seo }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.link] }
  author:
    attributes:
      name: string
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
  vault: { attributes: { title: string, book: { type: relation, relation: oneToOne, target: book } } }
  drawer: { attributes: { vault: { type: relation, relation: oneToOne, target: vault } } }
roles:
  public: { permissions: { book: [find, findOne], author: [find], drawer: [find] } }
graphql: { config: { depthLimit: 12, amountLimit: 3, defaultLimit: 2 } }
`

async function library(t: ExecutionContext) {
  const endpoint = await openEndpoint(t, PROJECT)
  const ann = await endpoint.create('author', { name: 'Ann' })
  const ben = await endpoint.create('author', { name: 'Ben' })
  const titles = ['A', 'B', 'C', 'D']
  for (const [index, title] of titles.entries())
    await endpoint.create('book', {
      title,
      pages: index === 0 ? '9007199254740993' : index,
      mood: index === 0 ? 'two words' : 'light',
      printed: '2024-05-06T05:08:09.000Z',
      author: index < 3 ? ann.documentId : ben.documentId,
      seo: { title: `seo ${title}` },
      links: [{ url: '/1' }, { url: '/2' }, { url: '/3' }],
      blocks: [
        { __component: 'shared.link', url: '/b', writer: ann.documentId },
        { __component: 'shared.seo', title: 'zone' },
      ],
    })
  endpoint.statements.length = 0
  return endpoint
}

test.serial('a nested list has the requested shape: aliases, fragments, types, pages', async t => {
  const { ask } = await library(t)
  const answer = await ask(`
    query ($min: Long) {
      books(sort: "title:desc", filters: { pages: { gte: $min } }) {
        __typename
        data { id n: __typename attributes { t: title mood ...more author { data { attributes { name } } } } }
        meta { pagination { total page pageSize pageCount } }
      }
      ben: authors(filters: { name: { eq: "Ben" } }) {
        rows: data { values: attributes { name books(sort: "title") { data { attributes { title } } } } }
      }
    }
    fragment more on Book { links(pagination: { limit: 1 }) { url } printed }
  `)
  t.falsy(answer.errors)
  const [first, second] = answer.data.books.data
  t.regex(first.id, /^[a-z0-9]{24}$/)
  t.is(answer.data.books.__typename, 'BookEntityResponseCollection')
  t.is(first.n, 'BookEntity')
  t.deepEqual(first.attributes, {
    t: 'D',
    mood: 'light',
    links: [{ url: '/1' }],
    printed: '2024-05-06T05:08:09.000Z',
    author: { data: { attributes: { name: 'Ben' } } },
  })
  t.is(second.attributes.t, 'C')
  t.is(answer.data.books.data.length, 2)
  t.deepEqual(answer.data.books.meta.pagination, { total: 4, page: 1, pageSize: 2, pageCount: 2 })
  t.deepEqual(answer.data.ben.rows, [
    { values: { name: 'Ben', books: { data: [{ attributes: { title: 'D' } }] } } },
  ])
})

test.serial('the same rows may be selected twice, with different arguments and aliases', async t => {
  const { ask } = await library(t)
  const { data, errors } = await ask(`{
    authors(filters: { name: { eq: "Ann" } }) {
      one: data { attributes { books(sort: "title") { data { attributes { title } } } } }
      two: data {
        a: attributes { books(sort: "title:desc", pagination: { limit: 1 }) { data { attributes { title } } } }
        b: attributes { name: books(filters: { title: { eq: "B" } }) { data { attributes { title } } } books { data { id } } }
      }
    }
  }`)
  t.falsy(errors)
  const titles = (list: { data: { attributes: { title: string } }[] }) =>
    list.data.map(({ attributes }) => attributes.title)
  const { one, two } = data.authors
  t.deepEqual(titles(one[0].attributes.books), ['A', 'B'])
  t.deepEqual(titles(two[0].a.books), ['C'])
  t.deepEqual(titles(two[0].b.name), ['B'])
  t.is(two[0].b.books.data.length, 2)
})

test.serial('zones return what the fragment of each component selects', async t => {
  const { ask } = await library(t)
  const { data, errors } = await ask(`{
    books(pagination: { limit: 1 }, sort: "title") { data { attributes { blocks {
      __typename
      ... on ComponentSharedLink { url writer { data { attributes { name } } } }
      ... on ComponentSharedSeo { heading: title }
    } } } }
  }`)
  t.falsy(errors)
  t.deepEqual(data.books.data[0].attributes.blocks, [
    { __typename: 'ComponentSharedLink', url: '/b', writer: { data: { attributes: { name: 'Ann' } } } },
    { __typename: 'ComponentSharedSeo', heading: 'zone' },
  ])
})

test.serial('64-bit integers are not rounded, and enumeration values have GraphQL names', async t => {
  const { ask } = await library(t)
  const { data } = await ask(`query ($on: Boolean = false) {
    books(filters: { mood: { eq: "two words" } }) {
      data { attributes { pages mood title @include(if: $on) printed @skip(if: true) } }
    }
  }`)
  t.deepEqual(data.books.data, [{ attributes: { pages: '9007199254740993', mood: 'two_words' } }])
})

test.serial('a hidden type is null with an error, and other fields are answered', async t => {
  const { ask, create } = await library(t)
  const vault = await create('vault', { title: 'v' })
  await create('drawer', { vault: vault.documentId })
  const forbidden = {
    message: 'Forbidden access',
    extensions: {
      error: { name: 'ForbiddenError', message: 'Forbidden access', details: {} },
      code: 'FORBIDDEN',
    },
  }
  t.deepEqual(
    await ask(
      '{ vaults { data { id } } books(filters: { title: { eq: "A" } }) { data { attributes { title } } } }',
    ),
    {
      errors: [forbidden],
      data: { vaults: null, books: { data: [{ attributes: { title: 'A' } }] } },
    },
  )
  t.deepEqual(await ask('{ drawers { data { attributes { vault { data { id } } } } } }'), {
    errors: [forbidden],
    data: { drawers: { data: [{ attributes: { vault: null } }] } },
  })
})

test.serial(
  'null in a filter matches missing values or is ignored; a group without conditions is ignored',
  async t => {
    const { ask, create } = await library(t)
    await create('book', { title: 'E', extra: '"text"' })
    await create('book', { title: 'F', extra: '["text", 1]' })
    const found = async (filters: string) => {
      const { data, errors } = await ask(
        `{ books(filters: ${filters}, sort: "title", pagination: { limit: -1 }) { data { attributes { title } } meta { pagination { total } } } }`,
      )
      t.is(errors, undefined, filters)
      return data.books.meta.pagination.total
    }
    const none = [
      'gt: null',
      'lte: null',
      'in: null',
      'notIn: null',
      'notIn: ["9", null]',
      'gt: null, eq: "1"',
    ]
    for (const filter of none) t.is(await found(`{ pages: { ${filter} } }`), 0, filter)
    for (const filter of ['contains: null', 'startsWith: null', 'containsi: null'])
      t.is(await found(`{ title: { ${filter} } }`), 0, filter)
    for (const [filter, total] of [
      ['pages: { eqi: null }', 2],
      ['pages: { nei: null }', 4],
      ['mood: { notContains: null }', 4],
      ['pages: { in: ["1", null] }', 1],
      ['pages: { not: {} }', 6],
      // A literal keeps all digits.
      ['pages: { eq: 9007199254740993 }', 1],
      ['pages: { eq: 9007199254740992 }', 0],
      // What SQL calls neither true nor false is not true if it is negated.
      ['pages: { not: { gt: null } }', 0],
      ['pages: { not: { not: { gt: null } } }', 0],
      ['pages: { not: { in: null } }', 0],
      ['pages: { not: { in: ["1", null] } }', 0],
      ['pages: { not: { not: { in: ["1", null] } } }', 1],
      ['pages: { not: { notIn: ["1", null] } }', 1],
      ['pages: { not: { gt: null, eq: "1" } }', 3],
      ['title: { not: { contains: null } }', 0],
      ['not: { pages: { gt: null } }', 0],
      ['not: { not: { pages: { gt: null } } }', 0],
      ['not: { author: { name: { gt: null } } }', 0],
      ['not: { and: [{ pages: { gt: null } }, { title: { eq: "A" } }] }', 5],
      ['not: { or: [{ pages: { gt: null } }, { title: { eq: "A" } }] }', 0],
      ['or: [{ not: { pages: { gt: null } } }, { title: { eq: "A" } }]', 1],
      ['author: null', 6],
      ['seo: null, title: { eq: "A" }', 1],
      ['and: null, or: null, not: null', 6],
      ['not: {}', 6],
      ['or: [{}, null]', 6],
      ['or: [{}, { title: { eq: "A" } }]', 1],
      ['extra: { eq: "text" }', 1],
      ['extra: { ne: "text" }', 1],
      ['extra: { eq: ["text", 1] }', 1],
      ['extra: { in: ["text", 5] }', 1],
      ['extra: { containsi: "TEXT" }', 2],
      ['extra: { notNull: true }', 2],
    ] as const)
      t.is(await found(`{ ${filter} }`), total, filter)
  },
)

test.serial('a page beyond the largest countable offset is empty', async t => {
  const { ask } = await library(t)
  const { data } = await ask(
    '{ books(pagination: { page: 2147483647, pageSize: 3 }) { data { id } meta { pagination { page total } } } }',
  )
  t.deepEqual(data.books, { data: [], meta: { pagination: { page: 2147483647, total: 4 } } })
  const last = await ask(
    '{ books(pagination: { start: 2147483647, limit: 1 }) { data { id } meta { pagination { page } } } }',
  )
  t.deepEqual(last.data.books, { data: [], meta: { pagination: { page: 2147483647 } } })
})

test.serial('private attributes cannot be filtered or sorted by', async t => {
  const { ask } = await library(t)
  for (const input of [
    'filters: { secret: { null: true } }',
    'sort: "secret"',
    'filters: { author: { books: { secret: { eq: "x" } } } }',
  ]) {
    const { data, errors } = await ask(`{ books(${input}) { data { id } } }`)
    t.is(data.books, null)
    t.is(errors[0].message, 'Invalid parameter secret')
    t.is(errors[0].extensions.code, 'BAD_USER_INPUT')
  }
})

test.serial('an invalid value in a filter is named with its place and with what was expected', async t => {
  const { ask } = await library(t)
  for (const [filter, message] of [
    [
      'pages: { contains: 5 }',
      'Invalid value for contains of pages: expected an operator for values of type biginteger',
    ],
    ['pages: { between: [1] }', 'Invalid value for between of pages: expected a list of exactly two values'],
    [
      'author: { books: { pages: { not: { between: [1] } } } }',
      'Invalid value for between of pages at author.books.pages: expected a list of exactly two values',
    ],
  ] as const) {
    const { data, errors } = await ask(`{ books(filters: { ${filter} }) { data { id } } }`)
    t.is(data.books, null)
    t.is(errors[0].message, message)
    t.deepEqual(errors[0].extensions, {
      error: { name: 'ValidationError', message, details: {} },
      code: 'BAD_USER_INPUT',
    })
  }
})

test.serial(
  'filters and sorts cross as many relations as over REST, however they are distributed',
  async t => {
    const { ask } = await library(t)
    const filters = (count: number) =>
      `filters: { or: [${'{ author: { name: { eq: "Ann" } } } '.repeat(count)}] }`
    const refused = await ask(`{ books(${filters(51)}) { data { id } } }`)
    t.regex(refused.errors[0].message, /at most 50 relations/)
    t.is(refused.errors[0].extensions.code, 'BAD_USER_INPUT')
    const spread = await ask(
      `{ authors { data { attributes { a: books(${filters(30)}) { data { id } } b: books(${filters(30)}) { data { id } } } } } }`,
    )
    t.regex(spread.errors[0].message, /at most 50 relations/)
  },
)

test.serial('lists are cut to the limits; excessive depth is refused in every syntax', async t => {
  const { ask, post } = await library(t)
  const { data } = await ask(
    '{ books(pagination: { limit: 100 }) { data { id } meta { pagination { pageSize } } } }',
  )
  t.is(data.books.data.length, 3)
  const deep = `{ books { data { ...f0 } } }
    ${Array.from({ length: 30 }, (_, index) => `fragment f${index} on BookEntity { attributes { author { data { attributes { books { data { ...f${index + 1} ...f${index + 1} } } } } } } }`).join('\n')}
    fragment f30 on BookEntity { id }`
  const answer = await post({ query: deep })
  t.is(answer.status, 400)
  t.is(answer.body.errors[0].message, "'' exceeds maximum operation depth of 12")
})

test.serial(
  'the transport accepts its operations and refuses everything else (reference/graphql.md#10-errors)',
  async t => {
    const { send, post, troubles } = await library(t)
    const body = async (sent: Parameters<typeof send>[0]) => {
      const answer = await send(sent)
      return [answer?.status, String(answer?.body)]
    }
    const named = encodeURIComponent('query A { a: __typename } query B { b: __typename }')
    t.deepEqual(await body({ method: 'GET', search: `query=${named}&operationName=B` }), [
      200,
      '{"data":{"b":"Query"}}',
    ])
    t.deepEqual(await body({ method: 'GET' }), [400, 'GET query missing.'])
    t.deepEqual(await body({ method: 'GET', search: 'query={__typename}&variables={nope' }), [
      400,
      'Variables are invalid JSON.',
    ])
    t.is(
      (
        await body({
          method: 'GET',
          search: `query=${encodeURIComponent('mutation { login(input: {}) { jwt } }')}`,
        })
      )[0],
      400,
    )
    t.is((await body({ method: 'PUT' }))[0], 405)
    for (const sent of [
      { type: 'text/plain', text: '{"query":"{__typename}"}' },
      { type: 'application/json' },
      { type: 'application/json', text: '[]' },
    ])
      t.deepEqual(await body(sent), [
        400,
        'POST body missing, invalid Content-Type, or JSON object has no keys.',
      ])
    for (const [given, message] of [
      ['"operationName":5', '`operationName` in a POST body must be a string if provided.'],
      ['"operationName":["A"]', '`operationName` in a POST body must be a string if provided.'],
      ['"variables":[1]', '`variables` must be an object, or its JSON text.'],
      ['"variables":"[]"', '`variables` must be an object, or its JSON text.'],
      ['"variables":5', '`variables` must be an object, or its JSON text.'],
      ['"extensions":5', '`extensions` must be an object, or its JSON text.'],
      ['"extensions":[]', '`extensions` must be an object, or its JSON text.'],
      ['"extensions":"{"', 'Extensions are invalid JSON.'],
    ] as const)
      t.deepEqual(await body({ type: 'application/json', text: `{"query":"{__typename}",${given}}` }), [
        400,
        message,
      ])
    for (const given of ['"operationName":null', '"variables":null', '"variables":"{}"'])
      t.is(
        (await body({ type: 'application/json', text: `{"query":"{__typename}",${given}}` }))[0],
        200,
        given,
      )
    t.is((await body({ type: 'application/json', text: '{nope' }))[0], 400)
    t.deepEqual(
      await body({ type: 'application/x-www-form-urlencoded', text: 'query=%7B%20__typename%20%7D' }),
      [200, '{"data":{"__typename":"Query"}}'],
    )
    const batch = await post([{ query: '{ __typename }' }, { query: '{ nope }' }, 5])
    t.is(batch.status, 200)
    t.is(batch.body.length, 3)
    t.is(batch.body[1].errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED')
    t.is(
      (await post({ query: '{ a', operationName: 'A' })).body.errors[0].extensions.code,
      'GRAPHQL_PARSE_FAILED',
    )
    const subscribed = await post({ query: 'subscription { nope }' })
    t.is(subscribed.status, 400)
    t.is(subscribed.body.errors[0].extensions.code, 'INTERNAL_SERVER_ERROR')
    t.is((await post({ query: `{ ${'a '.repeat(6000)} }` })).status, 400)
    t.deepEqual(troubles, [])
  },
)

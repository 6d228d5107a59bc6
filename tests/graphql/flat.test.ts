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
      pages: integer
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: books }
      seo: { type: component, component: shared.seo }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.seo, shared.link] }
  author:
    attributes:
      name: { type: string, required: true }
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
      safe: { type: relation, relation: oneToOne, target: safe }
      safes: { type: relation, relation: oneToMany, target: safe }
  tag: { attributes: { name: string, books: { type: relation, relation: manyToMany, target: book, mappedBy: tags } } }
  safe: { attributes: { code: string } }
  shop: { kind: single, attributes: { motto: string, best: { type: relation, relation: oneToOne, target: author } } }
roles:
  public:
    permissions:
      book: [find, findOne, readDrafts, create, update, delete, publish]
      author: [find, findOne]
      tag: [find]
      shop: [find, update, delete]
  reader: { permissions: { book: [find, findOne], author: [find], tag: [find] } }
graphql: { config: { v4CompatibilityMode: false, depthLimit: 20 } }
`

async function library(t: Parameters<typeof openEndpoint>[0]) {
  const endpoint = await openEndpoint(t, PROJECT)
  const { create } = endpoint
  const ann = await create('author', { name: 'Ann' })
  const tags = []
  for (const name of ['a', 'b', 'c']) tags.push((await create('tag', { name })).documentId)
  const books = []
  for (const number of [1, 2, 3])
    books.push(
      await create('book', {
        title: `Book ${number}`,
        pages: number,
        author: number < 3 ? ann.documentId : null,
        tags,
        seo: { title: `seo ${number}`, score: number },
        links: [{ url: '/1', writer: ann.documentId }, { url: '/2' }],
        blocks: [
          { __component: 'shared.seo', title: 'zone' },
          { __component: 'shared.link', url: '/z' },
        ],
      }),
    )
  const draft = await create(
    'book',
    { title: 'Draft', pages: 9, author: ann.documentId },
    { status: 'draft' },
  )
  return { ...endpoint, ann, books, draft }
}

const FORBIDDEN = {
  message: 'Forbidden access',
  extensions: {
    error: { name: 'ForbiddenError', message: 'Forbidden access', details: {} },
    code: 'FORBIDDEN',
  },
}

test('the text that PostgreSQL returns equals the result of graphql-js: wrappers, aliases, fragments, types', async t => {
  const { send, byField, ann, books } = await library(t)
  const id = books[0]?.documentId
  const queries = [
    '{ books { title author { name } } }',
    '{ __typename books { __typename author { __typename name } tags { __typename } tags_connection { __typename nodes { __typename name } } } }',
    '{ books_connection(sort: "title:desc", pagination: { page: 2, pageSize: 2 }) { n: nodes { title } p: pageInfo { total page pageSize pageCount __typename } __typename } }',
    '{ books_connection { a: nodes { author { name } } b: nodes { author { documentId } } } }',
    '{ books_connection { pageInfo { total } } }',
    `{ book(documentId: "${id}") { t: title documentId locale a: author { name } b: author { documentId books(sort: "title:desc") { title } } } }`,
    `{ book(documentId: "none") { title } author(documentId: "${ann.documentId}") { books_connection(pagination: { limit: 1 }) { x: nodes { title } } } }`,
    '{ books { tags(sort: "name:desc", pagination: { limit: 2 }) { name } more: tags(pagination: { start: 2 }) { name } tags_connection(filters: { name: { in: ["a", "c"] } }) { nodes { name books { title } } } } }',
    '{ books { seo { id title } links(pagination: { limit: 1 }) { id url writer { name } } } }',
    '{ books { title blocks { __typename ... on ComponentSharedSeo { title } ... on ComponentSharedLink { url writer { name } } } } }',
    '{ authors(status: DRAFT) { name books(sort: "title") { title publishedAt } } }',
    '{ p: books(filters: { title: { eq: "Draft" } }) { title } d: books(status: DRAFT, filters: { title: { eq: "Draft" } }) { title publishedAt } }',
    '{ books(locale: "*") { locale title localizations { locale } localizations_connection { nodes { locale } } } }',
    '{ shop { motto best { name } } }',
    '{ books @skip(if: true) { title } }',
    '{ ...on Query @include(if: false) { books { title } shop { motto } } }',
    '{ books_connection { nodes @skip(if: true) { title } } shop @skip(if: true) { motto } }',
    '{ books { title @skip(if: true) } }',
    '{ author: books { author: author { name } tags: tags_connection { nodes: nodes { name } } } }',
    'query ($full: Boolean = false) { books { title author @include(if: $full) { name } pages @skip(if: true) ...F } } fragment F on Book { seo { title } ... on Book { pages2: pages } }',
  ]
  for (const query of queries) {
    const answer = await send({ type: 'application/json', text: JSON.stringify({ query }) })
    t.is(answer?.status, 200, query)
    t.deepEqual(JSON.parse(String(answer?.body)), JSON.parse(await byField(query)), query)
  }
})

test('the status of the root field applies to relations and filters below it', async t => {
  const { ask, ann } = await library(t)
  const titles = (status: string) =>
    ask(
      `{ author(documentId: "${ann.documentId}", status: ${status}) { books(sort: "title") { title } }
         authors(status: ${status}, filters: { books: { title: { eq: "Draft" } } }) { name } }`,
    )
  t.deepEqual(await titles('PUBLISHED'), {
    data: { author: { books: [{ title: 'Book 1' }, { title: 'Book 2' }] }, authors: [] },
  })
  t.deepEqual(await titles('DRAFT'), {
    data: {
      author: { books: [{ title: 'Book 1' }, { title: 'Book 2' }, { title: 'Draft' }] },
      authors: [{ name: 'Ann' }],
    },
  })
})

test('a forbidden field nulls the nearest nullable field around it, and reports its path', async t => {
  const { ask, ann } = await library(t)
  const forbidden = (...path: readonly (string | number)[]) => ({ ...FORBIDDEN, path })
  t.deepEqual(await ask('{ books { title } safes { code } }'), {
    data: null,
    errors: [forbidden('safes')],
  })
  t.deepEqual(
    await ask('{ books(pagination: { limit: 1 }) { title } s: safes_connection { nodes { code } } }'),
    {
      data: { books: [{ title: 'Book 1' }], s: null },
      errors: [forbidden('s')],
    },
  )
  t.deepEqual(await ask('{ authors { name safe { code } } }'), {
    data: { authors: [{ name: 'Ann', safe: null }] },
    errors: [forbidden('authors', 0, 'safe')],
  })
  t.deepEqual(await ask('{ authors { name safes { code } } }'), {
    data: { authors: [null] },
    errors: [forbidden('authors', 0, 'safes')],
  })
  t.deepEqual(await ask('{ authors_connection { nodes { name safes { code } } } }'), {
    data: { authors_connection: null },
    errors: [forbidden('authors_connection', 'nodes', 0, 'safes')],
  })
  t.deepEqual(await ask('{ authors { name safes @skip(if: true) { code } } }'), {
    data: { authors: [{ name: 'Ann' }] },
  })
  const { documentId } = ann
  t.deepEqual(
    await ask(`{ author(documentId: "${documentId}") { name safes_connection { nodes { code } } } }`),
    {
      data: { author: { name: 'Ann', safes_connection: null } },
      errors: [forbidden('author', 'safes_connection')],
    },
  )
})

test('drafts need the permission to read drafts; their relations show published versions to others', async t => {
  const { ask } = await library(t)
  const drafts = await ask('{ books(status: DRAFT) { title } }', {}, 'reader')
  t.deepEqual(drafts, { data: null, errors: [{ ...FORBIDDEN, path: ['books'] }] })
  const below = '{ authors(status: DRAFT) { books(sort: "title") { title } } }'
  t.deepEqual(await ask(below, {}, 'reader'), {
    data: { authors: [{ books: [{ title: 'Book 1' }, { title: 'Book 2' }] }] },
  })
  const filtered = '{ authors(status: DRAFT, filters: { books: { title: { eq: "Draft" } } }) { name } }'
  t.deepEqual(await ask(filtered, {}, 'reader'), { data: { authors: [] } })
})

test('a create publishes, a draft stays a draft, an update publishes, a delete returns the id', async t => {
  const { ask } = await library(t)
  const made = await ask(
    'mutation { a: createBook(data: { title: "A", publishedAt: null }) { documentId publishedAt } b: createBook(status: DRAFT, data: { title: "B" }) { documentId publishedAt } }',
  )
  t.truthy(made.data.a.publishedAt)
  t.is(made.data.b.publishedAt, null)
  const id = made.data.b.documentId
  const published = await ask(
    'mutation ($id: ID!) { updateBook(documentId: $id, data: {}) { publishedAt } }',
    { id },
  )
  t.truthy(published.data.updateBook.publishedAt)
  t.deepEqual(await ask('mutation { updateBook(documentId: "none", data: { pages: 1 }) { title } }'), {
    data: { updateBook: null },
  })
  t.deepEqual(
    await ask('mutation ($id: ID!) { deleteBook(documentId: $id) { __typename documentId } }', { id }),
    {
      data: { deleteBook: { __typename: 'DeleteMutationResponse', documentId: id } },
    },
  )
  t.deepEqual(await ask('mutation { deleteBook(documentId: "none") { documentId } }'), {
    data: { deleteBook: { documentId: 'none' } },
  })
})

test('an update adds a locale, a delete removes one locale, or all with a star', async t => {
  const { ask, books } = await library(t)
  const id = books[0]?.documentId
  const add =
    'mutation ($id: ID!) { updateBook(documentId: $id, locale: "fr", data: { title: "Livre" }) { locale title } }'
  t.deepEqual(await ask(add, { id }), { data: { updateBook: { locale: 'fr', title: 'Livre' } } })
  const both = `{ en: book(documentId: "${id}") { title } fr: book(documentId: "${id}", locale: "fr") { title } }`
  await ask('mutation ($id: ID!) { deleteBook(documentId: $id, locale: "fr") { documentId } }', { id })
  t.deepEqual(await ask(both), { data: { en: { title: 'Book 1' }, fr: null } })
  await ask(add, { id })
  await ask('mutation ($id: ID!) { deleteBook(documentId: $id, locale: "*") { documentId } }', { id })
  t.deepEqual(await ask(both), { data: { en: null, fr: null } })
  t.deepEqual(await ask(`{ book(documentId: "${id}", locale: "*") { title } }`), { data: { book: null } })
})

test('a null in a required field of a draft is reported with its field, in both formats', async t => {
  const { ask, troubles } = await library(t)
  await ask('mutation { createBook(status: DRAFT, data: { pages: 77 }) { documentId } }')
  const answer = await ask('{ books(status: DRAFT, filters: { pages: { eq: 77 } }) { pages title } }')
  t.deepEqual(answer.data, { books: [null] })
  t.is(answer.errors[0].message, 'Cannot return null for non-nullable field Book.title.')
  t.deepEqual(answer.errors[0].path, ['books', 0, 'title'])
  t.deepEqual(troubles, [])
  const nested = await openEndpoint(
    t,
    PROJECT.replace('v4CompatibilityMode: false', 'v4CompatibilityMode: true'),
  )
  await nested.create('book', { pages: 77 }, { status: 'draft' })
  const read = '{ books(publicationState: PREVIEW) { data { attributes { pages title } } } }'
  const { data, errors } = await nested.ask(read)
  t.deepEqual(data, { books: { data: [{ attributes: null }] } })
  t.deepEqual(errors, [
    {
      message: 'Cannot return null for non-nullable field Book.title.',
      locations: [{ line: 1, column: read.indexOf('title') + 1 }],
      path: ['books', 'data', 0, 'attributes', 'title'],
      extensions: { code: 'INTERNAL_SERVER_ERROR' },
    },
  ])
  t.deepEqual(nested.troubles, [])
})

test('a link to a missing document is refused with the count of the missing ones, as in the nested format', async t => {
  const { ask, books } = await library(t)
  const absent = 'abcdefghijklmnopqrstuvwx'
  const link = `{ url: "/x", writer: "${absent}" }`
  const [first] = books
  for (const [data, uid] of [
    [`author: "${absent}"`, 'author.author'],
    [`tags: ["${absent}"]`, 'tag.tag'],
    [`links: [${link}]`, 'author.author'],
    [`blocks: [{ __typename: "ComponentSharedLink", url: "/x", writer: "${absent}" }]`, 'author.author'],
  ])
    for (const field of [
      `createBook(data: { title: "x", ${data} })`,
      `updateBook(documentId: "${first?.documentId}", data: { ${data} })`,
    ]) {
      const { errors } = await ask(`mutation { ${field} { title } }`)
      const message = `1 relation(s) of type api::${uid} associated with this entity do not exist`
      const details = { errors: [{ path: [], message, name: 'ValidationError' }] }
      t.deepEqual(errors?.[0]?.extensions.error, { name: 'ValidationError', message, details }, field)
    }
})

const NASTY: readonly (readonly [name: string, query: string, variables: object, code: string])[] = [
  ['NUL in an id', 'query ($i: ID!) { book(documentId: $i) { title } }', { i: 'a\0b' }, 'null'],
  ['NUL in a locale', 'query ($l: I18NLocaleCode) { books(locale: $l) { title } }', { l: '\0' }, 'empty'],
  [
    'an object as a locale',
    'query ($l: I18NLocaleCode) { books(locale: $l) { title } }',
    { l: { a: 1 } },
    'empty',
  ],
  ['a number as a locale', 'query ($l: I18NLocaleCode) { books(locale: $l) { title } }', { l: 7 }, 'empty'],
  [
    'a list as a locale',
    'query ($l: I18NLocaleCode) { books(locale: $l) { title } }',
    { l: ['en'] },
    'empty',
  ],
  [
    'a list as the locale of a write',
    'mutation ($l: I18NLocaleCode) { createBook(locale: $l, data: { title: "x" }) { title } }',
    { l: ['en'] },
    'BAD_USER_INPUT',
  ],
  ['a prototype key in sort', '{ books(sort: "__proto__.x") { title } }', {}, 'BAD_USER_INPUT'],
  ['a relation as a sort', '{ books(sort: "author") { title } }', {}, 'BAD_USER_INPUT'],
  ['an unknown direction', '{ books(sort: "title:up") { title } }', {}, 'BAD_USER_INPUT'],
  [
    'both kinds of pages',
    '{ books(pagination: { page: 1, limit: 2 }) { title } }',
    {},
    'STRAPI_PAGINATION_ERROR',
  ],
  ['a page beyond all', '{ books(pagination: { page: 2147483647, pageSize: 100 }) { title } }', {}, 'empty'],
  [
    'a filter of a nested id',
    '{ books(filters: { id: { eq: 1 } }) { title } }',
    {},
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'an entry of a zone without type',
    'mutation { createBook(data: { title: "x", blocks: [{ a: 1 }] }) { title } }',
    {},
    'GRAPHQL_VALIDATION_FAILED',
  ],
  [
    'an unknown relation',
    'mutation { createBook(data: { title: "x", author: "none" }) { title } }',
    {},
    'BAD_USER_INPUT',
  ],
  [
    'null for a condition with a default',
    'query ($a: Boolean = true) { books @include(if: $a) { title } }',
    { a: null },
    'BAD_USER_INPUT',
  ],
  [
    'null for a condition inside',
    'query ($a: Boolean = true) { books { blocks { ... on ComponentSharedSeo @skip(if: $a) { title } } } }',
    { a: null },
    'BAD_USER_INPUT',
  ],
  [
    'null for a required argument with a default',
    'query ($i: ID = "x") { book(documentId: $i) { title } }',
    { i: null },
    'BAD_USER_INPUT',
  ],
  [
    'null for a condition on the schema',
    'query ($a: Boolean = true) { __schema { queryType { name @include(if: $a) } } }',
    { a: null },
    'BAD_USER_INPUT',
  ],
  [
    'null for a condition of a mutation',
    'mutation ($a: Boolean = true) { deleteBook(documentId: "x") @skip(if: $a) { documentId } }',
    { a: null },
    'BAD_USER_INPUT',
  ],
  ['a locale of the nested format', '{ books(locale: "all") { title } }', {}, 'GRAPHQL_VALIDATION_FAILED'],
  [
    'a write in all locales',
    'mutation { createBook(locale: "*", data: { title: "x" }) { title } }',
    {},
    'BAD_USER_INPUT',
  ],
]

for (const [name, query, variables, code] of NASTY)
  test(`input is refused or answered precisely: ${name}`, async t => {
    const { post, troubles } = await library(t)
    const { status, body } = await post({ query, variables })
    t.true(status === 200 || status === 400)
    t.deepEqual(troubles, [])
    if (code === 'null' || code === 'empty')
      t.deepEqual(Object.values(body.data), [code === 'null' ? null : []])
    else t.is(body.errors[0].extensions.code, code)
  })

const DELETERS: readonly (readonly [permissions: string, status: 'draft' | 'published', outcome: string])[] =
  [
    ['{ delete: true }', 'draft', 'deleted'],
    ['{ delete: true }', 'published', 'deleted'],
    ['{ delete: true, find: true }', 'draft', 'not found'],
    ['{ delete: true, find: true }', 'published', 'deleted'],
    ['{ delete: true, readDrafts: { where: { title: Other } } }', 'draft', 'deleted'],
    ['{ delete: true, find: { where: { title: Other } } }', 'published', 'not found'],
    ['{ delete: { where: { title: Other } } }', 'published', 'not found'],
    ['{ delete: { where: { title: Other } }, find: true }', 'published', 'Forbidden access'],
  ]

for (const [permissions, status, outcome] of DELETERS)
  for (const flat of [true, false])
    test(`a single type is ${outcome} for a caller with ${permissions}: ${status}, ${flat ? 'flat' : 'nested'}`, async t => {
      const { ask, create, rows } = await openEndpoint(
        t,
        `
contentTypes: { page: { kind: single, draftAndPublish: true, attributes: { title: string } } }
roles: { public: { permissions: { page: ${permissions} } } }
graphql: { config: { v4CompatibilityMode: ${!flat} } }
`,
      )
      const { documentId } = await create('page', { title: 'Mine' }, { status })
      const fields = flat ? 'documentId' : 'data { id }'
      const { data, errors } = await ask(`mutation { gone: deletePage { ${fields} } }`)
      const isDeleted = outcome === 'deleted'
      const gone = flat ? { documentId } : { data: { id: documentId } }
      t.deepEqual(data, { gone: isDeleted ? gone : null })
      if (isDeleted) t.is(errors, undefined)
      else t.regex(errors[0].message, new RegExp(outcome))
      t.is((await rows('SELECT id FROM pages')).length === 0, isDeleted)
    })

test('a subscription, and an unknown operation name, are requests of an operation that there is not', async t => {
  const { post } = await library(t)
  for (const body of [
    { query: 'subscription { books { title } }' },
    { query: '{ __typename }', operationName: 'Books' },
  ]) {
    const answer = await post(body)
    t.is(answer.status, 400)
    t.is(answer.body.errors[0].extensions.code, 'OPERATION_RESOLUTION_FAILURE')
  }
})

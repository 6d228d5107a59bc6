import test from 'ava'
import { getIntrospectionQuery } from 'graphql'
import { linearity } from '../harness/processor-time.ts'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
components:
  shared.link: { attributes: { url: string } }
contentTypes:
  book:
    attributes:
      title: string
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
      links: { type: component, component: shared.link, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.link] }
  author:
    attributes:
      name: string
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
roles:
  public: { permissions: { book: [find, findOne, create], author: [find] } }
graphql: { config: { limits: { aliases: 20, rootFields: 10, tokens: 2000 } } }
`

const times = (count: number, one: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => one(index)).join(' ')

const books = (limit: number, below: string) => `books(pagination: { limit: ${limit} }) { data { ${below} } }`
const authors = 'attributes { author { data { id } } }'

/** Each with what it is refused by; null: it is answered. */
const OPERATIONS: readonly (readonly [string, string, string | null])[] = [
  ['aliases', `{ ${times(10, n => `a${n}: __typename`)} __typename @skip(if: true) }`, 'root fields: 11'],
  ['as many root fields as allowed', `{ ${times(10, n => `a${n}: __typename`)} }`, null],
  [
    'aliases below the root',
    `{ books { data { ${times(21, n => `a${n}: id`)} } } }`,
    'Too many aliases: 21, and graphql.config.limits.aliases in project.yaml allows 20',
  ],
  [
    'aliases by fragments',
    `{ a: books { ...F } b: books { ...F } } fragment F on BookEntityResponseCollection { data { ${times(10, n => `a${n}: id`)} } }`,
    'aliases: 22',
  ],
  [
    'tokens',
    `{ ${times(1999, () => '__typename')} }`,
    'Too many tokens: 2001, and graphql.config.limits.tokens in project.yaml allows 2000',
  ],
  ['deep syntax', `{ ${'a{'.repeat(120)}b${'}'.repeat(120)} }`, 'nested brackets: 101'],
  [
    'deep literals',
    `{ books(filters: ${'['.repeat(120)}${']'.repeat(120)}) { __typename } }`,
    'nested brackets',
  ],
  [
    'one field again and again',
    `{ books { data { ${times(101, () => 'id')} } } }`,
    'selections of one field (id): 101',
  ],
  [
    'one field by many fragments',
    `{ books { data { ${times(101, n => `...F${n}`)} } } } ${times(101, n => `fragment F${n} on BookEntity { id }`)}`,
    'selections of one field (id): 101',
  ],
  [
    'fragments that double',
    `{ books { data { attributes { author { data { ...F0 } } } } } } ${times(40, n => `fragment F${n} on AuthorEntity { ...F${n + 1} ...F${n + 1} }`)} fragment F40 on AuthorEntity { id }`,
    null,
  ],
  [
    'fragments that multiply fields',
    `{ ${times(9, n => `a${n}: books { data { ...F } }`)} } fragment F on BookEntity { attributes { ${times(90, () => 'links(filters: { url: { in: ["a", "b", "c"] } }) { url }')} } }`,
    'once fragments are written out',
  ],
  [
    'many operations of many fragments',
    `${times(120, n => `query Q${n} { ...F0 }`)} ${times(120, n => `fragment F${n} on Query { ...F${n + 1} }`)} fragment F120 on Query { __typename }`,
    'once fragments are written out',
  ],
  [
    'a cycle of fragments',
    '{ books { ...F } } fragment F on BookEntityResponseCollection { ...F }',
    'Cannot spread fragment "F" within itself',
  ],
  [
    'a fragment that nothing uses',
    `{ __typename } fragment F on Book { ${times(300, () => 'title')} }`,
    'Fragment "F" is never used',
  ],
  [
    'a hundred directives',
    `{ __typename ${times(200, () => '@skip(if: false)')} }`,
    '"@skip" can only be used once',
  ],
  // The database is empty: only what is read counts, not what could be read.
  [
    'pages that could hold many documents',
    `{ ${books(100, authors)} a: ${books(100, authors)} b: ${books(1, 'id')} }`,
    null,
  ],
  [
    'lists of lists that could hold many documents',
    '{ authors { data { attributes { books(pagination: { limit: -1 }) { data { attributes { links(pagination: { limit: 100 }) { url } } } } } } } }',
    null,
  ],
  ['a dynamic zone in a long list', `{ ${books(40, 'attributes { blocks { __typename } }')} }`, null],
  [
    'documents that are left out',
    `{ ${books(100, 'id')} b: ${books(100, 'attributes { links(pagination: { limit: 100 }) @skip(if: true) { url } }')} }`,
    null,
  ],
  ['the whole schema', getIntrospectionQuery(), null],
  [
    'the whole schema, nine times',
    `{ ${times(9, n => `a${n}: __schema { types { ...T } }`)} } fragment T on __Type { fields { name args { name type { name } } type { name ofType { name ofType { name ofType { name } } } } } inputFields { name type { name ofType { name ofType { name } } } } }`,
    'things asked for by introspection',
  ],
  [
    'types of fields of types',
    '{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }',
    'Maximum introspection depth exceeded',
  ],
]

const nested = (depth: number): unknown => (depth === 0 ? [] : { and: [nested(depth - 1)] })

/** Operation, variables, by what it is refused. */
const VARIABLES: readonly (readonly [string, string, Readonly<Record<string, unknown>>, string])[] = [
  [
    'a deep variable',
    'query ($f: BookFiltersInput) { books(filters: $f) { data { id } } }',
    { f: nested(60) },
    'nested values in $f: 101',
  ],
  [
    'many conditions',
    'query ($f: [BookFiltersInput]) { books(filters: { or: $f }) { data { id } } }',
    { f: Array.from({ length: 500 }, () => ({ title: { eq: 'a' } })) },
    'values in filters: 1501',
  ],
  [
    'one list put in many times',
    `query ($f: [BookFiltersInput]) { books(filters: { and: [${times(30, () => '{ or: $f }')}] }) { data { id } } }`,
    { f: Array.from({ length: 40 }, () => ({ id: { null: true } })) },
    'values in filters: 3630',
  ],
  [
    'a default value put in many times',
    `query ($f: [BookFiltersInput] = [${times(40, () => '{ id: { null: true } }')}]) { books(filters: { and: [${times(30, () => '{ or: $f }')}] }) { data { id } } }`,
    {},
    'values in filters: 3630',
  ],
  [
    'many wrong values',
    'query ($s: [String]) { books(sort: $s) { data { id } } }',
    { s: Array.from({ length: 5000 }, () => 1) },
    'String cannot represent',
  ],
]

test('an operation over a limit is refused before execution, with the limit, the count and the key', async t => {
  const { post } = await openEndpoint(t, PROJECT)
  for (const [name, query, reason] of OPERATIONS) {
    const { status, body } = await post({ query })
    t.is(status, reason === null ? 200 : 400, `${name}: ${JSON.stringify(body.errors)}`)
    if (reason === null) continue
    t.true(body.errors[0].message.includes(reason), `${name}: ${body.errors[0].message}`)
    t.is(body.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED', name)
    t.is(body.data, undefined)
  }
  for (const [name, query, variables, reason] of VARIABLES) {
    const { status, body } = await post({ query, variables })
    t.is(status, 400, name)
    t.true(body.errors[0].message.includes(reason), `${name}: ${body.errors[0].message}`)
    t.true(body.errors.length <= 51, name)
  }
})

// An error prints the whole object around its value: fifty errors printed a large one fifty times.
test('the larger the variables, the fewer of their errors are reported', async t => {
  const { post } = await openEndpoint(t, PROJECT)
  const query = 'query ($f: BookFiltersInput) { books(filters: $f) { data { id } } }'
  const messages = async (keys: number): Promise<readonly string[]> => {
    const f = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`unknown${index}`, 1]))
    const { body } = await post({ query, variables: { f } })
    return body.errors.map(({ message }: { message: string }) => message)
  }
  const few = await messages(20)
  t.is(few.length, 20)
  t.true(few.every((message, index) => message.includes(`Field "unknown${index}" is not defined`)))
  for (const [keys, reported] of [
    [30, 30],
    [100, 19],
    [5000, 1],
  ] as const) {
    const found = await messages(keys)
    t.is(found.length - Number(keys > reported), reported, `${keys} keys`)
    if (keys > reported) t.regex(String(found.at(-1)), /Too many errors processing variables/)
  }
})

test('the operations of a batch share all limits, and count as root fields', async t => {
  const { post } = await openEndpoint(t, PROJECT)
  const many = { query: `{ ${times(4, n => `a${n}: __typename`)} }` }
  const shared = await post([many, many, many, { query: '{ __typename }' }])
  t.is(shared.status, 200)
  t.deepEqual(
    shared.body.map(({ errors }: { errors?: readonly { message: string }[] }) => errors?.[0]?.message),
    [
      undefined,
      undefined,
      'Too many root fields: 12, and graphql.config.limits.rootFields in project.yaml allows 10',
      undefined,
    ],
  )
  const long = await post(Array.from({ length: 11 }, () => ({ query: '{ __typename }' })))
  t.is(long.status, 400)
  t.regex(long.body.errors[0].message, /operations in a batch: 11, and graphql\.config\.limits\.rootFields/)
  const endless = await linearity(400_000, size => post(Array.from({ length: size }, () => 1)))
  t.true(endless.isLinear, endless.times)
})

test('serverOptions.introspection decides on introspection, in every environment', async t => {
  const asked = '{ __schema { queryType { name } } }'
  for (const introspection of [true, false]) {
    const yaml = PROJECT.replace('config: {', `config: { serverOptions: { introspection: ${introspection} },`)
    const { ask } = await openEndpoint(t, yaml, { production: introspection })
    const { errors } = await ask(asked)
    t.is(errors === undefined, introspection, JSON.stringify(errors))
  }
})

test('serverOptions.allowBatchedHttpRequests: false refuses batches', async t => {
  const yaml = PROJECT.replace('config: {', 'config: { serverOptions: { allowBatchedHttpRequests: false },')
  const { post } = await openEndpoint(t, yaml)
  const { status, body } = await post([{ query: '{ __typename }' }])
  t.is(status, 400)
  t.regex(JSON.stringify(body), /Operation batching disabled\./)
  t.is((await post({ query: '{ __typename }' })).status, 200)
})

test('in production the schema is hidden: no introspection and no suggestions', async t => {
  const { ask, post } = await openEndpoint(t, PROJECT, { production: true })
  for (const query of ['{ __schema { types { name } } }', '{ __type(name: "Book") { name } }']) {
    const { status, body } = await post({ query })
    t.is(status, 400)
    t.is(body.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED')
  }
  t.is((await ask('{ __typename }')).data.__typename, 'Query')
  const misspelt: readonly (readonly [string, unknown?])[] = [
    ['{ book { __typename } bookz { __typename } }'],
    ['{ books { data { attributes { titel } } } }'],
    ['{ books(filterz: {}) { __typename } }'],
    ['{ books(filters: { titel: { eq: "a" } }) { __typename } }'],
    ['{ books(publicationState: LIV) { __typename } }'],
    ['query ($f: BookFiltersInputs) { books(filters: $f) { __typename } }'],
    ['query ($f: BookFiltersInput) { books(filters: $f) { __typename } }', { f: { titel: { eq: 'a' } } }],
    ['query ($p: PublicationState) { books(publicationState: $p) { __typename } }', { p: 'LIV' }],
    ['{ books { data { ...F } } } fragment F on BookEntitie { id }'],
  ]
  for (const [query, variables] of misspelt) {
    const { status, body } = await post({ query, variables })
    t.is(status, 400, query)
    t.false(JSON.stringify(body).includes('Did you mean'), JSON.stringify(body))
  }
})

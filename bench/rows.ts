/** One request of a row. `body`: built for each request. */
export interface PlanRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** `:made`: the documentId that the same connection was answered last. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: () => unknown
}

interface Row {
  readonly title: string
  /** The least share of the floor's throughput that we accept. */
  readonly goal: number
  readonly asked: readonly PlanRequest[]
}

/** 1 to `count`, each once, in an order that jumps about (7919 is prime). */
export const mixed = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => ((index * 7919) % count) + 1)

/** Different documents and pages, so that no answer is asked for again soon. */
const documents = mixed(1000).map(number => `/api/articles/article-${number * 10}`)
const pages = (more = '') => mixed(40).map(number => `/api/articles?pagination[page]=${number}${more}`)
export const reads = (paths: readonly string[]): readonly PlanRequest[] => paths.map(path => ({ path }))

/** The list with two relations, as clients of GraphQL ask for it. */
export const nestedQuery = (more = ''): string => `query ($page: Int) {
  articles(pagination: { page: $page, pageSize: 25 }) {
    data { id attributes {
      title slug excerpt body rating price day featured kind ${more}
      author { data { id attributes { name bio } } }
      categories { data { id attributes { name slug } } }
    } }
    meta { pagination { page pageSize pageCount total } }
  }
}`

const nested = (more = ''): readonly PlanRequest[] => {
  const query = encodeURIComponent(nestedQuery(more))
  return reads(
    mixed(40).map(page => `/graphql?query=${query}&variables=${encodeURIComponent(`{"page":${page}}`)}`),
  )
}

const FLAT = `query ($page: Int) {
  articles_connection(pagination: { page: $page, pageSize: 25 }) {
    nodes {
      documentId title slug excerpt body rating price day featured kind
      author { documentId name bio }
      categories { documentId name slug }
    }
    pageInfo { page pageSize pageCount total }
  }
}`

/** A page of blocks with cards, articles, authors and categories. */
const PAGE = `query ($id: ID!) {
  page(documentId: $id) {
    documentId title
    blocks {
      __typename
      ... on ComponentBlockText { heading body author { ...Person } }
      ... on ComponentBlockCards { heading cards { title text article { ...Teaser } } }
    }
  }
}
fragment Person on Author { documentId name bio }
fragment Teaser on Article { documentId title slug excerpt author { ...Person } categories { documentId name slug } }`

const flat = (query: string, variables: readonly object[]): readonly PlanRequest[] =>
  reads(
    variables.map(
      each =>
        `/graphql5?query=${encodeURIComponent(query)}&variables=${encodeURIComponent(JSON.stringify(each))}`,
    ),
  )

let written = 0
const run = Date.now().toString(36)

/** Everything that an article has: its author and three categories too. */
export function article() {
  const number = ++written
  return {
    title: `New article number ${number}`,
    slug: `new-article-${run}-${number}`,
    excerpt: `What article ${number} is about, in a line or two of text.`,
    body: 'A paragraph of body text, as long as such things are. '.repeat(20),
    rating: number % 11,
    price: (number % 100) + 0.5,
    day: '2026-01-31',
    featured: number % 7 === 0,
    kind: 'news',
    author: `author-${(number % 100) + 1}`,
    categories: categories(number),
  }
}

/** Two plain fields and the links to the categories. */
function changes() {
  const number = ++written
  return { title: `Changed article number ${number}`, rating: number % 11, categories: categories(number) }
}

/** Two plain fields, the links to the categories and a list of components without ids. */
function productChanges() {
  const number = ++written
  const specs = [1, 2, 3].map(spec => ({ name: `Spec ${spec}`, value: `Value ${number}` }))
  return {
    name: `Changed product number ${number}`,
    rating: number % 11,
    categories: categories(number),
    specs,
  }
}

function plainChanges() {
  const number = ++written
  return { title: `Changed article number ${number}`, rating: number % 11 }
}

const categories = (number: number): readonly string[] =>
  [0, 10, 20].map(more => `category-${((number + more) % 30) + 1}`)

/** What the floor answers too. */
export const ROWS: readonly Row[] = [
  { title: 'findOne', goal: 0.7, asked: reads(documents) },
  { title: 'list of 25 with total', goal: 0.9, asked: reads(pages()) },
  {
    title: 'list of 25, two relations populated',
    goal: 0.9,
    asked: reads(pages('&populate=author,categories')),
  },
  {
    title: 'the same list with its total over GraphQL',
    goal: 0.8,
    asked: nested(),
  },
  {
    title: 'nested list over flat GraphQL',
    goal: 0.9,
    asked: flat(
      FLAT,
      mixed(40).map(page => ({ page })),
    ),
  },
  {
    title: 'page of 165 KB over flat GraphQL',
    goal: 0.8,
    asked: flat(
      PAGE,
      mixed(10).map(number => ({ id: `page-${number}` })),
    ),
  },
  {
    title: 'create: 11 attributes, 4 links, draft and published',
    goal: 0.75,
    asked: [{ method: 'POST', path: '/api/articles', body: () => ({ data: article() }) }],
  },
  {
    title: 'update: 2 fields, 3 links, draft and published',
    goal: 0.65,
    asked: documents.map(path => ({ method: 'PUT', path, body: () => ({ data: changes() }) })),
  },
  {
    title: 'update: 2 fields, draft and published',
    goal: 0.65,
    asked: documents.map(path => ({ method: 'PUT', path, body: () => ({ data: plainChanges() }) })),
  },
  {
    title: 'update: 2 fields, 3 links, 3 components, draft and published',
    goal: 0.65,
    asked: mixed(1000).map(number => ({
      method: 'PUT',
      path: `/api/products/product-${number}`,
      body: () => ({ data: productChanges() }),
    })),
  },
  {
    title: 'unpublish, and publish again',
    goal: 0.65,
    // Other documents than those of the reads: the end of a round leaves some unpublished.
    asked: mixed(1000).flatMap(number => [
      {
        method: 'POST',
        path: `/api/actions/articles/article-${number * 10 - 5}/unpublish`,
        body: () => ({}),
      },
      { method: 'PUT', path: `/api/articles/article-${number * 10 - 5}`, body: () => ({ data: {} }) },
    ]),
  },
  {
    title: 'create, and delete again, draft and published',
    goal: 0.65,
    asked: [
      { method: 'POST', path: '/api/articles', body: () => ({ data: article() }) },
      { method: 'DELETE', path: '/api/articles/:made' },
    ],
  },
]

interface KeptRow extends Row {
  /** Asked for by who has it: 304. */
  readonly isTagged?: true
}

/** What is kept; the goals are shares of what the floor does of findOne. */
export const KEPT: readonly KeptRow[] = [
  { title: 'kept: list of 25 with total', goal: 0.6, asked: reads(pages()) },
  {
    title: 'kept: list of 25, two relations populated',
    goal: 0.6,
    asked: reads(pages('&populate=author,categories')),
  },
  { title: 'kept: the same over GraphQL', goal: 0.6, asked: nested() },
  { title: 'kept: findOne', goal: 0.6, asked: reads(documents) },
  { title: 'kept: list of 25 with total, not modified', goal: 0.7, asked: reads(pages()), isTagged: true },
]

/** That list with a custom field, compared with graphql-yoga (bench/yoga.js). */
export const CUSTOM = {
  title: 'the list over GraphQL with a custom resolver on one field',
  asked: nested('headline'),
}

/** The most of graphql-yoga's CPU that we accept. */
export const CUSTOM_GOAL = 0.55

const by = (token: string, paths: readonly string[]): readonly PlanRequest[] =>
  paths.map(path => ({ path, headers: { authorization: `Bearer ${token}-access-for-the-benchmark-alone` } }))

/** The list as who may do everything asks for it. */
export const FULL = by('full', pages())

interface RuledRow {
  readonly title: string
  readonly asked: readonly PlanRequest[]
}

/** The same list, asked for by who has row conditions and field rules that allow as much. */
export const RULED: readonly RuledRow[] = [
  { title: 'with row conditions and field rules', asked: by('ruled', pages()) },
  { title: 'with conditions on attributes that no type declares an index of', asked: by('derived', pages()) },
]

/** The most of the server's CPU for full access that we accept. */
export const RULED_GOAL = 1.1

/** Requests a second at which CPU is compared: either side answers as many, so that each is as busy as the other. */
export const RULED_RATE = 200

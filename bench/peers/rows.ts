import { article, mixed, nestedQuery, type PlanRequest, reads } from '../rows.ts'

/** What every server is asked for, in the words of its own API. */
export type RowName = 'findOne' | 'list' | 'populate' | 'nested' | 'create'

export type Requests = Readonly<Partial<Record<RowName, readonly PlanRequest[]>>>

interface PeerRow {
  readonly name: RowName
  readonly title: string
  /** How many times Strapi's requests a second we want to answer without a cache. */
  readonly goal: number
  /** How many with it, asked for again. */
  readonly keptGoal?: number
}

export const PEER_ROWS: readonly PeerRow[] = [
  { name: 'findOne', title: 'findOne', goal: 25 },
  { name: 'list', title: 'list of 25 with total', goal: 8, keptGoal: 40 },
  { name: 'populate', title: 'list of 25, two relations populated', goal: 8, keptGoal: 40 },
  { name: 'nested', title: 'the same list with its total over GraphQL', goal: 25 },
  { name: 'create', title: 'create: 11 attributes, 4 links, draft and published', goal: 25 },
]

/** Each once, so that no answer is asked for again before all others were. */
const pagesOf = (articles: number): readonly number[] => mixed(Math.floor(articles / 25))

/** Strapi's REST, which is Plinth's too. */
const restOf = (articles: number): Requests => ({
  findOne: reads(mixed(articles).map(number => `/api/articles/article-${number}`)),
  list: reads(pagesOf(articles).map(page => `/api/articles?pagination[page]=${page}`)),
  populate: reads(
    pagesOf(articles).map(page => `/api/articles?pagination[page]=${page}&populate=author,categories`),
  ),
  create: [{ method: 'POST', path: '/api/articles', body: () => ({ data: article() }) }],
})

const graphql = (path: string, query: string, articles: number): readonly PlanRequest[] =>
  pagesOf(articles).map(page => ({ method: 'POST', path, body: () => ({ query, variables: { page } }) }))

export const ours = (articles: number): Requests => ({
  ...restOf(articles),
  nested: graphql('/graphql', nestedQuery(), articles),
})

const FIELDS = 'title slug excerpt body rating price day featured kind'

export const strapis = (articles: number): Requests => ({
  ...restOf(articles),
  nested: graphql(
    '/graphql',
    `query ($page: Int) {
  articles_connection(pagination: { page: $page, pageSize: 25 }) {
    nodes { documentId ${FIELDS} author { documentId name bio } categories { documentId name slug } }
    pageInfo { page pageSize pageCount total }
  }
}`,
    articles,
  ),
})

/** Payload sorts newest first by default; a relation is an id at depth 0. */
export const payloads = (articles: number): Requests => ({
  findOne: reads(mixed(articles).map(number => `/api/articles/${number}?depth=0`)),
  list: reads(pagesOf(articles).map(page => `/api/articles?sort=id&limit=25&page=${page}&depth=0`)),
  populate: reads(pagesOf(articles).map(page => `/api/articles?sort=id&limit=25&page=${page}&depth=1`)),
  nested: graphql(
    '/api/graphql',
    `query ($page: Int) {
  Articles(sort: "id", limit: 25, page: $page) {
    docs { id ${FIELDS} author { id name bio } categories { id name slug } }
    page limit totalPages totalDocs
  }
}`,
    articles,
  ),
  create: [{ method: 'POST', path: '/api/articles?depth=0', body: payloadArticle }],
})

/** The same article; its documents are numbered. */
function payloadArticle() {
  const { author, categories, ...plain } = article()
  return { ...plain, author: numberOf(author), categories: categories.map(numberOf), _status: 'published' }
}

/** The number of a document in its id. */
export const numberOf = (id: unknown): number => Number(/\d+$/.exec(String(id))?.[0])

import { createServer } from 'node:http'
import { createSchema, createYoga } from 'graphql-yoga'
import pg from 'pg'
import { STATEMENTS } from './floor-statements.ts'

// What a server over graphql-yoga costs at its best: one statement fetches all rows of the list, related ones too,
// and each field finds its value in them by a resolver of its own. In JavaScript: the package's types would bring
// those of browsers with them, into all of the server's code.

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c jit=off' })

const typeDefs = `
  enum Kind { news opinion review }
  type Author { name: String! bio: String }
  type AuthorEntity { id: ID attributes: Author }
  type AuthorEntityResponse { data: AuthorEntity }
  type Category { name: String! slug: String }
  type CategoryEntity { id: ID attributes: Category }
  type CategoryRelationResponseCollection { data: [CategoryEntity!]! }
  type Article {
    title: String! slug: String excerpt: String body: String rating: Int price: Float day: String featured: Boolean
    kind: Kind author: AuthorEntityResponse categories: CategoryRelationResponseCollection headline: String
  }
  type ArticleEntity { id: ID attributes: Article }
  type Pagination { total: Int! page: Int! pageSize: Int! pageCount: Int! }
  type ResponseCollectionMeta { pagination: Pagination! }
  type ArticleEntityResponseCollection { data: [ArticleEntity!]! meta: ResponseCollectionMeta! }
  input PaginationArg { page: Int pageSize: Int }
  type Query { articles(pagination: PaginationArg!): ArticleEntityResponseCollection }
`

async function articles(_, { pagination: { page, pageSize } }) {
  const { rows } = await pool.query({
    name: 'rows',
    text: STATEMENTS.rows,
    values: [(page - 1) * pageSize],
  })
  const { json = '[]', total = 0 } = rows[0] ?? {}
  const pagination = { total, page, pageSize, pageCount: Math.ceil(total / pageSize) }
  return { data: JSON.parse(json), meta: { pagination } }
}

const entity = { id: row => row.documentId, attributes: row => row }

const resolvers = {
  Query: { articles },
  ArticleEntity: entity,
  AuthorEntity: entity,
  CategoryEntity: entity,
  Article: {
    title: row => row.title,
    slug: row => row.slug,
    excerpt: row => row.excerpt,
    body: row => row.body,
    rating: row => row.rating,
    price: row => row.price,
    day: row => row.day,
    featured: row => row.featured,
    kind: row => row.kind,
    author: row => ({ data: row.author }),
    categories: row => ({ data: row.categories }),
    headline: row => `${row.title} (${row.kind})`,
  },
  Author: { name: row => row.name, bio: row => row.bio },
  Category: { name: row => row.name, slug: row => row.slug },
}

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  graphqlEndpoint: '/graphql',
  graphiql: false,
  logging: 'warn',
})

const server = createServer((request, response) => void yoga(request, response))
server.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => void pool.end())
  server.closeAllConnections()
})

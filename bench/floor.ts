import { createServer } from 'node:http'
import pg from 'pg'

// The least that can answer the benchmark's requests: node:http, pg, and SQL written by hand for the very tables
// that Plinth made. PostgreSQL builds the JSON, which measured faster than rows made into it by Node.

const STAMP = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const ARTICLE = `'id', a.id, 'documentId', a.document_id, 'title', a.title, 'slug', a.slug, 'excerpt', a.excerpt,
  'body', a.body, 'rating', a.rating, 'price', a.price, 'day', a.day, 'featured', a.featured, 'kind', a.kind,
  'createdAt', ${STAMP('a.created_at')}, 'updatedAt', ${STAMP('a.updated_at')}, 'publishedAt', ${STAMP('a.published_at')}`

const AUTHOR = `(SELECT json_build_object('id', u.id, 'documentId', u.document_id, 'name', u.name, 'bio', u.bio,
    'createdAt', ${STAMP('u.created_at')}, 'updatedAt', ${STAMP('u.updated_at')}, 'publishedAt', ${STAMP('u.published_at')})
  FROM authors u WHERE u.id = a.author_key)`

const CATEGORIES = `(SELECT coalesce(json_agg(json_build_object('id', c.id, 'documentId', c.document_id, 'name', c.name,
    'slug', c.slug, 'createdAt', ${STAMP('c.created_at')}, 'updatedAt', ${STAMP('c.updated_at')},
    'publishedAt', ${STAMP('c.published_at')}) ORDER BY l.position, l.id), '[]')
  FROM articles_categories_links l JOIN categories c ON c.id = l.target_key WHERE l.owner_id = a.id)`

const PAGE = `FROM (SELECT * FROM articles WHERE status = 'published' ORDER BY id LIMIT 25 OFFSET $1) a`
const TOTAL = `(SELECT count(*) FROM articles WHERE status = 'published')::int AS total`

const STATEMENTS = {
  one: `SELECT json_build_object(${ARTICLE})::text AS json FROM articles a WHERE document_id = $1 AND status = 'published'`,
  list: `SELECT coalesce(json_agg(json_build_object(${ARTICLE}) ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
  populate: `SELECT coalesce(json_agg(json_build_object(${ARTICLE}, 'author', ${AUTHOR}, 'categories', ${CATEGORIES})
    ORDER BY a.id), '[]')::text AS json, ${TOTAL} ${PAGE}`,
}

interface Row {
  readonly json: string
  readonly total?: number
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c jit=off' })

async function answer(url: string): Promise<string | null> {
  const list = /^\/api\/articles\?.*pagination\[page\]=(\d+)/.exec(url)
  return list ? answerList(url.includes('populate=') ? 'populate' : 'list', Number(list[1])) : answerOne(url)
}

async function answerOne(url: string): Promise<string | null> {
  const documentId = /^\/api\/articles\/([\w-]+)$/.exec(url)?.[1]
  const found = await pool.query<Row>({ name: 'one', text: STATEMENTS.one, values: [documentId] })
  const row = found.rows[0]
  return row ? `{"data":${row.json},"meta":{}}` : null
}

async function answerList(name: 'list' | 'populate', page: number): Promise<string> {
  const found = await pool.query<Row>({ name, text: STATEMENTS[name], values: [(page - 1) * 25] })
  const { json = '[]', total = 0 } = found.rows[0] ?? {}
  const pagination = { page, pageSize: 25, pageCount: Math.ceil(total / 25), total }
  return `{"data":${json},"meta":${JSON.stringify({ pagination })}}`
}

const server = createServer((request, response) => {
  answer(request.url ?? '')
    .then(text => {
      const body = Buffer.from(text ?? '{"data":null}')
      response.writeHead(text ? 200 : 404, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': body.length,
      })
      response.end(body)
    })
    .catch((reason: unknown) => {
      response.writeHead(500)
      response.end(String(reason))
    })
})

server.listen(Number(process.env.PORT), '127.0.0.1')
process.once('SIGTERM', () => {
  server.close(() => void pool.end())
  server.closeAllConnections()
})

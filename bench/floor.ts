import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import pg from 'pg'
import { STATEMENTS } from './floor-statements.ts'

// The least that can answer the benchmark's requests: node:http, pg, and statements written by hand.

interface Row {
  readonly json: string
  readonly total?: number
}

interface Answer {
  readonly status: number
  readonly text: string
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, options: '-c jit=off' })

const run = async (name: keyof typeof STATEMENTS, values: readonly unknown[]): Promise<Row | undefined> =>
  (await pool.query<Row>({ name, text: STATEMENTS[name], values: [...values] })).rows[0]

const MISSING: Answer = { status: 404, text: '{"data":null}' }
const INVALID: Answer = { status: 400, text: '{"data":null}' }

const envelope = (row: Row | undefined, status = 200): Answer =>
  row ? { status, text: `{"data":${row.json},"meta":{}}` } : MISSING

async function answer(request: IncomingMessage): Promise<Answer> {
  const url = request.url ?? ''
  if (url === '/graphql') return answerNested((await bodyOf<{ variables: Paged }>(request)).variables)
  const documentId = /^\/api\/articles\/([\w-]+)$/.exec(url)?.[1]
  const unpublished = /^\/api\/actions\/articles\/([\w-]+)\/unpublish$/.exec(url)?.[1]
  if (unpublished !== undefined) return envelope(await run('unpublish', [unpublished]))
  const product = /^\/api\/products\/([\w-]+)$/.exec(url)?.[1]
  if (product !== undefined) return updateProduct(product, (await bodyOf<Written>(request)).data)
  if (request.method === 'POST') return create((await bodyOf<Written>(request)).data)
  if (documentId !== undefined && request.method === 'PUT')
    return update(documentId, (await bodyOf<Written>(request)).data)
  if (documentId !== undefined && request.method === 'DELETE') return remove(documentId)
  if (documentId !== undefined) return envelope(await run('one', [documentId]))
  if (url.startsWith('/graphql?')) return answerNested(variablesOf(url))
  if (url.startsWith('/graphql5?')) return answerFlat(variablesOf(url))
  const list = /^\/api\/articles\?.*pagination\[page\]=(\d+)/.exec(url)
  return list ? answerList(url.includes('populate=') ? 'populate' : 'list', Number(list[1])) : MISSING
}

interface Paged {
  readonly page: number
  /** Of a page of blocks. */
  readonly id?: string
}

const variablesOf = (url: string): Paged =>
  JSON.parse(new URL(url, 'http://localhost').searchParams.get('variables') ?? '{}') as Paged

async function answerFlat({ page, id }: Paged): Promise<Answer> {
  if (id !== undefined) {
    const { json = 'null' } = (await run('page', [id])) ?? {}
    return { status: 200, text: `{"data":{"page":${json}}}` }
  }
  const { json = '[]', total = 0 } = (await run('rows', [(page - 1) * 25])) ?? {}
  const pageInfo = JSON.stringify({ page, pageSize: 25, pageCount: Math.ceil(total / 25), total })
  return { status: 200, text: `{"data":{"articles_connection":{"nodes":${json},"pageInfo":${pageInfo}}}}` }
}

async function answerNested({ page }: Paged): Promise<Answer> {
  const { json = '[]', total = 0 } = (await run('nested', [(page - 1) * 25])) ?? {}
  const pagination = { page, pageSize: 25, pageCount: Math.ceil(total / 25), total }
  return {
    status: 200,
    text: `{"data":{"articles":{"data":${json},"meta":${JSON.stringify({ pagination })}}}}`,
  }
}

async function answerList(name: 'list' | 'populate', page: number): Promise<Answer> {
  const { json = '[]', total = 0 } = (await run(name, [(page - 1) * 25])) ?? {}
  const pagination = { page, pageSize: 25, pageCount: Math.ceil(total / 25), total }
  return { status: 200, text: `{"data":${json},"meta":${JSON.stringify({ pagination })}}` }
}

type Data = Readonly<Record<string, unknown>>

interface Written {
  readonly data: Data
}

async function bodyOf<Body>(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as Body
}

const isTitle = (title: unknown): boolean =>
  typeof title === 'string' && title.length > 0 && title.length <= 120

/** What else has to be checked PostgreSQL checks, by the constraints that Plinth gave the tables. */
async function create(data: Data): Promise<Answer> {
  if (!isTitle(data.title) || !Array.isArray(data.categories)) return INVALID
  const { title, slug, excerpt, body, rating, price, day, featured, kind, author, categories } = data
  const plain = [title, slug, excerpt, body, rating, price, day, featured, kind]
  const row = await run('create', [randomBytes(12).toString('hex'), ...plain, author, categories])
  return row ? envelope(row, 201) : INVALID
}

async function update(documentId: string, data: Data): Promise<Answer> {
  if (Object.keys(data).length === 0) return envelope(await run('publish', [documentId]))
  const { title, rating, categories } = data
  if (!isTitle(title)) return INVALID
  if (categories === undefined) return envelope(await run('fields', [documentId, title, rating]))
  return Array.isArray(categories)
    ? envelope(await run('update', [documentId, title, rating, categories]))
    : INVALID
}

async function updateProduct(documentId: string, { name, rating, categories, specs }: Data): Promise<Answer> {
  if (typeof name !== 'string' || !Array.isArray(categories) || !Array.isArray(specs)) return INVALID
  const [names, values] = ['name', 'value'].map(key => specs.map(spec => spec[key]))
  return envelope(await run('product', [documentId, name, rating, categories, names, values]))
}

async function remove(documentId: string): Promise<Answer> {
  const row = await run('delete', [documentId])
  return row?.json === '0' ? MISSING : { status: 204, text: '' }
}

const server = createServer((request, response) => {
  answer(request)
    .then(({ status, text }) => {
      const body = Buffer.from(text)
      response.writeHead(status, {
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

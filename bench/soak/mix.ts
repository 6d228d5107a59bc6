import type { Request } from '../closed-loop.ts'

/** One request of the mix. */
export interface Mixed {
  readonly kind: string
  readonly request: Request
  /** How it has to be answered. */
  readonly status: number
  /** What is asked for next because of its answer. */
  readonly follow?: (text: string) => Mixed | null
}

/** Who asks; each client has a stream of numbers of its own, and every run has the same. */
export interface Client {
  /** A whole number below `most`. */
  readonly below: (most: number) => number
  /** Another one each time, of all clients. */
  readonly fresh: () => number
}

export const ARTICLES = 10_000
export const SIGNED = { identifier: 'soak', password: 'a-password-for-the-soak' }

/** Out of a thousand requests; what costs the processor most is asked for least. */
const SHARES: readonly (readonly [number, (client: Client) => Mixed])[] = [
  [150, one],
  [130, repeated],
  [150, filtered],
  [100, populated],
  [100, cursors],
  [120, graphql],
  [60, refused],
  [100, update],
  [60, createAndDelete],
  [25, upload],
  [5, signIn],
]

const WHOLE = SHARES.reduce((sum, [share]) => sum + share, 0)

export function nextOf(client: Client): Mixed {
  let at = client.below(WHOLE)
  for (const [share, make] of SHARES) {
    if (at < share) return make(client)
    at -= share
  }
  return one(client)
}

const get = (kind: string, path: string, status = 200): Mixed => ({ kind, request: { path }, status })

const send = (kind: string, method: string, path: string, body: unknown, status: number): Mixed => ({
  kind,
  request: { method, path, headers: JSON_TYPE, body: JSON.stringify(body) },
  status,
})

const JSON_TYPE = { 'content-type': 'application/json' }

function one({ below }: Client): Mixed {
  return get('findOne', `/api/articles/article-${below(ARTICLES) + 1}`)
}

/** Few answers, which are kept. */
function repeated({ below }: Client): Mixed {
  return get('the same list again', `/api/articles?pagination[page]=${below(20) + 1}`)
}

/** Values and shapes that were hardly asked for before. */
function filtered({ below, fresh }: Client): Mixed {
  const filters = [
    `filters[title][$contains]=${below(1000)}`,
    `filters[rating][$gte]=${below(11)}`,
    `filters[kind]=${['news', 'opinion', 'review'][below(3)]}`,
    `filters[price][$lt]=${below(100)}.${below(100)}`,
    `filters[$or][0][day][$gt]=2024-01-${10 + below(20)}&filters[$or][1][featured]=true`,
    `filters[author][name][$startsWith]=Author ${below(100)}`,
    `filters[slug][$ne]=${fresh()}`,
  ]
  const chosen = filters.filter(() => below(3) === 0).map(encodeURI)
  const sort = ['', '&sort=title', '&sort=day:desc,rating', '&sort=author.name'][below(4)]
  const fields = FIELDS.filter(() => below(4) === 0).map((field, at) => `&fields[${at}]=${field}`)
  return get(
    'filters, sorts and fields of many shapes',
    `/api/articles?${chosen.join('&')}${sort}${fields.join('')}`,
  )
}

const FIELDS = ['title', 'slug', 'excerpt', 'rating', 'price', 'day', 'featured', 'kind']

function populated({ below }: Client): Mixed {
  const words = ['author', 'categories', 'author,categories', '*', 'author.articles'][below(5)]
  return get(
    'populate',
    `/api/articles?populate=${words}&pagination[page]=${below(50) + 1}&pagination[pageSize]=5`,
  )
}

function cursors({ below }: Client): Mixed {
  const list = `/api/articles?sort=${['title', 'day:desc', 'id'][below(3)]}&pagination[withCount]=false`
  const page = (cursor: string, left: number): Mixed => ({
    ...get('pages by cursor', `${list}&pagination[after]=${cursor}`),
    follow(text) {
      const next = JSON.parse(text).meta.pagination.next
      return left > 0 && typeof next === 'string' ? page(next, left - 1) : null
    },
  })
  return page('', below(4))
}

/** Each text has a name of its own, as those of clients that build them. */
function graphql({ below, fresh }: Client): Mixed {
  const fields = FIELDS.filter(() => below(2) === 0).join(' ')
  const query = `query Q${fresh()} { articles(pagination: { page: ${below(100) + 1} }) {
    data { id attributes { title ${fields} author { data { attributes { name } } } } } meta { pagination { total } } } }`
  return send('GraphQL of many texts', 'POST', '/graphql', { query }, 200)
}

/** Everything that people get wrong. */
function refused(client: Client): Mixed {
  const { below, fresh } = client
  const wrong: readonly Mixed[] = [
    get('refused', `/api/articles?filters[nothing${fresh()}]=1`, 400),
    get('refused', `/api/articles?pagination[after]=x${fresh()}`, 400),
    get('refused', `/api/nothing-${fresh()}`, 404),
    get('refused', `/api/articles/none-${fresh()}`, 404),
    send('refused', 'POST', '/api/articles', { data: { title: '', price: 'much' } }, 400),
    { ...send('refused', 'POST', '/api/articles', {}, 400), request: broken },
    send('refused', 'POST', '/api/auth/local', { identifier: `nobody-${fresh()}` }, 400),
    send('refused', 'POST', '/graphql', { query: `{ articles { data { id${fresh()} } } }` }, 400),
    get('refused', '/api/users', 403),
  ]
  return wrong[below(wrong.length)] ?? one(client)
}

const broken: Request = { method: 'POST', path: '/api/articles', headers: JSON_TYPE, body: '{"data":' }

function update({ below, fresh }: Client): Mixed {
  const data = {
    title: `Changed article ${fresh()}`,
    rating: below(11),
    categories: [`category-${below(30) + 1}`],
  }
  return send('update', 'PUT', `/api/articles/article-${below(ARTICLES) + 1}`, { data }, 200)
}

/** What comes goes again: the tables are as large in the end. */
function createAndDelete({ below, fresh }: Client): Mixed {
  const number = fresh()
  const data = {
    title: `New article ${number}`,
    slug: `soak-${number}`,
    body: 'A paragraph. '.repeat(50),
    author: `author-${below(100) + 1}`,
  }
  return {
    ...send('create, then delete', 'POST', '/api/articles', { data }, 201),
    follow: text => remove('create, then delete', `/api/articles/${JSON.parse(text).data.documentId}`, 204),
  }
}

const remove = (kind: string, path: string, status: number): Mixed => ({
  kind,
  request: { method: 'DELETE', path },
  status,
})

function upload({ fresh }: Client): Mixed {
  const mark = `soak${fresh()}`
  const body = [
    `--${mark}`,
    `Content-Disposition: form-data; name="files"; filename="${mark}.txt"`,
    'Content-Type: text/plain',
    '',
    'A line of text.\n'.repeat(500),
    `--${mark}--`,
    '',
  ].join('\r\n')
  const headers = { 'content-type': `multipart/form-data; boundary=${mark}` }
  return {
    kind: 'upload, then delete',
    request: { method: 'POST', path: '/api/upload', headers, body },
    status: 201,
    follow: text => remove('upload, then delete', `/api/upload/files/${JSON.parse(text)[0].id}`, 200),
  }
}

function signIn(): Mixed {
  return send('sign in', 'POST', '/api/auth/local', SIGNED, 200)
}

import test, { type ExecutionContext } from 'ava'
import { send, TOKEN } from '../end-to-end/kill-writers.ts'
import { until } from '../harness/until.ts'
import { startWiredServer, type WiredServer } from './wired-server.ts'

// reference/rest.md#17-differences-from-strapi, "unclear outcomes": whatever is cut, an error answer says whether the data was written.

const PROJECT = `
name: Outcomes
server: { host: "\${HOST}", port: "\${PORT}", requestTimeout: 6s }
graphql: { config: { limits: { time: 3s } } }
database: { url: "\${DATABASE_URL}", pool: { max: 2 } }
components:
  parts.word: { attributes: { text: string } }
contentTypes:
  person: { pluralApiId: people, attributes: { name: string } }
  article:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      author: { type: relation, relation: manyToOne, target: person }
      words: { type: component, component: parts.word, repeatable: true }
apiTokens:
  full: { type: full-access, secret: ${TOKEN} }
`

const openWorld = (t: ExecutionContext): Promise<WiredServer> =>
  startWiredServer(t, { 'project.yaml': PROJECT, 'extensions/twice.ts': TWICE })

const TWICE = `
import { defineExtension } from 'plinth'
export default defineExtension({ register({ rest }) {
  rest.route('POST', '/twice', async ({ app, http }) => {
    const { title } = await http.request.json()
    await app.documents('article').create({ data: { title: title + ' one' } })
    await app.documents('article').create({ data: { title: title + ' two' } })
    return { done: true }
  }, { auth: false })
} })
`

/** A write, and what can be seen of it in the tables. */
interface Action {
  /** Makes what it needs; answers how to ask for it. */
  prepare(world: WiredServer, word: string): Promise<() => Promise<Answer>>
  /** The number of traces that it leaves: none, all, or, where it is several transactions, some. */
  traces(world: WiredServer, word: string): Promise<number>
  readonly all: number
  /** All of it goes out at once, the COMMIT too. */
  readonly isOneMessage?: boolean
}

interface Answer {
  readonly status: number
  readonly outcome: unknown
  readonly retryAfter: string | null
}

const rest =
  ({ server }: WiredServer, method: string, path: string, body?: unknown) =>
  async (): Promise<Answer> => {
    const answer = await fetch(server.base + path, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(120_000),
    })
    const text = await answer.text()
    const outcome = text === '' ? undefined : JSON.parse(text).error?.details?.outcome
    return { status: answer.status, outcome, retryAfter: answer.headers.get('retry-after') }
  }

const graphql =
  ({ server }: WiredServer, query: string) =>
  async (): Promise<Answer> => {
    const answer = await fetch(`${server.base}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ query }),
      signal: AbortSignal.timeout(120_000),
    })
    const { errors } = JSON.parse(await answer.text())
    const outcome = errors?.[0].extensions.error?.details?.outcome
    return { status: errors ? 503 : 200, outcome, retryAfter: outcome === 'not-written' ? '1' : null }
  }

const values = (title: string) => ({ title, words: [{ text: 'a' }, { text: 'b' }] })

const make = async ({ server }: WiredServer, word: string, status = 'published'): Promise<string> => {
  const { body } = await send(server, 'POST', `/api/articles?status=${status}`, values(word))
  return (body.data as { documentId: string }).documentId
}

const titled = async ({ query }: WiredServer, word: string) =>
  Number((await query('SELECT count(*) FROM articles WHERE title = $1', [word]))[0]?.[0])

const ACTIONS: Readonly<Record<string, Action>> = {
  create: {
    prepare: async (world, word) => rest(world, 'POST', '/api/articles', { data: values(word) }),
    traces: titled,
    all: 2,
    isOneMessage: true,
  },
  'create one row': {
    prepare: async (world, word) => rest(world, 'POST', '/api/people', { data: { name: word } }),
    traces: async ({ query }, word) =>
      Number((await query('SELECT count(*) FROM people WHERE name = $1', [word]))[0]?.[0]),
    all: 1,
    isOneMessage: true,
  },
  update: {
    async prepare(world, word) {
      const path = `/api/articles/${await make(world, `old ${word}`)}`
      return rest(world, 'PUT', path, { data: values(word) })
    },
    traces: titled,
    all: 2,
    isOneMessage: true,
  },
  // A stored component that is named by its id is read before.
  'update with ids of components': {
    async prepare(world, word) {
      const path = `/api/articles/${await make(world, `old ${word}`)}`
      const { body } = await send(world.server, 'GET', `${path}?status=draft&populate=words`)
      const { words } = body.data as { readonly words: readonly object[] }
      return rest(world, 'PUT', path, { data: { ...values(word), words } })
    },
    traces: titled,
    all: 2,
  },
  publish: {
    async prepare(world, word) {
      const path = `/api/articles/${await make(world, word, 'draft')}`
      return rest(world, 'PUT', path, { data: {} })
    },
    traces: async (world, word) => (await titled(world, word)) - 1,
    all: 1,
    isOneMessage: true,
  },
  delete: {
    async prepare(world, word) {
      return rest(world, 'DELETE', `/api/articles/${await make(world, word)}`)
    },
    traces: async (world, word) => 2 - (await titled(world, word)),
    all: 2,
    isOneMessage: true,
  },
  mutation: {
    prepare: async (world, word) =>
      graphql(world, `mutation { createPerson(data: { name: "${word}" }) { data { id } } }`),
    traces: async ({ query }, word) =>
      Number((await query('SELECT count(*) FROM people WHERE name = $1', [word]))[0]?.[0]),
    all: 1,
    isOneMessage: true,
  },
  'route of an extension': {
    prepare: async (world, word) => rest(world, 'POST', '/api/twice', { title: word }),
    traces: async ({ query }, word) =>
      Number((await query('SELECT count(*) FROM articles WHERE title LIKE $1', [`${word} %`]))[0]?.[0]),
    all: 2,
    isOneMessage: true,
  },
}

const CUTS = 40

for (const [name, action] of Object.entries(ACTIONS))
  test(`a ${name} whose database connection is cut at any message reports its true outcome`, async t => {
    const world = await openWorld(t)
    const outcomes = new Set<unknown>()
    for (const when of ['before', 'after'] as const)
      for (let place = 0; place < CUTS; place++) {
        const word = `${when} ${place}`
        const ask = await action.prepare(world, word)
        const cut = world.wire.cutAt(place, when)
        const answer = await ask()
        cut.end()
        if (!cut.isDone()) break
        await until('the database answers', async () => (await world.server.get('/_ready')).status === 200)
        const traces = await action.traces(world, word)
        assertTrue(t, answer, { traces, all: action.all, word })
        outcomes.add(answer.outcome)
      }
    t.true(outcomes.has('unknown'), 'a COMMIT that is cut')
    t.is(outcomes.has('not-written'), !action.isOneMessage, 'what is cut before the COMMIT is sent')
  })

const counted = async ({ query }: WiredServer, name: string) =>
  Number((await query('SELECT count(*) FROM people WHERE name = $1', [name]))[0]?.[0])

test.serial(
  'a write that reaches the time limit of its request is rolled back, and the response says so',
  async t => {
    const world = await openWorld(t)
    const path = `/api/articles/${await make(world, 'old')}`
    await world.query('BEGIN')
    await world.query('LOCK TABLE people, articles IN EXCLUSIVE MODE')
    const creating = rest(world, 'POST', '/api/people', { data: { name: 'late' } })
    const updating = rest(world, 'PUT', path, { data: { title: 'late' } })
    for (const answer of await Promise.all([creating(), updating()]))
      t.deepEqual(answer, { status: 503, outcome: 'not-written', retryAfter: '1' })
    await world.query('COMMIT')
    t.is(await counted(world, 'late'), 0)
    t.is(await titled(world, 'late'), 0)
  },
)

test.serial(
  'each of several mutations reports its outcome when the request reaches its time limit',
  async t => {
    const world = await openWorld(t)
    await graphql(world, '{ __typename }')()
    await world.query('BEGIN')
    await world.query('LOCK TABLE articles IN EXCLUSIVE MODE')
    const query = `mutation {
    first: createPerson(data: { name: "first" }) { data { id } }
    second: createArticle(data: { title: "second" }) { data { id } }
    third: createPerson(data: { name: "third" }) { data { id } }
  }`
    const answer = await fetch(`${world.server.base}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ query }),
    })
    await world.query('COMMIT')
    const { data, errors } = (await answer.json()) as {
      data: Record<string, unknown> | null
      errors: { path: string[]; extensions: { code: string; error: { details: unknown } } }[]
    }
    t.truthy(data?.first, JSON.stringify({ data, errors }))
    t.is(data?.second, null)
    t.is(data?.third, null)
    t.deepEqual(
      errors.map(({ path, extensions: { code, error } }) => [path, code, error.details]),
      ['second', 'third'].map(name => [[name], 'OPERATION_TIMED_OUT', { outcome: 'not-written' }]),
    )
    t.is(await counted(world, 'first'), 1)
    t.is(await titled(world, 'second'), 0)
    t.is(await counted(world, 'third'), 0)
  },
)

interface Truth {
  readonly traces: number
  readonly all: number
  readonly word: string
}

function assertTrue(t: ExecutionContext, answer: Answer, truth: Truth): void {
  const at = JSON.stringify({ ...answer, ...truth })
  if (answer.status < 300) return void t.is(truth.traces, truth.all, at)
  t.is(answer.status, 503, at)
  t.is(answer.retryAfter, answer.outcome === 'unknown' ? null : '1', at)
  if (answer.outcome === 'not-written') t.is(truth.traces, 0, at)
  else t.is(answer.outcome, 'unknown', at)
}

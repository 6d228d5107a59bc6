import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { TOKEN } from '../end-to-end/kill-writers.ts'
import type { Server } from '../harness/server.ts'
import { until } from '../harness/until.ts'
import { COMMIT } from './wire.ts'
import { startWiredServer, type WiredServer } from './wired-server.ts'

// reference/rest.md#17-differences-from-strapi, `Idempotency-Key`: the same key and request is carried out once.

const OTHER = 'other-idempotency-token-0000000000000000'

const PROJECT = `
name: Once
server: { host: "\${HOST}", port: "\${PORT}", bodyLimit: 4mb }
database: { url: "\${DATABASE_URL}", preparedStatements: false }
contentTypes:
  person:
    pluralApiId: people
    attributes: { name: { type: string, required: true }, code: { type: string, unique: true }, long: text }
apiTokens:
  full: { type: full-access, secret: ${TOKEN} }
  other: { type: full-access, secret: ${OTHER} }
roles:
  public: { permissions: { person: [create] } }
`

const openWorld = (t: ExecutionContext): Promise<WiredServer> =>
  startWiredServer(t, { 'project.yaml': PROJECT, 'extensions/pair.ts': PAIR })

/** Two writes; the second fails on demand. */
const PAIR = `
import { ApplicationError, defineExtension } from 'plinth'
export default defineExtension({ register({ rest }) {
  rest.route('POST', '/pair', async ({ app, http }) => {
    const { name, fails } = await http.request.json()
    await app.documents('person').create({ data: { name } })
    if (fails === 'badly') throw new Error('no')
    if (fails) throw new ApplicationError('no')
    const made = await app.documents('person').create({ data: { name } })
    return { made: made.documentId }
  }, { auth: false })
  rest.route('POST', '/both', async ({ app, http }) => {
    const { ids } = await http.request.json()
    for (const documentId of ids) await app.documents('person').update({ documentId, data: { name: 'y' } })
    return { count: ids.length }
  }, { auth: false })
} })
`

interface PlanRequest {
  readonly method?: string
  readonly path?: string
  readonly key: string
  readonly body?: unknown
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

async function ask(
  server: Server,
  { method = 'POST', path = '/api/people', key, body, ...asked }: PlanRequest,
) {
  const { token = TOKEN, headers = {} } = asked
  const answer = await fetch(server.base + path, {
    method,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': key,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  const parsed = text === '' ? null : JSON.parse(text)
  const isReplayed = answer.headers.get('idempotency-replayed')
  return { status: answer.status, text, body: parsed, isReplayed, headers: answer.headers }
}

const named = async ({ query }: WiredServer, name: string) =>
  Number((await query('SELECT count(*) FROM people WHERE name = $1', [name]))[0]?.[0])

const person = (name: string) => ({ data: { name } })

test.serial(
  'a write that is repeated with its key gets the stored response without running again',
  async t => {
    const world = await openWorld(t)
    const { server } = world
    const second = await world.startSecond()
    const key = randomUUID()
    const first = await ask(server, { key, body: person('Ann') })
    t.is(first.status, 201)
    t.is(first.isReplayed, null)
    for (const one of [server, second]) {
      const again = await ask(one, { key, body: person('Ann') })
      t.deepEqual([again.status, again.text, again.isReplayed], [201, first.text, 'true'])
      t.is(again.headers.get('etag'), first.headers.get('etag'))
    }
    t.is(
      (await ask(server, { key: `"${key}"`, body: person('Ann') })).isReplayed,
      'true',
      'quoted, as in the draft',
    )
    t.is(await named(world, 'Ann'), 1)

    const path = `/api/people/${first.body.data.documentId}`
    const change = { method: 'PUT', path, key: randomUUID(), body: person('Bea') }
    t.is((await ask(server, change)).body.data.name, 'Bea')
    await ask(server, { ...change, key: randomUUID(), body: person('Cid') })
    t.is((await ask(server, change)).body.data.name, 'Bea')
    t.is(await named(world, 'Cid'), 1, 'nothing was changed again')
    const removal = { method: 'DELETE', path, key: randomUUID() }
    t.deepEqual([(await ask(server, removal)).status, (await ask(second, removal)).isReplayed], [204, 'true'])

    const stored = JSON.stringify(await world.query('SELECT * FROM plinth_idempotency'))
    for (const secret of [key, 'Ann', 'Bea'])
      t.false(stored.includes(secret), 'no stored value is in clear text')
  },
)

test.serial('a key belongs to one request of one caller for a day', async t => {
  const world = await openWorld(t)
  const { server } = world
  const key = randomUUID()
  const asked = { key, body: person('Ann') }
  t.is((await ask(server, asked)).status, 201)
  const path = '/api/people?fields=name'
  const others: readonly Partial<PlanRequest>[] = [
    { body: person('Bea') },
    { path },
    { path: '/graphql', body: { query: 'mutation { createPerson(data: { name: "Bea" }) { data { id } } }' } },
    { headers: { 'strapi-response-format': 'v4' } },
  ]
  for (const other of others) {
    const { status, body } = await ask(server, { ...asked, ...other })
    t.is(status, 422)
    t.is(body.error.name, 'UnprocessableEntityError')
    t.regex(body.error.message, /Idempotency-Key was sent with another request/)
  }
  t.is(await named(world, 'Bea'), 0)
  t.is((await ask(server, { ...asked, token: OTHER })).isReplayed, null)
  t.is((await ask(server, { ...asked, token: null })).isReplayed, null)
  t.is((await ask(server, { ...asked, token: 'unknown-unknown-unknown-unknown' })).status, 401)
  t.is(await named(world, 'Ann'), 3)
  const [[days] = []] = await world.query(
    'SELECT round(extract(epoch FROM max(expires_at) - now()) / 3600) FROM plinth_idempotency',
  )
  t.is(Number(days), 24)
  await world.query("UPDATE plinth_idempotency SET expires_at = now() - interval '1 second'")
  t.is((await ask(server, { key, body: person('Bea') })).status, 201)
  t.deepEqual(await world.query('SELECT count(*)::int FROM plinth_idempotency'), [[1]], 'old ones are gone')
})

test.serial('concurrent requests with the same key, in several processes, are one write', async t => {
  const world = await openWorld(t)
  const { server } = world
  const second = await world.startSecond()
  for (let round = 0; round < 10; round++) {
    const asked = { key: randomUUID(), body: person(`round ${round}`) }
    const all = Array.from({ length: 8 }, (_, index) => ask(index % 2 ? server : second, asked))
    for (const { status, body, headers } of await Promise.all(all)) {
      t.true(status === 201 || status === 409, JSON.stringify(body))
      if (status === 409) t.deepEqual([body.error.name, headers.get('retry-after')], ['ConflictError', '1'])
    }
    t.is(await named(world, `round ${round}`), 1)
    t.deepEqual([(await ask(server, asked)).status, await named(world, `round ${round}`)], [201, 1])
  }
})

test.serial('a retry with the same key after a lost COMMIT answer returns the outcome', async t => {
  const world = await openWorld(t)
  const { server, wire } = world
  for (const when of ['before', 'after'] as const) {
    const asked = { key: randomUUID(), body: person(when) }
    const cut = wire.cut(COMMIT, when)
    const lost = await ask(server, asked)
    await cut
    t.deepEqual([lost.status, lost.body.error.details.outcome], [503, 'unknown'])
    t.is(await named(world, when), when === 'after' ? 1 : 0)
    const again = await ask(server, asked)
    t.deepEqual([again.status, again.isReplayed], [201, when === 'after' ? 'true' : null])
    t.is(await named(world, when), 1)
  }
  for (let place = 0; place < 12; place++) {
    const asked = { key: randomUUID(), body: person(`cut ${place}`) }
    const cut = wire.cutAt(place, 'after')
    const first = await ask(server, asked)
    cut.end()
    if (first.status === 503 && first.body.error.details.outcome === 'not-written')
      t.is(await named(world, `cut ${place}`), 0)
    // 409: the session of the first attempt is not yet gone.
    let again = first
    await until('an answer other than 409', async () => {
      again = await ask(server, asked)
      return again.status !== 409
    })
    t.is(again.status, 201)
    t.is(await named(world, `cut ${place}`), 1)
  }
})

test.serial('several mutations, and routes of extensions, run once as a whole', async t => {
  const world = await openWorld(t)
  const { server, query } = world
  await ask(server, { key: randomUUID(), body: { data: { name: 'taken', code: 'taken' } } })
  const text = `mutation {
    one: createPerson(data: { name: "one" }) { data { id } }
    two: createPerson(data: { name: "two", code: "taken" }) { data { id } }
    three: createPerson(data: { name: "three" }) { data { id } }
  }`
  const asked = { path: '/graphql', key: randomUUID(), body: { query: text } }
  const first = await ask(server, asked)
  t.truthy(first.body.data.one)
  t.is(first.body.data.two, null)
  t.truthy(first.body.data.three)
  const again = await ask(server, asked)
  t.deepEqual([again.text, again.isReplayed], [first.text, 'true'])
  for (const [name, count] of [
    ['one', 1],
    ['two', 0],
    ['three', 1],
  ] as const)
    t.is(await named(world, name), count)

  const read = { path: '/graphql', key: randomUUID(), body: { query: '{ people { data { id } } }' } }
  await ask(server, read)
  t.is((await ask(server, read)).isReplayed, null, 'a query runs again')

  const pair = { path: '/api/pair', key: randomUUID(), body: { name: 'pair' }, token: null }
  const made = await ask(server, pair)
  t.deepEqual([made.status, (await ask(server, pair)).text], [200, made.text])
  t.is(await named(world, 'pair'), 2)
  const refused = { ...pair, key: randomUUID(), body: { name: 'refused', fails: true } }
  t.is((await ask(server, refused)).status, 400)
  t.is((await ask(server, refused)).isReplayed, 'true', 'what it wrote before it failed is not written again')
  t.is(await named(world, 'refused'), 1)
  const failed = { ...pair, key: randomUUID(), body: { name: 'failed', fails: 'badly' } }
  t.deepEqual([(await ask(server, failed)).status, (await ask(server, failed)).status], [500, 500])
  t.is(await named(world, 'failed'), 0, 'a fault inside undoes all of it')
  t.is((await query('SELECT count(*)::int FROM plinth_idempotency'))[0]?.[0], 4)
})

test.serial('a request that is in a deadlock runs again as a whole', async t => {
  const { server } = await openWorld(t)
  const create = async (name: string): Promise<string> =>
    (await ask(server, { key: randomUUID(), body: person(name) })).body.data.documentId
  const [one, two] = [await create('one'), await create('two')]
  const toText = (ids: readonly string[]) => {
    const fields = ids.map(
      (id, at) => `m${at}: updatePerson(id: "${id}", data: { name: "x" }) { data { id } }`,
    )
    return `mutation { ${fields.join(' ')} }`
  }
  const asked = Array.from({ length: 8 }, (_, at) => (at % 2 ? [one, two, one] : [two, one, two]))
  const answers = await Promise.all(
    asked.map(ids => ask(server, { path: '/graphql', key: randomUUID(), body: { query: toText(ids) } })),
  )
  for (const { status, body } of answers) t.deepEqual([status, body.errors], [200, undefined])
  const pair = await Promise.all(
    asked.map(ids => ask(server, { path: '/api/both', key: randomUUID(), body: { ids }, token: null })),
  )
  for (const { status, text } of pair) t.deepEqual([status, text], [200, '{"count":3}'])
})

test.serial('requests that cannot be stored are refused by name', async t => {
  const world = await openWorld(t)
  const { server } = world
  const refused = async (asked: Partial<PlanRequest>, message: RegExp) => {
    const { status, body } = await ask(server, { key: randomUUID(), body: person('never'), ...asked })
    t.is(status, 400, JSON.stringify(body).slice(0, 500))
    t.regex(body.error.message, message)
    t.is(body.error.details.key, 'Idempotency-Key')
  }
  await refused({ key: 'x'.repeat(256) }, /expected 1 to 255 printable ASCII characters.*got 256/)
  await refused({ key: '""' }, /got 0 characters/)
  await refused({ path: '/api/auth/local' }, /does not apply to signing in/)
  await refused({ path: '/API/Auth/local/register' }, /does not apply to signing in/)
  await refused({ headers: { 'content-type': 'multipart/form-data; boundary=x' } }, /multipart\/form-data/)
  await refused(
    { body: { data: { name: 'never', long: 'x'.repeat(1_200_000) } }, path: '/api/people' },
    /may have 1048576 bytes/,
  )
  t.is(await named(world, 'never'), 0)
  const login = 'mutation { login(input: { identifier: "a", password: "b" }) { jwt } }'
  const { body } = await ask(server, { path: '/graphql', key: randomUUID(), body: { query: login } })
  t.regex(body.errors[0].message, /does not apply to signing in/)
  t.is((await fetch(`${server.base}/api/people`, { headers: { 'idempotency-key': 'k' } })).status, 403)
  const preflight = await fetch(`${server.base}/api/people`, {
    method: 'OPTIONS',
    headers: {
      origin: 'http://localhost:3000',
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'idempotency-key',
    },
  })
  t.regex(preflight.headers.get('access-control-allow-headers') ?? '', /idempotency-key/i)
})

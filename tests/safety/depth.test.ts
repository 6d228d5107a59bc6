import test from 'ava'
import { isDeeperThan } from '../../core/base/plain-data.ts'
import { parseFileInfo } from '../../core/media/file-info.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { faultsOf } from '../project/load.ts'

// Input nested deeper than any document is refused with a precise error, at every position: never a 500.

const TOKEN = 'a-secret-of-forty-letters-that-is-not-guessed'

const PROJECT = {
  components: { 'part.box': { attributes: { label: 'string', inner: 'json' } } },
  contentTypes: {
    note: {
      attributes: {
        text: 'string',
        data: 'json',
        list: 'array',
        rich: 'blocks',
        box: { type: 'component', component: 'part.box' },
        parts: { type: 'dynamiczone', components: ['part.box'] },
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

let app: TestApp
const file = teardownOfFile(test.after.always)

test.before(async () => {
  app = await openTestApp(file, { project: PROJECT })
})

const DEPTH = 100_000

const lists = (depth = DEPTH): string => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth = DEPTH): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

const json = { 'content-type': 'application/json' }
const post = (path: string, body: string | FormData, headers: Record<string, string> = json) =>
  app.request('POST', path, { body, token: TOKEN, headers })

const escaped = (text: string): string => JSON.stringify(text)

/** By name: what is sent, and what the answer has to say. */
const CASES: Readonly<Record<string, readonly [send: () => ReturnType<typeof post>, says: RegExp]>> = {
  'a body of lists': [() => post('/api/notes', `{"data":${lists()}}`), /100 levels/],
  'a body of objects': [() => post('/api/notes', `{"data":${objects()}}`), /100 levels/],
  'a JSON attribute': [() => post('/api/notes', `{"data":{"data":${objects()}}}`), /100 levels/],
  'JSON in a text': [() => post('/api/notes', `{"data":{"data":${escaped(lists())}}}`), /1000 levels/],
  'JSON in a text of a component': [
    () => post('/api/notes', `{"data":{"box":{"inner":${escaped(lists())}}}}`),
    /1000 levels/,
  ],
  'a list attribute': [() => post('/api/notes', `{"data":{"list":${lists()}}}`), /100 levels/],
  'rich text': [
    () =>
      post(
        '/api/notes',
        `{"data":{"rich":[${'{"type":"list","format":"ordered","children":['.repeat(20_000)}${']}'.repeat(20_000)}]}}`,
      ),
    /100 levels/,
  ],
  'a body of sign-in': [() => post('/api/auth/local', `{"identifier":${lists()}}`), /100 levels/],
  'variables of GraphQL': [
    () => post('/graphql', `{"query":"query($a: JSON){__typename}","variables":{"a":${lists()}}}`),
    /200 levels/,
  ],
  'variables that nothing declares': [
    () => post('/graphql', `{"query":"{__typename}","variables":{"b":${objects()}}}`),
    /200 levels/,
  ],
  'variables that are a little too deep': [
    () =>
      post(
        '/graphql',
        `{"query":"query($b: NoteFiltersInput){notes(filters:$b){__typename}}","variables":{"b":${lists(150)}}}`,
      ),
    /nested values in \$b: 101/,
  ],
  'extensions of GraphQL': [
    () => post('/graphql', `{"query":"{nothing}","extensions":${objects()}}`),
    /200 levels/,
  ],
  'a batch of GraphQL': [() => post('/graphql', lists()), /200 levels/],
  'selections of GraphQL': [
    () => post('/graphql', JSON.stringify({ query: `${'{a'.repeat(DEPTH)}${'}'.repeat(DEPTH)}` })),
    /tokens|nested brackets/,
  ],
  'lists in a literal': [
    () => post('/graphql', JSON.stringify({ query: `{a(b:${lists(5_000)})}` })),
    /tokens|nested brackets/,
  ],
  'objects in a literal': [
    () => post('/graphql', JSON.stringify({ query: `{a(b:${'{c:'.repeat(3_000)}1${'}'.repeat(3_000)})}` })),
    /tokens|nested brackets/,
  ],
  'a type of lists': [
    () =>
      post('/graphql', JSON.stringify({ query: `query($a:${'['.repeat(5_000)}Int${']'.repeat(5_000)}){a}` })),
    /tokens|nested brackets/,
  ],
  'operations of a form': [
    () => post('/graphql', multipart({ operations: objects(), map: '{}' }), MULTIPART),
    /operations/,
  ],
  'the map of a form': [
    () =>
      post(
        '/graphql',
        multipart({ operations: '{"query":"{__typename}"}', map: `{"0":${lists()}}` }),
        MULTIPART,
      ),
    /map/,
  ],
  'a JSON filter': [
    () => app.request('GET', `/api/notes?filters[data]=${lists(4_000)}`, { token: TOKEN }),
    /1000 levels/,
  ],
  'brackets of a query string': [
    () => app.request('GET', `/api/notes?filters${'[$not]'.repeat(2_000)}[text]=a`, { token: TOKEN }),
    /Invalid|parameter|key/,
  ],
  'a populate': [
    () => app.request('GET', `/api/notes?populate${'[populate][box]'.repeat(800)}=*`, { token: TOKEN }),
    /Invalid|populate|key/,
  ],
  'brackets of a form': [
    () =>
      post('/api/notes', `data${'[a]'.repeat(15_000)}=1`, {
        'content-type': 'application/x-www-form-urlencoded',
      }),
    /Invalid|data|key/,
  ],
  'a cursor': [
    () =>
      app.request(
        'GET',
        `/api/notes?pagination[after]=${Buffer.from(`["x",[${lists(3_000)}],1]`).toString('base64url')}`,
        { token: TOKEN },
      ),
    /cursor/,
  ],
  'a token': [
    () =>
      app.request('GET', '/api/notes', {
        token: `${Buffer.from('{"alg":"HS256"}').toString('base64url')}.${Buffer.from(lists(4_000)).toString('base64url')}.x`,
      }),
    /credentials/,
  ],
}

const MULTIPART = { 'apollo-require-preflight': 'true' }

function multipart(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

for (const [name, [send, says]] of Object.entries(CASES))
  test.serial(`nesting beyond the limit is refused: ${name}`, async t => {
    const { status, body } = await send()
    const text = JSON.stringify(body)
    t.true([400, 401].includes(status), `${status} ${text.slice(0, 300)}`)
    t.regex(text, says)
    t.notRegex(text, /call stack|RangeError| {4}at /)
  })

test.serial('variables that nothing declares are not read', async t => {
  const { status, body } = await post('/graphql', `{"query":"{__typename}","variables":{"b":${lists(150)}}}`)
  t.is(status, 200)
  t.deepEqual(body, { data: { __typename: 'Query' } })
})

test.serial('values within the depth limit are stored unchanged', async t => {
  const value = JSON.parse(objects(90))
  const { status, body } = await post('/api/notes', JSON.stringify({ data: { data: value } }))
  t.is(status, 201)
  t.deepEqual((body as { data: { data: unknown } }).data.data, value)
  const text = await post('/api/notes', JSON.stringify({ data: { data: lists(1_000) } }))
  t.is(text.status, 201)
})

test('file metadata keeps only known keys', t => {
  const read = parseFileInfo([`{"focalPoint":{"x":1,"y":2,"z":${lists(30_000)}}}`])
  t.deepEqual(read, [{ focalPoint: '{"x":1,"y":2}' }])
})

test('a project file that is nested too deep is one error', async t => {
  for (const text of [
    `name: x\nuser: ${'['.repeat(DEPTH)}`,
    `name: x\nuser: ${lists()}`,
    `${'- '.repeat(20_000)}a`,
  ]) {
    const faults = await faultsOf(text)
    t.regex(faults.join(), /nests (too deeply|deeper than 100 levels)/)
  }
})

test('depth is measured without recursion', t => {
  const value = JSON.parse(lists())
  t.true(isDeeperThan(value, DEPTH - 1))
  t.false(isDeeperThan(value, DEPTH))
  t.false(isDeeperThan('text', 0))
})

/** A zone of 40 components, each with a page that has the zone. */
const COMPONENTS = Array.from({ length: 40 }, (_, at) => `part.p${at}`)

const ZONES = {
  components: Object.fromEntries(
    COMPONENTS.map(name => [
      name,
      { attributes: { page: { type: 'relation', relation: 'oneToOne', target: 'page' } } },
    ]),
  ),
  contentTypes: { page: { attributes: { zone: { type: 'dynamiczone', components: COMPONENTS } } } },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
  rest: { populateDeep: 5 },
}

test('zones that are populated inside of others are limited by their components, over REST and GraphQL', async t => {
  const zones = await openTestApp(t, { project: ZONES })
  const message = (count: number) =>
    `The dynamic zones of a query may have at most 1000 components together, and these have ${count}: populate fewer zones inside of others`
  const rest = (count: number) =>
    zones.request(
      'GET',
      `/api/pages?${Array.from({ length: count }, (_, at) => `populate[zone][on][part.p${at}][populate][page][populate]=zone`).join('&')}`,
      { token: TOKEN },
    )
  t.is((await rest(24)).status, 200)
  const refused = await rest(25)
  t.like(refused.body, { error: { status: 400, message: message(1025), details: { key: 'populate' } } })

  const inner = (at: number) =>
    `... on ComponentPartP${at} { page { data { attributes { zone { __typename } } } } }`
  const graphql = async (count: number) => {
    const list = Array.from({ length: count }, (_, at) => inner(at)).join(' ')
    const query = `{ pages { data { attributes { zone { ${list} } } } } }`
    return (await zones.request('POST', '/graphql', { token: TOKEN, body: { query } })).body
  }
  t.deepEqual(await graphql(24), { data: { pages: { data: [] } } })
  t.like(await graphql(25), { errors: { 0: { message: message(1040) } } })

  const deep = await zones.request('GET', '/api/pages?populate=deep,4', { token: TOKEN })
  t.regex(JSON.stringify(deep.body), /exceeds the limits of a populate: use populate=deep,3/)
})

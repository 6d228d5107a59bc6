import test from 'ava'
import { createTestApp, type TestApp, type TestRequest } from '../../core/testing.ts'
import { GROWTH, MOST, processorTime, yardstick } from '../harness/processor-time.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

// Whatever a request may hold many of: at n, 2n and 4n of them the process is busy in proportion, and no request keeps
// others waiting; above the documented limit the answer is an immediate 4xx. A case is one line of the table.

const TOKEN = 'a-secret-of-forty-letters-that-is-not-guessed'

const PROJECT = {
  server: { rateLimit: { api: false, auth: false, account: false }, bodyLimit: '1mb' },
  components: { 'part.box': { attributes: { label: 'string', count: 'integer' } } },
  contentTypes: {
    note: {
      attributes: {
        text: 'string',
        data: 'json',
        list: 'array',
        rich: 'blocks',
        box: { type: 'component', component: 'part.box', repeatable: true },
        parts: { type: 'dynamiczone', components: ['part.box'] },
        pictures: { type: 'media', multiple: true },
        notes: { type: 'relation', relation: 'manyToMany', target: 'note' },
        ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`field${at}`, 'string'])),
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

interface PlanRequest extends TestRequest {
  readonly method: string
  readonly path: string
}

interface Case {
  /** The largest that is allowed: asked for at a quarter, half, and all of it. */
  readonly most: number
  readonly ask: (n: number) => PlanRequest
  /** Too many: the answer's status is of 400 to 499. Absent: the limit is that of the body or of all headers. */
  readonly over?: number
}

const times = (n: number, text: (at: number) => string, between = ','): string =>
  Array.from({ length: n }, (_, at) => text(at)).join(between)

const json = { 'content-type': 'application/json' }
const note = (n: number, key: string, item: (at: number) => string): PlanRequest => ({
  method: 'POST',
  path: '/api/notes',
  headers: json,
  body: `{"data":{"${key}":[${times(n, item)}]}}`,
})
const linked = (n: number, verb: string, item: (at: number) => string): PlanRequest => ({
  ...note(0, 'notes', item),
  body: `{"data":{"notes":{"${verb}":[${times(n, item)}]}}}`,
})
const get = (query: string, headers: Readonly<Record<string, string>> = {}): PlanRequest => ({
  method: 'GET',
  path: `/api/notes?${query}`,
  headers,
})
const graphql = (query: string, variables: unknown = {}): PlanRequest => ({
  method: 'POST',
  path: '/graphql',
  headers: json,
  body: JSON.stringify({ query, variables }),
})
const form = (
  parts: readonly (readonly [string, string | Blob, string?])[],
  path = '/api/upload',
): PlanRequest => {
  const body = new FormData()
  for (const [name, value, filename] of parts)
    if (value instanceof Blob) body.append(name, value, filename)
    else body.append(name, value)
  return { method: 'POST', path, body, headers: { 'apollo-require-preflight': 'true' } }
}
const list = (n: number, item: (at: number) => string): readonly string[] =>
  Array.from({ length: n }, (_, at) => item(at))

const CASES: Readonly<Record<string, Case>> = {
  'components of a body': { most: 2_000, ask: n => note(n, 'box', at => `{"label":"${at}","count":${at}}`) },
  'wrong components': { most: 8_000, ask: n => note(n, 'box', at => `{"wrong":"${at}"}`) },
  'entries of a zone': {
    most: 2_000,
    ask: n => note(n, 'parts', at => `{"__component":"part.box","label":"${at}"}`),
  },
  'unknown entries of a zone': { most: 8_000, ask: n => note(n, 'parts', at => `{"__component":"x${at}"}`) },
  'paragraphs of rich text': {
    most: 8_000,
    ask: n => note(n, 'rich', at => `{"type":"paragraph","children":[{"type":"text","text":"${at}"}]}`),
  },
  'wrong paragraphs': { most: 20_000, ask: n => note(n, 'rich', at => `{"type":"x${at}"}`) },
  'items of a list': { most: 100_000, ask: n => note(n, 'list', String) },
  'keys of JSON': { most: 40_000, ask: n => note(n, 'data', at => `{"k${at}":${at}}`) },
  'media of an attribute': { most: 20_000, ask: n => note(n, 'pictures', at => String(at + 1_000_000)) },
  'links of a relation': { most: 20_000, ask: n => note(n, 'notes', at => `"unknown${at}"`) },
  'connected links': { most: 20_000, ask: n => linked(n, 'connect', at => `"unknown${at}"`) },
  'disconnected links': {
    most: 20_000,
    ask: n => linked(n, 'disconnect', at => `{"documentId":"unknown${at}"}`),
  },
  'links that are set by number': { most: 40_000, ask: n => linked(n, 'set', at => String(at + 1_000_000)) },
  'links that are put before one another': {
    most: 8_000,
    ask: n => linked(n, 'connect', at => `{"documentId":"a${at}","position":{"before":"a${at + 1}"}}`),
  },
  'wrong links': { most: 20_000, ask: n => linked(n, 'connect', at => `{"wrong":${at}}`) },
  'unknown keys of a body': {
    most: 40_000,
    ask: n => ({
      method: 'POST',
      path: '/api/notes',
      headers: json,
      body: `{"data":{${times(n, at => `"x${at}":1`)}}}`,
    }),
  },
  'letters of a text': { most: 900_000, ask: n => note(1, 'list', () => JSON.stringify('a'.repeat(n))) },
  'digits of a number': {
    most: 900_000,
    ask: n => ({
      method: 'POST',
      path: '/api/notes',
      headers: json,
      body: `{"data":{"count":${'9'.repeat(n)}}}`,
    }),
  },
  'parameters of a form': {
    most: 1_000,
    over: 1_001,
    ask: n => ({
      method: 'POST',
      path: '/api/notes',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: times(n, at => `data[field${at % 40}]=${at}`, '&'),
    }),
  },
  'brackets of a form': {
    most: 18_000,
    ask: n => ({
      method: 'POST',
      path: '/api/notes',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `data${'[a]'.repeat(n)}=1`,
    }),
  },
  'values of $in': { most: 100, over: 101, ask: n => get(times(n, at => `filters[text][$in][]=${at}`, '&')) },
  'members of $or': {
    most: 100,
    over: 101,
    ask: n => get(times(n, at => `filters[$or][${at}][text]=${at}`, '&')),
  },
  'members of $and': {
    most: 100,
    over: 101,
    ask: n => get(times(n, at => `filters[$and][${at}][text]=${at}`, '&')),
  },
  'nested $not': { most: 16, over: 40, ask: n => get(`filters${'[$not]'.repeat(n)}[text]=a`) },
  'attributes of a filter': { most: 40, ask: n => get(times(n, at => `filters[field${at}]=a`, '&')) },
  'attributes of sort': { most: 40, ask: n => get(`sort=${times(n, at => `field${at}`)}`) },
  'commas of sort': { most: 12_000, ask: n => get(`sort=${','.repeat(n)}`) },
  fields: { most: 40, ask: n => get(`fields=${times(n, at => `field${at}`)}`) },
  'the same field': { most: 100, over: 101, ask: n => get(times(n, () => 'fields[]=text', '&')) },
  'unknown fields': { most: 2_000, ask: n => get(`fields=${times(n, at => `x${at}`)}`) },
  'words of populate': { most: 1_000, ask: n => get(`populate=${times(n, () => 'notes')}`) },
  'depth of populate': {
    most: 4,
    over: 600,
    ask: n => get(`populate${'[notes][populate]'.repeat(n)}=notes`),
  },
  'dots of populate': { most: 4, over: 2_000, ask: n => get(`populate=${times(n, () => 'notes', '.')}`) },
  'letters of a search': { most: 12_000, ask: n => get(`_q=${'a'.repeat(n)}`) },
  'a cursor': { most: 12_000, ask: n => get(`pagination[after]=${'a'.repeat(n)}`) },
  'letters of an address': {
    most: 12_000,
    ask: n => ({ method: 'GET', path: `/api/notes/${'a'.repeat(n)}` }),
  },
  'slashes of an address': { most: 12_000, ask: n => ({ method: 'GET', path: `/api/${'/'.repeat(n)}` }) },
  'escapes of an address': {
    most: 4_000,
    ask: n => ({ method: 'GET', path: `/api/notes/${'%41'.repeat(n)}` }),
  },
  cookies: { most: 1_000, ask: n => get('', { cookie: times(n, at => `c${at}=1`, '; ') }) },
  'tags of If-None-Match': { most: 3_000, ask: n => get('', { 'if-none-match': times(n, () => '"a"') }) },
  'tags of If-Match': { most: 3_000, ask: n => get('', { 'if-match': times(n, () => '"a"') }) },
  'quotes of If-Match': { most: 12_000, ask: n => get('', { 'if-match': '"'.repeat(n) }) },
  'types of Accept': { most: 3_000, ask: n => get('', { accept: times(n, () => 'a/b') }) },
  'ranges of a file': {
    most: 3_000,
    ask: n => ({
      method: 'GET',
      path: '/uploads/a.txt',
      headers: { range: `bytes=${times(n, () => '0-0')}` },
    }),
  },
  'addresses of X-Forwarded-For': {
    most: 3_000,
    ask: n => get('', { 'x-forwarded-for': times(n, () => '::1') }),
  },
  'letters of a token': { most: 12_000, ask: n => get('', { authorization: `Bearer ${'a'.repeat(n)}` }) },
  'dots of a token': { most: 12_000, ask: n => get('', { authorization: `Bearer ${'.'.repeat(n)}` }) },
  'spaces of a token': { most: 12_000, ask: n => get('', { authorization: `Bearer${' '.repeat(n)}a` }) },
  'aliases of GraphQL': {
    most: 80,
    over: 2_000,
    ask: n => graphql(`{${times(n, at => `a${at}: __typename`, ' ')}}`),
  },
  'fields of GraphQL': {
    most: 2_000,
    ask: n => graphql(`{notes{data{attributes{${times(n, at => `field${at % 40}`, ' ')}}}}}`),
  },
  'fragments of GraphQL': {
    most: 200,
    over: 3_000,
    ask: n =>
      graphql(
        `{${times(n, at => `...F${at}`, ' ')}} ${times(n, at => `fragment F${at} on Query{__typename}`, ' ')}`,
      ),
  },
  'fragments of fragments': {
    most: 90,
    over: 3_000,
    ask: n =>
      graphql(
        `{...F0} ${times(n, at => `fragment F${at} on Query{__typename ${at + 1 < n ? `...F${at + 1}` : ''}}`, ' ')}`,
      ),
  },
  'operations of GraphQL': {
    most: 400,
    over: 3_000,
    ask: n => graphql(times(n, at => `query Q${at}{__typename}`, ' ')),
  },
  'directives of GraphQL': {
    most: 1_000,
    ask: n => graphql(`{__typename ${times(n, () => '@include(if:true)', ' ')}}`),
  },
  'unknown fields of GraphQL': { most: 1_000, ask: n => graphql(`{${times(n, at => `x${at}`, ' ')}}`) },
  'arguments of GraphQL': {
    most: 1_000,
    ask: n => graphql(`{notes(${times(n, at => `x${at}:1`)}){data{id}}}`),
  },
  'variables of GraphQL': {
    most: 1_000,
    ask: n => graphql(`query(${times(n, at => `$v${at}:Int`)}){__typename}`),
  },
  'values of a variable': {
    most: 100_000,
    ask: n => graphql('query($a:JSON){__typename}', { a: list(n, () => 'a') }),
  },
  'names of variables': {
    most: 40_000,
    ask: n => graphql('{__typename}', Object.fromEntries(list(n, at => `v${at}`).map(key => [key, 1]))),
  },
  'members of a filter of GraphQL': {
    most: 300,
    over: 1_500,
    ask: n =>
      graphql('query($f:[NoteFiltersInput]){notes(filters:{or:$f}){data{id}}}', {
        f: list(n, String).map(eq => ({ text: { eq } })),
      }),
  },
  'a batch of GraphQL': {
    most: 40,
    over: 5_000,
    ask: n => ({
      method: 'POST',
      path: '/graphql',
      headers: json,
      body: `[${times(n, () => '{"query":"{__typename}"}')}]`,
    }),
  },
  'comments of GraphQL': { most: 400_000, ask: n => graphql(`{__typename}${'#\n'.repeat(n)}`) },
  'letters of an identifier': {
    most: 900_000,
    ask: n => ({
      method: 'POST',
      path: '/api/auth/local',
      headers: json,
      body: JSON.stringify({ identifier: 'a@'.repeat(n / 2), password: 'x' }),
    }),
  },
  'letters of a mail address': {
    most: 900_000,
    ask: n => ({
      method: 'POST',
      path: '/api/auth/local/register',
      headers: json,
      body: JSON.stringify({ username: 'a', email: 'a.'.repeat(n / 2), password: 'x' }),
    }),
  },
  'files of an upload': {
    most: 60,
    over: 101,
    ask: n => form(list(n, String).map(at => ['files', new Blob(['x']), `${at}.txt`] as const)),
  },
  'words of files': {
    most: 180,
    over: 201,
    ask: n =>
      form([
        ['files', new Blob(['x']), 'a.txt'],
        ...list(n, () => '{}').map(text => ['fileInfo', text] as const),
      ]),
  },
  'words of a file': {
    most: 20_000,
    over: 40_000,
    ask: n =>
      form([
        ['files', new Blob(['x']), 'a.txt'],
        ['fileInfo', `[${times(n, () => '{}')}]`],
      ]),
  },
  'letters of a file name': { most: 4_000, ask: n => form([['files', new Blob(['x']), '_'.repeat(n)]]) },
  'bytes of a hostile file': {
    most: 1_000_000,
    ask: n => form([['files', new Blob(['<!---->'.repeat(n / 7)]), 'a.png']]),
  },
  'places of a map': {
    most: 90,
    over: 20_000,
    ask: n =>
      form(
        [
          ['operations', '{"query":"{__typename}"}'],
          ['map', `{"0":[${times(n, at => `"variables.a.${at}"`)}]}`],
        ],
        '/graphql',
      ),
  },
  'variables next to the places of a map': {
    most: 80_000,
    // Of a caller that may not upload, whose files are not read.
    ask: n => ({
      ...form(
        [
          [
            'operations',
            `{"query":"{__typename}","variables":{"a":[${times(90, () => 'null')}],${times(n, at => `"k${at}":1`)}}}`,
          ],
          ['map', `{"0":[${times(90, at => `"variables.a.${at}"`)}]}`],
          ['0', new Blob(['x']), 'a.txt'],
        ],
        '/graphql',
      ),
      token: '',
    }),
  },
}

let app: TestApp
let dropDatabase: () => unknown = () => {}

test.before(async () => {
  const server = testServer()
  if (!server) throw new Error('these tests need a server')
  const cleanup = {
    teardown(drop: () => unknown) {
      dropDatabase = drop
    },
  }
  app = await createTestApp({ project: PROJECT, database: await createDatabase(cleanup, server) })
})
test.after.always(async () => {
  await app?.close()
  await dropDatabase()
})

/** In multiples of a {@link yardstick} at the same time. */
interface Cost {
  readonly status: number
  /** Processor time of the whole process. */
  readonly work: number
  /** How long the event loop was blocked; never more than it was busy. */
  readonly stall: number
}

/** The longest time between two turns of the event loop. A monitorEventLoopDelay of Node 20 misses delays of later requests. */
function watchEventLoop(): { end(): number } {
  let last = performance.now()
  let longest = 0
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(turn, 5)
  return {
    end() {
      clearInterval(timer)
      turn()
      return longest
    },
  }
}

async function costOf({ method, path, ...request }: PlanRequest): Promise<Cost> {
  const watch = watchEventLoop()
  let status = 0
  const work = await processorTime(async () => {
    ;({ status } = await app.request(method, path, { token: TOKEN, ...request }))
  })
  const stall = Math.min(work, watch.end())
  const unit = await yardstick()
  return { status, work: work / unit, stall: stall / unit }
}

/** The least of at least three tries, and of more until it is `enough`: others share the machine. */
async function bestOf(ask: () => PlanRequest, enough: (cost: Cost) => boolean = () => true): Promise<Cost> {
  let best = await costOf(ask())
  for (let at = 1; at < 3 || (at < 20 && !enough(best)); at++) {
    const { status, work, stall } = await costOf(ask())
    best = { status, work: Math.min(work, best.work), stall: Math.min(stall, best.stall) }
  }
  return best
}

/** The fixed cost of a request. */
const BASE = 2

for (const [name, { most, ask, over }] of Object.entries(CASES))
  test.serial(`the event loop is not blocked: ${name}`, async t => {
    await costOf(ask(Math.ceil(most / 4)))
    const quarter = await bestOf(() => ask(Math.ceil(most / 4)))
    const half = await bestOf(() => ask(Math.ceil(most / 2)))
    const proportional = ({ stall, work }: Cost) => stall < MOST && work < GROWTH * quarter.work + BASE
    const all = await bestOf(() => ask(most), proportional)
    t.true(
      [quarter, half, all].every(({ status }) => status > 0 && status < 500),
      `${all.status}`,
    )
    const reported = `${most / 4}: ${quarter.work}, ${most / 2}: ${half.work}, ${most}: ${all.work}, stalled for ${all.stall}`
    t.true(proportional(all), `in yardsticks: ${reported}`)
    if (over === undefined) return
    const refused = await bestOf(
      () => ask(over),
      ({ stall }) => stall < MOST,
    )
    t.true(refused.status >= 400 && refused.status < 500, `${over}: ${refused.status}`)
    t.true(refused.stall < MOST, `${over}: stalled for ${refused.stall} yardsticks`)
  })

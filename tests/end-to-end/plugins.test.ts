import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { type Answer, type Server, startServer } from '../harness/server.ts'

// Plugins of a running server: reference/graphql.md#9-extension-service, reference/rest.md#2-errors, reference/safety.md#s18-plugin-code. The project is in plugins/.
let server: Server
const PROJECT = join(import.meta.dirname, 'plugins')
test.before(async () => {
  // An embedded database that an earlier run left behind.
  rmSync(join(PROJECT, '.plinth'), { recursive: true, force: true })
  server = await startServer({
    project: PROJECT,
    environment: { LOG_LEVEL: 'debug' },
  })
})
test.after.always(() => server?.stop())

const ALL = { authorization: 'Bearer all-all-all-all-all-all-all-all-all' }
const READ = { authorization: 'Bearer read-read-read-read-read-read-read' }
const FINDER = { authorization: 'Bearer find-find-find-find-find-find-find' }

const errorOf = ({ body }: Answer) => (body as { error: Record<string, unknown> }).error
const refusal = (message: string, details = {}) => ({ status: 403, name: 'PolicyError', message, details })
const textsOf = ({ body }: Answer) =>
  (body as { data: readonly { text: string }[] }).data.map(({ text }) => text)

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  const answer = await fetch(server.base + path, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(120_000),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

for (const answer of ['true', 'undefined', 'later']) {
  test(`a policy that returns ${answer} lets the request pass`, async t => {
    const found = await server.get(`/api/notes?policy=${answer}&sort=text`)
    t.is(found.status, 200)
    t.deepEqual(textsOf(found).slice(0, 2), ['One', 'Two'])
  })
}

for (const answer of [
  ...['false', 'false-later', 'null', 'zero', 'one', 'text', 'object'],
  ...['throws', 'throws-nothing', 'rejects', 'hangs', 'hostile'],
]) {
  test(`a failing policy refuses without details, and the server keeps running: ${answer}`, async t => {
    const refused = await server.get(`/api/notes?policy=${answer}`)
    t.is(refused.status, 403)
    t.deepEqual(refused.body, { data: null, error: refusal('Policy Failed') })
    t.is((await server.get('/api/notes')).status, 200)
  })
}

test('a rejected promise that a policy does not await affects nothing else, and is logged', async t => {
  t.is((await server.get('/api/notes?policy=forgotten')).status, 200)
  t.is((await server.get('/api/notes')).status, 200)
  t.regex(server.log(), /the inside of a promise/)
})

test('a PolicyError keeps its message and its details', async t => {
  const refused = await server.get('/api/notes?policy=details')
  t.deepEqual(errorOf(refused), refusal('Not on Sundays', { day: 'Sunday' }))
})

test('the log names a policy that failed, with the reason', async t => {
  await server.get('/api/notes?policy=throws')
  await server.get('/api/notes?policy=hangs')
  await server.get('/api/notes?policy=zero')
  t.regex(
    server.log(),
    /The policy behave failed and refused: it threw.*the inside of the policy|"error":"TypeError: the inside of the policy/,
  )
  t.regex(server.log(), /The policy behave failed and refused: no answer within 300 ms/)
  t.regex(server.log(), /The policy behave failed and refused: it answered a number/)
})

test('a policy sees the caller, the action, its config, and the state that middlewares set', async t => {
  const path = '/api/notes?seen=1&filters[text]=One'
  const anonymous = JSON.parse((await server.get(path)).headers.get('x-seen') ?? '')
  t.deepEqual(anonymous, {
    app: ['Plugged', true, true, false],
    config: {},
    user: null,
    token: null,
    role: { type: 'public', name: 'Public' },
    may: [true, false],
    info: { route: 'note.find', type: 'api::note.note', action: 'find' },
    method: 'GET',
    args: { seen: '1', filters: { text: 'One' } },
    left: ['outer in', 'inner in'],
  })
  const program = JSON.parse((await server.get(path, ALL)).headers.get('x-seen') ?? '')
  t.deepEqual([program.token, program.role, program.may], [{ name: 'all' }, null, [true, true]])
})

test('a policy sees the signed-in user without secret attributes', async t => {
  const signedIn = await send('POST', '/api/auth/local', { identifier: 'mia', password: 'mia-password' })
  const page = await server.get('/api/page?seen=1', { authorization: `Bearer ${signedIn.body.jwt}` })
  const { user, role } = JSON.parse(page.headers.get('x-seen') ?? '')
  const { id, documentId, createdAt, updatedAt } = signedIn.body.user
  const known = {
    username: 'mia',
    email: 'mia@example.com',
    provider: 'local',
    confirmed: true,
    blocked: false,
  }
  t.like(user, { id, documentId, createdAt, updatedAt, ...known, role: { type: 'authenticated' } })
  t.deepEqual(
    Object.keys(user).filter(key => /password|token|session|version/i.test(key)),
    [],
  )
  t.is(role.type, 'authenticated')
})

test('middlewares run around policies and the route, the first outermost', async t => {
  const found = await server.get('/api/notes')
  t.is(found.headers.get('x-trail'), 'outer in, inner in, inner out 200, outer out 200')
  const refused = await server.get('/api/notes?policy=false')
  t.is(refused.status, 403)
  t.is(refused.headers.get('x-trail'), 'outer in, inner in, inner out 403, outer out 403')
})

for (const trouble of ['throws', 'after', 'twice', 'twice-unheard', 'silent']) {
  test(`a failing middleware is answered 500 with its position in development, and the server keeps running: ${trouble}`, async t => {
    const failed = await server.get(`/api/notes?middleware=${trouble}`)
    t.is(failed.status, 500)
    const { message, ...error } = errorOf(failed)
    t.deepEqual(error, { status: 500, name: 'InternalServerError' })
    // Only in development, which this server runs in.
    t.regex(String(message), /^Internal Server Error(?:: .+ \(at middlewares\/behave\.ts:\d+\))?$/)
    t.is((await server.get('/api/notes')).status, 200)
  })
}

test('a middleware that never ends is cut off after server.requestTimeout', async t => {
  const failed = await server.get('/api/notes?middleware=hangs')
  t.is(failed.status, 503)
})

test('a middleware may throw an error of the contract, with its details', async t => {
  const failed = await server.get('/api/notes?middleware=not-found')
  t.deepEqual(errorOf(failed), {
    status: 404,
    name: 'NotFoundError',
    message: 'Nothing today',
    details: { today: true },
  })
})

test('a middleware may respond itself, and change the response or the request', async t => {
  const short = await server.get('/api/notes?middleware=answers')
  t.deepEqual([short.status, short.body], [203, { short: 'cut' }])
  const text = await server.get('/api/notes?middleware=text')
  t.deepEqual([text.body, text.headers.get('content-type')], ['short', 'text/plain; charset=utf-8'])
  const rewritten = await server.get('/api/notes?middleware=rewrites&filters[text]=Two')
  t.deepEqual(rewritten.body, { texts: ['Two'] })
  t.deepEqual(textsOf(await server.get('/api/notes?middleware=narrows')), ['One'])
  t.is((await server.get('/api/notes?middleware=unwaited')).status, 200)
})

test('a policy may read the body, and the route still reads it completely', async t => {
  const written = await send('POST', '/api/notes', { data: { text: 'allowed' } })
  t.is(written.status, 201)
  const refused = await send('POST', '/api/notes', { data: { text: 'forbidden' } })
  t.deepEqual(errorOf(refused), refusal('Do not say forbidden'))
  const broken = await fetch(`${server.base}/api/notes`, { method: 'POST', body: '{' })
  t.is(broken.status, 403)
})

test('auth: false makes one route of a type public, but not its private attributes or other routes', async t => {
  t.deepEqual(textsOf(await server.get('/api/memos')), ['Memo'])
  t.is((await server.get('/api/memos', { authorization: 'Bearer unknown-token' })).status, 200)
  t.is((await server.get('/api/memos/m')).status, 403)
  t.is((await send('DELETE', '/api/memos/m')).status, 403)
  t.is((await server.get('/api/page')).status, 200)
  t.is((await server.get('/api/notes?fields=secret', ALL)).status, 400)
})

test('auth: false applies to no other type: populated types still require find', async t => {
  const open = await server.get('/api/letters?populate=*')
  const [letter] = (open.body as { data: readonly Record<string, unknown>[] }).data
  t.is(open.status, 200)
  t.is((letter?.note as { text: string } | undefined)?.text, 'One')
  t.false(Object.hasOwn(letter ?? {}, 'memo'))
  t.is((await server.get('/api/letters?filters[note][secret]=hidden')).status, 400)
})

test('a scope replaces the permission of the route, and all its parts are required', async t => {
  t.is((await send('POST', '/api/memos', { data: { text: 'new' } })).status, 201)
  t.is((await send('PUT', '/api/memos/m', { data: { text: 'Memo' } }, READ)).status, 200)
  t.is((await server.get('/api/diaries')).status, 403)
  t.is((await server.get('/api/diaries', FINDER)).status, 403)
  t.is((await server.get('/api/diaries', READ)).status, 200)
  t.is((await server.get('/api/diaries', { authorization: 'Bearer unknown-token' })).status, 401)
})

test('routes of users and uploads are configured like those of content-types', async t => {
  t.is((await server.get('/api/users')).status, 200)
  t.is((await server.get('/api/users?policy=false')).status, 403)
  t.is((await server.get('/api/users/1')).status, 403)
  for (const path of ['/api/upload', '/api/upload?id', '/api/upload?id&x=1'])
    t.deepEqual(errorOf(await send('POST', path, {})), refusal('Policy Failed'), path)
})

test('global middlewares run around every request, in the order of the project file', async t => {
  for (const path of ['/api/notes', '/_health', '/nowhere']) {
    const { headers } = await server.get(path)
    t.is(Number(headers.get('x-second')), Number(headers.get('x-first')) + 1, path)
  }
  const own = await server.get('/api/notes?global=answers')
  t.deepEqual([own.status, own.body], [200, { from: 'middleware' }])
})

for (const trouble of ['throws', 'rejects']) {
  test(`a global middleware that ${trouble} is answered 500, and the server keeps running`, async t => {
    const failed = await server.get(`/api/notes?global=${trouble}`)
    t.is(failed.status, 500)
    t.regex(
      String(errorOf(failed).message),
      /^Internal Server Error: the inside of the middleware \(at middlewares\/mark\.ts:\d+\)$/,
    )
    t.is((await server.get('/api/notes')).status, 200)
  })
}

test('a global middleware that never calls next is cut off after server.requestTimeout', async t => {
  t.is((await server.get('/api/notes?global=hangs')).status, 503)
})

test('an extension has its own routes, with path parameters', async t => {
  t.deepEqual((await server.get('/api/notes/nearest')).body, { nearest: true })
  t.is((await server.get('/api/notes/one')).status, 200)
  const echo = await server.get('/api/echo/a%20b/and/c?filters[x]=1')
  t.deepEqual(echo.body, { filters: { x: '1' }, first: 'a b', second: 'c' })
  t.deepEqual((await server.get('/api/echo/one/and/two')).body, { special: true })
  t.is((await server.get('/api/echo/%zz/and/two')).status, 400)
  t.is((await server.request('DELETE', '/api/nothing')).status, 204)
  const plain = await server.get('/api/plain')
  t.deepEqual([plain.status, plain.body], [202, 'plain'])
  t.is((await server.request('HEAD', '/api/plain')).status, 202)
})

test("an extension's route has auth, policies and middlewares", async t => {
  const echoed = await send('POST', '/api/echo', { said: 1 })
  t.deepEqual([echoed.status, echoed.body], [200, { said: 1 }])
  t.is(echoed.headers.get('x-trail'), 'only in, only out 200')
  t.deepEqual(errorOf(await send('POST', '/api/echo?again', {})), refusal('Policy Failed'))
})

test("an extension's route without auth is for signed-in users and full-access tokens", async t => {
  t.deepEqual((await server.get('/api/known', ALL)).body, { token: { name: 'all' }, role: null })
  t.is((await server.get('/api/known', READ)).status, 403)
  t.is((await server.get('/api/known')).status, 403)
})

test("an extension's handler may throw an error of the contract; any other is answered without details", async t => {
  t.deepEqual(errorOf(await server.get('/api/wrong')), {
    ...{ status: 400, name: 'ValidationError', message: 'Not so', details: { why: 'so' } },
  })
  const broken = await server.get('/api/broken')
  t.is(broken.status, 500)
  t.regex(
    String(errorOf(broken).message),
    /^Internal Server Error: the inside of the handler \(at extensions\/routes\.ts:\d+\)$/,
  )
})

for (const [name, status, message] of [
  ['ValidationError', 400, 'Not so'],
  ['ApplicationError', 400, 'Not now'],
  ['UnauthorizedError', 401, 'Unauthorized'],
  ['ForbiddenError', 403, 'Forbidden'],
  ['PolicyError', 403, 'Policy Failed'],
  ['NotFoundError', 404, 'Not Found'],
  ['RateLimitError', 429, 'Too many requests, please try again later.'],
] as const)
  test(`an extension's handler that throws a ${name} is answered ${status}`, async t => {
    const refused = await server.get(`/api/refused/${name}`)
    t.is(refused.status, status)
    t.deepEqual(errorOf(refused), { status, name, message, details: {} })
  })

test('a path of an extension answers OPTIONS with its methods', async t => {
  const asked = await server.request('OPTIONS', '/api/known')
  t.deepEqual([asked.status, asked.headers.get('allow')], [200, 'HEAD, GET'])
  const wrong = await server.request('PATCH', '/api/known')
  t.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'HEAD, GET'])
})

test('an extension reads and writes documents, adds document middlewares, and receives events', async t => {
  const written = await send('POST', '/api/notes', { data: { text: 'hooked' } })
  t.is((written.body as { data: { text: string } }).data.text, 'hooked!')
  const deadline = Date.now() + 60_000
  const echoes = async () => textsOf(await server.get('/api/memos?filters[text]=heard%20hooked!'))
  while ((await echoes()).length === 0 && Date.now() < deadline) await pause(50)
  t.deepEqual(await echoes(), ['heard hooked!'])
})

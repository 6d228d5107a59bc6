import { resolve } from 'node:path'
import test from 'ava'
import type { Model } from '../../core/model/model.ts'
import type { TestApp } from '../../core/testing.ts'
import { fill, isObject, type Json, readCases, type Step } from '../conformance/replay/case.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { AnswerCheck } from './answer-check.ts'
import { pathOf, randomReads } from './random-reads.ts'
import { openRandomRequests } from './random-requests.ts'

const project = resolve(import.meta.dirname, '../conformance/project')

const teardown = teardownOfFile(test.after.always)
let app: TestApp
let check: AnswerCheck
const tokens = new Map<string, string>([
  ['full', 'full-conformance-token-0000000000000000'],
  ['read', 'read-conformance-token-0000000000000000'],
  ['custom', 'custom-conformance-token-00000000000000'],
  ['expired', 'expired-conformance-token-0000000000000'],
])

test.before(async () => {
  app = await openTestApp(teardown, { project })
  check = new AnswerCheck(app)
  for (const name of ['editor', 'user']) await signIn(name)
})

/** Recorded cases change the password, which ends sessions. */
async function resetPassword(name: string): Promise<void> {
  const token = String(tokens.get('full'))
  const found = await app.request('GET', `/api/users?filters[username]=${name}1`, { token })
  const [user] = found.body as readonly { id: number }[]
  const body = { password: `${name}1-Password1` }
  await app.request('PUT', `/api/users/${user?.id}`, { token, body })
  await signIn(name)
}

async function signIn(name: string): Promise<void> {
  const body = { identifier: `${name}1`, password: `${name}1-Password1` }
  const answer = await app.request('POST', '/api/auth/local', { body })
  const { jwt } = answer.body as { jwt?: string }
  if (jwt === undefined) throw new Error(`${name} cannot sign in: ${JSON.stringify(answer.body)}`)
  tokens.set(name, jwt)
}

for (const recorded of readCases('rest')) {
  test.serial(`the answers of ${recorded.name} are as described to their callers`, async t => {
    const variables = new Map<string, Json>([['run', 'o1'], ...Object.entries(recorded.vars ?? {})])
    const faults: string[] = []
    for (const step of recorded.steps) {
      const fault = await play(step, variables)
      if (fault !== null) faults.push(`${step.id} ${step.request.method} ${step.request.path}: ${fault}`)
    }
    t.deepEqual(faults, [])
  })
}

async function play(step: Step, variables: Map<string, Json>): Promise<string | null> {
  const { method, body, rawBody, form, as = 'full', headers = {} } = step.request
  const { pathname, search } = new URL(String(fill(step.request.path, variables)), 'http://localhost')
  const path = pathname + search
  const token = as.startsWith('Bearer ') ? as.slice(7) : tokens.get(as)
  const sent = form ? undefined : body === undefined ? rawBody : fill(body, variables)
  const answer = await app.request(method, path, {
    headers,
    ...(token !== undefined && { token }),
    ...(sent !== undefined && { body: sent }),
  })
  for (const [name, place] of Object.entries(step.capture ?? {})) {
    const value = valueAt(answer.body as Json, place)
    if (value !== undefined) variables.set(name, value)
  }
  return check.fault({ method, path, token, format: formatOf(headers) }, answer)
}

const formatOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  Object.entries(headers).find(([name]) => name.toLowerCase() === 'strapi-response-format')?.[1]

function valueAt(body: Json, place: string): Json | undefined {
  let value: Json | undefined = body
  for (const word of place.split('.'))
    value = Array.isArray(value) ? value[Number(word)] : isObject(value) ? value[word] : undefined
  return value
}

test.serial('random reads of every caller in both formats are as described', async t => {
  await resetPassword('editor')
  const faults: string[] = []
  for (const path of randomReads(app.app.model, 500)) {
    for (const name of ['full', 'custom', 'editor', 'public']) {
      const token = tokens.get(name)
      const format = path.length % 2 === 0 ? 'v4' : undefined
      const answer = await app.request('GET', path, {
        ...(token !== undefined && { token }),
        ...(format !== undefined && { headers: { 'strapi-response-format': format } }),
      })
      const fault = await check.fault({ method: 'GET', path, token, format }, answer)
      if (fault !== null) faults.push(`${name} ${path}: ${fault}`)
    }
  }
  t.deepEqual(faults.slice(0, 5), [])
  t.true(check.compared.get(200) > 500 && check.compared.get(400) > 50, 'answers and refusals were compared')
})

/** More in the check of a release (CONTRIBUTING.md). */
const RANDOM_REQUESTS = Number(process.env.OPENAPI_REQUESTS ?? 400)

test.serial('random requests of every caller, refused ones too, are answered as described', async t => {
  const { model } = app.app
  const known = await knownIds(model)
  const next = openRandomRequests(model, known)
  const others = ['custom', 'editor', 'user', 'read', 'public', 'expired', 'unknown']
  const callers = [...others, ...Array<string>(9).fill('full')]
  const faults: string[] = []
  for (let count = 0; count < RANDOM_REQUESTS && faults.length < 100; count++) {
    const name = callers[count % callers.length] ?? ''
    const token = name === 'unknown' ? name : tokens.get(name)
    const format = count % 3 === 0 ? 'v4' : undefined
    const { method, path, body } = next()
    const answer = await app.request(method, path, {
      ...(token !== undefined && { token }),
      ...(body !== undefined && { body }),
      headers: { 'content-type': 'application/json', ...(format && { 'strapi-response-format': format }) },
    })
    keepId(known, { method, path }, answer.body)
    const fault = await check.fault({ method, path, token, format }, answer)
    const sent = body === undefined ? '' : ` ${JSON.stringify(body).slice(0, 300)}`
    if (fault !== null)
      faults.push(`${name} ${format ?? ''} ${method} ${path}${sent}: ${answer.status} ${fault}`)
    if (answer.status >= 500) faults.push(`${name} ${method} ${path}${sent}: ${answer.status}`)
  }
  t.log(check.compared.print())
  t.deepEqual(faults, [])
})

/** A few documents of each collection, so that some requests find one. */
async function knownIds(model: Model): Promise<Map<string, string[]>> {
  const known = new Map<string, string[]>()
  for (const type of model.contentTypes.values()) {
    const { body } = await app.request('GET', pathOf(type), { token: String(tokens.get('full')) })
    const list = Array.isArray(body) ? body : ((body as { data?: unknown })?.data ?? [])
    const ids = Array.isArray(list) ? list.map(each => String(type.builtIn ? each.id : each.documentId)) : []
    known.set(pathOf(type), ids)
  }
  return known
}

function keepId(
  known: Map<string, string[]>,
  { method, path }: { readonly method: string; readonly path: string },
  body: unknown,
): void {
  const id = (body as { data?: { documentId?: unknown } } | null)?.data?.documentId
  const ids = known.get(path.split('?')[0] ?? '')
  if (method !== 'POST' || typeof id !== 'string' || !ids) return
  if (ids.push(id) > 50) ids.shift()
}

test.serial('an attribute that is not described is a fault, and so is another status', async t => {
  const asked = { method: 'GET', path: '/api/articles', token: tokens.get('full') }
  const answer = await app.request('GET', asked.path, { token: String(asked.token) })
  const { data, meta } = answer.body as { data: readonly object[]; meta: object }
  const more = { ...answer, body: { data: data.map(each => ({ ...each, hidden: 1 })), meta } }
  t.is(await check.fault(asked, answer), null)
  t.regex(String(await check.fault(asked, more)), /additional properties/)
  t.regex(String(await check.fault(asked, { ...answer, status: 202 })), /required property 'error'/)
})

test.serial(
  'the description has an ETag, one per role, and is the same until the project changes',
  async t => {
    const path = '/api/openapi.json'
    const first = await app.request('GET', path)
    const again = await app.request('GET', path, { headers: { 'if-none-match': String(first.headers.etag) } })
    const other = await app.request('GET', path, { token: String(tokens.get('editor')) })
    t.deepEqual([first.status, again.status, other.status], [200, 304, 200])
    t.not(first.headers.etag, other.headers.etag)
    t.is(other.headers['cache-control'], 'private')
    t.is((await app.request('DELETE', path)).status, 405)
    t.is((await app.request('GET', path, { token: 'unknown' })).status, 401)
  },
)

test.serial('the description names what a role may write and read, and nothing else', async t => {
  const { paths, components } = (await app.request('GET', '/api/openapi.json')).body as {
    paths: Record<string, object>
    components: { schemas: Record<string, object> }
  }
  t.deepEqual(Object.keys(paths['/articles'] ?? {}), ['get'])
  t.deepEqual(Object.keys(paths['/articles/{documentId}'] ?? {}), ['parameters', 'get'])
  t.false('/categories' in paths)
  t.false('Category' in components.schemas)
})

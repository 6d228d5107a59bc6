import { createHash } from 'node:crypto'
import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// The plugins of the example project, as project.yaml uses them.
const root = resolve(import.meta.dirname, '..', '..')

const PASSWORD = 'open-sesame-1'
const EDITORS = `- { username: eve-editor, email: eve@example.org, password: ${PASSWORD}, role: editor }\n`
const TOKEN = 'a-token-that-may-do-everything'

let folder: Folder
let server: Server
test.before(async () => {
  folder = temporaryFolder()
  for (const part of ['project.yaml', 'content', 'policies', 'middlewares', 'extensions', 'mails'])
    cpSync(join(root, part), join(folder.path, part), { recursive: true })
  const yaml = readFileSync(join(folder.path, 'project.yaml'), 'utf8')
  folder.write('project.yaml', yaml.replace('type: read-only', 'type: full-access'))
  folder.write('content/users.yaml', EDITORS)
  const hash = createHash('sha256').update(TOKEN).digest('hex')
  server = await startServer({ project: folder.path, environment: { WEBSITE_TOKEN_HASH: `sha256:${hash}` } })
})
test.after.always(async () => {
  await server?.stop()
  folder?.remove()
})

async function send(method: string, path: string, token: string | null, body?: unknown) {
  const answer = await fetch(server.base + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(120_000),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
}

async function signUp(name: string): Promise<string> {
  const user = { username: name, email: `${name}@example.org`, password: PASSWORD }
  const { status, body } = await send('POST', '/api/auth/local/register', null, user)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.jwt
}

test('owns-document: readers change and delete only their own tips', async t => {
  const [ann, bob] = [await signUp('ann-reader'), await signUp('bob-reader')]
  const tip = await send('POST', '/api/tips', ann, { data: { text: 'Try the soup' } })
  t.is(tip.status, 201)
  const path = `/api/tips/${tip.body.data.documentId}`
  const refused = await send('PUT', path, bob, { data: { text: 'Try the cake' } })
  t.is(refused.status, 403)
  t.is(refused.body.error.name, 'PolicyError')
  t.is((await send('DELETE', path, bob)).status, 403)
  t.is((await send('PUT', path, ann, { data: { text: 'Try the bread' } })).status, 200)
  t.is((await send('DELETE', path, ann)).status, 204)
  t.regex(server.log(), /audit: user \d+ tip\.delete \w+ 403/)
  t.regex(server.log(), /audit: user \d+ tip\.delete \w+ 204/)
})

test('plan-limit: tips per hour are limited, and Retry-After says when to retry', async t => {
  const token = await signUp('eager-reader')
  for (let count = 0; count < 10; count++)
    t.is((await send('POST', '/api/tips', token, { data: { text: 'More' } })).status, 201)
  const refused = await send('POST', '/api/tips', token, { data: { text: 'And more' } })
  t.is(refused.status, 403)
  t.is(refused.body.error.message, 'Your plan allows 10 of these an hour')
  t.true(Number(refused.headers.get('retry-after')) > 3000)
})

test('has-role: only signed-in editors delete restaurants, API tokens do not', async t => {
  const made = await send('POST', '/api/restaurants', TOKEN, { data: { name: 'Soon Gone' } })
  t.is(made.status, 201)
  const path = `/api/restaurants/${made.body.data.documentId}`
  t.is((await send('DELETE', path, await signUp('some-reader'))).body.error.name, 'ForbiddenError')
  t.is((await send('DELETE', path, TOKEN)).body.error.name, 'PolicyError')
  const { body } = await send('POST', '/api/auth/local', null, {
    identifier: 'eve-editor',
    password: PASSWORD,
  })
  t.is((await send('DELETE', path, body.jwt)).status, 204)
})

test('cache-control and request-timing: public responses are cacheable, and have their duration', async t => {
  const found = await server.get('/api/restaurants')
  t.is(found.headers.get('cache-control'), 'public, max-age=60')
  t.regex(found.headers.get('server-timing') ?? '', /\broute;dur=\d/)
  t.is((await server.get('/api/restaurants?sort=nothing')).headers.get('cache-control'), 'no-cache')
  const own = await send('GET', '/api/restaurants', await signUp('keen-reader'))
  t.is(own.headers.get('cache-control'), 'private')
})

test('feeds: the published articles of a locale as an Atom feed', async t => {
  const feed = await fetch(`${server.base}/api/feeds/en/articles.xml`)
  t.is(feed.status, 200)
  t.is(feed.headers.get('content-type'), 'application/atom+xml; charset=utf-8')
  t.regex(await feed.text(), /<feed .*<entry><id>urn:article:/)
  t.is((await fetch(`${server.base}/api/feeds/en`)).status, 404)
})

test('bargains: a query and a field of an extension, with the access that project.yaml gives it', async t => {
  const query = '{ bargains(below: 12) { data { attributes { label price } } } }'
  const { status, body } = await send('POST', '/graphql', null, { query })
  t.is(status, 200)
  const { data } = (
    body as { data: { bargains: { data: { attributes: { label: string; price: number } }[] } } }
  ).data.bargains
  t.true(data.length > 0)
  const prices = data.map(({ attributes }) => attributes.price)
  t.deepEqual(
    prices,
    prices.toSorted((one, other) => one - other),
  )
  t.true(
    data.every(({ attributes: { label, price } }) => label.endsWith(`: ${price.toFixed(2)}`) && price < 12),
  )
})

test('reports: dishes by GROUP BY, for callers who may update dishes', async t => {
  t.is((await server.get('/api/reports/dishes')).status, 403)
  const { status, body } = await send('GET', '/api/reports/dishes', TOKEN)
  t.is(status, 200)
  const groups = body.data as readonly { vegetarian: boolean; dishes: string; averagePrice: string }[]
  t.deepEqual(
    groups.map(({ vegetarian }) => vegetarian),
    [false, true],
  )
  for (const { dishes, averagePrice } of groups) t.true(Number(dishes) > 0 && Number(averagePrice) > 0)
})

test("search: matches of several content-types within the caller's permissions", async t => {
  const found = await server.get('/api/search?q=oliva')
  t.is(found.status, 200)
  const { data } = found.body as { data: readonly { type: string; documentId: string; title: string }[] }
  t.true(
    data.some(({ type, documentId }) => type === 'api::restaurant.restaurant' && documentId === 'casa-oliva'),
  )
  t.is((await server.get('/api/search')).status, 400)
  t.deepEqual((await server.get('/api/search?q=never-written')).body, { data: [] })
})

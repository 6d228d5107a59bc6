import { once } from 'node:events'
import { get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import express, { type Express } from 'express'
import { plinth } from '../../core/index.ts'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freshDatabase } from '../harness/test-database.ts'

const PROJECT = `
name: Guest
database: { url: "\${DATABASE_URL}" }
server: { cors: { origins: ['https://shop.example'] } }
contentTypes:
  note: { draftAndPublish: false, attributes: { text: string } }
roles: { public: { permissions: { note: [find, findOne, create, update], upload: [upload] } } }
`

/** A project as part of an Express application of the test. */
async function open(t: ExecutionContext) {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  const { url, drop } = await freshDatabase()
  if (url === 'embedded') await layEmbedded(folder.path)
  const lines: string[] = []
  const env = { DATABASE_URL: url }
  const write = (line: string) => void lines.push(line)
  const api = await plinth({ folder: folder.path, write, env, production: false })
  t.teardown(async () => {
    await api.close()
    await drop()
    folder.remove()
  })
  return { api, lines, folder }
}

async function listen(t: ExecutionContext, app: Express): Promise<string> {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const post = (url: string, body: unknown, type = 'application/json') =>
  fetch(url, { method: 'POST', headers: { 'content-type': type }, body: JSON.stringify(body) })

test('a project is part of an Express application: its paths are answered, all others belong to the application', async t => {
  const { api, lines, folder } = await open(t)
  const app = express()
  app.use((_request, response, next) => {
    response.cookie('visit', '1').set('X-Host', 'shop').set('Vary', 'X-Site')
    next()
  })
  app.use(api)
  app.get('/', (_request, response) => void response.send('the shop'))
  app.get(
    '/api/own',
    (request, response) =>
      void response.json({ url: request.originalUrl, id: request.get('x-request-id') ?? null }),
  )
  app.options('/cart', (_request, response) => void response.set('Allow', 'GET, POST').send())
  const base = await listen(t, app)

  const created = await post(`${base}/api/notes`, { data: { text: 'a' } })
  t.is(created.status, 201)
  t.like(await api.app.documents('note').findFirst(), { text: 'a' })
  const list = await fetch(`${base}/api/notes`)
  const etag = String(list.headers.get('etag'))
  for (const [path, init, status] of [
    ['/api/notes', {}, 200],
    ['/api/notes', { headers: { 'if-none-match': etag } }, 304],
    ['/api/notes/none', {}, 404],
    [
      '/graphql',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"query":"{ notes { data { id } } }"}',
      },
      200,
    ],
    ['/uploads/none.png', {}, 404],
    ['/_health', {}, 204],
  ] as const) {
    const answer = await fetch(base + path, init)
    t.is(answer.status, status, path)
    t.deepEqual(answer.headers.getSetCookie(), ['visit=1; Path=/'], path)
    t.is(answer.headers.get('x-host'), 'shop', path)
    t.regex(String(answer.headers.get('vary')), /X-Site/, path)
    t.truthy(answer.headers.get('x-request-id'), path)
  }

  const front = await fetch(`${base}/`)
  t.is(await front.text(), 'the shop')
  t.is(front.headers.get('x-request-id'), null)
  t.is(front.headers.get('x-frame-options'), null)
  const accept = 'text/html,*/*;q=0.8'
  t.is(await (await fetch(`${base}/`, { headers: { accept } })).text(), 'the shop')
  for (const path of ['/nothing', '/favicon.ico', '/api/nothing'])
    t.regex(await (await fetch(base + path, { headers: { accept } })).text(), /Cannot GET/)
  const own = await fetch(`${base}/api/own`)
  t.deepEqual(await own.json(), { url: '/api/own', id: null })
  t.is(own.headers.get('x-request-id'), null)
  t.is((await fetch(`${base}/api/nothing`)).status, 404)
  const preflight = await fetch(`${base}/cart`, {
    method: 'OPTIONS',
    headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
  })
  t.is(preflight.headers.get('allow'), 'GET, POST')
  t.is(preflight.headers.get('access-control-allow-origin'), null)

  folder.write('project.yaml', PROJECT.replace('text: string', 'text: strin'))
  t.false(await api.reload())
  t.regex(lines.join(''), /strin/)
  t.is((await fetch(`${base}/api/notes`)).status, 200)
  folder.write('project.yaml', PROJECT.replace('text: string', 'text: string, more: string'))
  t.true(await api.reload())
  t.is((await post(`${base}/api/notes`, { data: { text: 'b', more: 'c' } })).status, 201)

  await Promise.all([api.close(), api.close()])
  t.is((await fetch(`${base}/api/notes`)).status, 404)
  t.is((await fetch(`${base}/`)).status, 200)
})

test('below a path, after body parsers of the application, and until its requests are answered', async t => {
  const { api } = await open(t)
  const app = express()
  app.use(express.json(), express.text({ type: 'text/*' }), express.urlencoded())
  app.use('/cms', api)
  const base = await listen(t, app)
  t.is((await post(`${base}/cms/api/notes`, { data: { text: 'parsed' } })).status, 201)
  t.like(await (await fetch(`${base}/cms/api/notes`)).json(), { data: [{ text: 'parsed' }] })
  t.is((await post(`${base}/cms/graphql`, { query: '{ notes { data { id } } }' })).status, 200)
  t.is((await fetch(`${base}/api/notes`)).status, 404)
  const form = await fetch(`${base}/cms/api/notes`, { method: 'POST', body: new URLSearchParams({ a: '1' }) })
  t.is(form.status, 400)
  t.regex(await form.text(), /The application has read the body/)
  const headers = ['Host', 'localhost', 'Authorization', 'Bearer a', 'Authorization', 'Bearer b']
  const [refused] = await once(get(`${base}/cms/api/notes`, { headers }), 'response')
  t.is(refused.statusCode, 400)
  t.regex(await text(refused), /A request may have one header Authorization, got 2/)
  const files = new FormData()
  files.append('files', new Blob(['hello'], { type: 'text/plain' }), 'a.txt')
  const uploaded = await fetch(`${base}/cms/api/upload`, { method: 'POST', body: files })
  t.is(uploaded.status, 201)
  const writing = post(`${base}/cms/api/notes`, { data: { text: 'late' } })
  await new Promise(resolve => setImmediate(resolve))
  const [late] = await Promise.all([writing, api.close()])
  t.true([201, 404].includes(late.status))
})

test('a project with faults is refused with all of them, and production needs a named database', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: X\ncontentTypes: { note: { attributes: { text: strin } } }\n')
  await t.throwsAsync(plinth({ folder: folder.path, env: {} }), {
    message: /project\.yaml:2:\d+[\s\S]*`string`/,
  })
  folder.write('project.yaml', 'name: X\ncontentTypes: { note: { attributes: { text: string } } }\n')
  await t.throwsAsync(plinth({ folder: folder.path, env: {}, production: true }), {
    message: /In production the database has to be named/,
  })
  await t.throwsAsync(plinth({ folder: `${folder.path}/none`, env: {} }), { message: /project\.yaml/ })
})

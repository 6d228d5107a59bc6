import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { mountUploads, openExpressFallback } from '../../core/http/express-fallback.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { type Serving, send, serve } from './serving.ts'

const TEXT = '0123456789'

async function served(t: ExecutionContext): Promise<Serving> {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const uploads = join(folder.path, 'uploads')
  mkdirSync(join(uploads, 'inner'), { recursive: true })
  writeFileSync(join(uploads, 'a.txt'), TEXT)
  writeFileSync(join(folder.path, 'secret.txt'), 'secret')
  const serving = await serve(t, [], {
    fallback: openExpressFallback(app => mountUploads(app, uploads), { observer: SILENT }),
  })
  t.is((await fetch(`${serving.url}/uploads/a.txt`)).status, 200)
  return serving
}

interface PlanRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Not by fetch, which adds Cache-Control to conditional requests. */
async function ask(url: string, { method = 'GET', headers = {} }: PlanRequest = {}) {
  const sent = request(url, { method, headers }).end()
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  const text = Buffer.concat((await answer?.toArray()) ?? []).toString()
  return { status: answer?.statusCode, text, headers: answer?.headers ?? {} }
}

const PAST = 'Mon, 01 Jan 2001 00:00:00 GMT'

/** Headers → status. Each case is asked for by GET and HEAD, which has no ranges (RFC 9110, 14.2). */
const CONDITIONS: readonly (readonly [headers: Record<string, string>, status: number])[] = [
  [{ range: 'bytes=0-3' }, 206],
  [{ range: 'bytes=-3' }, 206],
  [{ range: 'bytes=5-' }, 206],
  [{ range: 'bytes=20-30' }, 416],
  [{ range: 'bytes=20-' }, 416],
  [{ range: 'bytes=0-3, 20-30' }, 206],
  [{ range: 'bytes=0-1,4-5' }, 200],
  [{ range: 'lines=0-3' }, 200],
  [{ range: 'bytes=x-y' }, 200],
  [{ range: `bytes=0-0${',0-0'.repeat(3000)}` }, 206],
  [{ range: 'bytes=0-3', 'if-range': '"other"' }, 200],
  [{ 'if-match': '"other"' }, 412],
  [{ 'if-match': '*' }, 200],
  [{ 'if-match': 'no tag' }, 412],
  [{ 'if-unmodified-since': PAST }, 412],
  [{ 'if-unmodified-since': 'no date' }, 200],
  [{ 'if-none-match': '*' }, 304],
  [{ 'if-modified-since': 'no date' }, 200],
]

test('conditional and range requests for files follow HTTP, and never fail', async t => {
  const { url, reported } = await served(t)
  for (const [headers, status] of CONDITIONS)
    for (const method of ['GET', 'HEAD']) {
      const answer = await ask(`${url}/uploads/a.txt`, { method, headers })
      const isOfRange = status === 206 || status === 416
      t.is(
        answer.status,
        method === 'HEAD' && isOfRange ? 200 : status,
        `${method} ${JSON.stringify(headers).slice(0, 80)}`,
      )
      if (method === 'GET' && status >= 400) t.is(JSON.parse(answer.text).error.status, status)
    }
  t.deepEqual(
    reported.filter(({ kind }) => kind === 'failed'),
    [],
  )
})

test('a range returns the requested bytes, and an unsatisfiable one the size', async t => {
  const { url } = await served(t)
  const file = `${url}/uploads/a.txt`
  const part = await ask(file, { headers: { range: 'bytes=2-4' } })
  t.is(part.text, '234')
  t.is(part.headers['content-range'], 'bytes 2-4/10')
  const beyond = await ask(file, { headers: { range: 'bytes=20-' } })
  t.is(beyond.headers['content-range'], 'bytes */10')
  t.is(beyond.headers['content-type'], 'application/json; charset=utf-8')
  t.is(beyond.headers.etag, undefined)
  const tag = (await ask(file)).headers.etag ?? ''
  t.is((await ask(file, { headers: { 'if-none-match': tag } })).status, 304)
  t.is((await ask(file, { headers: { 'if-match': tag } })).status, 200)
})

test('no path leads out of the folder or to a server error', async t => {
  const { port, reported } = await served(t)
  const paths = [
    '/uploads/../secret.txt',
    '/uploads/..%2fsecret.txt',
    '/uploads/%2e%2e/secret.txt',
    '/uploads/..%5csecret.txt',
    '/uploads//etc/passwd',
    '/uploads/a.txt%00',
    '/uploads/%00',
    '/uploads/%E0%A4%A',
    '/uploads/inner',
    '/uploads/inner/',
    '/uploads/',
    '/uploads',
    '/uploads/a.txt/',
    '/uploads/a.txt/b',
    `/uploads/${'x'.repeat(5000)}`,
    '/uploads/.hidden',
  ]
  for (const path of paths) {
    const answer = await send(port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    t.regex(answer, /^HTTP\/1\.1 40[04] /, path.slice(0, 60))
    t.notRegex(answer, /\r\n\r\nsecret/)
  }
  t.deepEqual(
    reported.filter(({ kind }) => kind === 'failed'),
    [],
  )
})

test('files are read-only: other methods are refused, and OPTIONS lists the allowed ones', async t => {
  const { url } = await served(t)
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await fetch(`${url}/uploads/a.txt`, { method })
    t.is(answer.status, 405, method)
    t.is(answer.headers.get('allow'), 'HEAD, GET')
  }
  const options = await fetch(`${url}/uploads/a.txt`, { method: 'OPTIONS' })
  t.is(options.status, 200)
  t.is(options.headers.get('allow'), 'HEAD, GET')
})

test('a parameter of an Express route that cannot be decoded is a 400, as in REST', async t => {
  const host = openExpressFallback(
    app => void app.get('/pages/:name', (request, response) => void response.send(request.params.name)),
    { observer: SILENT },
  )
  const { url } = await serve(t, [], { fallback: host })
  t.is(await (await fetch(`${url}/pages/caf%C3%A9`)).text(), 'café')
  const refused = await fetch(`${url}/pages/%ff`)
  t.is(refused.status, 400)
  t.like(await refused.json(), { error: { name: 'BadRequestError', message: 'failed to decode' } })
})

test('an error of a middleware that refuses a request keeps its status, any other is a 500', async t => {
  const host = openExpressFallback(
    app => {
      app.get('/teapot', () => {
        throw Object.assign(new Error('no coffee'), { status: 418, expose: true })
      })
      app.get('/hidden', () => {
        throw Object.assign(new Error('secret detail'), { status: 403, expose: false })
      })
    },
    { observer: SILENT },
  )
  const { url } = await serve(t, [], { fallback: host })
  const refused = await fetch(`${url}/teapot`)
  t.is(refused.status, 400)
  t.regex(await refused.text(), /no coffee/)
  const failed = await fetch(`${url}/hidden`)
  t.is(failed.status, 500)
  t.notRegex(await failed.text(), /secret detail/)
})

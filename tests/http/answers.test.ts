import test from 'ava'
import { timePart } from '../../core/base/request-context.ts'
import { DatabaseFailure, type DatabaseFault } from '../../core/database/database-fault.ts'
import { fault, RequestFault } from '../../core/faults/fault.ts'
import type { Responder } from '../../core/faults/http-exchange.ts'
import { openHealth, type Readiness } from '../../core/http/health.ts'
import { echo, serve } from './serving.ts'

const errorOf = async (answer: Response) =>
  ((await answer.json()) as { error: Record<string, unknown> }).error

test('a response is JSON with its length, its request id and the security headers', async t => {
  const { url } = await serve(t, [echo])
  const answer = await fetch(`${url}/a/b?c=d`)
  t.deepEqual(await answer.json(), { path: '/a/b', method: 'GET', search: 'c=d' })
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
  t.is(answer.headers.get('content-length'), '45')
  t.regex(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  t.is(answer.headers.get('x-content-type-options'), 'nosniff')
  t.is(answer.headers.get('x-frame-options'), 'SAMEORIGIN')
  t.is(answer.headers.get('referrer-policy'), 'no-referrer')
  t.is(answer.headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains')
  t.is(answer.headers.get('x-powered-by'), null)
})

test('security headers are left to a proxy if configured', async t => {
  const { url } = await serve(t, [echo], { settings: { securityHeaders: false } })
  t.is((await fetch(url)).headers.get('x-frame-options'), null)
})

test('a request keeps the id of its header if it is safe', async t => {
  const { url } = await serve(t, [echo])
  const ask = async (id: string) =>
    (await fetch(url, { headers: { 'X-Request-Id': id } })).headers.get('x-request-id')
  t.is(await ask('order-42.7'), 'order-42.7')
  t.not(await ask('a b"c'), 'a b"c')
  t.not(await ask('x'.repeat(129)), 'x'.repeat(129))
})

test('responses have Server-Timing in development only', async t => {
  const slow: Responder = request => {
    timePart(request, 'parse', () => undefined)
    return { status: 200, body: '{}' }
  }
  const timesOf = async (tellsTimes: boolean) =>
    (await fetch((await serve(t, [slow], { sendsTimings: tellsTimes })).url)).headers.get('server-timing')
  t.regex(
    (await timesOf(true)) ?? '',
    /^parse;dur=\d+\.\d\d, narrow;dur=0\.00, database;dur=0\.00, total;dur=\d+\.\d\d$/,
  )
  t.is(await timesOf(false), null)
})

test('an unhandled path is not found', async t => {
  const { url } = await serve(t, [() => null])
  const answer = await fetch(`${url}/anything`)
  t.is(answer.status, 404)
  t.deepEqual(await answer.json(), {
    data: null,
    error: { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} },
  })
})

test('methods outside of the contract are not implemented', async t => {
  const { url } = await serve(t, [echo])
  const answer = await fetch(url, { method: 'REPORT' })
  t.is(answer.status, 501)
  t.is(await answer.text(), 'Not Implemented')
})

test('HEAD has the headers of GET without a body', async t => {
  const { url } = await serve(t, [echo])
  const answer = await fetch(`${url}/x`, { method: 'HEAD' })
  t.is(answer.status, 200)
  t.true(Number(answer.headers.get('content-length')) > 0)
  t.is(await answer.text(), '')
})

test('an unexpected error is an opaque 500, and a log entry with the request’s id', async t => {
  for (const fail of [
    () => Promise.reject(new Error('secret detail')),
    () => {
      throw new Error('secret detail')
    },
  ] satisfies Responder[]) {
    const { url, reported } = await serve(t, [fail])
    const answer = await fetch(url)
    t.is(answer.status, 500)
    t.deepEqual(await errorOf(answer), {
      status: 500,
      name: 'InternalServerError',
      message: 'Internal Server Error',
    })
    const failure = reported.find(({ kind }) => kind === 'failed')
    if (failure?.kind !== 'failed') return t.fail('no failure was observed')
    t.is(failure.requestId, answer.headers.get('x-request-id') ?? '')
    t.regex(String(failure.error), /secret detail/)
  }
})

test('a thrown request fault keeps its status', async t => {
  const { url } = await serve(t, [() => Promise.reject(new RequestFault(fault('forbidden', 'Forbidden')))])
  t.is((await fetch(url)).status, 403)
})

test('an unreachable or slow database is a 503 with Retry-After', async t => {
  const faults: readonly DatabaseFault[] = [
    { kind: 'unavailable', message: 'gone' },
    { kind: 'timeout', message: 'gone', code: null },
    { kind: 'serialization', message: 'gone', code: '40P01' },
  ]
  for (const each of faults) {
    const gone = new DatabaseFailure(each)
    const { url, reported } = await serve(t, [() => Promise.reject(gone)])
    const answer = await fetch(url)
    t.is(answer.status, 503)
    t.is(answer.headers.get('retry-after'), '1')
    t.is((await errorOf(answer)).name, 'ServiceUnavailableError')
    t.true(reported.some(each => each.kind === 'unavailable' && each.reason === 'gone'))
  }
})

test('a request ends after the request timeout', async t => {
  const { url, reported } = await serve(t, [() => new Promise(() => {})], {
    settings: { requestTimeout: 1_000 },
  })
  const answer = await fetch(`${url}/slow?token=x`)
  t.is(answer.status, 503)
  t.true(reported.some(each => each.kind === 'timedOut' && each.path === '/slow'))
})

test('/_health reports that the process is alive, /_ready that it can serve', async t => {
  let ready = async (): Promise<Readiness> => 'ready'
  const { url } = await serve(t, [openHealth({ readiness: () => ready() })])
  t.is((await fetch(`${url}/_health`)).status, 204)
  t.is((await fetch(`${url}/_health`, { method: 'HEAD' })).status, 204)
  t.is((await fetch(`${url}/_ready`)).status, 200)
  ready = async () => 'read-only'
  const readonly = await fetch(`${url}/_ready`)
  t.is(readonly.status, 503)
  t.like(await readonly.json(), { status: 'read-only' })
  ready = () => Promise.reject(new Error('gone'))
  const answer = await fetch(`${url}/_ready`)
  t.is(answer.status, 503)
  t.deepEqual(await answer.json(), { status: 'unavailable' })
  t.is((await fetch(`${url}/_health`)).status, 204)
})

test('a response that the caller has already is a 304', async t => {
  let body = '{"a":1}'
  const { url } = await serve(t, [() => ({ status: 200, body, hasEtag: true })])
  const tag = (await fetch(url)).headers.get('etag') ?? ''
  t.regex(tag, /^"[\w-]+"$/)
  for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
    const again = await fetch(url, { headers: { 'If-None-Match': known } })
    t.is(again.status, 304, known)
    t.is(again.headers.get('etag'), tag)
    t.is(await again.text(), '')
  }
  t.is((await fetch(url, { headers: { 'If-Match': tag } })).status, 200)
  body = '{"a":2}'
  t.is((await fetch(url, { headers: { 'If-None-Match': tag } })).status, 200)
  t.is((await fetch(url, { headers: { 'If-Match': tag } })).status, 412)
})

test('OPTIONS on any path is 200 with Allow, and a 501 names the methods of the path', async t => {
  const known: Responder = ({ path, method }) =>
    path === '/known' && method === 'OPTIONS'
      ? { status: 200, body: '', headers: { Allow: 'HEAD, GET, PUT' } }
      : null
  const { url } = await serve(t, [known])
  for (const [path, allow] of [
    ['/known', 'HEAD, GET, PUT'],
    ['/unknown', 'HEAD, GET'],
  ] as const) {
    const options = await fetch(url + path, { method: 'OPTIONS' })
    t.is(options.status, 200, path)
    t.is(options.headers.get('allow'), allow)
    const report = await fetch(url + path, { method: 'REPORT' })
    t.is(report.status, 501, path)
    t.is(report.headers.get('allow'), allow)
  }
})

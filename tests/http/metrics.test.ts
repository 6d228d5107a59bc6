import test from 'ava'
import { openMetrics, serveMetrics } from '../../core/http/metrics.ts'
import { echo, serve } from './serving.ts'

const read = async () => 'plinth_info 1\n'

test('metrics are served only at their own path, and never cached', async t => {
  const { url } = await serve(t, [openMetrics({ path: '/numbers', read }), echo])
  const answer = await fetch(`${url}/numbers`)
  t.is(await answer.text(), 'plinth_info 1\n')
  t.is(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.is(answer.headers.get('cache-control'), 'no-store')
  t.deepEqual(await (await fetch(`${url}/numbers/more`)).json(), {
    path: '/numbers/more',
    method: 'GET',
    search: '',
  })
})

test('a metrics port in use is reported in one sentence', async t => {
  const { port } = await serve(t, [echo])
  t.deepEqual(await serveMetrics({ path: '/metrics', read, host: '127.0.0.1', port }), {
    ok: false,
    reasons: [`Port ${port} of 127.0.0.1 is in use: set server.metrics.port to a free one`],
  })
})

test('the metrics port serves nothing else, and reveals no error', async t => {
  const failing = () => Promise.reject(new Error('secret'))
  const opened = await serveMetrics({ path: '/metrics', read: failing, host: '127.0.0.1', port: 0 })
  if (!opened.ok) return t.fail(opened.reasons.join())
  t.teardown(() => opened.value.close())
  const { url } = opened.value
  const answers = await Promise.all([fetch(`${url}s`), fetch(url, { method: 'POST' }), fetch(`${url}?a=b`)])
  t.deepEqual(await Promise.all(answers.map(async answer => [answer.status, await answer.text()])), [
    [404, ''],
    [404, ''],
    [503, ''],
  ])
})

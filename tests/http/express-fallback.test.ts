import test from 'ava'
import { openExpressFallback } from '../../core/http/express-fallback.ts'
import { SILENT } from '../../core/observe/observation.ts'
import { echo, serve } from './serving.ts'

test('Express gets requests that the API does not handle, and is loaded by the first one', async t => {
  let mounted = 0
  const host = openExpressFallback(
    app => {
      mounted++
      app.get('/page', (_request, response) => void response.send('a page'))
      app.get('/broken', () => {
        throw new Error('secret detail')
      })
    },
    { observer: SILENT },
  )
  const { url } = await serve(t, [request => (request.path === '/api' ? echo(request) : null)], {
    fallback: host,
  })
  t.is((await fetch(`${url}/api`)).status, 200)
  t.is(mounted, 0)
  const page = await fetch(`${url}/page`)
  t.is(await page.text(), 'a page')
  t.is(page.headers.get('x-frame-options'), 'SAMEORIGIN')
  t.truthy(page.headers.get('x-request-id'))
  const missing = await fetch(`${url}/missing`)
  t.is(missing.status, 404)
  t.is(((await missing.json()) as { error: { name: string } }).error.name, 'NotFoundError')
  const broken = await fetch(`${url}/broken`)
  t.is(broken.status, 500)
  t.notRegex(await broken.text(), /secret detail/)
  t.is(mounted, 1)
})

test('a mount that failed once does not fail every later request', async t => {
  let attempts = 0
  const fallback = openExpressFallback(
    app => {
      if (++attempts === 1) throw new Error('too many open files')
      app.get('/page', (_request, response) => void response.send('a page'))
    },
    { observer: SILENT },
  )
  const { url } = await serve(t, [() => null], { fallback })
  t.is((await fetch(`${url}/page`)).status, 500)
  t.is((await fetch(`${url}/page`)).status, 200)
  t.is((await fetch(`${url}/page`)).status, 200)
  t.is(attempts, 2)
})

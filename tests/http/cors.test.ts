import test from 'ava'
import { echo, serve } from './serving.ts'

const origin = 'https://site.test'

test('with * any origin may read', async t => {
  const { url } = await serve(t, [echo])
  const answer = await fetch(url, { headers: { origin } })
  t.is(answer.headers.get('access-control-allow-origin'), origin)
  t.is(answer.headers.get('access-control-allow-credentials'), null)
  t.is(answer.headers.get('vary'), 'Origin, Authorization, Strapi-Response-Format')
  t.is((await fetch(url)).headers.get('access-control-allow-origin'), null)
  t.is((await fetch(url)).headers.get('vary'), 'Origin, Authorization, Strapi-Response-Format')
})

test('with a list only listed origins may read, with credentials if configured', async t => {
  const { url } = await serve(t, [echo], {
    settings: { cors: { origins: [origin], headers: [], credentials: true } },
  })
  const listed = await fetch(url, { headers: { origin } })
  t.is(listed.headers.get('access-control-allow-origin'), origin)
  t.is(listed.headers.get('access-control-allow-credentials'), 'true')
  const other = await fetch(url, { headers: { origin: 'https://other.test' } })
  t.is(other.headers.get('access-control-allow-origin'), null)
  t.is(other.headers.get('access-control-allow-credentials'), null)
})

test('a preflight is answered on any path', async t => {
  const { url } = await serve(t, [() => null])
  const ask = (more: Record<string, string> = {}) =>
    fetch(`${url}/any`, {
      method: 'OPTIONS',
      headers: { origin, 'Access-Control-Request-Method': 'PUT', ...more },
    })
  const answer = await ask()
  t.is(answer.status, 204)
  t.is(answer.headers.get('access-control-allow-methods'), 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS')
  t.is(answer.headers.get('access-control-allow-headers'), 'Content-Type,Authorization,Origin,Accept')
  t.is(answer.headers.get('access-control-max-age'), '31536000')
  t.is(answer.headers.get('access-control-allow-origin'), origin)
  const more = await ask({ 'Access-Control-Request-Headers': 'if-match, x-other, apollo-require-preflight' })
  t.is(
    more.headers.get('access-control-allow-headers'),
    'Content-Type,Authorization,Origin,Accept,if-match,apollo-require-preflight',
  )
})

test('a preflight allows the headers of the project, or all', async t => {
  const allowed = async (headers: readonly string[], asked: string) => {
    const { url } = await serve(t, [echo], {
      settings: { cors: { origins: [origin], headers, credentials: false } },
    })
    const answer = await fetch(url, {
      method: 'OPTIONS',
      headers: { origin, 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': asked },
    })
    return answer.headers.get('access-control-allow-headers')?.split(',').slice(4)
  }
  t.deepEqual(await allowed(['X-Tenant'], 'x-tenant, x-other'), ['x-tenant'])
  t.deepEqual(await allowed(['*'], 'x-tenant,, x other, x-other'), ['x-tenant', 'x-other'])
})

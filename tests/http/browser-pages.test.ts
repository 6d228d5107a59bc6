import test, { type ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import type { HttpRequest } from '../../core/faults/http-exchange.ts'
import { openBrowserPages, prefersHtml } from '../../core/http/browser-pages.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const project = (server: object = {}, more: object = {}) => ({
  name: 'Tea & <Cakes>',
  server,
  contentTypes: {
    cake: { displayName: 'Cake "large"', attributes: { title: 'string' } },
    recipe: { attributes: { text: 'text' } },
    shop: { kind: 'single', attributes: { city: 'string' } },
  },
  roles: { public: { permissions: { cake: ['find'], shop: ['find'] } } },
  ...more,
})

const EXTENSION = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/hello', () => ({ said: 'hello' }), { auth: false })
    rest.mount('/shelf', (request, response, next) => request.path === '/a' ? response.send('<p>a</p>') : next(), { auth: false })
  },
})
`

test('browsers get a start page, its icon and a 404 page; all other clients and API paths keep JSON', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', JSON.stringify(project()))
  folder.write('extensions/shelf.js', EXTENSION)
  const app = await openTestApp(t, { project: folder.path })
  const get = (path: string, accept = BROWSER, method = 'GET') =>
    app.request(method, path, { headers: { accept } })
  await bundleConsole()
  const start = await get('/')
  t.is(start.status, 200)
  t.is(start.headers['content-type'], 'text/html; charset=utf-8')
  t.regex(String(start.headers['content-security-policy']), /^default-src 'none'; style-src 'sha256-[^']+'; /)
  const page = String(start.body)
  t.true(page.includes('<h1>Tea &amp; &lt;Cakes&gt;</h1>'))
  t.true(page.includes('Cake &quot;large&quot;'))
  t.true(page.includes('development mode'))
  t.regex(page, /\/api\/recipes<\/code><\/a><\/td><td>needs a token/)
  t.notRegex(page, /<script|https?:|\sstyle=/)
  for (const [, path] of page.matchAll(/href="\.(\/[^"#]*)/g)) {
    const { status } = await get(String(path))
    t.is(status, { '/api/recipes': 403, '/api/shop': 404 }[String(path)] ?? 200, path)
  }
  t.is((await get('/favicon.ico', 'image/*')).headers['content-type'], 'image/svg+xml')
  const missing = await get('/no/<b>page')
  t.is(missing.status, 404)
  t.is(missing.headers['content-type'], 'text/html; charset=utf-8')
  t.false(String(missing.body).includes('<b>'))
  const json = 'application/json; charset=utf-8'
  for (const path of [
    '/api',
    '/api/nothing',
    '/API/nothing',
    '/graphql/nothing',
    '/uploads/none.png',
    '/_mail/none',
  ]) {
    const { status, headers } = await get(path)
    t.deepEqual([status, headers['content-type']], [404, json], path)
  }
  for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'text/html;q=0.1, */*'])
    for (const path of ['/', '/page']) t.is((await get(path, accept)).headers['content-type'], json, accept)
  t.is((await get('/', BROWSER, 'HEAD')).status, 200)
  t.is((await get('/', BROWSER, 'POST')).headers['content-type'], json)
  t.deepEqual((await get('/api/hello')).body, { said: 'hello' })
  t.is((await get('/api/shelf/a')).body, '<p>a</p>')
  t.is((await get('/api/shelf/b')).headers['content-type'], json)
})

test('the start page is served as server.landingPage says; in production it names only what the public may read', async t => {
  const cases = [
    { production: false, landingPage: undefined, isThere: true },
    { production: false, landingPage: 'never', isThere: false },
    { production: true, landingPage: undefined, isThere: false },
    { production: true, landingPage: 'always', isThere: true },
  ]
  for (const { production, landingPage, isThere } of cases) {
    const ask = await openPages(t, project({ ...(landingPage && { landingPage }) }), production)
    const start = await ask('/')
    t.is(start?.status, isThere ? 200 : 404)
    t.is((await ask('/favicon.ico'))?.status, isThere ? 200 : 404)
    if (!isThere) t.false(String((await ask('/other'))?.body).includes('Start page'))
    if (!isThere || !production) continue
    const text = String(start?.body)
    t.true(text.includes('/api/cakes') && text.includes('/api/shop'))
    t.notRegex(text, /recipe|reference|openapi|console|playground|href="\.\/graphql|docs/i)
  }
  const described = { rest: { openapi: true }, graphql: { config: { playgroundAlways: true } } }
  const edited = { ...described, console: { enabled: 'always', path: '/edit' } }
  const ask = await openPages(t, project({ landingPage: 'always' }, edited), true)
  t.regex(
    String((await ask('/'))?.body),
    /href="\.\/api\/reference"[\s\S]*href="\.\/edit"[\s\S]*href="\.\/graphql"/,
  )
})

async function openPages(t: ExecutionContext, options: object, production: boolean) {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', JSON.stringify(options))
  const compiled = await compileApp(folder.path, {})
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const { project: loaded, model, access } = compiled.value
  const pages = openBrowserPages({
    ...{ settings: loaded.settings, model, production },
    ...{ publicCaller: access.publicCaller, apiPaths: ['/api', '/graphql'] },
  })
  return async (path: string) => pages({ method: 'GET', path, headers: { accept: BROWSER } } as HttpRequest)
}

test('HTML is preferred only where its quality is higher than that of JSON', t => {
  for (const accept of [BROWSER, 'text/html', 'TEXT/HTML;q=0.5', 'text/html, application/json;q=0.9'])
    t.true(prefersHtml(accept), accept)
  const others = [
    undefined,
    '',
    '*/*',
    'text/*',
    'application/json, text/html',
    'text/html;q=0',
    'text/html;q=x',
  ]
  for (const accept of [...others, 'application/*, text/html;q=0.9']) t.false(prefersHtml(accept), accept)
})

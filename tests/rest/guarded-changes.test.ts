import test from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// `unpublish` and `discard-draft` need `publish`, a locale of Strapi 4 needs `createLocalization`; what is configured for the route
// `update` applies to them as well (docs/rest.md).

const secretOf = (name: string) => `a-secret-of-more-than-32-letters-${name}`

const token = (name: string, note: unknown) => ({
  type: 'custom',
  secret: secretOf(name),
  permissions: { note, page: note, memo: note },
})

const note = { draftAndPublish: true, localized: true, attributes: { title: 'string' } }

const PROJECT = {
  name: 'Guarded',
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  rest: { responseFormat: 'v4' },
  contentTypes: { note, page: note, memo: note, plain: { attributes: { title: 'string' } } },
  roles: { public: { permissions: { plain: ['find'] } } },
  routesConfig: {
    'note.update': { policies: ['closed-on-demand'] },
    'page.update': { auth: { scope: ['api::plain.plain.find'] } },
  },
  apiTokens: {
    admin: { type: 'full-access', secret: secretOf('admin') },
    publisher: token('publisher', ['find', 'publish', 'readDrafts']),
    translator: token('translator', ['find', 'createLocalization', 'readDrafts']),
    author: token('author', ['find', 'create']),
    writer: token('writer', { find: true, update: true, publish: false }),
  },
}

const POLICY = `import { definePolicy } from 'plinth'
export default definePolicy(({ http }) => !http.request.headers['x-closed'])
`

const statusesOf = (app: TestApp, path: string, body: object, headers: Record<string, string> = {}) =>
  Promise.all(
    ['publisher', 'translator', 'writer'].map(
      async name => (await app.request('POST', path, { token: secretOf(name), headers, body })).status,
    ),
  )

async function publishedId(app: TestApp, plural: string): Promise<string> {
  const data = { title: 'x', publishedAt: '2026-01-01T00:00:00.000Z' }
  const { body } = await app.request('POST', `/api/${plural}`, { token: secretOf('admin'), body: { data } })
  return (body as { data: { documentId: string } }).data.documentId
}

async function describedActions(app: TestApp, name: string | null): Promise<readonly string[]> {
  const { body } = await app.request('GET', '/api/openapi.json', name ? { token: secretOf(name) } : {})
  const { paths } = body as { paths: Record<string, object> }
  return Object.keys(paths).filter(path => /unpublish|localizations/.test(path))
}

test('policies of a route do not change which permission unpublishing and translating need', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('policies/closed-on-demand.js', POLICY)
  const app = await openTestApp(t, { project: PROJECT, plugins: folder.path })
  for (const plural of ['memos', 'notes']) {
    const documentId = await publishedId(app, plural)
    const discard = `/api/actions/${plural}/${documentId}/discard-draft`
    t.deepEqual(await statusesOf(app, discard, {}), [200, 403, 403], discard)
    const translate = `/api/${plural}/${documentId}/localizations`
    t.deepEqual(await statusesOf(app, translate, { locale: 'fr', title: 'y' }), [403, 200, 403], translate)
  }
  const documentId = await publishedId(app, 'notes')
  const closed = await statusesOf(app, `/api/actions/notes/${documentId}/unpublish`, {}, { 'X-Closed': '1' })
  t.deepEqual(closed, [403, 403, 403], 'the policy refuses')
})

test('the description has the changes that the route `update` opens, and no others', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('policies/closed-on-demand.js', POLICY)
  const app = await openTestApp(t, { project: PROJECT, plugins: folder.path })
  const documentId = await publishedId(app, 'pages')
  const unpublish = (options: object) =>
    app.request('POST', `/api/actions/pages/${documentId}/unpublish`, { body: {}, ...options })
  const changes = (plural: string) => [
    `/actions/${plural}/{documentId}/unpublish`,
    `/${plural}/{documentId}/localizations`,
  ]
  t.deepEqual(await describedActions(app, null), changes('pages'))
  t.is((await unpublish({})).status, 200)
  t.deepEqual(await describedActions(app, 'publisher'), [changes('notes')[0], changes('memos')[0]])
  t.is((await unpublish({ token: secretOf('publisher') })).status, 403, 'the scope of the route decides')
})

test('a permission to create publishes what it creates, and neither takes back nor discards documents of others', async t => {
  const app = await openTestApp(t, { project: { ...PROJECT, routesConfig: {} } })
  const documentId = await publishedId(app, 'memos')
  const ask = (method: string, path: string, name: string, data: object = {}) =>
    app.request(method, `/api/${path}`, { token: secretOf(name), body: { data } })
  await ask('PUT', `memos/${documentId}?status=draft`, 'admin', { title: 'unfinished' })
  t.like(await ask('POST', 'memos', 'author', { title: 'new', publishedAt: '2026-01-01T00:00:00.000Z' }), {
    status: 200,
    body: { data: { attributes: { title: 'new' } } },
  })
  for (const change of ['discard-draft', 'unpublish'])
    t.is((await ask('POST', `actions/memos/${documentId}/${change}`, 'author')).status, 403, change)
  t.like(await ask('GET', `memos/${documentId}?status=draft`, 'admin'), {
    body: { data: { attributes: { title: 'unfinished' } } },
  })
  t.is((await ask('GET', `memos/${documentId}?status=published`, 'admin')).status, 200)
  t.deepEqual(
    (await describedActions(app, 'author')).filter(path => path.includes('unpublish')),
    [],
  )
})

import test, { type ExecutionContext } from 'ava'
import type { TestApp, TestRequest } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// The reasons of refusals: in responses with `server.explainDenials` in development, and in the log.

const secretOf = (name: string) => `a-secret-of-more-than-32-letters-${name}`

const token = (name: string, more: object = {}) => ({
  type: 'custom',
  secret: secretOf(name),
  permissions: { note: ['find'] },
  ...more,
})

const project = (explainDenials: boolean) => ({
  server: { explainDenials, logLevel: 'debug', rateLimit: { api: { window: 60, max: 500, tokenMax: 3 } } },
  contentTypes: {
    note: { draftAndPublish: true, attributes: { title: 'string', owner: 'string' } },
    page: { attributes: { title: 'string' } },
  },
  routesConfig: { 'page.find': { policies: ['closed'] } },
  roles: {
    public: { permissions: { page: ['find'] } },
    authenticated: {
      permissions: {
        note: {
          find: true,
          create: true,
          update: { where: { owner: { $eq: '$user.username' } } },
          delete: { where: { owner: { $eq: '$user.username' } } },
        },
      },
    },
  },
  apiTokens: {
    reader: token('reader'),
    other: token('other'),
    all: { type: 'full-access', secret: secretOf('all') },
    old: token('old', { expiresAt: '2020-01-01' }),
  },
})

async function open(t: ExecutionContext, explainDenials = true): Promise<TestApp> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'policies/closed.js',
    "import { definePolicy } from 'plinth'\nexport default definePolicy({ check: () => false })\n",
  )
  folder.write(
    'extensions/own.js',
    `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/own', () => 1)
    const latest = ({ app, state }) => app.documents('note').as(state.ability).findMany({ limit: 1 })
    rest.route('GET', '/latest', latest, { auth: false })
  },
})
`,
  )
  return openTestApp(t, { project: project(explainDenials), plugins: folder.path })
}

interface RefusedBody {
  readonly error: { readonly details: { readonly reason?: string } }
}

test('a refusal names the missing permission and the line that grants it', async t => {
  const app = await open(t)
  const refused = async (method: string, path: string, request: TestRequest = {}) => {
    const { status, body } = await app.request(method, path, request)
    return `${status} ${(body as RefusedBody).error.details.reason}`
  }
  t.is(
    await refused('GET', '/api/notes'),
    '403 The role `public` lacks the permission `note.find`: add `find` to `roles.public.permissions.note` in project.yaml',
  )
  t.is(
    await refused('POST', '/api/notes', { token: secretOf('reader'), body: { data: { title: 'x' } } }),
    '403 The API token `reader` lacks the permission `note.create`: add `create` to `apiTokens.reader.permissions.note` in project.yaml',
  )
  const ownUser = "`users.me` concerns the caller's own user: send the token of a session"
  t.is(await refused('GET', '/api/users/me'), `403 ${ownUser}`)
  t.is(await refused('GET', '/api/users/me', { token: secretOf('other') }), `403 ${ownUser}`)
  for (const path of ['/api/users/me', '/api/users/me/permissions'])
    t.is(await refused('GET', path, { token: secretOf('all') }), `401 ${ownUser}`)
  t.is(
    await refused('POST', '/api/auth/change-password', { token: secretOf('other'), body: {} }),
    "403 `auth.changePassword` concerns the caller's own user: send the token of a session",
  )
  t.regex(
    await refused('GET', '/api/notes?status=draft', { token: secretOf('reader') }),
    /^403 .*`note\.readDrafts`/,
  )
  t.regex(
    await refused('GET', '/api/upload/files', { token: secretOf('reader') }),
    /^403 .*`upload\.find`: add `find` to `apiTokens\.reader\.permissions\.upload`/,
  )
  await app.request('GET', '/api/notes', { token: secretOf('reader') })
  t.regex(
    await refused('GET', '/api/notes', { token: secretOf('reader') }),
    /^429 More than 3 requests in the window that ends at .*: see `rateLimit`/,
  )
  t.is(
    await refused('GET', '/api/notes', { token: secretOf('old') }),
    '401 The API token `old` expired: see its `expiresAt` in project.yaml',
  )
  t.regex(await refused('GET', '/api/notes', { token: 'unknown' }), /^401 The credential is not an API token/)
  t.is(await refused('GET', '/api/pages'), '403 The policy `closed` refused')
})

test('a route without a permission of its own names the callers that it admits', async t => {
  const app = await open(t)
  for (const request of [{}, { token: secretOf('reader') }]) {
    const { status, body } = await app.request('GET', '/api/own', request)
    t.is(status, 403)
    t.regex(
      String((body as RefusedBody).error.details.reason),
      /needs a signed-in user or a full-access token/,
    )
  }
})

test('documents that code reads for a caller are refused with the reason', async t => {
  const app = await open(t)
  const answer = await app.request('GET', '/api/latest', { token: secretOf('reader') })
  t.is(answer.status, 403)
  const reason = /`note\.readDrafts`: add `readDrafts` to `apiTokens\.reader\.permissions\.note`/
  t.regex(String((answer.body as RefusedBody).error.details.reason), reason)
  t.true(app.log().some(line => reason.test(line)))
})

test('a document that does not meet the condition of a permission is refused with that reason', async t => {
  const app = await open(t)
  const register = async (username: string) => {
    const body = { username, email: `${username}@notes.test`, password: 'a-long-password' }
    const { body: answer } = await app.request('POST', '/api/auth/local/register', { body })
    return (answer as { readonly jwt: string }).jwt
  }
  const ann = await register('ann')
  const { documentId } = (await app.app.documents('api::note.note').create({
    data: { title: 'hers', owner: 'bob' },
    status: 'published',
  })) as { readonly documentId: string }
  for (const method of ['PUT', 'DELETE']) {
    const { status, body } = await app.request(method, `/api/notes/${documentId}`, {
      token: ann,
      body: { data: { title: 'mine' } },
    })
    t.is(status, 403, method)
    t.regex(
      String((body as RefusedBody).error.details.reason),
      /^The document does not meet the condition \(`where`\) of the caller's permissions on `note`/,
    )
  }
})

test('fields of GraphQL that are refused have the reason, too', async t => {
  const app = await open(t)
  const { errors = [] } = await app.graphql('{ notes { data { id } } }')
  const [{ extensions } = { extensions: {} }] = errors
  t.like(extensions, { code: 'FORBIDDEN' })
  t.regex(JSON.stringify(extensions), /The role `public` lacks the permission `note\.find`/)
  const written = await app.graphql('mutation { createPage(data: { title: "x" }) { data { id } } }')
  t.regex(JSON.stringify(written.errors), /lacks the permission `page\.create`/)
  const upload = await app.graphql('mutation { removeFile(id: 1) { data { id } } }')
  t.regex(JSON.stringify(upload.errors), /lacks the permission `upload\.delete`/)
  const refusals = app.log().filter(line => JSON.parse(line).event === 'refused')
  t.is(refusals.length, 3)
})

test('without the setting only the log has the reason, the route and the caller', async t => {
  const app = await open(t, false)
  const { body } = await app.request('POST', '/api/notes', {
    token: secretOf('reader'),
    body: { data: { title: 'x' } },
  })
  t.deepEqual((body as RefusedBody).error.details, {})
  const { errors = [] } = await app.graphql('{ notes { data { id } } }')
  t.false(JSON.stringify(errors).includes('lacks'))
  const [first] = app
    .log()
    .map(line => JSON.parse(line))
    .filter(({ event }) => event === 'refused')
  t.like(first, {
    method: 'POST',
    path: '/api/notes',
    route: 'note.create',
    caller: 'API token reader',
    status: 403,
  })
  t.regex(first.reason, /`note\.create`/)
})

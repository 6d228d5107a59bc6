import test from 'ava'
import { once } from '../../core/base/memo.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { PASSWORD } from './open-console.ts'

const file = teardownOfFile(test.after.always)

const TOKEN = 'an-api-token-of-this-test'
const HIDDEN = 'a-value-of-the-environment'

const ENDPOINTS = {
  model: ['/api/console/model'],
  permissions: [
    '/api/console/permissions',
    '/api/console/permissions?role=author',
    '/api/console/explain?role=author&method=GET&path=/api/books',
  ],
  operations: ['/api/console/operations'],
} as const

type View = keyof typeof ENDPOINTS
const VIEWS = Object.keys(ENDPOINTS) as View[]

const openApp = once(() =>
  openTestApp(file, {
    project: {
      name: 'Library',
      contentTypes: {
        book: {
          draftAndPublish: true,
          attributes: {
            title: { type: 'string', required: true },
            shelf: 'string',
            owner: { type: 'relation', relation: 'manyToOne', target: 'user' },
            parts: { type: 'component', component: 'shared.part', repeatable: true },
          },
        },
      },
      components: { 'shared.part': { attributes: { text: 'string' } } },
      roles: {
        reader: { permissions: {} },
        author: {
          permissions: {
            book: {
              find: { where: { owner: { id: { $eq: '$user.id' } }, shelf: { $eq: '${SHELF}' } } },
              create: { set: { owner: '$user.id', shelf: '${SHELF}' }, fields: ['title'] },
            },
          },
        },
        modeller: { console: ['model'] },
        keeper: { extends: ['modeller'], console: ['permissions'] },
        operator: { console: ['operations'] },
      },
      apiTokens: { full: { type: 'full-access', secret: TOKEN } },
      auth: { keys: { enabled: true } },
    } as never,
    env: { JWT_SECRET: 'a-secret-of-thirty-two-characters', SHELF: HIDDEN },
  }),
)

const SEES: Readonly<Record<string, readonly View[]>> = {
  reader: [],
  author: [],
  modeller: ['model'],
  keeper: ['model', 'permissions'],
  operator: ['operations'],
}

const sessions = new Map<string, Promise<string>>()

async function sessionOf(app: TestApp, type: string): Promise<string> {
  const open = async () => {
    const roles = (await app.app.documents('plugin::users-permissions.role').findMany({
      filters: { type },
    })) as readonly { readonly documentId: string }[]
    const data = {
      username: type,
      email: `${type}@example.org`,
      password: PASSWORD,
      role: roles[0]?.documentId,
    }
    await app.app.documents('plugin::users-permissions.user').create({ data } as never)
    const { body } = await app.request('POST', '/api/auth/local', {
      body: { identifier: type, password: PASSWORD },
    })
    return (body as { readonly jwt: string }).jwt
  }
  const session = sessions.get(type) ?? open()
  sessions.set(type, session)
  return session
}

const ask = async (type: string, path: string) => {
  const app = await openApp()
  return app.request('GET', path, { token: await sessionOf(app, type) })
}

const dataOf = async (type: string, path: string) => {
  const { status, body } = await ask(type, path)
  return { status, data: (body as { readonly data: never }).data as Record<string, never> }
}

test.serial(
  'each view needs its own permission: no token, an API token and a role without it are refused',
  async t => {
    const app = await openApp()
    for (const view of VIEWS)
      for (const path of ENDPOINTS[view]) {
        t.is((await app.request('GET', path)).status, 401, path)
        t.is((await app.request('GET', path, { token: TOKEN })).status, 403, path)
        for (const [type, views] of Object.entries(SEES)) {
          const { status, headers, body } = await ask(type, path)
          t.is(status, views.includes(view) ? 200 : 403, `${type} ${path}`)
          if (status === 200) t.is(headers['cache-control'], 'private, no-store')
          else t.false(/shelf|shared\.part/.test(JSON.stringify(body)))
        }
        t.is((await app.request('POST', path, { token: TOKEN })).status, 405)
      }
    t.is((await app.request('GET', '/api/console')).status, 404)
    t.is((await app.request('GET', '/api/console/constructor')).status, 404)
    t.is((await ask('keeper', '/api/console/model?other=1')).status, 400)
  },
)

test.serial('the OpenAPI document of a role has the views that it may see', async t => {
  const pathsOf = async (type: string) => {
    const { body } = await ask(type, '/api/openapi.json')
    const { paths, 'x-plinth': extension } = body as {
      readonly paths: object
      readonly 'x-plinth': { views: string[] }
    }
    const names = Object.keys(paths).filter(path => path.startsWith('/console/'))
    return [extension.views.toSorted(), names]
  }
  t.deepEqual(await pathsOf('reader'), [[], []])
  t.deepEqual(await pathsOf('keeper'), [
    ['model', 'permissions'],
    ['/console/model', '/console/permissions', '/console/explain'],
  ])
})

test.serial('the model has types, components, relations and their lines', async t => {
  const { data } = await dataOf('modeller', '/api/console/model')
  const { types, components } = data as unknown as Record<
    'types' | 'components',
    readonly {
      readonly key: string
      readonly location: { readonly line: number }
      readonly attributes: readonly object[]
    }[]
  >
  const book = types.find(({ key }) => key === 'book')
  t.is(book?.location.line, 1)
  t.like(book?.attributes[2], { name: 'owner', type: 'relation', relation: 'manyToOne' })
  t.like(book?.attributes[3], { name: 'parts', targets: ['shared.part'] })
  t.is(components.length, 1)
})

test.serial('permissions have conditions, fields and the line, and no value of the environment', async t => {
  const holders = await dataOf('keeper', '/api/console/permissions')
  t.deepEqual(
    (holders.data.holders as unknown as { readonly key: string }[]).map(({ key }) => key),
    ['public', 'authenticated', 'reader', 'author', 'modeller', 'keeper', 'operator', 'full'],
  )
  t.false(JSON.stringify(holders.data).includes(TOKEN))
  const { data } = await dataOf('keeper', '/api/console/permissions?role=author')
  const [book] = (
    data.subjects as unknown as { readonly subject: string; readonly actions: readonly object[] }[]
  ).filter(({ subject }) => subject === 'book')
  const find = book?.actions.find(action => 'action' in action && action.action === 'find')
  t.like(find, {
    allowed: true,
    where: { owner: { id: { $eq: '$user.id' } }, shelf: { $eq: '${SHELF}' } },
  })
  t.false(JSON.stringify(data).includes(HIDDEN))
  t.is((await ask('keeper', '/api/console/permissions?role=auther')).status, 400)
})

const simulate = (query: Readonly<Record<string, string>>) =>
  dataOf('keeper', `/api/console/explain?${new URLSearchParams(query)}`)

test.serial('the simulator says what the server answers, why, and with which SQL', async t => {
  const app = await openApp()
  const session = await sessionOf(app, 'author')
  const { data: passed } = await simulate({ role: 'author', method: 'GET', path: '/api/books?fields=title' })
  t.like(passed, { allowed: true, route: 'book.find', outcome: 'passed' } as never)
  const { sql } = passed.permission as unknown as {
    readonly sql: { readonly text: string; readonly parameters: string[] }
  }
  t.regex(sql.text, /^SELECT|^WITH/)
  t.true(sql.parameters.includes('$user.id') && sql.parameters.includes('${SHELF}'))
  t.false(JSON.stringify(passed).includes(HIDDEN))

  const { data: denied } = await simulate({ user: 'author', method: 'DELETE', path: '/api/books/any' })
  t.like(denied, { allowed: false, status: 403, user: 'author' } as never)
  t.is((await app.request('DELETE', '/api/books/any', { token: session })).status, 403)

  const path = '/api/books?filters[none]=1'
  const { data: refused } = await simulate({ role: 'author', method: 'GET', path })
  t.is((await app.request('GET', path, { token: session })).status, 400)
  t.like(refused, { allowed: false, outcome: 'refused', status: 400 } as never)
  t.like(
    (await simulate({ role: 'full', method: 'POST', path: '/api/books', body: '{"data":{"title":"a"}}' }))
      .data,
    {
      allowed: true,
    } as never,
  )
  t.is(((await app.app.documents('api::book.book').findMany({})) as readonly unknown[]).length, 0)
})

test.serial('the simulator refuses unknown words and large requests, and never fails', async t => {
  const cases: readonly Readonly<Record<string, string>>[] = [
    { role: 'auther', method: 'GET', path: '/api/books' },
    { user: 'none', method: 'GET', path: '/api/books' },
    { role: 'author', method: 'GETT', path: '/api/books' },
    { role: 'author', method: 'GET', path: 'api/books' },
    { role: 'author', method: 'GET', path: '/api/bücher' },
    { role: 'author', method: 'GET', path: `/${'a'.repeat(3000)}` },
    { role: 'author', method: 'POST', path: '/api/books', body: '{' },
    { role: 'author', method: 'POST', path: '/graphql', body: 'null' },
    { method: 'GET', path: '/api/books' },
  ]
  for (const query of cases) t.is((await simulate(query)).status, 400, JSON.stringify(query))
  for (const path of ['/api/books/%', '/nothing', '/api/console/model', '/api/books?filters[x]=1'])
    t.is((await simulate({ role: 'author', method: 'GET', path })).data.allowed as unknown, false, path)
  const query = JSON.stringify({ query: '{ books { data { id } } }' })
  t.true(
    (await simulate({ role: 'author', method: 'POST', path: '/graphql', body: query })).data
      .allowed as unknown,
  )
})

test.serial('operations have plugins, plan, advice and failed events', async t => {
  const { data } = await dataOf('operator', '/api/console/operations')
  t.deepEqual(data.plan as unknown, { steps: [], refusals: [] })
  t.deepEqual(data.failedEvents as unknown, [])
  t.deepEqual(data.faults as unknown, [])
  t.true(Array.isArray(data.advice))
  t.false(JSON.stringify(data).includes('a-secret-of-thirty-two-characters'))
})

import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { createTestApp, type TestApp } from '../../../core/testing.ts'
import { createDatabase, testServer } from '../../harness/test-database.ts'
import { until } from '../../harness/until.ts'
import { openBulk } from './bulk.ts'

// Two writes that both read before either one writes. A lock on the table lets them read, and holds back what they insert.

const TOKEN = 'full-access-for-the-tests-of-blocked-writes'

const PROJECT = {
  name: 'Blocked',
  rest: { responseFormat: 'v4' },
  server: { rateLimit: { api: false, auth: false } },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  contentTypes: {
    home: {
      kind: 'single',
      attributes: { title: 'string', gallery: { type: 'media', multiple: true } },
    },
    page: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: 'string',
        slug: { type: 'uid', targetField: 'title', generate: true },
        gallery: { type: 'media', multiple: true },
        shared: { type: 'media', multiple: true, localized: false },
        part: { type: 'component', component: 'page.part' },
      },
    },
  },
  components: {
    'page.part': { attributes: { inner: { type: 'component', component: 'page.inner', repeatable: true } } },
    'page.inner': { attributes: { cover: 'media', gallery: { type: 'media', multiple: true } } },
  },
  roles: { public: { permissions: { auth: ['register'] } } },
  apiTokens: { full: { type: 'full-access', secret: TOKEN } },
}

interface Place {
  readonly url: string
  readonly client: pg.Client
  readonly app: TestApp
  send(method: string, path: string, body?: unknown): Promise<Sent>
  /** Resolves once so many sessions of the database wait for a lock. */
  untilWaiting(sessions: number): Promise<void>
  /** Starts the writes one after the other while nothing can be inserted into the table, and resolves once all have ended. */
  blocked<Value>(table: string, writes: readonly (() => Promise<Value>)[]): Promise<readonly Value[]>
}

interface Sent {
  readonly status: number
  readonly data: { readonly id: number; readonly attributes: Readonly<Record<string, unknown>> }
  readonly error?: { readonly message: string }
}

async function open(t: ExecutionContext, more: Readonly<Record<string, unknown>> = {}): Promise<Place> {
  const url = await createDatabase(t, testServer() ?? '')
  const app = await createTestApp({ project: { ...PROJECT, ...more }, database: url })
  t.teardown(() => app.close())
  const [client, observer] = [
    new pg.Client({ connectionString: url }),
    new pg.Client({ connectionString: url }),
  ]
  for (const each of [client, observer]) {
    await each.connect()
    t.teardown(() => each.end())
  }
  // Not by the client: in a transaction, the statistics do not change.
  const waiting = async () => {
    const { rows } = await observer.query(
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    return Number(rows[0].count)
  }
  const untilWaiting = (sessions: number) =>
    until('the write waits', async () => (await waiting()) >= sessions)
  return {
    url,
    client,
    app,
    untilWaiting,
    async send(method, path, body) {
      const { status, body: answer } = await app.request(method, path, {
        token: TOKEN,
        ...(body !== undefined && { body }),
      })
      return { status, ...(answer as Omit<Sent, 'status'>) }
    },
    async blocked<Value>(table: string, writes: readonly (() => Promise<Value>)[]) {
      await client.query('BEGIN')
      await client.query(`LOCK TABLE ${table} IN SHARE MODE`)
      const running: Promise<Value>[] = []
      for (const write of writes) {
        running.push(write())
        await untilWaiting(running.length)
      }
      await client.query('COMMIT')
      return Promise.all(running)
    },
  }
}

function form(fields: Readonly<Record<string, string>>, file: readonly [field: string, name: string]) {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  form.append(file[0], new Blob([file[1]]), file[1])
  return form
}

const namesOf = (value: unknown): readonly string[] =>
  ((value as { data: readonly { attributes: { name: string } }[] | null }).data ?? [])
    .map(({ attributes }) => attributes.name)
    .toSorted()

test('forms that create a single type at the same time all leave their files', async t => {
  const { blocked, send } = await open(t)
  const put = (name: string) => () => send('PUT', '/api/home', form({ data: '{}' }, ['files.gallery', name]))
  const sent = await blocked('homes', [put('one.txt'), put('two.txt')])
  t.deepEqual(
    sent.map(({ status }) => status),
    [200, 200],
  )
  const { data } = await send('GET', '/api/home?populate=gallery')
  t.deepEqual(namesOf(data.attributes.gallery), ['one.txt', 'two.txt'])
})

test('a single type that a request and an import create at the same time has one document', async t => {
  const { blocked, send, client, url } = await open(t)
  const bulk = await openBulk(t, PROJECT, url)
  const put = async () => (await send('PUT', '/api/home', { data: { title: 'request' } })).status === 200
  const apply = () => bulk.apply({ home: { on: 'sync', documents: [{ title: 'file' }] } })
  const load = () =>
    bulk.import(
      ['api::home.home'],
      [
        {
          type: 'api::home.home',
          documentId: 'imported',
          versions: [{ status: 'published', values: { title: 'line' } }],
        },
      ],
    )
  for (const writes of [
    [put, apply],
    [apply, put],
    [put, load],
    [load, put],
  ]) {
    t.deepEqual(await blocked('homes', writes), [true, true])
    const { rows } = await client.query('SELECT title FROM homes')
    t.is(rows.length, 1)
    await client.query('DELETE FROM homes')
    await client.query('DELETE FROM plinth_content')
  }
})

test('an import does not wait in a circle with a write that has taken a number and needs another', async t => {
  const keys = ['first', 'second']
  const contentTypes = Object.fromEntries(keys.map(key => [key, { attributes: { title: 'string' } }]))
  const { client, url, untilWaiting } = await open(t, { contentTypes })
  const bulk = await openBulk(t, { ...PROJECT, contentTypes }, url)
  const next = (table: string) => client.query(`SELECT nextval(pg_get_serial_sequence($1, 'id'))`, [table])
  const types = keys.map(key => `api::${key}.${key}`)
  const lines = types.map(type => ({
    ...{ type, documentId: 'line' },
    versions: [{ id: 7, values: { title: 'line' } }],
  }))
  await client.query('BEGIN')
  await next('seconds')
  const importing = bulk.import(types, lines)
  await untilWaiting(1)
  await next('firsts')
  await client.query('COMMIT')
  t.true(await importing)
  t.is((await next('seconds')).rows[0].nextval, '8')
})

for (const field of ['gallery', 'shared'])
  test(`files are attached to versions that are inserted at the same time: ${field}`, async t => {
    const { blocked, send, app } = await open(t)
    const documents = app.app.documents('api::page.page')
    const insert = {
      gallery: (documentId: string) => documents.publish({ documentId }),
      shared: (documentId: string) => documents.update({ documentId, locale: 'fr', data: { title: 'page' } }),
    }[field]
    const { documentId } = (await documents.create({ data: { title: 'page' }, status: 'draft' })) as {
      documentId: string
    }
    await blocked<unknown>('pages', [
      () => insert?.(documentId) ?? Promise.reject(new Error(field)),
      () =>
        send(
          'POST',
          '/api/upload',
          form({ ref: 'api::page.page', refId: documentId, field }, ['files', 'a.txt']),
        ),
    ])
    const states =
      field === 'gallery'
        ? [
            ['en', 'draft'],
            ['en', 'published'],
          ]
        : [
            ['en', 'draft'],
            ['fr', 'draft'],
          ]
    for (const [locale, status] of states) {
      const found = await documents.findOne({ documentId, locale, status, populate: [field] } as never)
      t.is((found as unknown as Record<string, readonly unknown[]>)[field]?.length, 1, `${locale} ${status}`)
    }
  })

for (const table of ['components_page_inner', 'pages_gallery_links'])
  test(`a publication copies no link to a file that is deleted meanwhile: ${table}`, async t => {
    const { blocked, app, send, client } = await open(t)
    const files = new FormData()
    files.append('files', new Blob(['a']), 'a.txt')
    const { body } = await app.request('POST', '/api/upload', { token: TOKEN, body: files })
    const [{ id: file }] = body as unknown as readonly [{ readonly id: number }]
    const documents = app.app.documents('api::page.page')
    const data = { gallery: [file], part: { inner: [{}, { cover: file, gallery: [file] }] } }
    const { documentId } = (await documents.create({ data, status: 'draft' } as never)) as {
      documentId: string
    }
    await blocked<unknown>(table, [
      () => documents.publish({ documentId }),
      () => send('DELETE', `/api/upload/files/${file}`),
    ])
    const { rows } = await client.query(
      `SELECT 'list' AS place FROM pages_gallery_links UNION ALL SELECT 'component list' FROM components_page_inner_gallery_links
       UNION ALL SELECT 'component' FROM components_page_inner WHERE cover_key IS NOT NULL`,
    )
    t.deepEqual(rows, [])
    t.is((await client.query('SELECT 1 FROM plinth_files')).rows.length, 0)
    t.is((await client.query('SELECT 1 FROM pages')).rows.length, 2)
  })

test('of two registrations at the same time, none has the address of the other as its name', async t => {
  const { blocked, app, client } = await open(t)
  const register = (username: string, email: string) => async () => {
    const body = { username, email, password: 'long-enough-password' }
    return (await app.request('POST', '/api/auth/local/register', { body })).status
  }
  const sent = await blocked('plinth_users', [
    register('ann@example.com', 'other@example.com'),
    register('ann', 'Ann@example.com'),
  ])
  t.deepEqual(sent, [200, 400])
  t.is((await client.query('SELECT 1 FROM plinth_users')).rows.length, 1)
})

test('a sign-in of a user who is deleted meanwhile is refused', async t => {
  const { app, client, untilWaiting } = await open(t, {
    roles: { public: { permissions: { auth: ['register', 'login'] } } },
  })
  const ann = { username: 'ann', email: 'ann@example.com', password: 'long-enough-password' }
  t.is((await app.request('POST', '/api/auth/local/register', { body: ann })).status, 200)
  await client.query('BEGIN')
  await client.query('LOCK TABLE plinth_rate_limits IN SHARE MODE')
  const { username: identifier, password } = ann
  const signingIn = app.request('POST', '/api/auth/local', { body: { identifier, password } })
  await untilWaiting(1)
  await client.query('DELETE FROM plinth_users')
  await client.query('COMMIT')
  const { status, body } = await signingIn
  t.is(status, 401)
  t.like(body, { error: { message: 'Invalid credentials' } })
})

test('an address that another write replaced and confirmed meanwhile is not confirmed by it', async t => {
  const { blocked, app, client } = await open(t, {
    auth: { register: { confirmEmail: true, role: 'authenticated' } },
  })
  const users = app.app.documents('plugin::users-permissions.user')
  const ann = { username: 'ann', email: 'first@example.com', password: 'long-enough-password' }
  const { documentId } = (await users.create({ data: ann as never })) as { documentId: string }
  const update = (data: Readonly<Record<string, unknown>>) => () =>
    users.update({ documentId, data: data as never })
  await blocked<unknown>('plinth_users', [
    update({ email: 'second@example.com', confirmed: true }),
    update({ email: 'first@example.com' }),
  ])
  const { rows } = await client.query('SELECT email, confirmed FROM plinth_users')
  t.deepEqual(rows, [{ email: 'first@example.com', confirmed: false }])
})

for (const status of ['draft', 'published'])
  test(`uids generated at the same time differ: ${status}`, async t => {
    const { blocked, app } = await open(t)
    const pages = app.app.documents('api::page.page')
    const create = (title: string) => async () =>
      String((await pages.create({ data: { title }, status } as never)).slug)
    const slugs = await blocked('pages', [
      create('Many waters'),
      create('Many waters'),
      create('Many waters 1'),
    ])
    t.deepEqual(slugs, ['many-waters', 'many-waters-1', 'many-waters-1-1'])
  })

test('no key is left of a user who was deleted while the key was created', async t => {
  const roles = { authenticated: { permissions: { users: ['me'] } }, public: PROJECT.roles.public }
  const { app, client, send, untilWaiting } = await open(t, { auth: { keys: { enabled: true } }, roles })
  const account = { username: 'ann', email: 'ann@example.com', password: 'secret1' }
  const { body } = await app.request('POST', '/api/auth/local/register', { body: account })
  const { jwt, user } = body as { readonly jwt: string; readonly user: { id: number; documentId: string } }
  await client.query('BEGIN')
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`keys of ${user.documentId}`])
  const creation = app.request('POST', '/api/users/me/keys', { token: jwt, body: { name: 'late' } })
  await untilWaiting(1)
  t.is((await send('DELETE', `/api/users/${user.id}`)).status, 200)
  await client.query('COMMIT')
  t.is((await creation).status, 401)
  const { rows } = await client.query('SELECT name FROM plinth_user_keys')
  t.deepEqual(rows, [])
})

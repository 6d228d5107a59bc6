import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { servesConsole } from '../../core/openapi/open-openapi.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, PASSWORD } from './open-console.ts'

const file = teardownOfFile(test.after.always)

const openApp = once(async () => {
  await bundleConsole()
  return openTestApp(file, {
    project: PROJECT,
    plugins: 'tests/console/plugins',
    env: { JWT_SECRET: 'a-secret-of-thirty-two-characters' },
  })
})

const PROJECT = {
  name: 'Library',
  contentTypes: {
    book: {
      draftAndPublish: true,
      attributes: { title: 'string', hiddenNote: 'string', code: { type: 'string', private: true } },
    },
    note: { draftAndPublish: true, attributes: { text: 'string' } },
    guarded: { draftAndPublish: true, attributes: { text: 'string' } },
    secret: { attributes: { word: 'string' } },
  },
  roles: {
    public: {
      permissions: {
        book: { find: { fields: ['title'] }, update: { fields: ['title'] }, findOne: { fields: ['title'] } },
        note: ['find'],
        guarded: ['find', 'update', 'publish'],
      },
    },
  },
  routesConfig: {
    'guarded.update': { policies: ['never'] },
  },
  apiTokens: { full: { type: 'full-access', hash: `sha256:${'0'.repeat(64)}` } },
}

test('the page has a strict policy, its files are kept by browsers, and unknown ones are not found', async t => {
  const app = await openApp()
  const page = await app.request('GET', '/console/content/books?x=1')
  t.is(page.status, 200)
  const policy = String(page.headers['content-security-policy'])
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "frame-ancestors 'none'",
  ])
    t.true(policy.split('; ').includes(part), part)
  const html = String(page.body)
  t.false(/<script>|<style|onload=|\{\{/.test(html))
  const [, script = ''] = /src="([^"]+\.js)"/.exec(html) ?? []
  const asset = await app.request('GET', script)
  t.is(asset.status, 200)
  t.true(/immutable/.test(String(asset.headers['cache-control'])))
  for (const name of [
    'none.js',
    'main.js.map',
    '..%2findex.html',
    '../index.html',
    '',
    'constructor',
    'a.html',
  ])
    t.is((await app.request('GET', `/console/assets/${name}`)).status, 404, name)
  t.is((await app.request('POST', '/console')).status, 404)
  t.is((await app.request('GET', '/consoles')).status, 404)
})

test('the console is served as console.enabled says', t => {
  t.deepEqual(
    (['development', 'always', 'never'] as const).map(enabled =>
      [false, true].map(production => servesConsole({ enabled }, production)),
    ),
    [
      [true, false],
      [true, true],
      [false, false],
    ],
  )
})

test('without a public OpenAPI document the console gets the one of its signed-in user, at its own path', async t => {
  const secret = 'an-api-token-of-this-test'
  const app = await openTestApp(t, {
    project: {
      ...PROJECT,
      rest: { openapi: false },
      console: { enabled: 'always', path: '/edit' },
      routesConfig: {},
      roles: { ...PROJECT.roles, editor: { permissions: { book: { find: { fields: ['title'] } } } } },
      apiTokens: { reader: { type: 'read-only', secret } },
      auth: {
        providers: {
          shop: {
            issuer: 'https://id.example.org',
            clientId: 'a',
            clientSecret: 'b',
            redirectUrls: ['https://example.org/x'],
          },
        },
      },
    },
    env: { JWT_SECRET: 'a-secret-of-thirty-two-characters' },
  })
  await addUser(app, 'editor')
  const session = await app.request('POST', '/api/auth/local', {
    body: { identifier: 'ann', password: PASSWORD },
  })
  const { jwt } = session.body as { readonly jwt: string }
  const description = await app.request('GET', '/api/openapi.json', { token: jwt })
  t.is(description.status, 200)
  t.is(description.headers['cache-control'], 'private')
  t.false(/hiddenNote|secret/.test(JSON.stringify(description.body)))
  t.is((await app.request('GET', '/api/openapi.json')).status, 404)
  t.is((await app.request('GET', '/api/openapi.json', { token: secret })).status, 404)
  t.is((await app.request('GET', '/api/reference')).status, 404)
  t.is((await app.request('GET', '/console')).status, 404)
  const html = String((await app.request('GET', '/edit')).body)
  t.regex(html, /src="\/edit\/assets\/[\w-]+\.js"/)
  t.regex(html, /content="[^"]*\/edit[^"]*shop[^"]*"/)
  t.false(/\/console/.test(html))
})

test('x-plinth has no names that the role may neither read nor write', async t => {
  const app = await openApp()
  const { body } = await app.request('GET', '/api/openapi.json')
  const extension = (body as Record<string, unknown>)['x-plinth'] as {
    readonly types: readonly {
      readonly singularName: string
      readonly actions: readonly string[]
      readonly attributes: readonly { readonly name: string; readonly writable: boolean }[]
    }[]
  }
  t.false(/hiddenNote|code|secret/i.test(JSON.stringify(extension)))
  const [book] = extension.types
  t.deepEqual(
    extension.types.map(({ singularName }) => singularName),
    ['book', 'note', 'guarded'],
  )
  t.deepEqual(book?.actions, ['find', 'findOne', 'update', 'publish', 'readDrafts'])
  t.true(book?.attributes.find(({ name }) => name === 'title')?.writable)
})

test('x-plinth has users as targets of relations for roles that may find them', async t => {
  const name = { type: 'relation', relation: 'manyToOne', target: 'user' }
  const app = await openTestApp(t, {
    project: {
      contentTypes: { review: { attributes: { author: name } } },
      roles: { public: { permissions: { review: '*', users: { find: { fields: ['username'] } } } } },
      apiTokens: {
        other: { type: 'custom', secret: 'a-token-of-a-test-of-users', permissions: { review: '*' } },
      },
      rest: { openapi: true },
    } as never,
  })
  const usersFor = async (token?: string) => {
    const { body } = await app.request('GET', '/api/openapi.json', token === undefined ? {} : { token })
    return (body as { readonly 'x-plinth': { readonly users: unknown } })['x-plinth'].users
  }
  t.like(await usersFor(), { uid: 'plugin::users-permissions.user', singularName: 'user', path: '/users' })
  const { attributes } = (await usersFor()) as { readonly attributes: readonly { readonly name: string }[] }
  t.true(attributes.some(each => each.name === 'username'))
  t.false(attributes.some(each => each.name === 'email'))
  t.is(await usersFor('a-token-of-a-test-of-users'), null)
})

test('x-plinth has the layout of forms, without names that the role may neither read nor write', async t => {
  const console = {
    label: 'hiddenNote',
    columns: ['hiddenNote', 'title', 'updatedAt'],
    groups: [
      { label: 'Main', attributes: ['title', 'hiddenNote'] },
      { label: 'Inside', attributes: ['code'] },
    ],
    help: { title: 'What is on the cover', code: 'of the shelf' },
    preview: 'https://example.org/{locale}/{hiddenNote}',
  }
  const { book } = PROJECT.contentTypes
  const note = {
    ...PROJECT.contentTypes.note,
    console: { preview: '/notes/{documentId}?{text}', hidden: ['text'] },
  }
  const app = await openTestApp(t, {
    project: {
      ...PROJECT,
      routesConfig: {},
      contentTypes: { ...PROJECT.contentTypes, book: { ...book, console }, note },
    } as never,
  })
  const { body } = await app.request('GET', '/api/openapi.json')
  const { types, views } = (body as Record<string, unknown>)['x-plinth'] as {
    readonly types: readonly { readonly singularName: string; readonly console: unknown }[]
    readonly views: readonly string[]
  }
  t.deepEqual(views, [])
  const layoutOf = (name: string) => types.find(({ singularName }) => singularName === name)?.console
  t.deepEqual(layoutOf('book'), {
    columns: ['title', 'updatedAt'],
    groups: [{ label: 'Main', attributes: ['title'] }],
    help: { title: 'What is on the cover' },
    hidden: [],
  })
  t.deepEqual(layoutOf('note'), {
    columns: [],
    groups: [],
    help: {},
    hidden: ['text'],
    preview: '/notes/{documentId}?{text}',
  })
})

test('x-plinth describes components by the attributes that contain them', async t => {
  const app = await openTestApp(t, {
    project: {
      components: {
        'shared.read': {
          attributes: {
            shown: 'string',
            hiddenText: { type: 'string', private: true },
            hiddenPart: { type: 'component', component: 'shared.below', private: true },
          },
        },
        'shared.below': { attributes: { hiddenBelow: 'string' } },
        'shared.written': { attributes: { hiddenInput: { type: 'string', private: true } } },
      },
      contentTypes: {
        page: {
          attributes: {
            seo: { type: 'component', component: 'shared.read' },
            source: { type: 'component', component: 'shared.written' },
          },
        },
      },
      roles: {
        public: { permissions: { page: { find: true, update: { fields: ['source'] } } } },
      },
    } as never,
  })
  const { body } = await app.request('GET', '/api/openapi.json')
  const { components } = (body as Record<string, unknown>)['x-plinth'] as {
    readonly components: readonly {
      readonly uid: string
      readonly attributes: readonly {
        readonly name: string
        readonly readable: boolean
        readonly writable: boolean
      }[]
    }[]
  }
  const described = components.map(({ uid, attributes }) => [
    uid,
    attributes.map(
      ({ name, readable, writable }) => `${name}${readable ? ' read' : ''}${writable ? ' write' : ''}`,
    ),
  ])
  t.deepEqual(Object.fromEntries(described), {
    'shared.read': ['id read', 'shown read'],
    'shared.written': ['id read', 'hiddenInput write'],
  })
})

test('a published version is taken back, and a draft is discarded, by callers who may publish', async t => {
  const app = await openApp()
  const books = app.app.documents('api::book.book')
  const { documentId } = await books.create({
    data: { title: 'one', hiddenNote: 'kept' },
    status: 'published',
  } as never)
  await books.update({ documentId, data: { title: 'two' } } as never)
  const versions = async () => {
    const read = async (status: string) =>
      ((await books.findOne({ documentId, status } as never)) as { readonly title: string } | null)?.title
    return [await read('draft'), await read('published')]
  }
  t.deepEqual(await versions(), ['two', 'one'])
  const discarded = await app.request('POST', `/api/actions/books/${documentId}/discard-draft`)
  t.is(discarded.status, 200)
  t.false(/hiddenNote|kept/.test(JSON.stringify(discarded.body)))
  t.deepEqual(await versions(), ['one', 'one'])
  t.is((await app.request('POST', `/api/actions/books/${documentId}/unpublish`)).status, 200)
  t.deepEqual(await versions(), ['one', undefined])
  t.deepEqual((await app.request('POST', '/api/actions/books/none/unpublish')).body, {
    data: { documentId: 'none', entries: [] },
    meta: {},
  })
  const note = await app.app.documents('api::note.note').create({ data: {}, status: 'published' } as never)
  t.is((await app.request('POST', `/api/actions/notes/${note.documentId}/unpublish`)).status, 403)
  const own = await app.app
    .documents('api::guarded.guarded')
    .create({ data: {}, status: 'published' } as never)
  const guarded = `/api/guardeds/${own.documentId}`
  t.is((await app.request('PUT', guarded, { body: { data: {} } })).status, 403)
  t.is((await app.request('POST', `/api/actions/guardeds/${own.documentId}/unpublish`)).status, 403)
  t.is((await app.request('POST', `/api/actions/guardeds/${own.documentId}/discard-draft`)).status, 403)
  t.is((await app.request('POST', '/api/actions/secrets/x/unpublish')).status, 404)
  t.is((await app.request('GET', `/api/actions/books/${documentId}/unpublish`)).status, 404)
  t.is((await app.request('PUT', `/api/actions/books/${documentId}/unpublish`)).status, 405)
})

import test from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { conformanceProject } from './conformance-project.ts'
import { FULL, openWorld, type World } from './world.ts'

// Safety rule S13: no query string, body or project file reaches what all objects have in common.
let world: World
test.before(async () => {
  world = await openWorld(conformanceProject(''))
  await world.make('POST', '/api/articles', { title: 'There', rating: 3 })
})
test.after.always(() => world?.close())

const SHARED = [Object, Array, Function, String, Number, Boolean, Map, Set, Promise, RegExp, Date]

/** Everything that objects have in common, and what it is. */
const common = (): string =>
  SHARED.map(({ prototype }) =>
    Object.entries(Object.getOwnPropertyDescriptors(prototype)).map(
      ([key, { value }]) => `${key}:${String(value)}`,
    ),
  ).join('\n')

const WAYS = [
  ...[
    '__proto__',
    'constructor',
    'constructor][prototype',
    '__proto__][__proto__',
    'toString',
    'valueOf',
    'hasOwnProperty',
  ],
  ...['%5F%5Fproto__', '__proto__][toString', 'x][__proto__', '0][__proto__', 'x][constructor][prototype'],
]

const PLACES = [
  ...[
    'filters',
    'filters[$or][0]',
    'filters[$not]',
    'filters[author]',
    'filters[rating]',
    'filters[rating][$eq]',
    'sort',
    'fields',
  ],
  ...[
    'populate',
    'populate[author]',
    'populate[author][filters]',
    'populate[blocks][on]',
    'pagination',
    'locale',
    'status',
    'data',
  ],
]

test('no query string changes built-in prototypes', async t => {
  const before = common()
  const failures: string[] = []
  for (const way of WAYS) {
    const top = way.includes('][') ? `${way.replace('][', '[')}]` : way
    for (const query of [top, ...PLACES.map(place => `${place}[${way}]`)]) {
      for (const key of [`${query}=polluted`, `${query}[polluted]=1`, `${query}[]=polluted`]) {
        const read = await world.ask('GET', `/api/articles?${key}`, { as: FULL })
        const written = await world.ask('PUT', `/api/articles/nothing?${key}`, { as: FULL, data: {} })
        if (read.status >= 500 || written.status >= 500) failures.push(key)
      }
    }
  }
  t.deepEqual(failures, [])
  t.is(common(), before)
  t.is(({} as Record<string, unknown>).polluted, undefined)
})

const polluting = (value: string): readonly string[] => [
  `{"data":{"__proto__":${value}}}`,
  `{"__proto__":{"data":${value}}}`,
  `{"data":{"title":"New","constructor":{"prototype":${value}}}}`,
  `{"data":{"title":"New","meta":{"__proto__":${value}}}}`,
  `{"data":{"title":"New","seo":{"metaTitle":"x","__proto__":${value}}}}`,
  `{"data":{"title":"New","seo":{"metaTitle":"x","constructor":${value}}}}`,
  `{"data":{"title":"New","links":[{"url":"/","__proto__":${value}}]}}`,
  `{"data":{"title":"New","blocks":[{"__component":"__proto__","text":${value}}]}}`,
  `{"data":{"title":"New","blocks":[{"__component":"constructor"}]}}`,
  `{"data":{"title":"New","author":{"__proto__":${value},"connect":[]}}}`,
  `{"data":{"title":"New","author":{"connect":[{"documentId":"x","position":{"__proto__":${value}}}]}}}`,
  `{"data":{"title":"New","author":{"constructor":${value}}}}`,
  `{"data":{"title":"New","toString":${value},"hasOwnProperty":${value},"valueOf":1}}`,
]

test('no body changes built-in prototypes, or documents through them', async t => {
  const before = common()
  const all = (await world.ask('GET', '/api/articles?status=draft', { as: FULL })).text
  for (const body of ['1', '{"polluted":1}', '{"title":"New","polluted":true}', '[]'].flatMap(polluting)) {
    for (const path of ['/api/articles', '/api/auth/local', '/api/auth/local/register', '/api/users']) {
      const answer = await world.ask('POST', path, { as: path.startsWith('/api/auth') ? null : FULL, body })
      t.true(answer.status >= 400 && answer.status < 500, `${path} ${body}: ${answer.status} ${answer.text}`)
    }
  }
  for (const form of [
    'data[__proto__][polluted]=1',
    'data[constructor][prototype][polluted]=1',
    '__proto__[polluted]=1',
  ]) {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await world.ask('POST', '/api/articles', { as: FULL, body: form, headers })
    t.is(answer.status, 400, form)
  }
  t.is(common(), before)
  t.is(({} as Record<string, unknown>).polluted, undefined)
  t.is((await world.ask('GET', '/api/articles?status=draft', { as: FULL })).text, all)
})

// `String` throws for such a value, as it calls its property `toString`.
const UNPRINTABLE: readonly unknown[] = [{ toString: 1 }, [{ toString: 1 }], { toString: null, valueOf: 1 }]

test('a value whose property toString is no function is refused like any other object', async t => {
  const attributes =
    'title slug rating price views score day at happensAt stamp featured kind contact meta code author related gallery cover seo links blocks'.split(
      ' ',
    )
  for (const value of UNPRINTABLE) {
    const bold = [{ type: 'paragraph', children: [{ type: 'text', text: 'x', bold: value }] }]
    for (const data of [
      ...attributes.map(name => ({ [name]: value })),
      { body: bold },
      { featured: value },
    ]) {
      const { status, text } = await world.ask('POST', '/api/articles', { as: FULL, data })
      t.true(status < 500, `${JSON.stringify(data)}: ${status} ${text}`)
    }
    for (const name of ['blocked', 'confirmed', 'role', 'username']) {
      const body = JSON.stringify({
        username: 'Ann',
        email: 'ann@example.org',
        password: 'Abcdef123',
        [name]: value,
      })
      const { status, text } = await world.ask('POST', '/api/users', { as: FULL, body })
      t.is(status, 400, `${body}: ${text}`)
    }
  }
})

/** Parts of a project file, and whether it is one all the same: a role or token may have any name. */
const FILES: readonly string[] = [
  'roles: { __proto__: { permissions: {} } }',
  'roles: { public: { permissions: { __proto__: [find] } } }',
  'roles: { public: { permissions: { book: { __proto__: true } } } }',
  'roles: { public: { permissions: { book: { find: { where: { __proto__: { title: x } } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { title: { __proto__: x } } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { constructor: { name: x } } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { toString: x } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { $or: [{ valueOf: x }] } } } } } }',
  'roles: { public: { permissions: { book: { find: { fields: [constructor] } } } } }',
  'roles: { public: { permissions: { book: { find: { fields: ["!__proto__"] } } } } }',
  'roles: { public: { permissions: { book: { create: { set: { __proto__: { title: x } } } } } } }',
  'roles: { public: { permissions: { book: { create: { set: { constructor: x } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { title: $user.constructor.name } } } } } }',
  'roles: { public: { permissions: { book: { find: { where: { title: $user.__proto__.x } } } } } }',
  'roles: { public: { permissions: { constructor: [find] } } }',
  'roles: { public: { permissions: { book: [constructor] } } }',
  'roles: { public: { extends: __proto__ } }',
  'roles: { public: { extends: constructor } }',
  'apiTokens: { x: { type: constructor, secret: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa } }',
  'server: { <<: { __proto__: { port: 1 } } }',
  'x: &x { __proto__: { polluted: 1 } }\nserver: { <<: *x }',
]

test('no project file changes built-in prototypes, or gets permissions from them', async t => {
  const before = common()
  const taken: string[] = []
  const compile = async (part: string): Promise<boolean> => {
    const folder = temporaryFolder()
    folder.write(
      'project.yaml',
      `name: X\ncontentTypes: { book: { attributes: { title: string } } }\n${part}\n`,
    )
    const compiled = await compileApp(folder.path, {})
    folder.remove()
    return compiled.ok
  }
  for (const part of FILES) if (await compile(part)) taken.push(part)
  t.deepEqual(taken, [])
  t.is(common(), before)
  t.is(({} as Record<string, unknown>).polluted, undefined)
  t.true(await compile('roles: { public: { permissions: { book: { find: { where: { title: x } } } } } }'))
})

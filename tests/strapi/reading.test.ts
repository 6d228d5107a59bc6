import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { findOwnCode } from '../../tools/strapi/read/find-own-code.ts'
import {
  codeAt,
  isFromEnvironment,
  isLiteralList,
  isMapping,
  type LiteralValue,
} from '../../tools/strapi/read/literal-value.ts'
import { moduleLoader, type ScopedModule } from '../../tools/strapi/read/module-scope.ts'
import { parseModule } from '../../tools/strapi/read/parse-module.ts'
import { readExported } from '../../tools/strapi/read/read-exported.ts'
import { temporaryFolder } from '../harness/folder.ts'

/** A module that is in no folder. */
function moduleOf(source: string, file: string): ScopedModule {
  return { ...parseModule(source, file), file, folder: '/none', load: moduleLoader('/none') }
}

/** A value as JSON would have it; what is not known is `?`, a variable `$NAME`. */
function plain(input: LiteralValue): unknown {
  if (isFromEnvironment(input))
    return `$${input.name}${input.fallback === undefined ? '' : `:${plain(input.fallback)}`}`
  if (isLiteralList(input)) return input.map(plain)
  if (isMapping(input)) return Object.fromEntries([...input].map(([key, each]) => [key, plain(each)]))
  return typeof input === 'object' && input !== null ? '?' : input
}

const MODULES: readonly (readonly [source: string, exported: unknown, file?: string])[] = [
  [
    "module.exports = { a: 'it\\'s', 'b': [1, -2, 0x10, true, null], c: { d: `plain` } }",
    { a: "it's", b: [1, -2, 16, true, null], c: { d: 'plain' } },
  ],
  [
    "module.exports = ({ env }) => ({ host: env('HOST', '0.0.0.0'), port: env.int('PORT', 1337), key: env('KEY') })",
    { host: '$HOST:0.0.0.0', port: '$PORT:1337', key: '$KEY' },
  ],
  [
    "export default ({ env }: Core.Config.Shared.ConfigParams): Core.Config.Server => ({ url: process.env.URL ?? 'x' });",
    { url: '$URL:x' },
  ],
  [
    'const config: Core.Config.Api = {\n  // a comment, { with brackets\n  rest: { maxLimit: 50, },\n}\n\nexport default config',
    { rest: { maxLimit: 50 } },
  ],
  [
    'module.exports = function ({ env }) { const x = {}; if (x) { return { no: 1 } } return { yes: 1 } }',
    { yes: 1, '...61': '?' },
  ],
  [
    "export default { a: 1 + 2, b: f({ c: ')' }), d: /[/}]/, ...rest, e() { return 1 }, g: `${x}`, h: 3 }",
    { a: 3, b: '?', d: '?', '......rest': '?', e: '?', g: '?', h: 3 },
  ],
  ["export default [ 'strapi::cors', { name: 'x' } ] satisfies Config", ['strapi::cors', { name: 'x' }]],
  ['exports.other = 1', { other: 1 }],
  // A template inside a template, whose braces and quotes belong to the outer text.
  ["module.exports = { a: `x ${b ? `}'${c}` : 1} z`, d: `}`, e: `` }", { a: '?', d: '}', e: '' }],
  [
    "export default { view: <a href='}'>{ `it's ${x}` }</a>, next: 1 }",
    { view: '?', next: 1 },
    'src/admin/app.tsx',
  ],
  ['export default { view: <Type>{ a: 1 }, next: 2 }', { view: { a: 1 }, next: 2 }],
  [
    "export default { kinds: ['a', 'b'] as const, one: { two: 2 } satisfies Two<{ a: ',' }>, three: x! }",
    { kinds: ['a', 'b'], one: { two: 2 }, three: '?' },
  ],
  ['const config = { a: 1 } as const satisfies Config\nexport { config as default }', { a: 1 }],
  ["export = ({ env }) => { const x = { a: env.bool('A', true) }; return x }", { a: '$A:true' }],
  [
    "module.exports = { a: process.env['A'] || 'b', c: (1), 'd-e': +1, 2: f`x` }",
    { a: '$A:b', c: 1, 'd-e': '?', 2: '?' },
  ],
  ['const a = b\nconst b = a\nexport default a', '?'],
  // Which provider it is depends on the run, although the last result is a literal.
  [
    "const s3 = env => { if (env('BUCKET')) { return { provider: 'aws-s3' } } return undefined }\nexport default ({ env }) => ({ upload: { config: s3(env) ?? { sizeLimit: 5 } } })",
    { upload: { config: '?' } },
  ],
]

test('a module is read as far as its values are literals, without running its code', t => {
  for (const [source, exported, file = 'config/server.ts'] of MODULES)
    t.deepEqual(plain(readExported(moduleOf(source, file))), exported, source)
})

/** Modules of one project; the first exports the value. */
const FOLLOWED: readonly (readonly [files: Readonly<Record<string, string>>, exported: unknown])[] = [
  [
    {
      'config/server.ts':
        "import { limits } from './limits'\nexport default ({ env }) => ({ port: limits.port, rest: limits })",
      'config/limits.ts': 'export const limits = { port: 8080 }',
    },
    { port: 8080, rest: { port: 8080 } },
  ],
  [
    {
      'config/server.js':
        "const { port: wanted = 5, host = 'x' } = require('./more')\nmodule.exports = { port: wanted, host }",
      'config/more/index.js': 'module.exports = { port: 81 }',
    },
    { port: 81, host: 'x' },
  ],
  [
    { 'config/server.js': "module.exports = require('./x')", 'config/x.json': '\uFEFF{ "port": 82 }' },
    { port: 82 },
  ],
  [
    {
      'config/server.ts': "export { default } from './a'",
      'config/a.ts':
        "import b, * as all from './b'\nexport default { ...b, ...all.more, name: all['title'] }",
      'config/b.ts': "export * from './c'\nexport { more } from './c'\nexport default { port: 83 }",
      'config/c.ts': "export const title = 'T' as const, more = { host: `h${1}` }",
    },
    { port: 83, host: 'h1', name: 'T' },
  ],
  [
    {
      'config/server.js':
        "const build = require('./build'); module.exports = ({ env }) => ({ ...build(env, { size: 2 * 1024 }), list: [...require('./build').names, 'c'] })",
      'config/build.js':
        "module.exports = (env, { size, depth = 7 }) => ({ port: env.int('PORT', env('OTHER', 84)), size, depth })\nmodule.exports.names = ['a', 'b']",
    },
    { port: '$PORT:$OTHER:84', size: 2048, depth: 7, list: ['a', 'b', 'c'] },
  ],
  [
    {
      'config/server.js':
        "const config = { host: 'a' }; config.port = Number(process.env.PORT) || 85; if (x) config.url = 'u'; const { KEY = 'k' } = process.env; module.exports = Object.assign({}, config, { key: KEY, mode: env.oneOf('MODE', ['a', 'b'], 'a') }); module.exports.proxy = true",
    },
    { host: 'a', port: '$PORT:85', url: '?', key: '$KEY:k', mode: '$MODE:a', proxy: true },
  ],
  [
    {
      'config/server.ts':
        "import { a } from './a'\nexport default { a, b: require('missing'), c: require('./none') }",
      'config/a.ts': "import { a } from './server'\nexport { a }",
    },
    { a: '?', b: '?', c: '?' },
  ],
]

test('names, imports and re-exports of a module are followed to their literals', t => {
  for (const [files, exported] of FOLLOWED) {
    const folder = temporaryFolder()
    for (const [name, text] of Object.entries(files)) folder.write(name, text)
    const [first = ''] = Object.keys(files)
    t.deepEqual(plain(readExported(moduleLoader(folder.path)(first))), exported, files[first])
    folder.remove()
  }
})

test('code names its file and line, and values that multiply have a bound', t => {
  const code = readExported(
    moduleOf('module.exports = {\n  port: read(),\n  ...more()\n}', 'config/server.js'),
  )
  t.is(codeAt(code, 'port')?.place, 'config/server.js:2')
  t.is(codeAt(code, 'host')?.place, 'config/server.js:3')
  const names = 'abcdefghijklmnopqrstuvwxyz'.split('')
  const source = names.map(
    (name, index) => `const ${name} = [${names[index + 1] ?? 1}, ${names[index + 1] ?? 1}]`,
  )
  t.truthy(readExported(moduleOf(`${source.join('\n')}\nmodule.exports = a`, 'config/server.js')))
})

test('an invalid module is refused with its position, and never breaks the import', t => {
  const read = (source: string) => {
    try {
      readExported(moduleOf(source, 'config/server.js'))
    } catch (error) {
      t.true(error instanceof SyntaxError, source)
    }
  }
  const parts = [
    'module.exports =',
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '=>',
    ',',
    ':',
    'a',
    "'",
    '`',
    '/',
    'return',
    'env(',
    '...',
    '*/',
    '//',
  ]
  let state = 7
  for (let round = 0; round < 2000; round++) {
    let source = 'module.exports = '
    for (let count = 0; count < 12; count++) {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0
      source += ` ${parts[(state >>> 8) % parts.length]}`
    }
    t.notThrows(() => read(source), source)
  }
  t.notThrows(() => read(`module.exports = ${'['.repeat(20_000)}`))
  t.throws(() => moduleOf('module.exports = {\n  a: )', 'a.js'), {
    instanceOf: SyntaxError,
    message: /\(2:5\)/,
  })
})

const CODE: readonly (readonly [
  file: string,
  source: string,
  found: 'own' | 'router' | 'router and own' | 'generated',
])[] = [
  [
    'src/api/a/controllers/a.js',
    "'use strict'; const { createCoreController } = require('@strapi/strapi').factories; module.exports = createCoreController('api::a.a');",
    'generated',
  ],
  [
    'src/api/a/services/a.ts',
    "/** A comment. */\nimport { factories } from '@strapi/strapi'\nexport default factories.createCoreService<'api::a.a'>('api::a.a' as const,)",
    'generated',
  ],
  [
    'src/api/a/services/b.ts',
    "import { factories } from '@strapi/strapi'\nexport default factories.createCoreService('api::a.a', ({ strapi }) => ({ find() {} }))",
    'own',
  ],
  [
    'src/api/a/controllers/c.js',
    "const { createCoreController } = require('@strapi/strapi').factories; schedule(); module.exports = createCoreController('api::a.a')",
    'own',
  ],
  [
    'src/api/a/routes/a.ts',
    "import { factories } from '@strapi/strapi'\nexport default factories.createCoreRouter('api::a.a', { only: [`find`] })",
    'router',
  ],
  ['src/api/a/routes/b.ts', 'export default { routes: [] }', 'own'],
  [
    'src/api/a/routes/named.js',
    "const { createCoreRouter } = require('@strapi/strapi').factories\nconst router = createCoreRouter('api::a.a', { only: ['find'] })\nmodule.exports = router",
    'router',
  ],
  [
    'src/api/a/routes/typed.ts',
    "import { factories } from '@strapi/strapi'\ntype Uid = Parameters<typeof factories.createCoreRouter>[0]\nconst uid = 'api::a.a'\nexport default factories.createCoreRouter(uid as Uid, { only: ['find'] })",
    'router',
  ],
  [
    'src/api/a/routes/typed-default.ts',
    "import { factories } from '@strapi/strapi'\ntype Uid = Parameters<typeof factories.createCoreRouter>[0]\nexport default factories.createCoreRouter('api::a.a' as Uid)",
    'generated',
  ],
  [
    'src/api/a/routes/required.js',
    "module.exports = require('@strapi/strapi').factories.createCoreRouter('api::a.a', { only: ['find'] })",
    'router',
  ],
  [
    'src/api/a/services/required.js',
    "module.exports = require('@strapi/strapi').factories['createCoreService']('api::a.a')",
    'generated',
  ],
  [
    'src/api/a/routes/extended.js',
    "const { createCoreRouter } = require('@strapi/strapi').factories\nconst inner = createCoreRouter('api::a.a', { only: ['find'] })\nconst more = [{ method: 'GET', path: '/a/top', handler: 'a.top' }]\nconst join = (router, routes) => ({ get routes() { return router.routes.concat(routes) } })\nmodule.exports = join(inner, more)",
    'router and own',
  ],
  [
    'src/api/a/routes/pushed.js',
    "const router = createCoreRouter('api::a.a', { only: ['find'] })\nrouter.routes.push({ method: 'GET', path: '/a/top', handler: 'a.top' })\nmodule.exports = router",
    'router and own',
  ],
  [
    'src/api/a/routes/computed.js',
    "module.exports = createCoreRouter('api::a.a', { only: ['find'], config: guard(['find']) })",
    'router and own',
  ],
  [
    'src/index.ts',
    "import type { Core } from '@strapi/strapi'\nexport default { register(/* { strapi }: { strapi: Core.Strapi } */) {}, bootstrap: async ({ strapi }: { strapi: Core.Strapi }) => {} }",
    'generated',
  ],
  ['src/index.js', 'module.exports = { register() {}, bootstrap() { start() } }', 'own'],
  ['src/api/a/index.js', 'module.exports = { bootstrap() { start() } }', 'own'],
  ['src/api/a/policies/broken.js', 'module.exports = (', 'own'],
  ['src/api/a/policies/empty.js', '// nothing yet', 'generated'],
  ['src/api/a/content-types/a/lifecycles.test.ts', "test('slugs', () => {})", 'generated'],
  ['src/api/a/services/__tests__/a.js', "test('sums', () => {})", 'generated'],
]

test('custom code of a project is distinguished from code that Strapi generated', t => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-strapi-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [file, source] of CODE) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), source)
  }
  const { ownCode, routers } = findOwnCode(
    moduleLoader(folder),
    CODE.map(([file]) => file),
  )
  t.deepEqual(
    ownCode.map(({ file }) => file),
    CODE.filter(([, , found]) => found.endsWith('own')).map(([file]) => file),
  )
  t.deepEqual(
    routers.map(({ uid }) => uid),
    CODE.filter(([, , found]) => found.startsWith('router')).map(() => 'api::a.a'),
  )
  t.deepEqual(plain(routers[0]?.options ?? null), { only: ['find'] })
})

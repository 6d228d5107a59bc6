import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'ava'
import { findOwnCode } from '../../tools/strapi/read/find-own-code.ts'
import {
  isFromEnvironment,
  isList,
  isMapping,
  type LiteralValue,
} from '../../tools/strapi/read/literal-value.ts'
import { readExported } from '../../tools/strapi/read/read-exported.ts'

/** A value as JSON would have it; what is not known is `?`, a variable `$NAME`. */
function plain(given: LiteralValue): unknown {
  if (isFromEnvironment(given))
    return `$${given.name}${given.fallback === undefined ? '' : `:${plain(given.fallback)}`}`
  if (isList(given)) return given.map(plain)
  if (isMapping(given)) return Object.fromEntries([...given].map(([key, each]) => [key, plain(each)]))
  return typeof given === 'object' && given !== null ? '?' : given
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
    { yes: 1 },
  ],
  [
    "export default { a: 1 + 2, b: f({ c: ')' }), d: /[/}]/, ...rest, e() { return 1 }, g: `${x}`, h: 3 }",
    { a: '?', b: '?', d: '?', e: '?', g: '?', h: 3 },
  ],
  ["export default [ 'strapi::cors', { name: 'x' } ] satisfies Config", ['strapi::cors', { name: 'x' }]],
  ['exports.other = 1', {}],
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
]

test('a module is read as far as its values are literals, without running its code', t => {
  for (const [source, exported, file = 'config/server.ts'] of MODULES)
    t.deepEqual(plain(readExported(source, file)), exported, source)
})

test('an invalid module is refused with its position, and never breaks the import', t => {
  const read = (source: string) => {
    try {
      readExported(source, 'config/server.js')
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
  t.throws(() => readExported('module.exports = {\n  a: )', 'a.js'), {
    instanceOf: SyntaxError,
    message: /\(2:5\)/,
  })
})

const CODE: readonly (readonly [file: string, source: string, found: 'own' | 'router' | 'generated'])[] = [
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
    'src/index.ts',
    "import type { Core } from '@strapi/strapi'\nexport default { register(/* { strapi }: { strapi: Core.Strapi } */) {}, bootstrap: async ({ strapi }: { strapi: Core.Strapi }) => {} }",
    'generated',
  ],
  ['src/index.js', 'module.exports = { register() {}, bootstrap() { start() } }', 'own'],
  ['src/api/a/policies/broken.js', 'module.exports = (', 'own'],
  ['src/api/a/policies/empty.js', '// nothing yet', 'generated'],
]

test('custom code of a project is distinguished from code that Strapi generated', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-strapi-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const [file, source] of CODE) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), source)
  }
  const { ownCode, routers } = await findOwnCode(
    folder,
    CODE.map(([file]) => file),
  )
  t.deepEqual(
    ownCode.map(({ file }) => file),
    CODE.filter(([, , found]) => found === 'own').map(([file]) => file),
  )
  t.deepEqual(
    routers.map(({ uid, options }) => [uid, plain(options)]),
    [['api::a.a', { only: ['find'] }]],
  )
})

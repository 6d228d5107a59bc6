import test from 'ava'
import { type Given, isFromEnvironment, isList, isMapping } from '../../tools/strapi/read/literal-value.ts'
import { readExported } from '../../tools/strapi/read/read-exported.ts'

/** A value as JSON would have it; what is not known is `?`, a variable `$NAME`. */
function plain(given: Given): unknown {
  if (isFromEnvironment(given))
    return `$${given.name}${given.fallback === undefined ? '' : `:${plain(given.fallback)}`}`
  if (isList(given)) return given.map(plain)
  if (isMapping(given)) return Object.fromEntries([...given].map(([key, each]) => [key, plain(each)]))
  return typeof given === 'object' && given !== null ? '?' : given
}

const MODULES: readonly (readonly [source: string, exported: unknown])[] = [
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
]

test('a module is read as far as its values stand in it, and nothing of it is run', t => {
  for (const [source, exported] of MODULES) t.deepEqual(plain(readExported(source)), exported, source)
})

test('a module that makes no sense is read to its end', t => {
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
    t.notThrows(() => readExported(source), source)
  }
  t.notThrows(() => readExported(`module.exports = ${'['.repeat(20_000)}`))
})

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import test from 'ava'
import ts from 'typescript'
import { addProperties, copyObject } from '../../core/base/copy-object.ts'

// Builds write `{ ...a, b }` as calls (scripts/lower-spreads.js): the objects have to be equal, for whatever is spread.

const root = join(import.meta.dirname, '..', '..')
const script = pathToFileURL(join(root, 'scripts', 'lower-spreads.js')).href
const { lowerSpreads }: { lowerSpreads(code: string, file: ts.SourceFile): string } = await import(script)

const rewrite = (code: string, name = 'core/example/example.ts'): string =>
  lowerSpreads(code, ts.createSourceFile(join(root, name), code, ts.ScriptTarget.ESNext))

const IMPORT =
  "import { addProperties as $addProperties, copyObject as $copyObject } from '../base/copy-object.ts';"

type Make = (a: unknown, b: unknown, c: (value: unknown) => unknown) => unknown

const compile = (expression: string): Make =>
  new Function('$copyObject', '$addProperties', `return (a, b, c) => { const d = 7; return ${expression} }`)(
    copyObject,
    addProperties,
  ) as Make

const rewriteExpression = (expression: string): string => rewrite(`(${expression})`).replace(IMPORT, '')

const ofJson = (text: string): unknown => JSON.parse(text)

const SOURCES: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  false: () => false,
  text: () => 'ab',
  list: () => [1, 2],
  'object without prototype': () => Object.assign(Object.create(null), { x: 1 }),
  'inherited properties': () => Object.assign(Object.create({ inherited: 1 }), { own: 2 }),
  'properties in another order': () => ({ q: 1, d: 2, x: 3 }),
  symbols: () => ({ [Symbol.for('s')]: 1, x: 2 }),
  'hidden property': () => Object.defineProperty({ x: 1 }, 'hidden', { value: 2, enumerable: false }),
  accessor: () => ({
    get x() {
      return 5
    },
  }),
  'frozen object': () => Object.freeze({ q: 'frozen', x: 1 }),
  __proto__: () => ofJson('{"__proto__":{"admin":true},"x":1}'),
  'text as __proto__': () => ofJson('{"x":1,"__proto__":"y"}'),
}

const EXPRESSIONS = [
  '{ ...a, q: 1 }',
  '{ ...a, ...b }',
  '{ ...a, ...b, }',
  '{ ...a, d }',
  '{ ...a, q: 1, ...b, x: 3 }',
  '{ ...a, ...(b && { q: 1 }) }',
  '{ ...{ ...a, q: 1 }, ...b, d }',
  '{ ...a, inner: { ...b, q: [{ ...a, d }] } }',
  '{ ...{ ...{ ...b, q: 1 }, x: 2 }, d }',
  "{ ...a, ['__proto__']: b, d }",
  "{ ...a, ['q' + d]: b }",
  '{ ...a, m() { return 1 } }.q',
  '{ ...a, get x() { return 6 } }',
  '{ ...a, __proto__: null }',
  "{ ...a, '__proto__': { y: 1 }, d }",
  '{ ...a, q: c({ ...b, q: 2 }) }',
]

function describe(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const keys = Reflect.ownKeys(value)
  return {
    keys: keys.map(String),
    values: keys.map(key => {
      const found = Object.getOwnPropertyDescriptor(value, key)
      return { ...found, value: describe(found?.value), get: found?.get === undefined }
    }),
    prototype: Object.getPrototypeOf(value) === Object.prototype ? 'Object' : Object.getPrototypeOf(value),
  }
}

test('rewritten object literals make equal objects, whatever is spread', t => {
  let compared = 0
  for (const expression of EXPRESSIONS) {
    const rewritten = rewriteExpression(expression)
    const [make, makeRewritten] = [compile(`(${expression})`), compile(rewritten)]
    for (const [one, a] of Object.entries(SOURCES))
      for (const [other, b] of Object.entries(SOURCES)) {
        const expected = describe(make(a(), b(), value => value))
        t.deepEqual(
          describe(makeRewritten(a(), b(), value => value)),
          expected,
          `${expression}, a: ${one}, b: ${other}, as ${rewritten}`,
        )
        compared++
      }
  }
  t.is(compared, EXPRESSIONS.length * Object.keys(SOURCES).length ** 2)
})

test('a spread copies before the next value is evaluated', t => {
  const expression = '{ ...a, q: c(a), ...a }'
  const change = (value: unknown) => Object.assign(value as object, { x: 'changed' })
  const make = (code: string) => JSON.stringify(compile(code)({ x: 'before' }, null, change))
  t.is(make(rewriteExpression(expression)), make(expression))
  t.is(
    JSON.stringify(compile(rewriteExpression('{ ...a, q: c(a) }'))({ x: 1 }, null, change)),
    '{"x":1,"q":{"x":"changed"}}',
  )
})

test('an object that is spread stays as it is', t => {
  const source = { x: 1 }
  compile(rewriteExpression('{ ...a, x: 2, ...b }'))(source, { x: 3 }, value => value)
  t.deepEqual(source, { x: 1 })
})

test('only literals that are slow are rewritten, and no line moves', t => {
  const kept = [
    'f({ ...a })',
    'f({ a: 1, ...b })',
    'f({ ...a, get x() { return 1 } })',
    'const { a, ...b } = c',
    'f(...a, { b })',
    'f([...a, { b }])',
  ]
  for (const code of kept) t.is(rewrite(code), code)
  // Browsers run functions of some tests.
  for (const name of ['core/base/copy-object.ts', 'tests/example.ts'])
    t.is(rewrite('f({ ...a, b })', name), 'f({ ...a, b })')
  const code = 'return {\n  ...a, // one, { two\n  /* { */ b: 1,\n  ...(c as { d: 1 }),\n}'
  t.is(
    rewrite(code),
    `${IMPORT}return $addProperties($copyObject(\n  a), // one, { two\n  /* { */ {b: 1,\n  ...(c as { d: 1 }),\n})`,
  )
})

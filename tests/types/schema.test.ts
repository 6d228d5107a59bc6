import { resolve } from 'node:path'
import test from 'ava'
import ts from 'typescript'
import { printSchema } from '../../tools/cli/types/types-schema.ts'

// The output of `plinth types` for the schema of a config.

const CASES: readonly (readonly [string, unknown, string])[] = [
  ['no schema', undefined, 'unknown'],
  ['anything', true, 'unknown'],
  ['an empty schema', {}, 'unknown'],
  ['nothing', false, 'never'],
  ['a text', { type: 'string', pattern: '^a' }, 'string'],
  ['a whole number', { type: 'integer', minimum: 1 }, 'number'],
  ['one of several kinds', { type: ['string', 'null'] }, 'string | null'],
  ['words', { type: 'string', enum: ['a', "it's", 'b\\c'] }, "'a' | 'it\\'s' | 'b\\\\c'"],
  ['values of all kinds', { enum: [1, true, null, 'x'] }, "1 | true | null | 'x'"],
  ['one value', { const: 5 }, '5'],
  ['a list', { type: 'array', items: { type: 'string' } }, 'readonly string[]'],
  [
    'a list of either',
    { type: 'array', items: { type: ['string', 'number'] } },
    'readonly (string | number)[]',
  ],
  ['a list of lists', { type: 'array', items: { type: 'array' } }, 'readonly (readonly unknown[])[]'],
  [
    'a pair',
    { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false, minItems: 1 },
    'readonly [number, string?]',
  ],
  ['a mapping', { type: 'object' }, '{ [key: string]: unknown }'],
  [
    'a closed mapping',
    {
      type: 'object',
      properties: { from: { type: 'integer' }, 'a-b': { type: 'boolean' } },
      required: ['from'],
      additionalProperties: false,
    },
    "{ from: number; 'a-b'?: boolean }",
  ],
  [
    'an open mapping',
    { properties: { from: { type: 'integer' } }, required: ['from'] },
    '{ from: number; [key: string]: unknown }',
  ],
  [
    'a mapping of numbers',
    { type: 'object', additionalProperties: { type: 'number' } },
    '{ [key: string]: number }',
  ],
  ['an empty mapping', { type: 'object', additionalProperties: false }, '{ [key: string]: never }'],
  ['either', { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] }, 'string | (readonly unknown[])'],
  ['either, one unknown', { oneOf: [{ type: 'string' }, {}] }, 'unknown'],
  [
    'all of several',
    { allOf: [{ type: ['string', 'number'] }, { enum: ['a', 1] }] },
    "(string | number) & ('a' | 1)",
  ],
  [
    'what is defined once',
    { $defs: { 'a/b': { type: 'number' } }, type: 'array', items: { $ref: '#/$defs/a~1b' } },
    'readonly number[]',
  ],
  ['what is defined elsewhere', { $ref: 'https://example.com/schema' }, 'unknown'],
  ['what is defined nowhere', { $ref: '#/$defs/gone' }, 'unknown'],
  ['what is no schema', { type: 'strings' }, 'unknown'],
]

for (const [what, schema, type] of CASES) {
  test(`${what} has the type of the values that its schema accepts`, t => {
    t.is(printSchema(schema), type)
  })
}

test('the type of a recursive schema is finite', t => {
  const schema = { type: 'object', properties: { in: { $ref: '#' } }, additionalProperties: false }
  t.regex(printSchema(schema), /^(\{ in\?: )+unknown( \})+$/)
})

test('any text in a schema yields its TypeScript type and nothing else', t => {
  const nasty = ['*/', "'", '"', '\\', '`${x}`', '\n', '\u2028', '__proto__', '}; evil()', '']
  const schema = {
    type: 'object',
    properties: JSON.parse(
      `{${nasty.map(each => `${JSON.stringify(each)}:{"enum":[${JSON.stringify(each)}]}`).join()}}`,
    ),
  }
  const text = `type Made = ${printSchema(schema)}`
  const file = ts.createSourceFile(resolve('made.ts'), text, ts.ScriptTarget.Latest)
  const [statement, ...more] = file.statements
  t.deepEqual(more, [])
  t.true(statement && ts.isTypeAliasDeclaration(statement) && statement.getEnd() === text.length)
})

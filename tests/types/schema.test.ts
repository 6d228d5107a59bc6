import { resolve } from 'node:path'
import test from 'ava'
import ts from 'typescript'
import { printConfigTypes } from '../../tools/cli/types/types.ts'

// The types that `plinth types` writes for the schemas of configs: TypeScript accepts what the schema accepts.

interface Case {
  readonly schema: unknown
  readonly accepted: readonly string[]
  readonly refused: readonly string[]
}

const closed = { type: 'object', additionalProperties: false }

const CASES: Readonly<Record<string, Case>> = {
  'no-schema': { schema: undefined, accepted: ['1', 'null'], refused: [] },
  anything: { schema: true, accepted: ['1', 'null'], refused: [] },
  nothing: { schema: false, accepted: [], refused: ['1'] },
  text: { schema: { type: 'string', pattern: '^a' }, accepted: ["'b'"], refused: ['1'] },
  integer: { schema: { type: 'integer', minimum: 1 }, accepted: ['1'], refused: ["'1'"] },
  'text-or-null': { schema: { type: ['string', 'null'] }, accepted: ["'a'", 'null'], refused: ['1'] },
  words: {
    schema: { type: 'string', enum: ['a', "it's", 'b\\c'] },
    accepted: ["'a'", '"it\'s"', "'b\\\\c'"],
    refused: ["'c'"],
  },
  values: { schema: { enum: [1, true, null, 'x'] }, accepted: ['1', 'null'], refused: ['2'] },
  constant: { schema: { const: 5 }, accepted: ['5'], refused: ['6'] },
  list: {
    schema: { type: 'array', items: { type: ['string', 'number'] } },
    accepted: ["['a', 1]"],
    refused: ['[true]', "'a'"],
  },
  pair: {
    schema: {
      type: 'array',
      prefixItems: [{ type: 'number' }, { type: 'string' }],
      items: false,
      minItems: 1,
    },
    accepted: ['[1]', "[1, 'a']"],
    refused: ["['a']", "[1, 'a', 2]"],
  },
  'closed-object': {
    schema: {
      ...closed,
      properties: { from: { type: 'integer' }, 'a-b': { type: 'boolean' } },
      required: ['from'],
    },
    accepted: ['{ from: 1 }', "{ from: 1, 'a-b': true }"],
    refused: ['{}', '{ from: 1, form: 2 }', "{ from: '1' }"],
  },
  'open-object': {
    schema: {
      type: 'object',
      properties: { from: { type: 'integer' } },
      required: ['from'],
      patternProperties: { '^x': { type: 'string' } },
    },
    accepted: ["{ from: 1, x: 'a' }"],
    refused: ['{}'],
  },
  numbers: {
    schema: { type: 'object', additionalProperties: { type: 'number' } },
    accepted: ['{ a: 1 }'],
    refused: ["{ a: '1' }"],
  },
  either: {
    schema: { anyOf: [{ type: 'string' }, { type: 'array', items: {} }] },
    accepted: ["'a'", '[1]'],
    refused: ['1'],
  },
  'defined-once': {
    schema: {
      ...closed,
      properties: { at: { $ref: '#/$defs/place' } },
      $defs: { place: { ...closed, properties: { x: { type: 'number' } } } },
    },
    accepted: ['{ at: { x: 1 } }'],
    refused: ["{ at: { x: 'a' } }"],
  },
  recursive: {
    schema: { ...closed, properties: { in: { $ref: '#' }, n: { type: 'number' } } },
    accepted: ['{ in: { in: { n: 1 } } }'],
    refused: ["{ in: { in: { n: 'a' } } }"],
  },
  'keywords-as-names': {
    schema: {
      ...closed,
      title: 'Other',
      properties: {
        prefixItems: { type: 'number' },
        required: { type: 'number' },
        items: { type: 'number' },
      },
    },
    accepted: ['{ prefixItems: 1, required: 1, items: 1 }'],
    refused: ["{ prefixItems: 'a' }", "{ required: 'a' }"],
  },
  'same-name': { schema: { const: 1 }, accepted: ['1'], refused: ['2'] },
  sameName: { schema: { const: 2 }, accepted: ['2'], refused: ['1'] },
}

/** The messages of TypeScript for a module. */
function diagnose(text: string): readonly string[] {
  const file = resolve('made.ts')
  const options = { strict: true, noEmit: true, noLib: false, skipLibCheck: true, types: [] }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = path => path === file || fileExists(path)
  host.getSourceFile = (path, ...rest) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.Latest) : getSourceFile(path, ...rest)
  return ts
    .getPreEmitDiagnostics(ts.createProgram([file], options, host))
    .map(
      ({ messageText, start = 0 }) =>
        `${text.slice(0, start).split('\n').length}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    )
}

test('TypeScript accepts the configs that a schema accepts, and refuses others', async t => {
  const schemas = new Map(Object.entries(CASES).map(([name, { schema }]) => [name, schema as never]))
  const { entries, namespaces } = await printConfigTypes('Policy', schemas)
  const uses = Object.entries(CASES).flatMap(([name, { accepted, refused }]) => [
    ...accepted.map(value => `use<Configs['${name}']>(${value})`),
    ...refused.flatMap(value => ['// @ts-expect-error', `use<Configs['${name}']>(${value})`]),
  ])
  const text = [
    ...namespaces,
    'interface Configs {',
    ...entries,
    '}',
    'declare function use<T>(value: T): void',
    ...uses,
    'export {}',
  ]
  t.deepEqual(diagnose(text.join('\n')), [])
})

test('any text in a schema yields types and nothing else', async t => {
  const nasty = ['*/', "'", '"', '\\', '`${x}`', '\n', '\u2028', '__proto__', '}; evil()', '']
  const properties = JSON.parse(
    `{${nasty.map(each => `${JSON.stringify(each)}:{"description":${JSON.stringify(each)},"enum":[${JSON.stringify(each)}]}`).join()}}`,
  )
  const schema = { type: 'object', title: '*/ evil()', description: '*/ evil()', properties }
  const { namespaces } = await printConfigTypes('Policy', new Map([['nasty', schema as never]]))
  const file = ts.createSourceFile(resolve('made.ts'), namespaces.join('\n'), ts.ScriptTarget.Latest)
  t.deepEqual(
    file.statements.map(statement => ts.isModuleDeclaration(statement)),
    [true],
  )
  t.deepEqual(diagnose(`${namespaces.join('\n')}\nexport {}`), [])
})

test('a schema that names another place is not read from there', async t => {
  const schema = { type: 'object', properties: { a: { $ref: 'file:///etc/passwd' } } }
  await t.throwsAsync(printConfigTypes('Policy', new Map([['far', schema as never]])))
})

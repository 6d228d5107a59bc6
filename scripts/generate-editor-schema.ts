import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { isRecord } from '../core/base/plain-data.ts'
import { grammarOf, type JsonSchema, keyTitle } from '../core/project/grammar/project-schema.ts'

const SCHEMA = new URL('../project.schema.json', import.meta.url)

/** A text with `${NAME}` can be the value of every key: it is replaced before the file is validated. */
const PLACEHOLDER: JsonSchema = {
  description: 'Text with a variable of the environment: `${NAME}` or `${NAME:-fallback}`.',
  type: 'string',
  pattern: '\\$\\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\\}',
  patternErrorMessage: 'a text with a variable such as `${NAME}`',
  'x-editor': true,
}

/** A mapping whose `type` is a variable can be any branch of its union. */
const VARIABLE_TYPE: JsonSchema = {
  description: 'Mapping whose type is a variable of the environment.',
  type: 'object',
  required: ['type'],
  properties: { type: { title: 'Type', $ref: '#/$defs/placeholder' } },
  'x-editor': true,
}

const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })

/** project.schema.json with what only editors need: a title for every key, and variables in place of values. */
export function toEditorSchema(schema: JsonSchema): JsonSchema {
  const grammar = grammarOf(schema)
  const { $defs = {} } = grammar
  const wrapped = withVariables({ ...grammar, $defs: {} }, grammar)
  const defs = Object.entries($defs).map(([name, each]) => [name, withVariables(each, grammar)] as const)
  const own = { placeholder: PLACEHOLDER, variableType: VARIABLE_TYPE }
  return { ...wrapped, $defs: { ...Object.fromEntries(defs), ...own } }
}

function withVariables(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { properties, items, additionalProperties: others, anyOf } = schema
  const inner: JsonSchema = {
    ...schema,
    ...(properties && { properties: titled(properties, root) }),
    ...(items && { items: withVariables(items, root) }),
    ...(isRecord(others) && { additionalProperties: withVariables(others, root) }),
    ...(anyOf && { anyOf: unionOf(anyOf, root) }),
  }
  if (isRestricted(schema)) return inUnion(inner, [ref('placeholder')])
  // Next to `$ref`, editors show the description of the definition instead of the key's own.
  return schema.$ref && schema.description ? inUnion(inner, []) : inner
}

/** The `type` of a mapping stays as it is: editors find the branch of a union by it. */
function titled(properties: Readonly<Record<string, JsonSchema>>, root: JsonSchema) {
  const entries = Object.entries(properties).map(([key, each]) => {
    const { title = keyTitle(key), ...schema } = each
    const isTag = key === 'type' && (each.const ?? each.enum) !== undefined
    return [key, { title, ...(isTag ? schema : withVariables(schema, root)) }] as const
  })
  return Object.fromEntries(entries)
}

function unionOf(branches: readonly JsonSchema[], root: JsonSchema): readonly JsonSchema[] {
  const resolved = branches.map(({ $ref, ...own }) =>
    $ref ? (root.$defs?.[$ref.replace('#/$defs/', '')] ?? own) : own,
  )
  const tagged = resolved.filter(({ type, properties }) => type === 'object' && properties?.type)
  return [
    ...branches.map(branch => (isRestricted(branch) || branch.$ref ? branch : withVariables(branch, root))),
    ...(branches.some(isRestricted) ? [ref('placeholder')] : []),
    ...(tagged.length > 1 ? [ref('variableType')] : []),
  ]
}

const RESTRICTIONS = ['enum', 'const', 'pattern', 'maxLength']

/** A plain value that is not any text. */
function isRestricted({ type, ...schema }: JsonSchema): boolean {
  const types = [type ?? []].flat()
  if (schema.anyOf || schema.$ref || types.includes('object') || types.includes('array')) return false
  if (types.length === 0) return schema.const !== undefined || schema.enum !== undefined
  return !types.includes('string') || RESTRICTIONS.some(keyword => schema[keyword] !== undefined)
}

const OUTER = new Set(['title', 'description', 'default', 'x-short', 'x-derived', 'x-secret', 'x-unit'])

function inUnion(schema: JsonSchema, others: readonly JsonSchema[]): JsonSchema {
  const entries = Object.entries(schema)
  return {
    ...Object.fromEntries(entries.filter(([keyword]) => OUTER.has(keyword))),
    anyOf: [Object.fromEntries(entries.filter(([keyword]) => !OUTER.has(keyword))), ...others],
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const schema = toEditorSchema(JSON.parse(readFileSync(SCHEMA, 'utf8')))
  writeFileSync(SCHEMA, `${JSON.stringify(schema, null, 2)}\n`)
}

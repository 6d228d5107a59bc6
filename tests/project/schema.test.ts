import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import { parse, stringify } from 'yaml'
import { type JsonSchema, readProjectSchema } from '../../core/project/grammar/json-schema-types.ts'
import { generateProjectDocs } from '../../scripts/generate-project-docs.ts'
import { generateProjectTypes } from '../../scripts/generate-project-types.ts'
import { loadGood } from './load.ts'

const schema = readProjectSchema()
const root = join(import.meta.dirname, '../..')

/** Every schema that stands somewhere in a schema, with its keyword path. */
function* within(node: JsonSchema, path: string): Generator<readonly [string, JsonSchema]> {
  yield [path, node]
  for (const group of ['properties', '$defs'] as const) {
    for (const [name, each] of Object.entries(node[group] ?? {}))
      yield* within(each, `${path}/${group}/${name}`)
  }
  for (const keyword of ['items', 'additionalProperties'] as const) {
    const each = node[keyword]
    if (typeof each === 'object') yield* within(each, `${path}/${keyword}`)
  }
  for (const [index, each] of (node.anyOf ?? []).entries()) yield* within(each, `${path}/anyOf/${index}`)
}

const resolve = (node: JsonSchema): JsonSchema =>
  schema.$defs?.[node.$ref?.replace('#/$defs/', '') ?? ''] ?? node

test('the schema is one of draft 2020-12', t => {
  const ajv = new Ajv2020({ strict: false })
  t.true(ajv.validateSchema(schema), ajv.errorsText())
})

test('the schema is closed: a mapping of known keys takes no others', t => {
  const open = [...within(schema, '#')].filter(
    ([, node]) => node.properties && node.additionalProperties !== false,
  )
  t.deepEqual(
    open.map(([path]) => path),
    [],
  )
})

test('every key is explained to whoever edits the file', t => {
  const silent = [...within(schema, '#')].flatMap(([path, node]) =>
    Object.entries(node.properties ?? {})
      .filter(([, property]) => !resolve(property).description)
      .map(([name]) => `${path}/${name}`),
  )
  t.deepEqual(silent, [])
})

test('the defaults that editors show are those that hold', async t => {
  const said = stringify({ name: 'A', ...defaultsOf(schema) })
  const [plain, written] = [await loadGood('name: A\n'), await loadGood(said)]
  t.deepEqual(written.settings, plain.settings)
  t.regex(said, /jwtExpiresIn: 30d/)
})

/** Every default of the sections, as if written in the file. */
function defaultsOf(node: JsonSchema): Record<string, unknown> {
  const entries = Object.entries(node.properties ?? {}).flatMap(([name, property]): [string, unknown][] => {
    const meant = resolve(property)
    if (meant.default !== undefined) return [[name, meant.default]]
    return meant.properties ? [[name, defaultsOf(meant)]] : []
  })
  return Object.fromEntries(entries)
}

test('the types and the page about the file are those of the schema (npm run generate)', async t => {
  t.is(readFileSync(join(root, 'core/project/project-types.ts'), 'utf8'), await generateProjectTypes())
  t.is(readFileSync(join(root, 'docs/project-file.md'), 'utf8'), await generateProjectDocs())
})

test('a file with every key of the grammar loads', async t => {
  const folder = join(import.meta.dirname, 'good/every-key')
  const files = Object.fromEntries(
    ['project.yaml', 'types/roles.yaml', 'types/types.yaml'].map(name => [
      name,
      readFileSync(join(folder, name), 'utf8'),
    ]),
  )
  const { settings } = await loadGood(files, { KEY: 'k'.repeat(32), JWT_SECRET: 's'.repeat(32) })
  t.is(settings.server.metrics.port, null)
  t.is(settings.auth.mail.confirmUrl, null)
  const used = new Set<JsonSchema>()
  for (const text of Object.values(files)) markUsed(schema, parse(text), used)
  const unused = [...within(schema, '#')].flatMap(([path, node]) =>
    Object.entries(node.properties ?? {})
      .filter(([name]) => !usedIn(node, name, used))
      .map(([name]) => `${path}/${name}`),
  )
  t.deepEqual(unused, [])
})

/** Marks each property of a mapping's schema that the value has, by a schema object of its own. */
function markUsed(node: JsonSchema, value: unknown, used: Set<JsonSchema>): void {
  const meant = resolve(node)
  for (const branch of meant.anyOf ?? []) if (isMeant(resolve(branch), value)) markUsed(branch, value, used)
  if (Array.isArray(value)) for (const item of value) markUsed(meant.items ?? {}, item, used)
  else if (isMapping(value)) for (const entry of Object.entries(value)) markKey(meant, entry, used)
}

function markKey(node: JsonSchema, [name, value]: readonly [string, unknown], used: Set<JsonSchema>): void {
  const property = node.properties?.[name]
  if (property) used.add(marks(node, name))
  const next = property ?? node.additionalProperties
  if (typeof next === 'object') markUsed(next, value, used)
}

const isMapping = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const known = new Map<JsonSchema, Map<string, JsonSchema>>()

function marks(node: JsonSchema, name: string): JsonSchema {
  const names = known.get(node) ?? new Map<string, JsonSchema>()
  known.set(node, names)
  const mark = names.get(name) ?? {}
  names.set(name, mark)
  return mark
}

const usedIn = (node: JsonSchema, name: string, used: Set<JsonSchema>): boolean => used.has(marks(node, name))

/** By the kind of the value and, of several mappings, by their `type`. */
function isMeant(branch: JsonSchema, value: unknown): boolean {
  if (branch.type !== 'object') return !isMapping(value)
  const tag = branch.properties?.type
  if (!isMapping(value) || !tag || !('type' in value)) return isMapping(value)
  return tag.const === value.type || Boolean(tag.enum?.includes(value.type))
}

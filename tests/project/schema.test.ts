import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import test from 'ava'
import { parse } from 'yaml'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { openGrammar } from '../../core/project/grammar/grammar.ts'
import { type JsonSchema, readProjectSchema } from '../../core/project/grammar/project-schema.ts'
import { checkTree, mergeTrees } from '../../core/project/load-project.ts'
import { readProjectFiles } from '../../core/project/read-files.ts'
import { isProjectSecret } from '../../core/project/secret-ranges.ts'
import type { YamlNode } from '../../core/project/yaml/yaml-tree.ts'
import { generateProjectDocs } from '../../scripts/generate-project-docs.ts'
import { generateSettingsTypes } from '../../scripts/generate-settings-types.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { loadGood } from './load.ts'

const schema = readProjectSchema()
const root = join(import.meta.dirname, '../..')

/** Every schema within a schema, with its keyword path. */
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

test('the schema is valid in draft 2020-12', t => {
  const ajv = new Ajv2020({ strict: false })
  t.true(ajv.validateSchema(schema), ajv.errorsText())
})

test('the schema is closed: a mapping of known keys allows no others', t => {
  const open = [...within(schema, '#')].filter(
    ([, node]) => node.properties && node.additionalProperties !== false && !isNamed(node),
  )
  t.deepEqual(
    open.map(([path]) => path),
    [],
  )
})

/** Known keys with defaults, and other names. */
const isNamed = ({ additionalProperties }: JsonSchema): boolean => typeof additionalProperties === 'object'

test('every key has a description for editors', t => {
  const silent = [...within(schema, '#')].flatMap(([path, node]) =>
    Object.entries(node.properties ?? {})
      .filter(([, property]) => !resolve(property).description)
      .map(([name]) => `${path}/${name}`),
  )
  t.deepEqual(silent, [])
})

test('every default of the schema reaches the settings, and a changed default changes them', async t => {
  const trees = [await treeOf('name: A\n'), await treeOf(EVERY_HOLDER)]
  const { validate } = await openGrammar()
  const settingsOf = (changed: JsonSchema) =>
    trees.map(tree => checkTree(tree, true, { schema: changed, validate }).settings)
  const usual = settingsOf(schema)
  t.false(usual.includes(undefined))
  const defaults = [...within(schema, '#')].filter(([, node]) => node.default !== undefined)
  t.true(defaults.length > 90)
  const ignored = defaults.filter(([path]) => isDeepStrictEqual(settingsOf(withOtherDefault(path)), usual))
  t.deepEqual(
    ignored.map(([path]) => path),
    [],
  )
})

/** A file that has each mapping of the schema with as few keys as possible. */
const EVERY_HOLDER = `name: A
i18n: { locales: [en, fr] }
server: { rateLimit: { api: {}, auth: {}, account: {} } }
auth:
  issuers: { login: { issuer: https://login.example, audience: a } }
  providers: { login: { issuer: https://login.example, clientId: a, redirectUrls: [https://www.example/] } }
graphql:
  config: { limits: {} }
  shadowCRUD: { thing: { fields: { title: {} } }, other: {} }
middlewares: [{ name: log }]
components: { a.b: {} }
contentTypes:
  thing:
    attributes:
      title: string
      text: richtext
      secret: password
      slug: uid
      kind: { type: enumeration, enum: [a] }
      day: date
      hour: time
      moment: datetime
      count: integer
      big: biginteger
      share: float
      is: boolean
      any: json
      list: array
      one: { type: relation, relation: oneToOne, target: thing }
      picture: media
      part: { type: component, component: a.b }
      zone: { type: dynamiczone, components: [a.b] }
roles: { editor: {} }
apiTokens: { a: { type: custom, secret: s, permissions: {} } }
routesConfig: { thing.find: { policies: [{ name: p }] }, thing.findOne: {} }
`

async function treeOf(text: string): Promise<YamlNode> {
  const folder = temporaryFolder()
  folder.write('project.yaml', text)
  const { trees, faults } = await readProjectFiles(join(folder.path, 'project.yaml'), {})
  folder.remove()
  const { tree } = mergeTrees(trees)
  if (tree === undefined || faults.length > 0) throw new Error(faults.map(printDiagnostic).join('\n'))
  return tree
}

function withOtherDefault(path: string): JsonSchema {
  const changed = structuredClone(schema)
  const found = [...within(changed, '#')].find(([at]) => at === path)
  const other = found?.[1].enum?.find(word => word !== found[1].default) ?? otherThan(found?.[1].default)
  if (found) Object.assign(found[1], { default: other })
  return changed
}

/** Another value of the same kind; the first number of a text is raised. */
function otherThan(value: unknown): unknown {
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return value + 1
  if (typeof value === 'string')
    return /\d/.test(value) ? value.replace(/\d+/, number => String(Number(number) + 1)) : `${value}x`
  if (Array.isArray(value)) return value.length > 0 ? [] : ['x']
  if (value === null) return 'x'
  return {
    ...Object.fromEntries(Object.entries(value ?? {}).map(([key, each]) => [key, otherThan(each)])),
    x: {},
  }
}

test('a key without a default derives its value from other keys', t => {
  const derived = [...within(schema, '#')].filter(([, node]) => node['x-derived'])
  t.deepEqual(
    derived.map(([path]) => path),
    [
      '#/properties/server/properties/url',
      '#/properties/graphql/properties/endpoints',
      '#/$defs/apiRateLimit/properties/tokenMax',
      '#/$defs/locale/properties/name',
      '#/$defs/role/properties/name',
    ],
  )
})

test('exactly the keys with secrets are never printed', t => {
  const secrets = [...within(schema, '#')].filter(([, node]) => node['x-secret']).map(([path]) => path)
  t.deepEqual(secrets, [
    '#/properties/database/properties/url',
    '#/properties/database/properties/replicas',
    '#/properties/auth/properties/jwtSecret',
    '#/properties/auth/properties/jwtPreviousSecrets',
    '#/properties/auth/properties/mail/properties/url',
    '#/properties/upload/properties/providerOptions',
    '#/$defs/plainToken/properties/secret',
    '#/$defs/customToken/properties/secret',
    '#/$defs/provider/properties/clientSecret',
  ])
  for (const path of [
    'database.url',
    'database.replicas.0',
    'auth.jwtSecret',
    'auth.jwtPreviousSecrets.0',
    'auth.mail.url',
    'apiTokens.a.secret',
  ])
    t.true(isProjectSecret(path.split('.')), path)
  for (const path of [
    'database.indexes',
    'database.limits.time',
    'auth.mail.from',
    'apiTokens.a.permissions.b',
  ])
    t.false(isProjectSecret(path.split('.')), path)
})

test('the description of a duration or size names the unit of a plain number', t => {
  const amounts = [...within(schema, '#')].filter(([, node]) => node.$ref && resolve(node)['x-unit'])
  t.true(amounts.length > 15)
  for (const [path, node] of amounts)
    t.true(node.description?.includes(`A plain number is in ${resolve(node)['x-unit']}.`), path)
})

test('the generated types and docs/project-file.md are current (npm run generate)', async t => {
  t.is(readFileSync(join(root, 'core/project/settings/settings.ts'), 'utf8'), await generateSettingsTypes())
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

import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import { isRecord } from '../core/base/plain-data.ts'
import { type JsonSchema, readProjectSchema, resolveRef } from '../core/project/grammar/project-schema.ts'

const INTRO = new URL('./project-docs-intro.md', import.meta.url)
const DOCS = new URL('../docs/project-file.md', import.meta.url)

/** The text of docs/project-file.md: the rules of the file, then one table for each section of the schema. */
export async function generateProjectDocs(): Promise<string> {
  const schema = readProjectSchema()
  const intro = await readFile(INTRO, 'utf8')
  return `${intro.trim()}\n\n${sectionsOf(schema).join('\n\n')}\n`
}

interface Row {
  readonly key: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/** One chapter for each section; the keys that are no sections share the first chapter. */
function sectionsOf(root: JsonSchema): readonly string[] {
  const rows = rowsOf(root, '', root)
  const isSection = ({ schema }: Row) => schema.type === 'object'
  const plain = rows.filter(row => !row.key.includes('.') && !isSection(row))
  const sections = rows.filter(row => !row.key.includes('.') && isSection(row))
  return [
    `## Top-level keys\n\n${table(plain, root)}`,
    ...sections.map(section => chapter(section, root)),
    attributeChapter(root),
  ]
}

function chapter({ key, schema }: Row, root: JsonSchema): string {
  const title = `## ${key}\n\n${schema.description ?? ''}`
  const named = namedIn(schema, root)
  if (named) return `${title}\n\n${table(rowsOf(named, `${key}.<name>.`, root), root)}${below(key, root)}`
  return `${title}\n\n${table(rowsOf(schema, `${key}.`, root), root)}${below(key, root)}`
}

/** Additional tables of a section, for mappings that its own table only names. */
const BELOW: Readonly<Record<string, readonly (readonly [title: string, ...defs: string[]])[]>> = {
  server: [
    ['`server.rateLimit.api`', 'apiRateLimit'],
    ['`server.rateLimit.auth`', 'rateLimit'],
    ['`server.rateLimit.account`', 'accountRateLimit'],
  ],
  i18n: [['Locales as mappings', 'locale']],
  graphql: [['`graphql.shadowCRUD.<content-type>`', 'shadowCrud']],
  contentTypes: [['`contentTypes.<name>.console.groups`', 'consoleGroup']],
  roles: [['Permissions with conditions', 'permissionOptions']],
  routesConfig: [
    ['Policies with a configuration', 'policyUse'],
    ['Middlewares with options', 'middlewareUse'],
  ],
}

function below(key: string, root: JsonSchema): string {
  const tables = (BELOW[key] ?? []).map(([title, ...defs]) => {
    const rows = defs.flatMap(name => rowsOf(root.$defs?.[name] ?? {}, '', root))
    return `\n\n### ${title}\n\n${table(rows, root)}`
  })
  return tables.join('')
}

function namedIn(schema: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const { additionalProperties } = schema
  if (typeof additionalProperties !== 'object') return undefined
  const meant = resolveRef(additionalProperties, root)
  return meant.properties || meant.anyOf ? meant : undefined
}

/** One row for each key; the keys of a nested mapping follow. The branches of a union share their rows. */
function rowsOf(schema: JsonSchema, prefix: string, root: JsonSchema): readonly Row[] {
  const branches = (schema.anyOf ?? [schema]).map(branch => resolveRef(branch, root))
  const rows = branches.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, property]) => {
      const meant = { ...resolveRef(property, root) }
      const row = { key: `${prefix}${name}`, schema: meant, isRequired: required.includes(name) }
      const isInner = meant.properties !== undefined && prefix !== ''
      return isInner ? rowsOf(meant, `${row.key}.`, root) : [row]
    }),
  )
  const keys = Array.from(new Set(rows.map(row => row.key)))
  return keys.map(key =>
    mergeRows(
      rows.filter(row => row.key === key),
      branches.length,
    ),
  )
}

/** The row of a key of several branches: it has the words of all, and is required if every branch requires it. */
function mergeRows(rows: readonly Row[], branches: number): Row {
  const [first = { key: '', schema: {}, isRequired: false }] = rows
  const words = rows.flatMap(
    ({ schema }) => schema.enum ?? (schema.const === undefined ? [] : [schema.const]),
  )
  const { const: _, ...schema } = first.schema
  const isRequired = rows.length === branches && rows.every(row => row.isRequired)
  return {
    key: first.key,
    isRequired,
    schema: rows.length > 1 && words.length > 0 ? { ...schema, enum: words } : first.schema,
  }
}

function attributeChapter(root: JsonSchema): string {
  const branches = (root.$defs?.attribute?.anyOf ?? [])
    .map(branch => resolveRef(branch, root))
    .filter(branch => branch.type === 'object')
  const common = ['type', 'renamedFrom', 'required', 'private', 'writable', 'localized']
  const first = rowsOf(branches[0] ?? {}, '', root).filter(
    row => common.includes(row.key) && row.key !== 'type',
  )
  const tables = branches.map(branch => {
    const types = branch.properties?.type?.enum ?? [branch.properties?.type?.const]
    const own = rowsOf(branch, '', root).filter(row => !common.includes(row.key))
    const rows = own.length === 0 ? '' : `\n\n${table(own, root)}`
    return `### ${types.map(code).join(', ')}\n\n${branch.description}${rows}`
  })
  const intro =
    '`excerpt: text` is the short form of `excerpt: { type: text }`. All attributes have these keys:'
  return [`## Attributes\n\n${intro}\n\n${table(first, root)}`, ...tables].join('\n\n')
}

const table = (rows: readonly Row[], root: JsonSchema): string =>
  ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows.map(row => line(row, root))].join('\n')

function line({ key, schema, isRequired }: Row, root: JsonSchema): string {
  const fallback = schema.default === undefined ? '' : code(toYaml(defaultOf(schema, root)))
  const cells = [
    code(key),
    typeOf(schema, root),
    isRequired ? '**required**' : fallback,
    schema.description ?? '',
  ]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** A default that is a mapping, with the defaults of its keys. */
function defaultOf({ default: fallback, anyOf = [] }: JsonSchema, root: JsonSchema): unknown {
  if (!isRecord(fallback)) return fallback
  const { properties = {} } = anyOf.map(branch => resolveRef(branch, root)).find(isMapping) ?? {}
  const keys = Object.entries(properties).filter(([, key]) => key.default !== undefined)
  return { ...Object.fromEntries(keys.map(([name, key]) => [name, key.default])), ...fallback }
}

const isMapping = ({ type }: JsonSchema): boolean => type === 'object'

const code = (text: unknown): string => `\`${text}\``

/** YAML in flow style. */
function toYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, each]) => `${key}: ${toYaml(each)}`)
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
  }
  return typeof value === 'string' && !/^[\w/.]/.test(value) ? JSON.stringify(value) : String(value)
}

/** Definitions with their own word. */
const NAMED: Readonly<Record<string, string>> = {
  durationText: 'duration',
  sizeText: 'size',
  localeCode: 'locale code',
  name: 'name',
  permissions: 'permissions',
  attributes: 'attributes by name',
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'whole number',
  number: 'number',
  boolean: 'true or false',
  object: 'mapping',
  array: 'list',
  null: 'null',
}

function typeOf(schema: JsonSchema, root: JsonSchema): string {
  if (schema.$ref) return NAMED[refName(schema)] ?? typeOf(resolveRef(schema, root), root)
  if (schema.anyOf) return unionOf(schema.anyOf.map(branch => typeOf(branch, root)))
  if (schema.const !== undefined) return code(JSON.stringify(schema.const).replace(/^"(\w.*)"$/, '$1'))
  if (schema.enum) return schema.enum.map(code).join(' | ')
  if (schema.items) return `list of ${typeOf(schema.items, root)}`
  const types = [schema.type ?? 'anything'].flat()
  return unionOf(types.map(type => WORDS[type] ?? type))
}

/** The rules of the file explain plain numbers of durations and sizes, so the table omits them. */
function unionOf(words: readonly string[]): string {
  const isMeasure = words.includes('duration') || words.includes('size')
  const shown = isMeasure ? words.filter(word => word === 'duration' || word === 'size') : words
  return Array.from(new Set(shown)).join(', or ')
}

const refName = ({ $ref = '' }: JsonSchema): string => $ref.replace('#/$defs/', '')

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await writeFile(DOCS, await generateProjectDocs())

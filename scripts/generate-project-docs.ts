import { readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import type { JsonSchema } from '../core/project/grammar/json-schema-types.ts'

const SCHEMA = new URL('../project.schema.json', import.meta.url)
const INTRO = new URL('./project-docs-intro.md', import.meta.url)
const DOCS = new URL('../docs/project-file.md', import.meta.url)

/** The text of docs/project-file.md: the rules of the file, then a table for each section of the schema. */
export async function generateProjectDocs(): Promise<string> {
  const schema: JsonSchema = JSON.parse(await readFile(SCHEMA, 'utf8'))
  const intro = await readFile(INTRO, 'utf8')
  return `${intro.trim()}\n\n${sectionsOf(schema).join('\n\n')}\n`
}

interface Row {
  readonly key: string
  readonly schema: JsonSchema
  readonly isRequired: boolean
}

/** A chapter for each top-level key; the single values share the first. */
function sectionsOf(root: JsonSchema): readonly string[] {
  const rows = rowsOf(root, '', root)
  const isSection = ({ schema }: Row) => schema.type === 'object'
  const plain = rows.filter(row => !row.key.includes('.') && !isSection(row))
  const sections = rows.filter(row => !row.key.includes('.') && isSection(row))
  return [
    `## Keys at the top\n\n${table(plain, root)}`,
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

/** Tables of what a section's own table only names. */
const BELOW: Readonly<Record<string, readonly (readonly [title: string, ...defs: string[]])[]>> = {
  server: [['A rate limit', 'rateLimit']],
  i18n: [['A locale, written out', 'locale']],
  graphql: [['`graphql.shadowCRUD.<content-type>`', 'shadowCrud']],
  roles: [['A permission in part', 'permissionTerms']],
  routesConfig: [
    ['A policy with its configuration', 'policyUse'],
    ['A middleware with options', 'middlewareUse'],
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
  const meant = resolve(additionalProperties, root)
  return meant.properties || meant.anyOf ? meant : undefined
}

/** A row for each key, those of a mapping inside a mapping after it. A union's branches are told together. */
function rowsOf(schema: JsonSchema, prefix: string, root: JsonSchema): readonly Row[] {
  const branches = (schema.anyOf ?? [schema]).map(branch => resolve(branch, root))
  const rows = branches.flatMap(({ properties = {}, required = [] }) =>
    Object.entries(properties).flatMap(([name, property]) => {
      const meant = { ...resolve(property, root) }
      const row = { key: `${prefix}${name}`, schema: meant, isRequired: required.includes(name) }
      const isInner = meant.properties !== undefined && prefix !== ''
      return isInner ? rowsOf(meant, `${row.key}.`, root) : [row]
    }),
  )
  const keys = Array.from(new Set(rows.map(row => row.key)))
  return keys.map(key =>
    together(
      rows.filter(row => row.key === key),
      branches.length,
    ),
  )
}

/** The same key in several branches: all their words; required where every branch has it so. */
function together(rows: readonly Row[], branches: number): Row {
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
    .map(branch => resolve(branch, root))
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
  const intro = '`excerpt: text` is short for `excerpt: { type: text }`. Every attribute may have these keys:'
  return [`## Attributes\n\n${intro}\n\n${table(first, root)}`, ...tables].join('\n\n')
}

const table = (rows: readonly Row[], root: JsonSchema): string =>
  ['| Key | Type | Default | Meaning |', '|---|---|---|---|', ...rows.map(row => line(row, root))].join('\n')

function line({ key, schema, isRequired }: Row, root: JsonSchema): string {
  const fallback = schema.default === undefined ? '' : code(toYaml(schema.default))
  const cells = [
    code(key),
    typeOf(schema, root),
    isRequired ? '**required**' : fallback,
    schema.description ?? '',
  ]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

const code = (text: unknown): string => `\`${text}\``

/** As YAML writes it in flow style. */
function toYaml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toYaml).join(', ')}]`
  if (value !== null && typeof value === 'object') {
    const entries = Object.entries(value).map(([key, each]) => `${key}: ${toYaml(each)}`)
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
  }
  return typeof value === 'string' && !/^[\w/.]/.test(value) ? JSON.stringify(value) : String(value)
}

/** Types that have a word of their own. */
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
  if (schema.$ref) return NAMED[refName(schema)] ?? typeOf(resolve(schema, root), root)
  if (schema.anyOf) return unionOf(schema.anyOf.map(branch => typeOf(branch, root)))
  if (schema.const !== undefined) return code(JSON.stringify(schema.const).replace(/^"(\w.*)"$/, '$1'))
  if (schema.enum) return schema.enum.map(code).join(' | ')
  if (schema.items) return `list of ${typeOf(schema.items, root)}`
  const types = [schema.type ?? 'anything'].flat()
  return unionOf(types.map(type => WORDS[type] ?? type))
}

/** A bare number beside a duration or a size is said once, in the rules of the file. */
function unionOf(words: readonly string[]): string {
  const isMeasure = words.includes('duration') || words.includes('size')
  const told = isMeasure ? words.filter(word => word === 'duration' || word === 'size') : words
  return Array.from(new Set(told)).join(', or ')
}

const refName = ({ $ref = '' }: JsonSchema): string => $ref.replace('#/$defs/', '')

const resolve = (schema: JsonSchema, root: JsonSchema): JsonSchema => root.$defs?.[refName(schema)] ?? schema

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await writeFile(DOCS, await generateProjectDocs())

import { readFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { projectStorage } from '../../../core/access/compile/compile-access.ts'
import { makeFolder } from '../../../core/base/make-folder.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import { ACCOUNT_MAILS } from '../../../core/mail/account-mails.ts'
import { loadTemplates, type MailTemplates } from '../../../core/mail/load-templates.ts'
import { variablesOf } from '../../../core/mail/template.ts'
import { compileModel } from '../../../core/model/compile-model.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../../../core/model/model.ts'
import { toPascalCase } from '../../../core/model/names.ts'
import { rowModelNames, rowNames } from '../../../core/model/row-names.ts'
import { type Storage, writtenColumns } from '../../../core/model/storage.ts'
import { findModules } from '../../../core/plugins/load/find-modules.ts'
import { loadModules } from '../../../core/plugins/load/load-plugins.ts'
import type { PluginKind, PluginSchema } from '../../../core/plugins/plugin-module.ts'
import type { Environment } from '../../../core/project/environment.ts'
import { loadProject } from '../../../core/project/load-project.ts'
import { writeOutputFile } from '../../transfer/partial-path.ts'
import type { CommandContext } from '../command-options.ts'
import {
  isRequiredOnCreate,
  printColumnType,
  printEnd,
  printInput,
  printPropertyName,
  printValue,
  quote,
} from './types-schema.ts'

export interface TypesRun extends Omit<CommandContext, 'paint'> {
  /** The output file; default: .plinth/types.d.ts of the project. */
  readonly out?: string
  /** Writes nothing; compares the existing file with what would be written. */
  readonly check: boolean
}

/** `plinth types`: generates TypeScript types. Returns the exit code: 0, or 1 for a fault or if `check` finds a difference. */
export async function runTypes(options: TypesRun): Promise<0 | 1> {
  const made = await makeTypes(options.folder, options.env)
  if (!made.ok) {
    options.writeError(
      `${made.reasons.map(fromWorkingDirectory(options.folder)).map(printDiagnostic).join('\n\n')}\n`,
    )
    return 1
  }
  const { root, text } = made.value
  const file = options.out ?? join(root, '.plinth', 'types.d.ts')
  return writeGenerated({ ...options, file, text, command: 'plinth types' })
}

export interface GeneratedFile extends Pick<TypesRun, 'check' | 'write' | 'writeError'> {
  readonly file: string
  readonly text: string
  /** The command that writes the file. */
  readonly command: string
}

/** Writes a generated file if it changed; with `check` only compares. Returns the exit code. */
export async function writeGenerated({
  file,
  text,
  command,
  check,
  write,
  writeError,
}: GeneratedFile): Promise<0 | 1> {
  const shown = relative(process.cwd(), file)
  const current = (await readOrNothing(file)) === text
  if (check && !current) writeError(`${shown} is not what project.yaml says: run \`${command}\`\n`)
  if (check) return current ? 0 : 1
  await makeFolder(dirname(file))
  if (!current) await writeOutputFile(file, text)
  write(`${current ? 'Nothing new for' : 'Wrote'} ${shown}\n`)
  return 0
}

interface Types {
  readonly root: string
  readonly text: string
}

async function makeTypes(folder: string, env: Environment): Promise<Result<Types, Diagnostic>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return project
  const model = compileModel(project.value)
  if (!model.ok) return model
  const { root } = project.value
  const found = await findModules(root)
  if (found.faults.length > 0) return failed(...found.faults)
  // A plugin that fails to load still has a name: types help to repair it.
  const { policies, middlewares } = (await loadModules(found.modules, root)).plugins
  const mails = await loadTemplates(project.value)
  if (!mails.ok) return mails
  const named = (kind: PluginKind, schemaOf: (name: string) => PluginSchema | undefined) =>
    new Map(found.modules.filter(each => each.kind === kind).map(({ name }) => [name, schemaOf(name)]))
  const options = {
    model: model.value,
    storage: projectStorage(project.value, model.value),
    policies: named('policy', name => policies.get(name)?.configSchema),
    middlewares: named('middleware', name => middlewares.get(name)?.optionsSchema),
    mails: mails.value,
  }
  return ok({ root, text: await printTypes(options) })
}

async function readOrNothing(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
}

/** The input of the generated types: the project's declarations and its plugins. */
interface TypesOptions {
  readonly model: Model
  readonly storage: Storage
  readonly policies: ConfigSchemas
  readonly middlewares: ConfigSchemas
  readonly mails: MailTemplates
}

const head = (
  mails: readonly string[],
): string => `// Written by \`plinth types\` from project.yaml: to change it, change that and run it again.
import type { Link, LinkInput,${mails.length > 0 ? ' MailValue,' : ''} Morph, Part, PartInput, Zone, ZoneInput } from 'plinth'
`

/** The text of .plinth/types.d.ts. */
async function printTypes({ model, storage, policies, middlewares, mails }: TypesOptions): Promise<string> {
  const types = [...model.contentTypes.values()].flatMap(type => printType(type))
  const components = [...model.components.values()].flatMap(component => printComponent(component))
  const mailTypes = printMails(mails)
  const configs = await printConfigTypes('Policy', policies)
  const options = await printConfigTypes('Middleware', middlewares)
  const body = [
    ...typeBlock('interface ContentTypes', types),
    ...typeBlock('interface Components', components),
    ...typeBlock('interface ModelRows', printRows(model, storage)),
    ...configs.namespaces,
    ...options.namespaces,
    ...typeBlock('interface Policies', configs.entries),
    ...typeBlock('interface Middlewares', options.entries),
    ...typeBlock('interface Mails', mailTypes),
  ]
  return [head(mailTypes), ...typeBlock("declare module 'plinth'", body), ''].join('\n')
}

/** The variables of all locales of a mail. Account mails are sent by the server alone. */
function printMails({ files }: MailTemplates): readonly string[] {
  const isAccountMail = (name: string) => ACCOUNT_MAILS.some(each => each === name)
  return [...files].flatMap(([name, byLocale]) => {
    const paths = [...byLocale.values()].flatMap(variablesOf).map(variable => variable.split('.'))
    return isAccountMail(name) ? [] : typeBlock(`${quote(name)}:`, printVariables(paths))
  })
}

function printVariables(paths: readonly (readonly string[])[]): readonly string[] {
  const names = [...new Set(paths.map(([name = '']) => name))].toSorted()
  return names.flatMap(name => {
    const inner = paths.filter(([first, ...rest]) => first === name && rest.length > 0)
    if (inner.length === 0) return [`${printPropertyName(name)}: MailValue`]
    const head = `${printPropertyName(name)}:`
    return typeBlock(head, printVariables(inner.map(([, ...rest]) => rest)))
  })
}

/** Selects the attributes that a description contains. */
export interface AttributeSelection {
  isRead(attribute: Attribute): boolean
  isWritten(attribute: Attribute, holder: Holder): boolean
}

/** Code of the server sees all attributes. */
const EVERYTHING: AttributeSelection = { isRead: () => true, isWritten: () => true }

export function printType(type: ContentType, selection = EVERYTHING): readonly string[] {
  const required = attributesOf(type).filter(
    attribute => isRequiredOnCreate(attribute, type) && selection.isWritten(attribute, type),
  )
  const names = required.map(({ name }) => quote(name)).join(' | ')
  return typeBlock(`${quote(type.uid)}:`, [
    `key: ${quote(type.key)}`,
    `kind: ${quote(type.kind)}`,
    ...printHolder(type, selection),
    `required: ${names === '' ? 'never' : names}`,
  ])
}

/** The rows of Sequelize models: a field for each column. */
function printRows(model: Model, storage: Storage): readonly string[] {
  const holders: readonly Holder[] = [...model.contentTypes.values(), ...model.components.values()]
  const tables = new Map(storage.tables.map(table => [table.name, table]))
  return Array.from(rowModelNames(holders), ([holder, name]) => {
    const { name: tableName } =
      holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)
    const table = tables.get(tableName)
    if (!table) throw new TypeError(`no table ${tableName}`)
    const names = rowNames(table, holder, storage)
    const fields = writtenColumns(table.columns).map(
      column => `${printPropertyName(names.get(column.name) ?? column.name)}: ${printColumnType(column)}`,
    )
    return typeBlock(`${printPropertyName(name)}:`, fields)
  }).flat()
}

export const printComponent = (component: Component, selection = EVERYTHING): readonly string[] =>
  typeBlock(`${quote(component.uid)}:`, printHolder(component, selection))

function printHolder(holder: Holder, { isRead, isWritten }: AttributeSelection): readonly string[] {
  const read = attributesOf(holder).filter(isRead)
  const written = attributesOf(holder).filter(attribute => isWritten(attribute, holder))
  return [
    ...typeBlock('fields:', printEach(holder, read, { print: printValue, mark: '' })),
    ...typeBlock('populate:', printEach(holder, read, { print: printEnd, mark: '' })),
    ...typeBlock('input:', printEach(holder, written, { print: printInput, mark: '?' })),
  ]
}

interface AttributePrinter {
  print(attribute: Attribute, holder: Holder): string | null
  readonly mark: '' | '?'
}

const printEach = (
  holder: Holder,
  attributes: readonly Attribute[],
  { print, mark }: AttributePrinter,
): readonly string[] =>
  attributes.flatMap(attribute => {
    const type = print(attribute, holder)
    return type === null ? [] : [...noteOf(attribute), `${printPropertyName(attribute.name)}${mark}: ${type}`]
  })

const attributesOf = ({ attributes }: Holder): readonly Attribute[] => [...attributes.values()]

const noteOf = (attribute: Attribute): readonly string[] =>
  attribute.private ? ['/** Private: never in responses. */'] : []

export function typeBlock(head: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [head.endsWith(':') ? `${head} object` : `${head} {}`]
  return [`${head} {`, ...lines.map(line => `  ${line}`), '}']
}

/** The schema of a plugin's configuration by its name; undefined if it has none. */
type ConfigSchemas = ReadonlyMap<string, PluginSchema | undefined>

interface ConfigTypes {
  /** `'has-role': HasRolePolicy.Config` */
  readonly entries: readonly string[]
  /** A namespace for each schema, so that names in different schemas do not collide. */
  readonly namespaces: readonly string[]
}

/** The TypeScript types of configurations, by json-schema-to-typescript. `kind` ends the names: `Policy`. */
export async function printConfigTypes(kind: string, schemas: ConfigSchemas): Promise<ConfigTypes> {
  const entries: string[] = []
  const namespaces: string[] = []
  const taken = new Set<string>()
  for (const [name, schema] of schemas) {
    const type = simpleType(schema)
    if (type !== null) {
      entries.push(`${quote(name)}: ${type}`)
      continue
    }
    const namespace = freeName(`${toPascalCase(name)}${kind}`, taken)
    entries.push(`${quote(name)}: ${namespace}.Config`)
    namespaces.push(`namespace ${namespace} {`, ...indented(await compileSchema(schema)), '}')
  }
  return { entries, namespaces }
}

/** The type of a schema that needs no declaration; null: it needs one. */
function simpleType(schema: unknown): string | null {
  if (schema === false) return 'never'
  return isMapping(schema) ? null : 'unknown'
}

function freeName(wanted: string, taken: Set<string>): string {
  const names = [wanted, ...Array.from({ length: taken.size + 1 }, (_, at) => `${wanted}${at + 2}`)]
  const name = names.find(each => !taken.has(each)) ?? wanted
  taken.add(name)
  return name
}

/** `Config` and the types that it refers to. Conditions that TypeScript cannot express are checked when the project is loaded. */
async function compileSchema(schema: unknown): Promise<string> {
  const { compile } = await import('json-schema-to-typescript')
  const { title: _, ...root } = asDraft7(schema) as Schema
  return compile(root, 'Config', {
    bannerComment: '',
    format: false,
    // Nothing is read from files or addresses that a schema names.
    $refOptions: { resolve: { external: false } },
  })
}

type Schema = Readonly<Record<string, unknown>>

/** The keywords of draft 2020-12 as those that the compiler knows. */
function asDraft7(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(asDraft7)
  if (!isMapping(schema)) return schema
  const { prefixItems, items, patternProperties, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, convertKeyword(key, value)]),
  )
  return {
    ...rest,
    ...(prefixItems === undefined
      ? items !== undefined && { items }
      : { items: prefixItems, additionalItems: items ?? true }),
    // An index signature would have to cover the types of the named properties.
    ...(patternProperties !== undefined &&
      (isMapping(rest.properties) ? { additionalProperties: true } : { patternProperties })),
  }
}

function convertKeyword(key: string, value: unknown): unknown {
  if (VALUES.has(key)) return value
  if (!SCHEMAS_BY_NAME.has(key) || !isMapping(value)) return asDraft7(value)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, asDraft7(each)]))
}

const SCHEMAS_BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Keywords with values instead of schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

const indented = (text: string): readonly string[] =>
  text
    .trim()
    .split('\n')
    .map(line => `  ${line.trimEnd()}`)

const isMapping = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { projectStorage } from '../../../core/access/compile/compile-access.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../../../core/faults/diagnostic.ts'
import { ACCOUNT_MAILS } from '../../../core/mail/account-mails.ts'
import { loadTemplates, type MailTemplates } from '../../../core/mail/load-templates.ts'
import { variablesOf } from '../../../core/mail/template.ts'
import { compileModel } from '../../../core/model/compile-model.ts'
import type { Attribute, Component, ContentType, Holder, Model } from '../../../core/model/model.ts'
import { rowModelNames, rowNames } from '../../../core/model/row-names.ts'
import { type Storage, writtenColumns } from '../../../core/model/storage.ts'
import { findModules } from '../../../core/plugins/load/find-modules.ts'
import { loadModules } from '../../../core/plugins/load/load-plugins.ts'
import type { PluginKind, PluginSchema } from '../../../core/plugins/plugin-module.ts'
import type { Environment } from '../../../core/project/environment.ts'
import { loadProject } from '../../../core/project/load-project.ts'
import { type ConfigSchemas, printConfigTypes } from './config-types.ts'
import {
  isRequiredOnCreate,
  printColumnType,
  printEnd,
  printInput,
  printPropertyName,
  printValue,
  quote,
} from './types-schema.ts'

export interface TypesRun {
  readonly folder: string
  /** The output file; default: .plinth/types.d.ts of the project. */
  readonly out?: string
  /** Writes nothing; compares the existing file with what would be written. */
  readonly check: boolean
  readonly env: Environment
  readonly write: (text: string) => void
}

/** `plinth types`: generates TypeScript types. Returns the exit code: 0, or 1 for a fault or if `check` finds a difference. */
export async function runTypes(terms: TypesRun): Promise<0 | 1> {
  const made = await makeTypes(terms.folder, terms.env)
  if (!made.ok) {
    terms.write(`${made.reasons.map(fromWorkingDirectory(terms.folder)).map(printDiagnostic).join('\n\n')}\n`)
    return 1
  }
  const { root, text } = made.value
  const file = terms.out ?? join(root, '.plinth', 'types.d.ts')
  return writeGenerated({ ...terms, file, text, command: 'plinth types' })
}

export interface GeneratedFile extends Pick<TypesRun, 'check' | 'write'> {
  readonly file: string
  readonly text: string
  /** The command that writes the file. */
  readonly command: string
}

/** Writes a generated file if it changed; with `check` only compares. Returns the exit code. */
export async function writeGenerated({ file, text, command, check, write }: GeneratedFile): Promise<0 | 1> {
  const shown = relative(process.cwd(), file)
  const current = (await readOrNothing(file)) === text
  if (check && !current) write(`${shown} is not what project.yaml says: run \`${command}\`\n`)
  if (check) return current ? 0 : 1
  await mkdir(dirname(file), { recursive: true })
  if (!current) await writeFile(file, text)
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
  const terms = {
    model: model.value,
    storage: projectStorage(project.value, model.value),
    policies: named('policy', name => policies.get(name)?.configSchema),
    middlewares: named('middleware', name => middlewares.get(name)?.optionsSchema),
    mails: mails.value,
  }
  return ok({ root, text: await printTypes(terms) })
}

async function readOrNothing(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  })
}

/** The input of the generated types: the project's declarations and its plugins. */
interface TypesTerms {
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
async function printTypes({ model, storage, policies, middlewares, mails }: TypesTerms): Promise<string> {
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

import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { makeFolder } from '../../core/base/make-folder.ts'
import { groupBy } from '../../core/base/plain-data.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { withNoun } from '../../core/base/text.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { mappingAt, valueAt } from '../strapi/read/literal-value.ts'
import { type SourceOptions, withSource } from '../strapi/read/open-source.ts'
import { readFacts } from '../strapi/read/read-facts.ts'
import type { StrapiDatabase } from '../strapi/read/source.ts'
import type { OwnCode, StrapiProject, StrapiRouter } from '../strapi/read/strapi-project.ts'
import { readStrapi } from '../strapi/read-strapi.ts'
import { type ImportedSchema, importSchema } from '../strapi/translate.ts'
import { type StreamReport, writeStream } from '../strapi/write-stream.ts'
import type { Remark } from '../strapi/yaml-document.ts'
import { writeOutputFile } from '../transfer/partial-path.ts'
import { FileFault, overFiles } from '../transfer/stream-fault.ts'
import type { CommandContext } from './command-options.ts'
import { runImport } from './import.ts'
import { loadStoredProject, printReasons } from './schema-project.ts'
import { exportPathFault, projectFolderFault } from './transfer-project.ts'

export interface ImportStrapiOptions extends CommandContext {
  /** The folder of the Strapi project. */
  readonly dir: string
  readonly force: boolean
  readonly json: boolean
  /** The URL or the SQLite file of Strapi's database. Without it and an archive only the project's files are read. */
  readonly database: string | undefined
  /** An archive of `strapi export` instead of the database. */
  readonly archive?: string | undefined
  /** The key of an encrypted archive. */
  readonly key?: string | undefined
  readonly databaseSchema: string
  readonly timeZone: string
  /** Skips invalid documents and reports them in this file; undefined: an invalid document fails the import. */
  readonly skipInvalid?: string | undefined
  /** The target of the documents: the project's database, a file, or nothing. */
  readonly content: 'database' | 'none' | { readonly file: string }
}

/** What the conversion wrote: the project file, and the documents that it found. */
interface Converted {
  readonly imported: ImportedSchema
  readonly streamed: StreamReport | null
}

/** `plinth import strapi`: writes project.yaml and reports what could not be converted. Returns the exit code: 0, or 1 if anything failed. */
export async function runImportStrapi(options: ImportStrapiOptions): Promise<0 | 1> {
  const file = join(options.folder, 'project.yaml')
  if (existsSync(file) && !options.force) {
    const message = `${file} is there already: give another folder with --out, or say --force to replace it`
    return printReasons(options, [message])
  }
  const conflict = optionConflict(options)
  if (conflict !== null) return printReasons(options, [conflict])
  const fault = pathFault(options)
  if (fault !== null) return printReasons(options, [fault])
  const read = await readStrapi(options.dir)
  if (!read.ok) return printReasons(options, read.reasons)
  const uploads = options.archive === undefined ? read.value.uploads : archivedUploads(options)
  const project = { ...read.value, uploads }
  const stream = streamFile(options)
  const converted = await convertProject(project, { ...options, file, stream }).catch(toFailed)
  if (!converted.ok) return printReasons(options, converted.reasons)
  printSummary(options, project, { file, stream }, converted.value)
  return stream === null || options.content !== 'database' ? 0 : importDocuments(options, project, stream)
}

/** The first of the options that contradict one another. */
function optionConflict({
  database,
  archive,
  key,
  skipInvalid,
  content,
}: ImportStrapiOptions): string | null {
  if (database !== undefined && archive !== undefined)
    return '--database and --archive are two sources of the same documents: give one of them'
  if (key !== undefined && archive === undefined)
    return '--key decrypts an archive of `strapi export`: it needs --archive'
  const imports = (database !== undefined || archive !== undefined) && content === 'database'
  if (skipInvalid !== undefined && !imports)
    return '--skip-invalid is for documents that are imported: it needs --database or --archive, and no --content'
  return null
}

/** The folder that files of an archive are extracted to. */
const archivedUploads = ({ folder }: ImportStrapiOptions): string =>
  join(resolve(folder), '.plinth', 'strapi-uploads')

/** Checked before a project file is overwritten. */
const pathFault = ({ folder, content }: ImportStrapiOptions): string | null =>
  projectFolderFault(folder) ??
  (typeof content === 'object' ? exportPathFault(content.file, undefined) : null)

function toFailed(error: unknown): Result<never, string> {
  if (error instanceof FileFault) return failed(error.message)
  throw error
}

const streamFile = ({ folder, content, database, archive }: ImportStrapiOptions): string | null =>
  content === 'none' || (database ?? archive) === undefined
    ? null
    : content === 'database'
      ? join(folder, '.plinth', 'strapi.ndjson')
      : content.file

interface ConversionOptions extends ImportStrapiOptions {
  readonly file: string
  /** The file for the documents; null: none. */
  readonly stream: string | null
}

async function convertProject(
  project: StrapiProject,
  terms: ConversionOptions,
): Promise<Result<Converted, string>> {
  const options = sourceOptions(project, terms)
  if (options === null) return convertFrom(null, project, terms)
  const read = await withSource(options, source => convertFrom(source, project, terms))
  return read.ok ? read.value : read
}

function sourceOptions(
  { version, uploads }: StrapiProject,
  { database, archive, key, databaseSchema: schema, timeZone }: ImportStrapiOptions,
): SourceOptions | null {
  if (archive !== undefined) return { archive, key, version, uploads }
  return database === undefined ? null : { database, schema, timeZone }
}

async function convertFrom(
  source: StrapiDatabase | null,
  project: StrapiProject,
  options: ConversionOptions,
): Promise<Result<Converted, string>> {
  const imported = await importSchema(project, source && (await readFacts(source)))
  if (!imported.ok) return failed(...imported.reasons.map(printDiagnostic))
  await overFiles(async () => {
    await makeFolder(options.folder)
    await writeOutputFile(options.file, imported.value.yaml)
  })
  if (source === null || options.stream === null) return ok({ imported: imported.value, streamed: null })
  const loaded = await loadStoredProject(options)
  if (!loaded.ok) return loaded
  if (options.content === 'database') await makeFolder(join(options.folder, '.plinth'))
  const { names } = imported.value
  const streamed = await writeStream(options.stream, {
    strapi: imported.value.project,
    names,
    source,
    ...loaded.value,
  })
  return ok({ imported: imported.value, streamed })
}

function printSummary(
  options: ImportStrapiOptions,
  project: StrapiProject,
  { file, stream }: Pick<ConversionOptions, 'file' | 'stream'>,
  { imported, streamed }: Converted,
): void {
  const report = {
    strapi: project.version,
    file,
    importing:
      stream === null || options.content === 'database' ? null : importCommand(options, project, stream),
    contentTypes: project.contentTypes.length,
    components: project.components.length,
    remarks: imported.remarks,
    guarded: project.ownCode.some(({ kind }) => GUARDS.has(kind)) || project.routers.some(isGuarded),
    documents: streamed && Object.fromEntries(streamed.documents),
    losses: streamed?.losses ?? [],
  }
  options.write(options.json ? `${JSON.stringify(report)}\n` : printStrapiReport(report, options))
}

const GUARDS: ReadonlySet<OwnCode['kind']> = new Set([
  'controller',
  'policy',
  'middleware',
  'route',
  'lifecycle',
])

/** True if a route runs policies or middlewares. */
const isGuarded = ({ options }: StrapiRouter): boolean =>
  [...mappingAt(options, 'config').values()].some(
    action => valueAt(action, 'policies') !== undefined || valueAt(action, 'middlewares') !== undefined,
  )

/** Imports into the project's database, with the files of Strapi's folder. */
async function importDocuments(
  options: ImportStrapiOptions,
  project: StrapiProject,
  stream: string,
): Promise<0 | 1> {
  const files = existingUploads(project)
  const code = await runImport({
    ...options,
    file: stream,
    onConflict: 'skip',
    dryRun: false,
    events: false,
    files,
  })
  if (code === 0) {
    await rm(stream, { force: true })
    if (options.archive !== undefined) await rm(archivedUploads(options), { recursive: true, force: true })
  } else
    options.writeError(
      `\nThe documents wait in ${stream}. When what is wrong is right:\n  ${importCommand(options, project, stream)}\n`,
    )
  return code
}

/** The folder of Strapi's uploads; undefined if there is none. */
function existingUploads({ uploads }: StrapiProject): string | undefined {
  return existsSync(uploads) ? uploads : undefined
}

function importCommand({ folder }: ImportStrapiOptions, project: StrapiProject, stream: string): string {
  const files = existingUploads(project)
  return `plinth import ${folder} ${stream}${files === undefined ? '' : ` --files ${files}`}`
}

interface StrapiReport {
  readonly strapi: 4 | 5
  /** The project file that was written. */
  readonly file: string
  /** The command that imports the documents from the file; null if there is no file. */
  readonly importing: string | null
  readonly contentTypes: number
  readonly components: number
  readonly remarks: readonly Remark[]
  /** True if custom code of the project may have restricted access. */
  readonly guarded: boolean
  /** Counts by content-type key; null: documents were not imported. */
  readonly documents: Readonly<Record<string, number>> | null
  /** Parts of the content that were not imported. */
  readonly losses: readonly string[]
}

/** Prints what was imported, what was not, and the next steps. */
function printStrapiReport(report: StrapiReport, options: CommandContext): string {
  const { strapi, file, contentTypes, components, remarks, losses } = report
  const headline = `${file}: ${withNoun(contentTypes, 'content-type')} and ${withNoun(components, 'component')} of a Strapi ${strapi} project.`
  return [
    headline,
    ...documentLines(report),
    ...list('Lost content or access:', [
      ...shortened(losses, MAX_LINES),
      ...(report.guarded ? [GUARDED] : []),
      ...shortened(
        printRemarks(
          remarks.filter(({ kind }) => kind === 'lost'),
          file,
        ),
        MAX_LINES,
      ),
    ]),
    ...list('Code to rewrite:', printCode(remarks.filter(({ kind }) => kind === 'code'))),
    ...list(
      'Remarks:',
      shortened(
        printRemarks(
          remarks.filter(({ kind }) => kind === 'remark'),
          file,
        ),
        MAX_LINES,
      ),
    ),
    ...list('Next:', nextSteps(report, options)),
    '',
  ].join('\n')
}

const GUARDED =
  'what controllers, policies and middlewares of your own kept from callers, nothing keeps from them now but permissions'

const list = (heading: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ['', heading, ...lines.map(line => `  ${line}`)]

/** Maximum number of lines of each section of the report, so that all of it fits on one page. */
const MAX_LINES = 12

/** The first lines; the others are comments in the file, and in the report of `--json`. */
const shortened = (lines: readonly string[], most: number): readonly string[] =>
  lines.length <= most
    ? lines
    : [
        ...lines.slice(0, most - 1),
        `… and ${lines.length - most + 1} more: comments in project.yaml, or --json`,
      ]

/** Equal remarks are one line, with the first of their places. */
function printRemarks(remarks: readonly Remark[], file: string): readonly string[] {
  const sentences = remarks.filter(({ text }) => !text.endsWith(':'))
  return [...groupBy(sentences, ({ text }) => text)].map(([text, same]) => {
    const [first] = same
    const places = [first?.source, `${basename(file)}:${first?.line}`].filter(each => each !== undefined)
    const more = same.length === 1 ? '' : `, and ${same.length - 1} more`
    return `${text.replace(/^- /, '')} (${places.join(' → ')}${more})`
  })
}

/** One line for each kind of code. */
const printCode = (remarks: readonly Remark[]): readonly string[] =>
  [...groupBy(remarks, ({ group }) => group?.name ?? '')].map(([name, same]) => {
    const files = [...new Set(same.flatMap(({ source }) => source ?? []))]
    const more = files.length > 2 ? `, and ${files.length - 2} more` : ''
    return `${same.length} ${plural(name, same.length)}: ${same[0]?.group?.successor} (${files.slice(0, 2).join(', ')}${more})`
  })

const plural = (noun: string, number: number): string =>
  number === 1
    ? noun
    : noun.endsWith('y')
      ? `${noun.slice(0, -1)}ies`
      : noun === 'index'
        ? 'indexes'
        : `${noun}s`

function documentLines({ documents }: StrapiReport): readonly string[] {
  if (documents === null) return []
  const total = Object.values(documents).reduce((sum, each) => sum + each, 0)
  const parts = Object.entries(documents).map(([key, each]) => `${each} ${key}`)
  return [`${withNoun(total, 'document')} read: ${parts.join(', ')}.`]
}

function nextSteps({ documents, importing }: StrapiReport, { folder }: CommandContext): readonly string[] {
  return [
    `plinth check ${folder}    checks project.yaml after you have changed it`,
    ...(documents === null ? [] : [`plinth roles ${folder}    shows who may do what`]),
    ...(importing === null ? [] : [`${importing}    brings the documents`]),
    `plinth start ${folder}    serves it`,
  ]
}

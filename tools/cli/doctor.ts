import { createReadStream } from 'node:fs'
import { compileApp } from '../../core/app/compile-app.ts'
import { registerApp, surveyClientDocuments } from '../../core/app/open-plugins.ts'
import { printStartFault, withOpenPaths } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Advice } from '../../core/doctor/advice.ts'
import { examine, isFault } from '../../core/doctor/examine.ts'
import { findSlowReads, type SlowRead } from '../../core/doctor/slow-reads.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import type { DocumentFile, DocumentSurvey, LimitNeed } from '../../core/graphql/limits/survey-documents.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { SILENT } from '../../core/observe/observation.ts'
import type { CommandContext } from './command-options.ts'
import type { ClientDocuments, SkippedDocument } from './doctor-documents.ts'
import type { Paint } from './paint.ts'
import { printReasons, withSchemaReadOnly } from './schema-project.ts'

export interface DoctorOptions extends CommandContext {
  /** The log file; `-`: read `input`; absent: no log. */
  readonly log?: string
  readonly input: () => AsyncIterable<string>
  readonly json: boolean
  readonly analyze: boolean
  readonly tries: boolean
}

/** `plinth doctor`: diagnostics for speed and safety. Returns the exit code: 1 if there is a fault or the diagnosis failed. */
export async function runDoctor(options: DoctorOptions): Promise<0 | 1> {
  const log = await readLog(options)
  if (!log.ok) return printReasons(options, log.reasons)
  const { env, analyze, tries } = options
  const looked = await withSchemaReadOnly(
    options,
    async (database, { project, model, storage, files, checkRows }) =>
      examine({
        settings: project.settings,
        production: env.NODE_ENV === 'production',
        workers: Math.max(1, Number(env.WORKERS ?? 1) || 1),
        database,
        model,
        storage,
        analyze,
        tries,
        reads: log.value,
        plan: await planMigration(database, storage.tables, { files, checkRows }),
      }),
  )
  if (!looked.ok) return printReasons(options, looked.reasons)
  const advice = looked.value
  options.write(options.json ? `${JSON.stringify({ advice })}\n` : printAdvice(advice, options.paint))
  return advice.some(isFault) ? 1 : 0
}

async function readLog({ log, input }: DoctorOptions): Promise<Result<readonly SlowRead[], string>> {
  if (log === undefined) return ok([])
  try {
    return ok(await findSlowReads(log === '-' ? input() : createReadStream(log, 'utf8')))
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      return failed(`The log ${log} cannot be read: ${error.message}`)
    throw error
  }
}

function printAdvice(advice: readonly Advice[], paint: Paint): string {
  if (advice.length === 0) return 'No problems found.\n'
  return advice.map(one => printOne(one, paint)).join('\n')
}

function printOne({ severity, about, found, remedy, paste }: Advice, paint: Paint): string {
  const head = `${paint(severity === 'fault' ? 'red' : 'yellow', severity)}  ${paint('bold', about)}: ${found}.`
  const lines = (paste?.split('\n') ?? []).map(line => `      ${line}`)
  return `${[head, `    ${remedy}${paste === undefined ? '' : ':'}`, ...lines].join('\n')}\n`
}

interface DocumentCheckOptions extends CommandContext {
  /** A folder of .graphql and .gql files, and of code with documents in templates. */
  readonly documents: string
  readonly json: boolean
}

/**
 * `plinth doctor --documents`: validates a front-end's GraphQL documents. Returns the exit code: 1 if a document is
 * invalid, needs more than a limit allows, or the check failed.
 */
export async function runDocumentCheck(options: DocumentCheckOptions): Promise<0 | 1> {
  // The parser of JavaScript is not loaded for other examinations.
  const { readGraphqlDocuments: readDocuments } = await import('./doctor-documents.ts')
  const read = await readDocuments(options.documents)
  if (!read.ok) return printReasons(options, read.reasons)
  const { documents, skipped } = read.value
  const surveyed = await survey(options, documents)
  if (!surveyed.ok) return printReasons(options, surveyed.reasons)
  const files = new Set(documents.map(({ file }) => file)).size
  const found = { files, ...surveyed.value, skipped }
  options.write(options.json ? `${JSON.stringify(found)}\n` : printSurvey(found, options.paint))
  return found.faults.length > 0 || found.needs.some(isExceeded) ? 1 : 0
}

async function survey(
  { folder, env }: CommandContext,
  files: readonly DocumentFile[],
): Promise<Result<DocumentSurvey, string>> {
  const blueprint = await compileApp(folder, env)
  if (!blueprint.ok)
    return failed(...blueprint.reasons.map(fromWorkingDirectory(folder)).map(printDiagnostic))
  if (!blueprint.value.project.settings.graphql.enabled)
    return failed('GraphQL is off: `graphql.enabled` in project.yaml is false')
  const registered = await registerApp(blueprint.value, SILENT)
  if (!registered.ok) return failed(...registered.reasons.map(withOpenPaths(folder)).map(printStartFault))
  return ok(await surveyClientDocuments(blueprint.value, registered.value, files))
}

const isExceeded = ({ needed, configured }: LimitNeed): boolean => needed > configured

interface Found extends DocumentSurvey, Pick<ClientDocuments, 'skipped'> {
  readonly files: number
}

function printSurvey({ files, operations, faults, needs, skipped }: Found, paint: Paint): string {
  const unread = skipped.length === 0 ? '' : `, ${skipped.length} not checked`
  const head = `${operations} operations in ${files} files, ${faults.length} faults${unread}`
  const lines = [
    ...faults.map(each => `${paint('red', 'fault')}  ${printPlace(each)}`),
    ...skipped.map(each => `${paint('yellow', 'not checked')}  ${printPlace(each)}`),
  ]
  return `${[...lines, head, ...needs.map(need => printNeed(need, paint))].join('\n')}\n`
}

const printPlace = ({ file, line, column, message }: SkippedDocument): string =>
  `${file}:${line}:${column} ${message}`

function printNeed(need: LimitNeed, paint: Paint): string {
  const { key, needed, configured, operation, place } = need
  const where = `${operation}, ${place.file}:${place.line}:${place.column}`
  if (!isExceeded(need)) return `${key}: ${configured} is enough, at most ${needed} is needed (${where})`
  return `${paint('red', 'fault')}  ${key}: ${configured} is too low, ${needed} is needed (${where})`
}

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Blueprint, compileApp } from '../../core/app/compile-app.ts'
import { printReason } from '../../core/app/start-fault.ts'
import { failed, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { type ImportFault, type ImportReport, importDocuments } from '../transfer/import/import-documents.ts'
import type { OnConflict } from '../transfer/import/import-options.ts'
import { partialPath, writeOutputFile } from '../transfer/partial-path.ts'
import {
  FileFault,
  type LineFault,
  overFiles,
  printLineFault,
  RecordFault,
} from '../transfer/stream-fault.ts'
import type { CommandContext } from './command-options.ts'
import { progressBar } from './progress.ts'
import { withDatabase } from './project-database.ts'
import { printReasons } from './schema-project.ts'
import { exportPathFault, importPathFault, prepareTransfer } from './transfer-project.ts'

export interface ImportContext extends CommandContext {
  /** A file; `-` is the standard input. */
  readonly file: string
  readonly onConflict: OnConflict
  readonly dryRun: boolean
  readonly events: boolean
  /** The folder with the contents of files. */
  readonly files?: string | undefined
  /** Skips invalid documents and reports them in this file; undefined: an invalid document fails the import. */
  readonly skipInvalid?: string | undefined
}

/** `plinth import`: imports the documents of a stream. Returns the exit code: 0, or 1 with the reasons if anything failed. */
export async function runImport(options: ImportContext): Promise<0 | 1> {
  const compiled = await compileApp(options.folder, options.env)
  if (!compiled.ok)
    return printReasons(
      options,
      compiled.reasons.map(fromWorkingDirectory(options.folder)).map(printDiagnostic),
    )
  const { skipInvalid } = options
  const fault =
    importPathFault(options.file, options.files) ??
    (skipInvalid === undefined ? null : exportPathFault(skipInvalid, undefined))
  if (fault !== null) return printReasons(options, [fault])
  const source = options.file === '-' ? await spool(compiled.value.project.root) : null
  try {
    const path = source ?? options.file
    // Checked first: an import that skips documents must be able to report them.
    if (skipInvalid !== undefined) await writeReport(skipInvalid, [])
    const opened = await withDatabase(
      compiled.value.project,
      database => importInto(database, compiled.value, path, options),
      {
        ...options,
        advice: 'The same import continues where it stopped',
      },
    )
    const done = opened.ok ? opened.value : opened
    if (!done.ok) return printReasons(options, done.reasons)
    options.writeError(`${printReport(done.value, options)}\n`)
    return done.value.leftOut.length === 0 ? 0 : reportSkipped(done.value.leftOut, options)
  } catch (error) {
    if (error instanceof FileFault || error instanceof RecordFault)
      return printReasons(options, [error.message])
    throw error
  } finally {
    if (source !== null) await rm(source, { force: true })
  }
}

/** Copies standard input to a file, because an import reads it three times: to index, to check, and to write. */
async function spool(root: string): Promise<string> {
  const folder = join(root, '.plinth')
  await mkdir(folder, { recursive: true })
  const path = await partialPath(join(folder, 'import.ndjson'))
  await writeFile(path, process.stdin, { mode: 0o600 })
  return path
}

async function importInto(
  database: Database,
  blueprint: Blueprint,
  path: string,
  { onConflict, events, dryRun, file, files, skipInvalid }: ImportContext,
): Promise<Result<ImportReport, string>> {
  const bar = progressBar(process.stderr)
  const prepared = await prepareTransfer(blueprint, database, { events, dryRun })
  if (!prepared.ok) return failed(...prepared.reasons.map(printReason))
  const done = await importDocuments(
    path,
    {
      ...prepared.value,
      onConflict,
      skipsInvalid: skipInvalid !== undefined,
      filesFolder: files ?? null,
      progress: ({ stage, done, total }) => bar.show(STAGES[stage], done, total),
    },
    { dryRun },
  ).finally(bar.clear)
  return done.ok ? done : failed(printFaults(done.reasons, calledOf(file)))
}

const calledOf = (file: string): string => (file === '-' ? 'the standard input' : basename(file))

/** The maximum number of printed lines if there is no report file. */
const MOST_PRINTED = 100

/** Writes the skipped documents with line and reason to the report file, one line of JSON each. */
async function reportSkipped(
  faults: readonly LineFault[],
  { file, skipInvalid, writeError }: ImportContext,
): Promise<1> {
  const documents = new Set(faults.map(({ line }) => line)).size
  const called = calledOf(file)
  if (skipInvalid === undefined) {
    const printed = faults.slice(0, MOST_PRINTED).map(fault => printLineFault(fault, called))
    writeError(`${printed.join('\n')}\nLeft out when this import began: ${documents}\n`)
    return 1
  }
  await writeReport(
    skipInvalid,
    faults.map(fault => `${JSON.stringify({ file: called, ...fault })}\n`),
  )
  writeError(
    `Left out: ${documents}. ${skipInvalid} says which and why; put right, they come with the same import of a file that has them\n`,
  )
  return 1
}

/** Readable only by its owner, because reasons quote documents. */
const writeReport = (path: string, lines: readonly string[]): Promise<void> =>
  overFiles(() => writeOutputFile(path, lines.join(''), 0o600))

const STAGES = { checking: 'Checking ', importing: 'Importing' } as const

function printFaults(faults: readonly ImportFault[], file: string): string {
  return faults.map(fault => (fault.line === null ? fault.message : printLineFault(fault, file))).join('\n')
}

function printReport({ made, changed, skipped, before }: ImportReport, { dryRun }: ImportContext): string {
  const parts = [
    `${made} made`,
    ...(changed > 0 ? [`${changed} that were there looked through and brought up to date`] : []),
    ...(skipped > 0 ? [`${skipped} left as they were: the database had them`] : []),
    ...(before > 0 ? [`${before} done before`] : []),
  ]
  return dryRun
    ? `Nothing was written. It would come to: ${parts.join(', ')}`
    : `Imported: ${parts.join(', ')}`
}

import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openCommandStorage } from '../../core/app/open-plugins.ts'
import { printStartFault } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { withNoun } from '../../core/base/text.ts'
import type { Database } from '../../core/database/database.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import type { KeyedFile } from '../../core/import/stored-files.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { loadPlugins } from '../../core/plugins/load/load-plugins.ts'
import {
  copyFiles,
  type ExportOptions as DocumentOptions,
  type Exporting,
  exportDocuments,
} from '../transfer/export-documents.ts'
import { openOutputFile, partialPath } from '../transfer/partial-path.ts'
import { FileFault, overFiles } from '../transfer/stream-fault.ts'
import type { CommandContext } from './command-options.ts'
import { progressBar } from './progress.ts'
import { isNeverStarted, withDatabase } from './project-database.ts'
import { loadStoredProject, printReasons, type StoredProject } from './schema-project.ts'
import { exportPathFault, OUT_OF_STEP, pickTypes } from './transfer-project.ts'

export interface ExportContext extends CommandContext {
  /** A file; `-` is the standard output. */
  readonly out: string
  /** Keys or uids; none: all. */
  readonly types: readonly string[]
  /** A folder for the contents of files. */
  readonly files?: string | undefined
  readonly passwordHashes: boolean
}

/** `plinth export`: writes documents as a stream. Returns the exit code: 0, or 1 with the reasons if it failed. */
export async function runExport(options: ExportContext): Promise<0 | 1> {
  const loaded = await loadStoredProject(options)
  if (!loaded.ok) return printReasons(options, loaded.reasons)
  const fault = exportPathFault(options.out, options.files)
  if (fault !== null) return printReasons(options, [fault])
  if (isNeverStarted(loaded.value.project)) return printReasons(options, [NEVER_STARTED])
  const done = await exportAll(loaded.value, options)
  if (!done.ok) return printReasons(options, done.reasons)
  const { documents, missing } = done.value
  options.writeError(`Exported ${withNoun(documents, 'document')}\n`)
  if (options.passwordHashes) options.writeError(HASHES_WARNING)
  if (missing.length > 0)
    options.writeError(
      `The contents of ${missing.length} files are missing: ${missing.slice(0, 5).join(', ')}${missing.length > 5 ? ', …' : ''}\n`,
    )
  return 0
}

async function exportAll(stored: StoredProject, options: ExportContext): Promise<Result<Exported, string>> {
  const types = pickTypes(options.types, stored.model)
  if (!types.ok) return types
  try {
    const copier = await openCopier(stored, options)
    if (!copier.ok) return copier
    const sink = await openSink(stored, options)
    const exporting = { ...stored, types: types.value, passwords: options.passwordHashes }
    const opened = await withDatabase(
      stored.project,
      database => exportInto(sink, database, exporting, copier.value),
      options,
    ).finally(sink.close)
    return opened.ok ? opened.value : opened
  } catch (error) {
    if (error instanceof FileFault) return failed(error.message)
    throw error
  }
}

/** A slow reader of the output must not block the only session of an embedded database. */
async function openSink(
  { project: { root, settings } }: StoredProject,
  { out }: ExportContext,
): Promise<Sink> {
  if (out !== '-') return openFile(out)
  if (settings.database.url !== 'embedded') return standardOutput()
  return spooledOutput(join(root, '.plinth', 'export.ndjson'))
}

interface Exported {
  readonly documents: number
  /** Names of files whose contents are missing. */
  readonly missing: readonly string[]
}

const HASHES_WARNING =
  'The export contains hashes of passwords and of mailed codes, which can be attacked offline: protect it like the passwords\n'

const NEVER_STARTED = 'This project was never started: there are no documents to export'

/** Copies the contents of files; returns the names of missing ones. */
type CopyFiles = (files: readonly KeyedFile[]) => Promise<readonly string[]>

/** Without `--files` nothing is copied. Fails if the storage cannot be opened. */
async function openCopier(
  { project, model }: StoredProject,
  { files: folder }: ExportContext,
): Promise<Result<CopyFiles, string>> {
  if (folder === undefined) return ok(async () => [])
  const plugins = await loadPlugins(project, model)
  if (!plugins.ok) return failed(...plugins.reasons.map(printDiagnostic))
  const storage = await openCommandStorage({ project, model, plugins: plugins.value })
  if (!storage.ok) return failed(...storage.reasons.map(printStartFault))
  return ok(files => overFiles(() => copyFiles(files, storage.value, folder)))
}

/** Fails if the tables do not match the project. */
async function exportInto(
  sink: Sink,
  database: Database,
  options: DocumentOptions,
  copy: CopyFiles,
): Promise<Result<Exported, string>> {
  const plan = await planMigration(database, options.storage.tables)
  if (plan.steps.length > 0 || plan.refusals.length > 0) return failed(OUT_OF_STEP)
  if (database.kind === 'server')
    return ok(await exportDocuments(database, options, exporting => writeAll(sink, exporting, copy)))
  // Release the only session of an embedded database before copying files.
  const files: KeyedFile[] = []
  const copyLater: CopyFiles = async some => {
    files.push(...some)
    return []
  }
  const exported = await exportDocuments(database, options, exporting => writeAll(sink, exporting, copyLater))
  return ok({ ...exported, lost: await copy(files) })
}

async function writeAll(sink: Sink, { pieces, total }: Exporting, copy: CopyFiles): Promise<Exported> {
  const bar = progressBar(process.stderr)
  const missing: string[] = []
  let done = 0
  try {
    for await (const { text, documents, files } of pieces) {
      missing.push(...(await copy(files)))
      await sink.write(text)
      done += documents
      bar.show('Exporting', done, total)
    }
    await sink.end()
    return { documents: done, missing }
  } finally {
    bar.clear()
  }
}

/** A text output with backpressure. */
interface Sink {
  write(text: string): Promise<void>
  /** Completes the output. */
  end(): Promise<void>
  /** Removes an incomplete output. */
  close(): Promise<void>
}

function standardOutput(): Sink {
  // The failing write reports the error.
  process.stdout.on('error', () => {})
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => {
      process.stdout.write(text, error => (error ? reject(error) : resolve()))
    })
  return { write: text => overFiles(() => write(text)), end: async () => {}, close: async () => {} }
}

/**
 * Spools the text to a temporary file and copies it to standard output on close. Use it for text that is
 * read in a transaction that must not wait for a slow reader.
 */
async function spooledOutput(path: string): Promise<Sink> {
  const handle = await overFiles(async () => {
    const temporary = await partialPath(path)
    const handle = await open(temporary, 'wx+', 0o600)
    // Without a name, it is gone with the process, also if that is killed.
    await rm(temporary)
    return handle
  })
  let isWhole = false
  return {
    write: text => overFiles(() => handle.writeFile(text)),
    async end() {
      isWhole = true
    },
    async close() {
      const output = standardOutput()
      const whole = { encoding: 'utf8', start: 0, autoClose: false } as const
      try {
        if (isWhole) for await (const text of handle.createReadStream(whole)) await output.write(String(text))
      } finally {
        await handle.close()
      }
    },
  }
}

/** Readable only by its owner, also if it replaces another file. */
async function openFile(path: string): Promise<Sink> {
  const { write, complete, close } = await overFiles(() => openOutputFile(path, 0o600))
  return { write: text => overFiles(() => write(text)), end: () => overFiles(complete), close }
}

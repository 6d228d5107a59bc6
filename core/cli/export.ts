import { OUT_OF_STEP } from '../app/prepare-transfer.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { planMigration } from '../database/plan-migration.ts'
import { openStorage } from '../media/open-storage.ts'
import { type Exporting, exportDocuments } from '../transfer/export-documents.ts'
import { copyFiles } from '../transfer/export-files.ts'
import type { KeyedFile } from '../transfer/import-files.ts'
import type { CommandTerms } from './command-terms.ts'
import { progressBar } from './progress.ts'
import { isNeverStarted, withDatabase } from './project-database.ts'
import { complain } from './schema-project.ts'
import { openFile, standardOutput } from './sink.ts'
import { loadTransfer, pickTypes, type TransferProject } from './transfer-project.ts'

export interface ExportTerms extends CommandTerms {
  /** A file; `-` is the standard output. */
  readonly out: string
  /** Keys or uids; none: all. */
  readonly types: readonly string[]
  /** A folder for the bytes of files. */
  readonly files?: string | undefined
  readonly passwordHashes: boolean
}

/** `plinth export`: documents as a stream. Answers the exit code: 0, or 1 where there is none and it said why. */
export async function runExport(terms: ExportTerms): Promise<0 | 1> {
  const loaded = await loadTransfer(terms)
  if (!loaded.ok) return complain(terms, loaded.reasons)
  if (isNeverStarted(loaded.value.project)) return complain(terms, [NEVER_STARTED])
  const opened = await withDatabase(
    loaded.value.project,
    database => exportFrom(database, loaded.value, terms),
    {
      trouble: 'The database did not answer as it should',
    },
  )
  const done = opened.ok ? opened.value : opened
  if (!done.ok) return complain(terms, done.reasons)
  const { documents, lost } = done.value
  terms.complain(`Exported ${documents} ${documents === 1 ? 'document' : 'documents'}\n`)
  if (lost.length > 0)
    terms.complain(
      `There are no bytes of ${lost.length} files: ${lost.slice(0, 5).join(', ')}${lost.length > 5 ? ', …' : ''}\n`,
    )
  return 0
}

async function exportFrom(
  database: Database,
  { project, model, storage }: TransferProject,
  { types: names, passwordHashes: passwords, out, files: folder }: ExportTerms,
): Promise<Result<Exported, string>> {
  const types = pickTypes(names, model)
  if (!types.ok) return types
  const plan = await planMigration(database, storage.tables)
  if (plan.steps.length > 0 || plan.refusals.length > 0) return failed(OUT_OF_STEP)
  const terms = { project, model, storage, types: types.value, passwords }
  const copy = async (files: readonly KeyedFile[]) =>
    folder === undefined ? [] : copyFiles(files, openStorage(project.settings.upload, project.root), folder)
  return exportDocuments(database, terms, async exporting => ok(await writeTo(out, exporting, copy)))
}

interface Exported {
  readonly documents: number
  /** Names of files whose bytes are gone. */
  readonly lost: readonly string[]
}

const NEVER_STARTED = 'This project was never started: there are no documents to export'

async function writeTo(
  out: string,
  { pieces, total }: Exporting,
  copy: (files: readonly KeyedFile[]) => Promise<readonly string[]>,
): Promise<Exported> {
  const sink = out === '-' ? standardOutput() : await openFile(out)
  const bar = progressBar(process.stderr)
  const lost: string[] = []
  let done = 0
  try {
    for await (const { text, documents, files } of pieces) {
      lost.push(...(await copy(files)))
      await sink.write(text)
      done += documents
      bar.show('Exporting', done, total)
    }
    await sink.end()
    return { documents: done, lost }
  } finally {
    bar.clear()
    await sink.close()
  }
}

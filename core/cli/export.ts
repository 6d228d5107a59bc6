import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { planMigration } from '../database/plan-migration.ts'
import { type Exporting, exportDocuments } from '../transfer/export-documents.ts'
import type { CommandTerms } from './command-terms.ts'
import { isNeverStarted, withDatabase } from './project-database.ts'
import { complain } from './schema-project.ts'
import { openFile, standardOutput } from './sink.ts'
import { loadTransfer, pickTypes, type TransferProject } from './transfer-project.ts'

export interface ExportTerms extends CommandTerms {
  /** A file; `-` is the standard output. */
  readonly out: string
  /** Keys or uids; none: all. */
  readonly types: readonly string[]
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
  terms.complain(`Exported ${done.value} documents\n`)
  return 0
}

async function exportFrom(
  database: Database,
  { project, model, storage }: TransferProject,
  { types: names, passwordHashes: passwords, out }: ExportTerms,
): Promise<Result<number, string>> {
  const types = pickTypes(names, model)
  if (!types.ok) return types
  const plan = await planMigration(database, storage.tables)
  if (plan.steps.length > 0 || plan.refusals.length > 0) return failed(OUT_OF_STEP)
  const terms = { project, model, storage, types: types.value, passwords }
  return exportDocuments(database, terms, async exporting => ok(await writeTo(out, exporting)))
}

const NEVER_STARTED = 'This project was never started: there are no documents to export'

const OUT_OF_STEP =
  'The database is not as the project wants it: `plinth plan` tells what it lacks, `plinth migrate` does it'

async function writeTo(out: string, { pieces }: Exporting): Promise<number> {
  const sink = out === '-' ? standardOutput() : await openFile(out)
  let done = 0
  try {
    for await (const { text, documents } of pieces) {
      await sink.write(text)
      done += documents
    }
    await sink.end()
    return done
  } finally {
    await sink.close()
  }
}

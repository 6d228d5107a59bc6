import { failed, ok, type Result } from '../base/result.ts'
import { beginImport, endImport, findCheckpoint } from './begin-import.ts'
import { type Checked, checkStream } from './check-stream.ts'
import { BEGINNING, type Checkpoint } from './checkpoint.ts'
import type { ImportTerms } from './import-terms.ts'
import { indexStream } from './index-stream.ts'
import { type LineFault, StreamRefused } from './line-fault.ts'
import { readBatches, type Stream } from './read-batches.ts'
import { type Counts, type Writing, writeLines } from './write-lines.ts'

/** What an import came to. */
export interface ImportReport extends Counts {
  /** Documents of an import that was taken up again, which were done before. */
  readonly before: number
}

export interface ImportOptions {
  /** Checks everything, and writes nothing. */
  readonly dryRun: boolean
}

/** Why nothing, or nothing more, was written. */
export type ImportFault = LineFault | { readonly line: null; readonly message: string }

/**
 * File → index → every line checked → batches, each in a transaction that says how far it has come. Fails with what
 * is wrong, by line; taken up again, it goes on behind the last batch.
 */
export async function importDocuments(
  path: string,
  terms: ImportTerms,
  { dryRun }: ImportOptions,
): Promise<Result<ImportReport, ImportFault>> {
  const now = new Date().toISOString()
  const { index, faults } = await indexStream(path, terms.model)
  if (index === null) return failed(...faults)
  const stream: Stream = { path, index, model: terms.model, now }
  const begun = dryRun ? null : await findCheckpoint(terms.database, index.digest)
  if (begun) return writeStream(stream, begun, terms)
  const checked = await checkStream(stream, terms)
  if (checked.faults.length > 0) return failed(...checked.faults)
  if (dryRun) return ok({ ...NOTHING_DONE, ...wouldBe(checked, terms) })
  const checkpoint = await beginImport(index, checked.news, terms, now)
  if ('unfinished' in checkpoint) return failed({ line: null, message: unfinished(checkpoint.unfinished) })
  return writeStream(stream, checkpoint, terms)
}

const NOTHING_DONE: ImportReport = { made: 0, changed: 0, skipped: 0, before: 0 }

function wouldBe({ news, there }: Checked, { onConflict }: ImportTerms): Partial<ImportReport> {
  const made = [...news.values()].reduce((sum, count) => sum + count, 0)
  return onConflict === 'update' ? { made, changed: there } : { made, skipped: there }
}

const unfinished = ({ done }: Checkpoint): string =>
  `An import of another file stopped after its line ${done}, and some of its links may lead to documents that were still to come: ` +
  'import that file again, which goes on where it was, or this one with `--on-conflict update`'

async function writeStream(
  stream: Stream,
  { digest, done, decided }: Checkpoint,
  terms: ImportTerms,
): Promise<Result<ImportReport, ImportFault>> {
  const { total } = stream.index
  let report = NOTHING_DONE
  let from = done
  let taken = 0
  const writing: Writing = { index: stream.index, digest, decided, now: stream.now, terms }
  try {
    for await (const batch of readBatches(stream, done)) {
      const counts = await writeLines(batch, from, writing)
      from = batch.last
      taken += batch.count
      report = added(report, counts)
      terms.progress({ stage: 'importing', done: total - left(total, done) + taken, total })
    }
  } catch (error) {
    if (!(error instanceof StreamRefused)) throw error
    // Nothing leads anywhere yet.
    if (from === BEGINNING) await endImport(digest, terms)
    return failed(...error.faults)
  }
  await endImport(digest, terms)
  return ok({ ...report, before: total - taken })
}

/** Documents behind a line; the first line is the header's. */
const left = (total: number, done: number): number => Math.max(0, total + 1 - done)

const added = (report: ImportReport, { made, changed, skipped }: Counts): ImportReport => ({
  ...report,
  made: report.made + made,
  changed: report.changed + changed,
  skipped: report.skipped + skipped,
})

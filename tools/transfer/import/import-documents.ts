import { failed, ok, type Result } from '../../../core/base/result.ts'
import { indexStream } from '../index-stream.ts'
import { type LineFault, StreamRefused } from '../stream-fault.ts'
import { beginImport, endImport, findCheckpoint } from './begin-import.ts'
import { type Checked, checkStream } from './check-stream.ts'
import { BEGINNING, type Checkpoint } from './checkpoint.ts'
import { faultsIn, type ImportTerms, type LeftOut, linesWithout, NONE_LEFT_OUT } from './import-terms.ts'
import { readBatches, type Stream } from './read-batches.ts'
import type { Counts } from './write-lines.ts'
import { openBatchWriter } from './write-lines.ts'

/** The result of an import. */
export interface ImportReport extends Counts {
  /** Documents that were completed before the import was resumed. */
  readonly before: number
  /** Why documents were skipped, by line; a document may have several reasons. */
  readonly leftOut: readonly LineFault[]
}

export interface ImportOptions {
  /** Validate everything and write nothing. */
  readonly dryRun: boolean
}

/** Why nothing, or nothing more, was written. Sorted by line. */
export type ImportFault = LineFault | { readonly line: null; readonly message: string }

/**
 * Indexes the file, validates every line, then writes batches, each in a transaction with its checkpoint. Fails with
 * the faults by line. A resumed import continues after the last batch.
 */
export async function importDocuments(
  path: string,
  terms: ImportTerms,
  { dryRun }: ImportOptions,
): Promise<Result<ImportReport, ImportFault>> {
  const read = await readStream(path, NONE_LEFT_OUT, terms)
  if (!read.ok) return read
  const checkpointOfFile = dryRun
    ? null
    : await findCheckpoint(terms.database, read.value.stream.index.digest)
  if (checkpointOfFile) return resumeImport(path, checkpointOfFile, terms)
  const checked = await checkAll(path, read.value, terms)
  if (!checked.ok) return checked
  const { stream, leftOut, newDocuments } = checked.value
  if (dryRun) return ok({ ...NOTHING_DONE, ...countDryRun(checked.value, terms), leftOut: faultsIn(leftOut) })
  const checkpoint = await beginImport({ ...stream, leftOut }, newDocuments, terms)
  if ('unfinished' in checkpoint) return failed({ line: null, message: unfinished(checkpoint.unfinished) })
  return writeStream(stream, checkpoint, terms)
}

/** A stream and its skipped lines. */
interface ReadStream {
  readonly stream: Stream
  readonly leftOut: LeftOut
}

const NO_LINES: ReadonlySet<number> = new Set()

/** `hidden`: lines that are not valid link targets. */
async function readStream(
  path: string,
  leftOut: LeftOut,
  { model, skipsInvalid }: ImportTerms,
  hidden: ReadonlySet<number> = NO_LINES,
): Promise<Result<ReadStream, ImportFault>> {
  const without = new Set([...linesWithout(leftOut), ...hidden])
  const { index, faults } = await indexStream(path, model, { skipsInvalid, without })
  if (index === null) return failed(...faults)
  const all = { ...leftOut, faults: [...leftOut.faults, ...faults] }
  const stream = { path, index, model, without: linesWithout(all), now: new Date().toISOString() }
  return ok({ stream, leftOut: all })
}

/** Restores the skipped lines of a resumed import. */
async function resumeImport(
  path: string,
  checkpointOfFile: Checkpoint,
  terms: ImportTerms,
): Promise<Result<ImportReport, ImportFault>> {
  const read = await readStream(path, checkpointOfFile.decided.leftOut ?? NONE_LEFT_OUT, terms)
  return read.ok ? writeStream(read.value.stream, checkpointOfFile, terms) : read
}

/** Validates again without the invalid documents and all that link to them, until nothing more is skipped. */
async function checkAll(
  path: string,
  { stream, leftOut }: ReadStream,
  terms: ImportTerms,
): Promise<Result<Checked & ReadStream, ImportFault>> {
  const checked = await checkStream(stream, terms)
  if (checked.faults.length === 0) return ok({ ...checked, stream, leftOut })
  if (!terms.skipsInvalid) return failed(...checked.faults)
  const faults = [...leftOut.faults, ...checked.faults]
  const hidden = checked.links?.leadingTo(new Set(faults.map(({ line }) => line)))
  const read = await readStream(path, { ...leftOut, faults }, terms, hidden)
  return read.ok ? checkAll(path, read.value, terms) : read
}

const NOTHING_DONE: ImportReport = { made: 0, changed: 0, skipped: 0, before: 0, leftOut: [] }

function countDryRun(
  { newDocuments, existing }: Checked,
  { onConflict }: ImportTerms,
): Partial<ImportReport> {
  const made = [...newDocuments.values()].reduce((sum, count) => sum + count, 0)
  return onConflict === 'update' ? { made, changed: existing } : { made, skipped: existing }
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
  const { index, now } = stream
  const writing = openBatchWriter({ index, digest, decided, now, terms })
  try {
    for await (const batch of readBatches(stream, done)) {
      const counts = await writing.write(batch, from)
      from = batch.last
      taken += batch.count
      report = added(report, counts)
      terms.progress({ stage: 'importing', done: total - left(total, done) + taken, total })
    }
  } catch (error) {
    if (!(error instanceof StreamRefused)) throw error
    // No links are known yet.
    if (from === BEGINNING) await endImport(digest, terms)
    return failed(...error.faults)
  }
  await endImport(digest, terms)
  return ok({ ...report, before: total - taken, leftOut: faultsIn(writing.leftOut()) })
}

/** The number of documents up to a line; the first line is the header. */
const left = (total: number, done: number): number => Math.max(0, total + 1 - done)

const added = (report: ImportReport, { made, changed, skipped }: Counts): ImportReport => ({
  ...report,
  made: report.made + made,
  changed: report.changed + changed,
  skipped: report.skipped + skipped,
})

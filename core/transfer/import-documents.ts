import { failed, ok, type Result } from '../base/result.ts'
import type { Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { beginImport, endImport, findCheckpoint } from './begin-import.ts'
import { type Checked, checkStream } from './check-stream.ts'
import { BEGINNING, type Checkpoint, moveCheckpoint } from './checkpoint.ts'
import { findExisting } from './find-existing.ts'
import { type ImportTerms, PATIENT, writeTermsOf } from './import-terms.ts'
import { indexStream, type StreamIndex } from './index-stream.ts'
import { findConflicts, findDoubles, findLost } from './judge-batch.ts'
import { type LineFault, StreamRefused } from './line-fault.ts'
import { namesIn } from './link-names.ts'
import { findOwnParts } from './own-parts.ts'
import { nameOf, type ParsedDocument } from './parse-document.ts'
import { place } from './place-batch.ts'
import { type LineBatch, readBatches, type Stream } from './read-batches.ts'
import { storeBytes, writeBatch } from './write-batch.ts'

/** Documents by what became of them. */
export interface ImportReport {
  readonly made: number
  readonly changed: number
  readonly skipped: number
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

type Counts = Pick<ImportReport, 'made' | 'changed' | 'skipped'>

const added = (report: ImportReport, { made, changed, skipped }: Counts): ImportReport => ({
  ...report,
  made: report.made + made,
  changed: report.changed + changed,
  skipped: report.skipped + skipped,
})

interface Writing extends Pick<Checkpoint, 'digest' | 'decided'> {
  readonly index: StreamIndex
  readonly now: string
  readonly terms: ImportTerms
}

async function writeLines(batch: LineBatch, from: number, writing: Writing): Promise<Counts> {
  const { terms } = writing
  if (batch.faults.length > 0) throw new StreamRefused(batch.faults)
  await storeBytes(batch.documents, terms)
  const work = async (transaction: Transaction) => {
    if (!(await moveCheckpoint(transaction, writing.digest, { from, to: batch.last })))
      throw new StreamRefused([{ line: from, about: null, message: 'somebody else imports this file, too' }])
    return writeDocumentsOf(batch.documents, transaction, writing)
  }
  try {
    return await inTurn(() => terms.database.transaction(work, PATIENT))
  } catch (error) {
    throw isRefusal(error) ? await findRefused(batch.documents, error, writing) : error
  }
}

/** Once more where somebody else's write came between. */
const TRIES = 5

async function inTurn<Value>(work: () => Promise<Value>, tries = TRIES): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (tries <= 1 || toDatabaseFault(error)?.kind !== 'serialization') throw error
    return inTurn(work, tries - 1)
  }
}

async function writeDocumentsOf(
  documents: readonly ParsedDocument[],
  transaction: Transaction,
  { index, decided, now, terms }: Writing,
): Promise<Counts> {
  const writing = writeTermsOf(transaction, terms, now)
  const existing = await findExisting(namesIn(documents), writing)
  const isThere = ({ type, documentId }: ParsedDocument) => existing(type, documentId) !== undefined
  const wanted = terms.onConflict === 'skip' ? documents.filter(each => !isThere(each)) : documents
  const placed = wanted.map(document => place(document, { ...terms, index, decided, existing }))
  const pairs = placed.map(({ document, first }) => ({ document, written: first }))
  const faults = [
    ...findConflicts(documents, existing, terms.onConflict),
    ...findLost(wanted, { ...terms, index, existing }),
    ...(await findDoubles(pairs, await findOwnParts(placed, writing), writing)),
  ]
  if (faults.length > 0) throw new StreamRefused(faults)
  await writeBatch(placed, transaction, writing, terms)
  const changed = placed.filter(({ there }) => there).length
  return { made: placed.length - changed, changed, skipped: documents.length - wanted.length }
}

/** What the data broke; anything else is no line's fault. */
function isRefusal(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'other') return fault.code?.startsWith('22') === true
  return fault !== undefined && 'constraint' in fault
}

/** Ends a transaction that only looked. */
class LookedUp extends Error {
  override readonly name = 'LookedUp'
}

/** Which document of a batch the database does not take: they are written one by one, and taken back. */
async function findRefused(
  documents: readonly ParsedDocument[],
  error: unknown,
  writing: Writing,
): Promise<unknown> {
  let refused: LineFault | undefined
  const work = async (transaction: Transaction) => {
    for (const document of documents) {
      const { line, type, documentId } = document
      refused = { line, about: nameOf(type, documentId), message: '' }
      await writeDocumentsOf([document], transaction, writing)
      await transaction.run(NOTHING)
    }
    refused = undefined
    throw new LookedUp()
  }
  await writing.terms.database.transaction(work, PATIENT).catch((found: unknown) => {
    if (found instanceof LookedUp) return
    if (!refused || !isRefusal(found)) throw found
    refused = { ...refused, message: refusalOf(found) }
  })
  return refused ? new StreamRefused([refused]) : error
}

/** Statements that were only sent are answered with this one. */
const NOTHING = { name: 'wait for what was sent', text: 'SELECT 1', values: [] }

const refusalOf = (error: unknown): string =>
  `PostgreSQL does not take it: ${toDatabaseFault(error)?.message ?? ''}`

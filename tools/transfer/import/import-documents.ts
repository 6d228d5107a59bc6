import { addAll, groupBy } from '../../../core/base/plain-data.ts'
import { failed, failedFor, ok, type Result } from '../../../core/base/result.ts'
import type { Transaction } from '../../../core/database/database.ts'
import { analyzeOutdated } from '../../../core/database/keep-statistics.ts'
import { type ConflictCandidate, findConflicts, uniqueClaims } from '../../../core/import/conflicts.ts'
import { type FindExisting, findExisting, linksOf, namesIn } from '../../../core/import/links.ts'
import { asNew } from '../../../core/import/place.ts'
import { IMPORT_OPTIONS, importWriteOptions } from '../../../core/import/write-batch.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { indexStream, MOST_FAULTS, type StreamIndex } from '../index-stream.ts'
import { type LineFault, StreamRefused } from '../stream-fault.ts'
import { beginImport, endImport, findCheckpoint, type NewDocuments } from './begin-import.ts'
import { BEGINNING, type Checkpoint, removeUnstarted } from './checkpoint.ts'
import {
  faultsIn,
  type ImporterOptions,
  NONE_SKIPPED,
  type SkippedDocuments,
  skippedLines,
} from './import-options.ts'
import { KeyIndex } from './key-index.ts'
import type { ParsedDocument } from './parse-document.ts'
import { type LineBatch, readBatches, type Stream } from './read-batches.ts'
import {
  claimFault,
  conflictFault,
  findExistingFaults,
  findMissingFiles,
  findUnknownTargets,
} from './validate-batch.ts'
import { type Counts, openBatchWriter } from './write-lines.ts'

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
  options: ImporterOptions,
  { dryRun }: ImportOptions,
): Promise<Result<ImportReport, ImportFault>> {
  const read = await readStream(path, NONE_SKIPPED, options)
  if (!read.ok) return read
  const checkpointOfFile = dryRun
    ? null
    : await findCheckpoint(options.database, read.value.stream.index.digest)
  if (checkpointOfFile) return resumeImport(path, checkpointOfFile, options)
  const checked = await checkAll(path, read.value, options)
  if (!checked.ok) return checked
  const { stream, leftOut, newDocuments } = checked.value
  if (dryRun)
    return ok({ ...NOTHING_DONE, ...countDryRun(checked.value, options), leftOut: faultsIn(leftOut) })
  const checkpoint = await beginImport({ ...stream, leftOut }, newDocuments, options)
  if ('unfinished' in checkpoint) return failed({ line: null, message: unfinished(checkpoint.unfinished) })
  return writeStream(stream, checkpoint, options)
}

/** A stream and its skipped lines. */
interface ReadStream {
  readonly stream: Stream
  readonly leftOut: SkippedDocuments
}

const NO_LINES: ReadonlySet<number> = new Set()

/** `hidden`: lines that are not valid link targets. */
async function readStream(
  path: string,
  leftOut: SkippedDocuments,
  { model, skipsInvalid }: ImporterOptions,
  hidden: ReadonlySet<number> = NO_LINES,
): Promise<Result<ReadStream, ImportFault>> {
  const without = new Set([...skippedLines(leftOut), ...hidden])
  const { index, faults } = await indexStream(path, model, { skipsInvalid, without })
  if (index === null) return failedFor(faults)
  const all = { ...leftOut, faults: [...leftOut.faults, ...faults] }
  const stream = { path, index, model, without: skippedLines(all), now: new Date().toISOString() }
  return ok({ stream, leftOut: all })
}

/** Restores the skipped lines of a resumed import. */
async function resumeImport(
  path: string,
  checkpointOfFile: Checkpoint,
  options: ImporterOptions,
): Promise<Result<ImportReport, ImportFault>> {
  const read = await readStream(path, checkpointOfFile.decided.leftOut ?? NONE_SKIPPED, options)
  return read.ok ? writeStream(read.value.stream, checkpointOfFile, options) : read
}

/** Validates again without the invalid documents and all that link to them, until nothing more is skipped. */
async function checkAll(
  path: string,
  { stream, leftOut }: ReadStream,
  options: ImporterOptions,
): Promise<Result<Checked & ReadStream, ImportFault>> {
  const checked = await checkStream(stream, options)
  if (checked.faults.length === 0) return ok({ ...checked, stream, leftOut })
  if (!options.skipsInvalid) return failedFor(checked.faults)
  const faults = [...leftOut.faults, ...checked.faults]
  const hidden = checked.links?.leadingTo(new Set(faults.map(({ line }) => line)))
  const read = await readStream(path, { ...leftOut, faults }, options, hidden)
  return read.ok ? checkAll(path, read.value, options) : read
}

const NOTHING_DONE: ImportReport = { made: 0, changed: 0, skipped: 0, before: 0, leftOut: [] }

function countDryRun(
  { newDocuments, existing }: Checked,
  { onConflict }: ImporterOptions,
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
  options: ImporterOptions,
): Promise<Result<ImportReport, ImportFault>> {
  const { total } = stream.index
  let report = NOTHING_DONE
  let from = done
  let taken = 0
  const { index, now } = stream
  const writing = openBatchWriter({ index, digest, decided, now, options })
  if (options.onConflict === 'update') await analyzeChanged(options)
  try {
    for await (const batch of readBatches(stream, done)) {
      const counts = await writing.write(batch, from)
      from = batch.last
      taken += batch.count
      report = added(report, counts)
      options.progress({ stage: 'importing', done: total - left(total, done) + taken, total })
    }
  } catch (error) {
    if (!(error instanceof StreamRefused)) throw error
    // Unless another process has begun to write the same stream, no links are known yet.
    if (from === BEGINNING) await removeUnstarted(options.database, [digest])
    return failedFor(error.faults)
  }
  if (taken > 0) await analyzeChanged(options)
  await endImport(digest, options)
  return ok({ ...report, before: total - taken, leftOut: faultsIn(writing.skipped()) })
}

/** For updates, which find documents by their statistics, and for the first reads of what was imported. */
const analyzeChanged = ({ database, storage }: ImporterOptions): Promise<void> =>
  analyzeOutdated(database, {
    tables: storage.tables.map(({ name }) => name),
    changed: 0.1,
    transaction: IMPORT_OPTIONS,
  })

/** The number of documents up to a line; the first line is the header. */
const left = (total: number, done: number): number => Math.max(0, total + 1 - done)

const added = (report: ImportReport, { made, changed, skipped }: Counts): ImportReport => ({
  ...report,
  made: report.made + made,
  changed: report.changed + changed,
  skipped: report.skipped + skipped,
})

interface Checked {
  readonly faults: readonly LineFault[]
  readonly newDocuments: NewDocuments
  /** Documents that already exist in the database. */
  readonly existing: number
  /** The links between lines, to skip dependent documents; null: nothing is skipped. */
  readonly links: LinkGraph | null
}

interface Checking {
  readonly stream: Stream
  readonly options: ImporterOptions
  readonly claims: KeyIndex
  readonly newDocuments: Map<ContentType, number>
  readonly links: LinkGraph | null
}

/** Validates every line against the model, the other lines and the database. Writes nothing. */
async function checkStream(stream: Stream, options: ImporterOptions): Promise<Checked> {
  const links = options.skipsInvalid ? new LinkGraph(stream.index) : null
  const checking: Checking = { stream, options, claims: new KeyIndex(), newDocuments: new Map(), links }
  const faults: LineFault[] = []
  let done = 0
  let existing = 0
  for await (const batch of readBatches(stream, 0)) {
    const found = await options.database.transaction(
      transaction => checkBatch(batch, transaction, checking),
      IMPORT_OPTIONS,
    )
    addAll(faults, found.faults)
    existing += found.existing
    done += batch.count
    options.progress({ stage: 'checking', done, total: stream.index.total })
    if (!options.skipsInvalid && faults.length >= MOST_FAULTS) break
  }
  return { faults, newDocuments: checking.newDocuments, existing, links }
}

async function checkBatch(
  { documents, faults }: LineBatch,
  transaction: Transaction,
  checking: Checking,
): Promise<{ readonly faults: readonly LineFault[]; readonly existing: number }> {
  const { options, stream, newDocuments } = checking
  const writing = importWriteOptions(transaction, options, stream.now)
  const existing = await findExisting(namesIn(documents), 'documentId', writing)
  for (const document of documents) checking.links?.add(document, existing)
  const fresh = documents.filter(({ type, name }) => !existing(type, name))
  for (const { type } of fresh) newDocuments.set(type, (newDocuments.get(type) ?? 0) + 1)
  const wanted = options.onConflict === 'skip' ? fresh : documents
  const wrong = [
    ...faults,
    ...findExistingFaults(documents, existing, options.onConflict),
    ...findUnknownTargets(wanted, { ...options, index: stream.index, existing }),
    ...findMissingFiles(documents, options),
    ...fresh.flatMap(({ lacking }) => lacking),
  ]
  // Skipped documents do not claim unique values.
  const out = new Set(options.skipsInvalid ? wrong.map(({ line }) => line) : [])
  const candidates = wanted
    .filter(({ line }) => !out.has(line))
    .map(document => ({ document, first: asNew(document) }))
  // Values of documents that are updated as well may be free by then.
  const conflicts = options.onConflict === 'update' ? [] : await findConflicts(candidates, () => [], writing)
  const claimed = candidates.flatMap(each => findClaimed(each, checking.claims))
  const found = [...wrong, ...conflicts.map(conflictFault), ...claimed]
  return { faults: inOrder(found), existing: documents.length - fresh.length }
}

/** Unique values of the document that an earlier line has. */
function findClaimed(
  { document, first }: ConflictCandidate<ParsedDocument>,
  claims: KeyIndex,
): readonly LineFault[] {
  return uniqueClaims(first).flatMap(claim =>
    claims.add(claim.key, { ordinal: document.line, key: 0 })
      ? []
      : [claimFault(document, claim, claims.get(claim.key)?.ordinal)],
  )
}

function inOrder(faults: readonly LineFault[]): readonly LineFault[] {
  const seen = new Map(faults.map(fault => [JSON.stringify(fault), fault]))
  return [...seen.values()].toSorted((a, b) => a.line - b.line)
}

/** The links from lines to new documents of the stream. Stored as numbers, because streams are long. */
class LinkGraph {
  readonly #index: StreamIndex
  readonly #types = new Map<ContentType, number>()
  readonly #nodes: [line: number, node: number][] = []
  readonly #links: [line: number, node: number][] = []

  constructor(index: StreamIndex) {
    this.#index = index
  }

  add(document: ParsedDocument, existing: FindExisting): void {
    const { line, type, name } = document
    const node = this.#nodeOf(type, name)
    if (node !== undefined) this.#nodes.push([line, node])
    for (const { attribute, target } of linksOf(document)) {
      if (existing(attribute.target, target.documentId)) continue
      const end = this.#nodeOf(attribute.target, target.documentId)
      if (end !== undefined && end !== node) this.#links.push([line, end])
    }
  }

  /** The lines that link to one of these documents, directly or indirectly. */
  leadingTo(lines: ReadonlySet<number>): ReadonlySet<number> {
    const nodes = new Map(this.#nodes)
    const ways = groupBy(this.#links, ([, node]) => node)
    const found = new Set<number>()
    const next = [...lines]
    for (let line = next.pop(); line !== undefined; line = next.pop()) {
      for (const [from] of ways.get(nodes.get(line) ?? NOWHERE) ?? []) {
        if (found.has(from) || lines.has(from)) continue
        found.add(from)
        next.push(from)
      }
    }
    return found
  }

  #nodeOf(type: ContentType, documentId: string): number | undefined {
    const found = this.#index.find(type, documentId)
    if (!found) return undefined
    const number = this.#types.get(type) ?? this.#types.size
    this.#types.set(type, number)
    return number * 2 ** 32 + found.ordinal
  }
}

const NOWHERE = -1

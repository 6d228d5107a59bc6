import { join } from 'node:path'
import { groupBy } from '../../../core/base/plain-data.ts'
import type { Transaction } from '../../../core/database/database.ts'
import { unlinkStatements } from '../../../core/documents/links/links-to.ts'
import { findExisting, namesIn } from '../../../core/import/links.ts'
import { filesOf, storeFiles } from '../../../core/import/stored-files.ts'
import {
  findBatchConflicts,
  importWriteOptions,
  prepareBatch,
  transactBatch,
  writeBatch,
} from '../../../core/import/write-batch.ts'
import type { StreamIndex } from '../index-stream.ts'
import { overFiles, StreamRefused } from '../stream-fault.ts'
import { type Checkpoint, moveCheckpoint, placeOptions, reservedKey, storeSkipped } from './checkpoint.ts'
import {
  type ImporterOptions,
  NONE_SKIPPED,
  nameInStream,
  type RefusedDocument,
  type SkippedDocuments,
} from './import-options.ts'
import { nameOf, type ParsedDocument } from './parse-document.ts'
import type { LineBatch } from './read-batches.ts'
import { conflictFault, findDeleted, findExistingFaults, findUnknownTargets } from './validate-batch.ts'

/** The number of documents by outcome. */
export interface Counts {
  readonly made: number
  readonly changed: number
  readonly skipped: number
}

/** The context of all batches of an import. */
export interface WriteContext extends Pick<Checkpoint, 'digest' | 'decided'> {
  readonly index: StreamIndex
  readonly now: string
  readonly options: ImporterOptions
}

/** An additional write in the batch's transaction, after the checkpoint has moved. */
type AdditionalWrite = (transaction: Transaction) => Promise<void>

/** Writes a batch together with its checkpoint. Throws StreamRefused with the faults of its lines. */
async function writeLines(
  batch: LineBatch,
  from: number,
  writing: WriteContext,
  writeMore?: AdditionalWrite,
): Promise<Counts> {
  const { options } = writing
  if (batch.faults.length > 0) throw new StreamRefused(batch.faults)
  await storeBytes(batch.documents, options)
  const write = async (transaction: Transaction) => {
    if (!(await moveCheckpoint(transaction, writing.digest, { from, to: batch.last })))
      throw new StreamRefused([{ line: from, about: null, message: OTHER_PROCESS }])
    await writeMore?.(transaction)
    return writeDocumentsOf(batch.documents, transaction, writing)
  }
  return transactBatch(options.database, {
    documents: batch.documents,
    write,
    writeOne: (document, transaction) => writeDocumentsOf([document], transaction, writing),
    refusal: ({ line, type, name }, message) =>
      new StreamRefused([{ line, about: nameOf(type, name), message }]),
  })
}

const OTHER_PROCESS =
  'another process imports into this database as well: import this file again when that has ended'

/** Files are stored before the rows that reference them. */
async function storeBytes(
  documents: readonly ParsedDocument[],
  { filesFolder, files, model }: ImporterOptions,
): Promise<void> {
  if (filesFolder === null) return
  const stored = documents
    .filter(({ type }) => type === model.builtIn.file)
    .flatMap(({ versions: [version] }) => (version ? filesOf(version.values, files.provider) : []))
    .map(file => ({ ...file, path: join(filesFolder, file.key) }))
  await overFiles(() => storeFiles(stored, files))
}

async function writeDocumentsOf(
  documents: readonly ParsedDocument[],
  transaction: Transaction,
  { index, decided, now, options }: WriteContext,
): Promise<Counts> {
  const writing = importWriteOptions(transaction, options, now)
  const existing = await findExisting(namesIn(documents), 'documentId', writing)
  const isThere = ({ type, name }: ParsedDocument) => existing(type, name) !== undefined
  const wanted = options.onConflict === 'skip' ? documents.filter(each => !isThere(each)) : documents
  const batch = await prepareBatch(wanted, placeOptions({ index, decided, existing, options }), writing)
  const conflicts = await findBatchConflicts(batch, writing)
  const faults = [
    ...findExistingFaults(documents, existing, options.onConflict),
    ...wanted.flatMap(document => (isThere(document) ? [] : document.lacking)),
    ...findUnknownTargets(wanted, { ...options, index, existing }),
    ...findDeleted(wanted, { index, existing, decided }),
    ...conflicts.map(conflictFault),
  ]
  if (faults.length > 0) throw new StreamRefused(faults)
  await writeBatch(batch, { ...options, removesOtherVersions: true }, writing)
  const changed = wanted.filter(isThere).length
  return { made: wanted.length - changed, changed, skipped: documents.length - wanted.length }
}

interface BatchWriter {
  write(batch: LineBatch, from: number): Promise<Counts>
  /** The documents that were skipped so far. */
  skipped(): SkippedDocuments
}

/**
 * Writes batches. With `--skip-invalid` a batch with refused documents is written again without them; links of earlier batches
 * to these documents are removed.
 */
export function openBatchWriter(writing: WriteContext): BatchWriter {
  let skipped = writing.decided.leftOut ?? NONE_SKIPPED
  const write = async (batch: LineBatch, from: number, refused: readonly Refused[]): Promise<Counts> => {
    const index = withoutRefused(writing.index, [...skipped.refused, ...refused])
    let skippedNow = skipped
    const storeRefused = async (transaction: Transaction) => {
      if (refused.length === 0) return
      const reported = await removeLinksTo(refused, transaction, writing)
      skippedNow = { ...skipped, refused: [...skipped.refused, ...reported] }
      await storeSkipped(transaction, writing.digest, skippedNow)
    }
    try {
      const counts = await writeLines(batch, from, { ...writing, index }, storeRefused)
      skipped = skippedNow
      return counts
    } catch (error) {
      const more =
        writing.options.skipsInvalid && error instanceof StreamRefused ? refusedOf(batch, error) : []
      if (more.length === 0) throw error
      const invalid = new Set(more.map(({ document }) => document))
      const documents = batch.documents.filter(document => !invalid.has(document))
      return write({ ...batch, documents }, from, [...refused, ...more])
    }
  }
  return { write: (batch, from) => write(batch, from, []), skipped: () => skipped }
}

/** A document of the current batch that was refused. */
interface Refused extends RefusedDocument {
  readonly document: ParsedDocument
}

/** The documents whose lines have faults. */
function refusedOf({ documents }: LineBatch, { faults }: StreamRefused): readonly Refused[] {
  const byLine = groupBy(faults, ({ line }) => line)
  return documents.flatMap(document => {
    const own = byLine.get(document.line)
    return own ? [{ document, called: nameInStream(document.type, document.name), faults: own }] : []
  })
}

/** The index of the stream, in which refused documents are not valid link targets. */
function withoutRefused(index: StreamIndex, refused: readonly RefusedDocument[]): StreamIndex {
  if (refused.length === 0) return index
  const names = new Set(refused.map(({ called }) => called))
  return {
    ...index,
    find: (type, documentId) =>
      names.has(nameInStream(type, documentId)) ? undefined : index.find(type, documentId),
  }
}

/** Removes links of already written documents to skipped ones; the report has their number. */
async function removeLinksTo(
  refused: readonly Refused[],
  transaction: Transaction,
  { index, decided, now, options }: WriteContext,
): Promise<readonly RefusedDocument[]> {
  const reported: RefusedDocument[] = []
  const names = groupBy(refused, ({ document }) => document.type)
  const wanted = new Map(
    [...names].map(([type, each]) => [type, new Set(each.map(({ document }) => document.name))] as const),
  )
  const existing = await findExisting(wanted, 'documentId', importWriteOptions(transaction, options, now))
  for (const { document, called, faults } of refused) {
    const { type, name, line } = document
    const key = existing(type, name) ? undefined : reservedKey({ index, decided }, type, name)
    let links = 0
    if (key !== undefined)
      for (const statement of unlinkStatements(
        { type, document: { key }, locale: null },
        options.model,
        options.storage,
      ))
        links += (await transaction.run(statement)).count
    const about = faults[0]?.about ?? null
    const message = `links of lines before it that led to it are left out, too: ${links}`
    reported.push({ called, faults: [...faults, ...(links > 0 ? [{ line, about, message }] : [])] })
  }
  return reported
}

import { join } from 'node:path'
import type { Transaction } from '../../../core/database/database.ts'
import { findExisting, namesIn } from '../../../core/import/links.ts'
import { filesOf, storeFiles } from '../../../core/import/stored-files.ts'
import { transactBatch } from '../../../core/import/transact-batch.ts'
import {
  findBatchConflicts,
  importWriteTerms,
  prepareBatch,
  writeBatch,
} from '../../../core/import/write-batch.ts'
import type { StreamIndex } from '../index-stream.ts'
import { overFiles, StreamRefused } from '../stream-fault.ts'
import { type Checkpoint, moveCheckpoint, placeTerms } from './checkpoint.ts'
import type { ImportTerms } from './import-terms.ts'
import { nameOf, type ParsedDocument } from './parsed-document.ts'
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
  readonly terms: ImportTerms
}

/** An additional write in the batch's transaction, after the checkpoint has moved. */
export type Beside = (transaction: Transaction) => Promise<void>

/** Writes a batch together with its checkpoint. Throws StreamRefused with the faults of its lines. */
export async function writeLines(
  batch: LineBatch,
  from: number,
  writing: WriteContext,
  beside?: Beside,
): Promise<Counts> {
  const { terms } = writing
  if (batch.faults.length > 0) throw new StreamRefused(batch.faults)
  await storeBytes(batch.documents, terms)
  const write = async (transaction: Transaction) => {
    if (!(await moveCheckpoint(transaction, writing.digest, { from, to: batch.last })))
      throw new StreamRefused([{ line: from, about: null, message: 'somebody else imports this file, too' }])
    await beside?.(transaction)
    return writeDocumentsOf(batch.documents, transaction, writing)
  }
  return transactBatch(terms.database, {
    documents: batch.documents,
    write,
    writeOne: (document, transaction) => writeDocumentsOf([document], transaction, writing),
    refusal: ({ line, type, name }, message) =>
      new StreamRefused([{ line, about: nameOf(type, name), message }]),
  })
}

/** Files are stored before the rows that reference them. */
async function storeBytes(
  documents: readonly ParsedDocument[],
  { filesFolder, files, model }: ImportTerms,
): Promise<void> {
  if (filesFolder === null) return
  const stored = documents
    .filter(({ type }) => type === model.builtIn.file)
    .flatMap(({ versions: [version] }) => (version ? filesOf(version.values) : []))
    .map(file => ({ ...file, path: join(filesFolder, file.key) }))
  await overFiles(() => storeFiles(stored, files))
}

async function writeDocumentsOf(
  documents: readonly ParsedDocument[],
  transaction: Transaction,
  { index, decided, now, terms }: WriteContext,
): Promise<Counts> {
  const writing = importWriteTerms(transaction, terms, now)
  const existing = await findExisting(namesIn(documents), 'documentId', writing)
  const isThere = ({ type, name }: ParsedDocument) => existing(type, name) !== undefined
  const wanted = terms.onConflict === 'skip' ? documents.filter(each => !isThere(each)) : documents
  const batch = await prepareBatch(wanted, placeTerms({ index, decided, existing, terms }), writing)
  const conflicts = await findBatchConflicts(batch, writing)
  const faults = [
    ...findExistingFaults(documents, existing, terms.onConflict),
    ...wanted.flatMap(document => (isThere(document) ? [] : document.lacking)),
    ...findUnknownTargets(wanted, { ...terms, index, existing }),
    ...findDeleted(wanted, { index, existing, decided }),
    ...conflicts.map(conflictFault),
  ]
  if (faults.length > 0) throw new StreamRefused(faults)
  await writeBatch(batch, { ...terms, removesOtherVersions: true }, writing)
  const changed = wanted.filter(isThere).length
  return { made: wanted.length - changed, changed, skipped: documents.length - wanted.length }
}

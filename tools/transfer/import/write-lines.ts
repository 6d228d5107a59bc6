import type { Transaction } from '../../../core/database/database.ts'
import { toDatabaseFault } from '../../../core/database/database-fault.ts'
import { transactAgain } from '../../../core/database/transact-again.ts'
import { groupBy } from '../../../core/documents/rows/group.ts'
import { loadDocuments } from '../../../core/documents/rows/write-load.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import { ownParts } from '../../../core/documents/unique/own-parts.ts'
import { runAndRollBack } from '../../../core/migrate/plan-migration.ts'
import type { Component } from '../../../core/model/model.ts'
import type { StreamIndex } from '../index-stream.ts'
import { type LineFault, StreamRefused } from '../stream-fault.ts'
import { type Checkpoint, moveCheckpoint } from './checkpoint.ts'
import { findExistingDocuments } from './find-existing.ts'
import { type ImportTerms, PATIENT, writeTermsOf } from './import-terms.ts'
import { namesIn } from './link-names.ts'
import { nameOf, type ParsedDocument } from './parsed-document.ts'
import { type PlacedDocument, place } from './place-batch.ts'
import type { LineBatch } from './read-batches.ts'
import { findDeleted, findDeletedTargets, findDoubles, findValueConflicts } from './validate-batch.ts'
import { storeBytes, writeBatch } from './write-batch.ts'

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
  const work = async (transaction: Transaction) => {
    if (!(await moveCheckpoint(transaction, writing.digest, { from, to: batch.last })))
      throw new StreamRefused([{ line: from, about: null, message: 'somebody else imports this file, too' }])
    await beside?.(transaction)
    return writeDocumentsOf(batch.documents, transaction, writing)
  }
  for (let attempt = 1; ; attempt++) {
    try {
      return await transactAgain(terms.database, work, PATIENT)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const refused = attempt === 1 ? null : await findRefused(batch.documents, writing)
      if (refused) throw new StreamRefused([refused])
      if (attempt >= ATTEMPTS) throw error
    }
  }
}

/** Retries a batch that failed because of a concurrent write. */
const ATTEMPTS = 5

async function writeDocumentsOf(
  documents: readonly ParsedDocument[],
  transaction: Transaction,
  { index, decided, now, terms }: WriteContext,
): Promise<Counts> {
  const writing = writeTermsOf(transaction, terms, now)
  const existing = await findExistingDocuments(namesIn(documents), writing)
  const isThere = ({ type, documentId }: ParsedDocument) => existing(type, documentId) !== undefined
  const wanted = terms.onConflict === 'skip' ? documents.filter(each => !isThere(each)) : documents
  const placed = wanted.map(document => place(document, { ...terms, index, decided, existing }))
  const pairs = placed.map(({ document, first }) => ({ document, written: first }))
  const faults = [
    ...findValueConflicts(documents, existing, terms.onConflict),
    ...placed.flatMap(({ document, there }) => (there ? [] : document.lacking)),
    ...findDeletedTargets(wanted, { ...terms, index, existing }),
    ...findDeleted(wanted, { index, existing, decided }),
    ...(await findDoubles(pairs, await findOwnParts(placed, writing), writing)),
  ]
  if (faults.length > 0) throw new StreamRefused(faults)
  await writeBatch(placed, transaction, writing, terms)
  const changed = placed.filter(({ there }) => there).length
  return { made: placed.length - changed, changed, skipped: documents.length - wanted.length }
}

/** The violated constraint; other errors are not the fault of a line. */
function isRefusal(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'other') return fault.code?.startsWith('22') === true
  return fault !== undefined && 'constraint' in fault
}

/** Finds the document that the database refuses, by writing one at a time and rolling back. null: none. */
async function findRefused(
  documents: readonly ParsedDocument[],
  writing: WriteContext,
): Promise<LineFault | null> {
  let refused: LineFault | undefined
  const work = async (transaction: Transaction) => {
    for (const document of documents) {
      const { line, type, documentId } = document
      refused = { line, about: nameOf(type, documentId), message: '' }
      await writeDocumentsOf([document], transaction, writing)
      await transaction.run(NOTHING)
    }
    refused = undefined
  }
  await runAndRollBack(writing.terms.database, work, PATIENT).catch((found: unknown) => {
    if (!refused || !isRefusal(found)) throw found
    refused = { ...refused, message: refusalOf(found) }
  })
  return refused ?? null
}

/** Waits for the results of pipelined statements. */
const NOTHING = { name: 'wait for what was sent', text: 'SELECT 1', values: [] }

const refusalOf = (error: unknown): string =>
  `PostgreSQL does not take it: ${toDatabaseFault(error)?.message ?? ''}`

/** The existing components of existing documents. */
async function findOwnParts(
  placed: readonly PlacedDocument[],
  terms: WriteTerms,
): Promise<(component: Component) => readonly number[]> {
  const there = placed.flatMap(({ there, first }) => (there ? [first] : []))
  const found: ReturnType<typeof ownParts>[] = []
  for (const [type, documents] of groupBy(there, each => each.type)) {
    const ids = documents.map(({ documentId }) => documentId)
    found.push(ownParts(documents, await loadDocuments(type, ids, terms), terms))
  }
  return component => found.flatMap(idsOf => idsOf(component))
}

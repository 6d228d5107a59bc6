import type { Transaction } from '../../../core/database/database.ts'
import { unlinkStatements } from '../../../core/documents/links/links-to.ts'
import { groupBy } from '../../../core/documents/rows/group.ts'
import { findExisting } from '../../../core/import/links.ts'
import { importWriteTerms } from '../../../core/import/write-batch.ts'
import type { StreamIndex } from '../index-stream.ts'
import { StreamRefused } from '../stream-fault.ts'
import { keepLeftOut, reservedKey } from './checkpoint.ts'
import { type LeftOut, NONE_LEFT_OUT, nameInStream, type RefusedDocument } from './import-terms.ts'
import type { ParsedDocument } from './parsed-document.ts'
import type { LineBatch } from './read-batches.ts'
import { type Counts, type WriteContext, writeLines } from './write-lines.ts'

export interface SkipState {
  write(batch: LineBatch, from: number): Promise<Counts>
  /** So far. */
  leftOut(): LeftOut
}

/** Writes batches. With `--skip-invalid` it also skips documents that the database refuses only now. */
export function openPassing(writing: WriteContext): SkipState {
  let leftOut = writing.decided.leftOut ?? NONE_LEFT_OUT
  const write = async (batch: LineBatch, from: number, out: readonly Refused[]): Promise<Counts> => {
    const refused = [...leftOut.refused, ...out]
    const around = { ...writing, index: without(writing.index, refused) }
    let kept = leftOut
    const beside = async (transaction: Transaction) => {
      if (out.length === 0) return
      kept = { ...leftOut, refused: [...leftOut.refused, ...(await unlinked(out, transaction, writing))] }
      await keepLeftOut(transaction, writing.digest, kept)
    }
    try {
      const counts = await writeLines(batch, from, around, beside)
      leftOut = kept
      return counts
    } catch (error) {
      const more = writing.terms.skipsInvalid && error instanceof StreamRefused ? refusedOf(batch, error) : []
      if (more.length === 0) throw error
      const gone = new Set(more.map(({ document }) => document))
      const documents = batch.documents.filter(document => !gone.has(document))
      return write({ ...batch, documents }, from, [...out, ...more])
    }
  }
  return { write: (batch, from) => write(batch, from, []), leftOut: () => leftOut }
}

interface Refused extends RefusedDocument {
  readonly document: ParsedDocument
}

/** The documents of the faults. */
function refusedOf({ documents }: LineBatch, { faults }: StreamRefused): readonly Refused[] {
  const byLine = groupBy(faults, ({ line }) => line)
  return documents.flatMap(document => {
    const own = byLine.get(document.line)
    return own ? [{ document, called: nameInStream(document.type, document.name), faults: own }] : []
  })
}

function without(index: StreamIndex, refused: readonly RefusedDocument[]): StreamIndex {
  const names = new Set(refused.map(({ called }) => called))
  return {
    ...index,
    find: (type, documentId) =>
      names.has(nameInStream(type, documentId)) ? undefined : index.find(type, documentId),
  }
}

/** Removes links of already written documents to skipped ones; the report has their number. */
async function unlinked(
  refused: readonly Refused[],
  transaction: Transaction,
  { index, decided, now, terms }: WriteContext,
): Promise<readonly RefusedDocument[]> {
  const told: RefusedDocument[] = []
  const names = groupBy(refused, ({ document }) => document.type)
  const wanted = new Map(
    [...names].map(([type, each]) => [type, new Set(each.map(({ document }) => document.name))] as const),
  )
  const existing = await findExisting(wanted, 'documentId', importWriteTerms(transaction, terms, now))
  for (const { document, called, faults } of refused) {
    const { type, name, line } = document
    const key = existing(type, name) ? undefined : reservedKey({ index, decided }, type, name)
    let links = 0
    if (key !== undefined)
      for (const statement of unlinkStatements({ type, key, locale: null }, terms.model, terms.storage))
        links += (await transaction.run(statement)).count
    const about = faults[0]?.about ?? null
    const message = `links of lines before it that led to it are left out, too: ${links}`
    told.push({ called, faults: [...faults, ...(links > 0 ? [{ line, about, message }] : [])] })
  }
  return told
}

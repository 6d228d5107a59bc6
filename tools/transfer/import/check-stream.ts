import { groupBy } from '../../../core/base/plain-data.ts'
import type { Transaction } from '../../../core/database/database.ts'
import { type ConflictCandidate, findConflicts, uniqueClaims } from '../../../core/import/conflicts.ts'
import { type FindExisting, findExisting, linksIn, namesIn, partsOf } from '../../../core/import/links.ts'
import { place } from '../../../core/import/place.ts'
import { IMPORT_OPTIONS, importWriteTerms } from '../../../core/import/write-batch.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { MOST_FAULTS, type StreamIndex } from '../index-stream.ts'
import type { LineFault } from '../stream-fault.ts'
import type { NewDocuments } from './begin-import.ts'
import { placeTerms } from './checkpoint.ts'
import type { ImportTerms } from './import-terms.ts'
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

export interface Checked {
  readonly faults: readonly LineFault[]
  readonly newDocuments: NewDocuments
  /** Documents that already exist in the database. */
  readonly existing: number
  /** The links between lines, to skip dependent documents; null: nothing is skipped. */
  readonly links: LinkGraph | null
}

interface Checking {
  readonly stream: Stream
  readonly terms: ImportTerms
  readonly claims: KeyIndex
  readonly newDocuments: Map<ContentType, number>
  readonly links: LinkGraph | null
}

/** Validates every line against the model, the other lines and the database. Writes nothing. */
export async function checkStream(stream: Stream, terms: ImportTerms): Promise<Checked> {
  const links = terms.skipsInvalid ? new LinkGraph(stream.index) : null
  const checking: Checking = { stream, terms, claims: new KeyIndex(), newDocuments: new Map(), links }
  const faults: LineFault[] = []
  let done = 0
  let existing = 0
  for await (const batch of readBatches(stream, 0)) {
    const found = await terms.database.transaction(
      transaction => checkBatch(batch, transaction, checking),
      IMPORT_OPTIONS,
    )
    faults.push(...found.faults)
    existing += found.existing
    done += batch.count
    terms.progress({ stage: 'checking', done, total: stream.index.total })
    if (!terms.skipsInvalid && faults.length >= MOST_FAULTS) break
  }
  return { faults, newDocuments: checking.newDocuments, existing, links }
}

async function checkBatch(
  { documents, faults }: LineBatch,
  transaction: Transaction,
  checking: Checking,
): Promise<{ readonly faults: readonly LineFault[]; readonly existing: number }> {
  const { terms, stream, newDocuments } = checking
  const writing = importWriteTerms(transaction, terms, stream.now)
  const existing = await findExisting(namesIn(documents), 'documentId', writing)
  for (const document of documents) checking.links?.add(document, existing)
  const fresh = documents.filter(({ type, name }) => !existing(type, name))
  for (const { type } of fresh) newDocuments.set(type, (newDocuments.get(type) ?? 0) + 1)
  const wanted = terms.onConflict === 'skip' ? fresh : documents
  const placing = placeTerms({ terms, index: stream.index, decided: { keys: {}, places: {} }, existing })
  const wrong = [
    ...faults,
    ...findExistingFaults(documents, existing, terms.onConflict),
    ...findUnknownTargets(wanted, { ...terms, index: stream.index, existing }),
    ...findMissingFiles(documents, terms),
    ...fresh.flatMap(({ lacking }) => lacking),
  ]
  // Skipped documents do not claim unique values.
  const out = new Set(terms.skipsInvalid ? wrong.map(({ line }) => line) : [])
  const candidates = wanted
    .filter(({ line }) => !out.has(line))
    .map(document => ({ document, first: place(document, placing).first }))
  // Values of documents that are updated as well may be free by then.
  const conflicts = terms.onConflict === 'update' ? [] : await findConflicts(candidates, () => [], writing)
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
    for (const values of partsOf(document))
      for (const { attribute, target } of linksIn(type, values)) {
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

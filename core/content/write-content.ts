import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { transactAgain } from '../database/transact-again.ts'
import type { WrittenDocument } from '../documents/desired-state.ts'
import { type Outbox, openTelling } from '../documents/outbox.ts'
import { type Current, loadCurrent } from '../documents/rows/write-load.ts'
import type { LockingTerms, WriteTerms } from '../documents/rows/write-terms.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { toFileDocument } from '../media/file-record.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { isDue, isKept, type Ledger, readLedger, recordWritten } from './applied.ts'
import type { Content, ContentDocument } from './content.ts'
import { newsOf } from './content-news.ts'
import { findExisting } from './find-existing.ts'
import { findSwaps, findTakenIn } from './find-taken-in.ts'
import { keyOf, type MediaFile, toRecord } from './media-file.ts'
import { type Prepared, prepare } from './prepare-documents.ts'
import { findRealIds, withRealIds } from './resolve-names.ts'

export interface ContentTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  /** Takes the files of content/media/ that documents use. */
  readonly files: FileStorage
  readonly outbox: Outbox
  /** Hears of users that are there, in the transaction, before their addresses are written. */
  readonly beforeUsers: (transaction: Transaction, users: readonly AddressedUser[]) => Promise<void>
}

export interface AddressedUser {
  readonly documentId: string
  readonly email: string
}

/** How many documents were written, by the uid of their type; types with none are left out. */
export interface ContentReport {
  readonly written: ReadonlyMap<string, number>
  /** Of each file, how many entries were edited after they were written, and are not written again (`on: create`). */
  readonly kept: ReadonlyMap<string, number>
}

const NOTHING: ContentReport = { written: new Map(), kept: new Map() }

/** Milliseconds: a first start may write a great deal in one statement. */
const STATEMENT_TIMEOUT = 300_000

/**
 * Writes what is due of content/, in one transaction: all of it or nothing. Costs one statement where nothing is.
 * Roles must have been mirrored before. Fails with diagnostics where values are taken by documents of others.
 */
export async function writeContent(
  content: Content,
  terms: ContentTerms,
): Promise<Result<ContentReport, Diagnostic>> {
  if (content.documents.length === 0) return ok(NOTHING)
  const ledger = await readLedger(terms.database)
  const due = dueOf(content, ledger)
  const kept = keptOf(content, ledger)
  if (due.length === 0) return ok({ ...NOTHING, kept })
  const written = await tryToWrite(content, terms, due)
  return written.ok ? ok({ ...written.value, kept }) : written
}

/** Who takes a value at the same moment is seen by the second try. */
async function tryToWrite(
  content: Content,
  terms: ContentTerms,
  due: readonly ContentDocument[],
  isLast = false,
): Promise<Result<ContentReport, Diagnostic>> {
  try {
    return ok(await writeDue(content, terms))
  } catch (error) {
    if (error instanceof ContentRefused) return failed(...error.faults)
    if (!(error instanceof DatabaseFailure) || error.fault.kind !== 'unique') throw error
    if (!isLast) return tryToWrite(content, terms, due, true)
    const faults = findSwaps(due, error.fault, terms.storage)
    if (faults.length === 0) throw error
    return failed(...faults)
  }
}

const dueOf = ({ documents }: Content, ledger: Ledger): readonly ContentDocument[] =>
  documents.filter(document => isDue(document, ledger))

function keptOf({ documents }: Content, ledger: Ledger): ReadonlyMap<string, number> {
  const kept = new Map<string, number>()
  for (const document of documents) {
    const { file } = document.source
    if (isKept(document, ledger)) kept.set(file, (kept.get(file) ?? 0) + 1)
  }
  return kept
}

/** Carries faults out of the transaction, which it rolls back. */
class ContentRefused extends Error {
  override readonly name = 'ContentRefused'
  readonly faults: readonly Diagnostic[]

  constructor(faults: readonly Diagnostic[]) {
    super('content/ cannot be written')
    this.faults = faults
  }
}

/** Other processes that start at the same time wait, and then find that it is done. */
function writeDue(content: Content, terms: ContentTerms): Promise<ContentReport> {
  const work = async (transaction: Transaction): Promise<ContentReport> => {
    await transaction.lock('plinth content')
    const due = dueOf(content, await readLedger(transaction))
    return due.length === 0 ? NOTHING : writeAll(due, { ...terms, transaction, content })
  }
  return transactAgain(terms.database, work, { statementTimeout: STATEMENT_TIMEOUT })
}

interface Writing extends ContentTerms {
  readonly transaction: Transaction
  readonly content: Content
}

async function writeAll(due: readonly ContentDocument[], writing: Writing): Promise<ContentReport> {
  const terms = writeTerms(writing)
  const real = await findRealIds(due, writing, terms)
  const existing = await findExisting(
    due.map(document => withRealIds(document, real)),
    terms,
  )
  const wanted = due.filter(
    document =>
      document.on === 'sync' || !existing.has(document.type, real(document.type, document.documentId)),
  )
  const { file } = writing.model.builtIn
  const { documents, sources } = await prepare(wanted, { real, existing, terms })
  const files = await newFiles(wanted, writing, terms)
  const current = await loadCurrent(documents, terms)
  await refuseTaken({ documents, sources }, current, terms)
  await storeFiles(files, writing.files)
  await writing.beforeUsers(writing.transaction, addressed(documents, writing.model))
  const records = files.map(each => toFileDocument(toRecord(each, writing.files), file))
  await writeDocuments([...records, ...inTurn(documents, terms.now)], terms, current)
  const tell = openTelling(writing.outbox).within(writing.transaction, terms.now)
  for (const news of [...records, ...documents].flatMap(each => newsOf(each, existing))) tell(news)
  await recordWritten(writing.transaction, due, terms.now)
  return { ...NOTHING, written: countByType(documents) }
}

/** A user who is not there yet is found by nobody who hears of him. */
const addressed = (documents: readonly WrittenDocument[], { builtIn }: Model): readonly AddressedUser[] =>
  documents.flatMap(({ type, documentId, versions }) => {
    const email = type === builtIn.user ? versions[0]?.values.get('email') : undefined
    return email?.kind === 'scalar' && typeof email.value === 'string'
      ? [{ documentId, email: email.value }]
      : []
  })

const writeTerms = ({ transaction, storage, model, database }: Writing): LockingTerms => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-place',
  touch: false,
})

/** The files that the documents use and that have no record yet. */
async function newFiles(
  documents: readonly ContentDocument[],
  { model, files: storage }: Writing,
  terms: WriteTerms,
): Promise<readonly MediaFile[]> {
  const type = model.builtIn.file
  const used = new Map(documents.flatMap(({ files }) => files.map(file => [file.documentId, file] as const)))
  const files = [...used.values()]
  const existing = await findExisting(
    files.map(file => toFileDocument(toRecord(file, storage), type)),
    terms,
  )
  return files.filter(({ documentId }) => !existing.has(type, documentId))
}

/** A file that is there already is the same one: its hash is of its bytes. */
async function storeFiles(files: readonly MediaFile[], storage: FileStorage): Promise<void> {
  for (const file of files) {
    if (!(await storage.has(keyOf(file)))) await storage.store(keyOf(file), file)
  }
}

async function refuseTaken(prepared: Prepared, current: Current, terms: LockingTerms): Promise<void> {
  const faults = await findTakenIn(prepared, current, terms)
  if (faults.length > 0) throw new ContentRefused(faults)
}

/** Sorted by their stamps, documents come in the order of the files. */
const inTurn = (documents: readonly WrittenDocument[], now: string): readonly WrittenDocument[] =>
  documents.map((document, index) => ({
    ...document,
    at: new Date(Date.parse(now) - (documents.length - 1 - index)).toISOString(),
  }))

function countByType(documents: readonly WrittenDocument[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { type } of documents) counts.set(type.uid, (counts.get(type.uid) ?? 0) + 1)
  return counts
}

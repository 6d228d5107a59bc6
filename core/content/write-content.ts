import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { transactAgain } from '../database/transact-again.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import { type Outbox, openChangeRecorder } from '../documents/outbox.ts'
import { type Current, loadCurrent } from '../documents/rows/write-load.ts'
import type { LockingTerms, WriteTerms } from '../documents/rows/write-terms.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { toFileDocument } from '../media/file-record.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { type AppliedDigests, hasUnappliedEdit, isDue, readAppliedDigests, recordApplied } from './applied.ts'
import type { Content, ContentDocument } from './content.ts'
import { contentChanges, findExistingVersions } from './find-existing.ts'
import { findSwaps, findTakenValues } from './find-taken-values.ts'
import { type MediaFile, mediaKey, toMediaRecord } from './media-file.ts'
import { findRealIds, type PreparedDocuments, prepareDocuments, withRealIds } from './resolve-names.ts'

export interface ContentTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  /** Stores the files of content/media/ that documents use. */
  readonly files: FileStorage
  readonly outbox: Outbox
  /** Called in the transaction before addresses of users are written. */
  readonly beforeUsers: (transaction: Transaction, users: readonly UserAddress[]) => Promise<void>
}

export interface UserAddress {
  readonly documentId: string
  readonly email: string
}

/** Number of written documents by type uid; types without any are left out. */
export interface ContentReport {
  readonly written: ReadonlyMap<string, number>
  /** Number of entries by file that were edited after they were written, and are not applied because of `on: create`. */
  readonly kept: ReadonlyMap<string, number>
}

const NOTHING: ContentReport = { written: new Map(), kept: new Map() }

/** Milliseconds: a first start may write many rows in one statement. */
const STATEMENT_TIMEOUT = 300_000

/**
 * Writes due documents of content/ in one transaction. Runs one statement if nothing is due. Roles must have been synced
 * before. Fails with diagnostics if unique values are taken by other documents.
 */
export async function writeContent(
  content: Content,
  terms: ContentTerms,
): Promise<Result<ContentReport, Diagnostic>> {
  if (content.documents.length === 0) return ok(NOTHING)
  const applied = await readAppliedDigests(terms.database)
  const due = dueDocuments(content, applied)
  const kept = countUnappliedEdits(content, applied)
  if (due.length === 0) return ok({ ...NOTHING, kept })
  const written = await writeWithRetry(content, terms, due)
  return written.ok ? ok({ ...written.value, kept }) : written
}

/** Retries once: the second attempt sees values that were taken concurrently. */
async function writeWithRetry(
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
    if (!isLast) return writeWithRetry(content, terms, due, true)
    const faults = findSwaps(due, error.fault, terms.storage)
    if (faults.length === 0) throw error
    return failed(...faults)
  }
}

const dueDocuments = ({ documents }: Content, ledger: AppliedDigests): readonly ContentDocument[] =>
  documents.filter(document => isDue(document, ledger))

function countUnappliedEdits({ documents }: Content, ledger: AppliedDigests): ReadonlyMap<string, number> {
  const kept = new Map<string, number>()
  for (const document of documents) {
    const { file } = document.source
    if (hasUnappliedEdit(document, ledger)) kept.set(file, (kept.get(file) ?? 0) + 1)
  }
  return kept
}

/** Thrown to roll back the transaction with diagnostics. */
class ContentRefused extends Error {
  override readonly name = 'ContentRefused'
  readonly faults: readonly Diagnostic[]

  constructor(faults: readonly Diagnostic[]) {
    super('content/ cannot be written')
    this.faults = faults
  }
}

/** Under a lock: processes that start concurrently wait, and then find nothing due. */
function writeDue(content: Content, terms: ContentTerms): Promise<ContentReport> {
  const work = async (transaction: Transaction): Promise<ContentReport> => {
    await transaction.lock('plinth content')
    const due = dueDocuments(content, await readAppliedDigests(transaction))
    return due.length === 0 ? NOTHING : writeAll(due, { ...terms, transaction, content })
  }
  return transactAgain(terms.database, work, { statementTimeout: STATEMENT_TIMEOUT })
}

interface WriteContentTerms extends ContentTerms {
  readonly transaction: Transaction
  readonly content: Content
}

async function writeAll(due: readonly ContentDocument[], writing: WriteContentTerms): Promise<ContentReport> {
  const terms = writeTerms(writing)
  const real = await findRealIds(due, writing, terms)
  const existing = await findExistingVersions(
    due.map(document => withRealIds(document, real)),
    terms,
  )
  const wanted = due.filter(
    document =>
      document.on === 'sync' || !existing.has(document.type, real(document.type, document.documentId)),
  )
  const { file } = writing.model.builtIn
  const { documents, sources } = await prepareDocuments(wanted, { real, existing, terms })
  const files = await newFiles(wanted, writing, terms)
  const current = await loadCurrent(documents, terms)
  await assertNotTaken({ documents, sources }, current, terms)
  await storeFiles(files, writing.files)
  await writing.beforeUsers(writing.transaction, userAddresses(documents, writing.model))
  const records = files.map(each => toFileDocument(toMediaRecord(each, writing.files), file))
  await writeDocuments([...records, ...inFileOrder(documents, terms.now)], terms, current)
  const recordEvent = openChangeRecorder(writing.outbox).within(writing.transaction, terms.now)
  for (const change of [...records, ...documents].flatMap(each => contentChanges(each, existing)))
    recordEvent(change)
  await recordApplied(writing.transaction, due, terms.now)
  return { ...NOTHING, written: countByType(documents) }
}

/** Addresses of all users among the documents. New users are included; they have no rows yet. */
const userAddresses = (documents: readonly DesiredDocument[], { builtIn }: Model): readonly UserAddress[] =>
  documents.flatMap(({ type, documentId, versions }) => {
    const email = type === builtIn.user ? versions[0]?.values.get('email') : undefined
    return email?.kind === 'scalar' && typeof email.value === 'string'
      ? [{ documentId, email: email.value }]
      : []
  })

const writeTerms = ({ transaction, storage, model, database }: WriteContentTerms): LockingTerms => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-place',
  touch: false,
})

/** Files of the documents that have no record yet. */
async function newFiles(
  documents: readonly ContentDocument[],
  { model, files: storage }: WriteContentTerms,
  terms: WriteTerms,
): Promise<readonly MediaFile[]> {
  const type = model.builtIn.file
  const used = new Map(documents.flatMap(({ files }) => files.map(file => [file.documentId, file] as const)))
  const files = [...used.values()]
  const existing = await findExistingVersions(
    files.map(file => toFileDocument(toMediaRecord(file, storage), type)),
    terms,
  )
  return files.filter(({ documentId }) => !existing.has(type, documentId))
}

/** Skips stored files: the hash in the key is derived from the bytes. */
async function storeFiles(files: readonly MediaFile[], storage: FileStorage): Promise<void> {
  for (const file of files) {
    if (!(await storage.has(mediaKey(file)))) await storage.store(mediaKey(file), file)
  }
}

async function assertNotTaken(
  prepared: PreparedDocuments,
  current: Current,
  terms: LockingTerms,
): Promise<void> {
  const faults = await findTakenValues(prepared, current, terms)
  if (faults.length > 0) throw new ContentRefused(faults)
}

/** Gives increasing timestamps, so that sorting by time keeps the order of the files. */
const inFileOrder = (documents: readonly DesiredDocument[], now: string): readonly DesiredDocument[] =>
  documents.map((document, index) => ({
    ...document,
    at: new Date(Date.parse(now) - (documents.length - 1 - index)).toISOString(),
  }))

function countByType(documents: readonly DesiredDocument[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { type } of documents) counts.set(type.uid, (counts.get(type.uid) ?? 0) + 1)
  return counts
}

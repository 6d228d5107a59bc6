import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { transactAgain } from '../database/transact-again.ts'
import type { Outbox } from '../documents/outbox.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { generateUids } from '../documents/state/generate-uids.ts'
import { violatedAttribute } from '../documents/unique/violated-attribute.ts'
import { hashPasswords } from '../documents/values/hash-passwords.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { ValueConflict } from '../import/conflicts.ts'
import type { ImportedDocument } from '../import/imported-document.ts'
import { findExisting, namesIn } from '../import/links.ts'
import type { NewIdentity, PlacedDocument } from '../import/place.ts'
import { storeFiles } from '../import/stored-files.ts'
import {
  type BatchTerms,
  findBatchConflicts,
  IMPORT_OPTIONS,
  importWriteTerms,
  isRefusal,
  prepareBatch,
  writeBatch,
} from '../import/write-batch.ts'
import { toFileDocument } from '../media/file-record.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { type AppliedDigests, hasUnappliedEdit, isDue, readAppliedDigests, recordApplied } from './applied.ts'
import { conflictDiagnostic } from './check-documents.ts'
import { type Content, type ContentDocument, valuePath } from './content.ts'
import { diagnose } from './content-fault.ts'
import { type MediaFile, mediaKey, toMediaRecord } from './media-file.ts'

export interface ContentTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  /** Stores the files of content/media/ that documents use. */
  readonly files: FileStorage
  readonly outbox: Outbox
  readonly beforeUsers: BatchTerms['beforeUsers']
}

/** Number of written documents by type uid; types without any are left out. */
export interface ContentReport {
  readonly written: ReadonlyMap<string, number>
  /** Number of entries by file that were edited after they were written, and are not applied because of `on: create`. */
  readonly kept: ReadonlyMap<string, number>
}

const NOTHING: ContentReport = { written: new Map(), kept: new Map() }

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

/** Retries a write that failed because of a concurrent one: the next attempt sees its rows. */
const ATTEMPTS = 3

async function writeWithRetry(
  content: Content,
  terms: ContentTerms,
  due: readonly ContentDocument[],
): Promise<Result<ContentReport, Diagnostic>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return ok(await writeDue(content, terms))
    } catch (error) {
      if (error instanceof ContentRefused) return failed(...error.faults)
      if (!isRefusal(error)) throw error
      if (attempt < ATTEMPTS) continue
      const faults = findSwaps(due, error, terms.storage)
      if (faults.length === 0) throw error
      return failed(...faults)
    }
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
    return due.length === 0 ? NOTHING : writeAll(due, { ...terms, transaction })
  }
  return transactAgain(terms.database, work, IMPORT_OPTIONS)
}

interface TransactionTerms extends ContentTerms {
  readonly transaction: Transaction
}

async function writeAll(
  due: readonly ContentDocument[],
  { transaction, ...terms }: TransactionTerms,
): Promise<ContentReport> {
  const { model, storage, files } = terms
  const writing = importWriteTerms(transaction, terms, new Date().toISOString())
  const records = mediaDocuments(due, terms)
  const existing = await findExisting(namesIn([...records, ...due]), 'username', writing)
  const isThere = ({ type, name }: ImportedDocument) => existing(type, name) !== undefined
  const wanted = due.filter(document => document.on === 'sync' || !isThere(document))
  const used = new Set(wanted.flatMap(document => document.files.map(({ documentId }) => documentId)))
  const missing = records.filter(record => used.has(record.name) && !isThere(record))
  const placed = await prepareBatch(
    [...missing, ...inFileOrder(wanted, writing.now)],
    { model, storage, files, existing, identify, keepsRows: () => false, listOffset: () => 0 },
    writing,
  )
  const batch = { ...placed, documents: await completeValues(placed.documents, writing) }
  const conflicts = await findBatchConflicts(batch, writing)
  if (conflicts.length > 0) throw new ContentRefused(conflicts.flatMap(toDiagnostics))
  await storeFiles(
    missing.map(({ file }) => ({ key: mediaKey(file), path: file.path, mime: file.mime })),
    files,
  )
  await writeBatch(batch, { ...terms, removesOtherVersions: false }, writing)
  await recordApplied(transaction, due, writing.now)
  return { ...NOTHING, written: countByType(wanted) }
}

/** The record of a file in content/media/. */
interface MediaDocument extends ImportedDocument {
  readonly file: MediaFile
}

function mediaDocuments(
  documents: readonly ContentDocument[],
  { model, files: storage }: ContentTerms,
): readonly MediaDocument[] {
  const type = model.builtIn.file
  const used = new Map(documents.flatMap(({ files }) => files.map(file => [file.documentId, file] as const)))
  return [...used.values()].map(file => {
    const { documentId, versions } = toFileDocument(toMediaRecord(file, storage), type)
    const parts = versions.map(version => ({ ...version, defaults: new Map(), digest: '', row: null }))
    return { type, name: documentId, versions: parts, shared: new Map(), file }
  })
}

/** Increasing timestamps, so that sorting by time keeps the order of the files. */
const inFileOrder = (documents: readonly ContentDocument[], now: string): readonly ContentDocument[] =>
  documents.map((document, index) => ({
    ...document,
    at: new Date(Date.parse(now) - (documents.length - 1 - index)).toISOString(),
  }))

/** Users get a documentId that is derived from their username. */
const identify = (type: ContentType, name: string): NewIdentity => ({
  documentId: type.builtIn && type.key === 'user' ? documentIdOf('user', name) : name,
})

type PlacedContent = PlacedDocument<ContentDocument | MediaDocument>

/** Generates the uids of new documents, and hashes passwords. */
async function completeValues(
  placed: readonly PlacedContent[],
  writing: WriteTerms,
): Promise<readonly PlacedContent[]> {
  const made = placed.flatMap(({ there, first }) => (there ? [] : [first]))
  const generated = await generateUids(made, writing)
  const byDocument = new Map(made.map((document, index) => [document, generated[index] ?? document]))
  const hashed = await hashPasswords(placed.map(({ first }) => byDocument.get(first) ?? first))
  return placed.map((each, index) => ({ ...each, first: hashed[index] ?? each.first }))
}

/** Files have no unique values. */
const toDiagnostics = ({
  document,
  other,
  ...claim
}: ValueConflict<ContentDocument | MediaDocument>): readonly Diagnostic[] =>
  'file' in document ? [] : [conflictDiagnostic({ ...claim, document })]

function countByType(documents: readonly ContentDocument[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { type } of documents) counts.set(type.uid, (counts.get(type.uid) ?? 0) + 1)
  return counts
}

/**
 * Reports documents that would swap values of a unique attribute. The database checks each row immediately, and a
 * required attribute cannot be null in between.
 */
function findSwaps(
  documents: readonly ContentDocument[],
  error: unknown,
  storage: Storage,
): readonly Diagnostic[] {
  const fault = toDatabaseFault(error)
  const attribute = fault && violatedAttribute(fault, storage)
  if (!attribute) return []
  const [first, ...others] = documents.flatMap(document =>
    document.type.attributes.get(attribute.name) === attribute
      ? document.versions
          .filter(({ values }) => values.has(attribute.name))
          .map(({ locale }) => ({ ...document, path: valuePath(document, locale, [attribute.name]) }))
      : [],
  )
  if (!first) return []
  const related = { place: first.source.place(first.path), message: 'the first of them' }
  const message = `\`${attribute.name}\` must be unique and is required: documents that are there cannot exchange their values at once; give one of them a value that none has, start, and then write what you mean`
  return others.map(spot => diagnose('not-unique', message, spot, related))
}

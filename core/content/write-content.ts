import { failed, ok, type Result } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import type { Outbox } from '../documents/outbox.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import type { LockingOptions } from '../documents/rows/write-options.ts'
import { generateUids } from '../documents/state/generate-uids.ts'
import { hashPasswords } from '../documents/values/hash-passwords.ts'
import { type Diagnostic, fromWorkingDirectory, printDiagnostic } from '../faults/diagnostic.ts'
import type { ValueConflict } from '../import/conflicts.ts'
import type { ImportedDocument } from '../import/imported-document.ts'
import { findExisting, namesIn, type Relink, relinked } from '../import/links.ts'
import type { NewIdentity, PlacedDocument } from '../import/place.ts'
import { storeFiles } from '../import/stored-files.ts'
import {
  type BatchOptions,
  findBatchConflicts,
  importWriteOptions,
  prepareBatch,
  transactBatch,
  writeBatch,
} from '../import/write-batch.ts'
import { toFileDocument } from '../media/file-record.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { ResultCheck } from '../migrate/migration-options.ts'
import { refusal } from '../migrate/schema/finding.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { conflictDiagnostic } from './check-documents.ts'
import { type Content, type ContentDocument, diagnose } from './content.ts'
import { type MediaFile, mediaKey, toMediaRecord } from './media-file.ts'

export interface ContentOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  /** Stores the files of content/media/ that documents use. */
  readonly files: FileStorage
  readonly outbox: Outbox
  readonly beforeUsers: BatchOptions['beforeUsers']
}

/** Number of written documents by type uid; types without any are left out. */
export interface ContentReport {
  readonly written: ReadonlyMap<string, number>
  /** Number of entries by file that were edited after they were written, and are not applied because of `on: create`. */
  readonly kept: ReadonlyMap<string, number>
}

/**
 * Writes due documents of content/ in one transaction. Runs one statement if nothing is due. Roles must have been synced
 * before. Fails with diagnostics if unique values are taken by other documents.
 */
export async function writeContent(
  content: Content,
  options: ContentOptions,
): Promise<Result<ContentReport, Diagnostic>> {
  if (content.documents.length === 0) return ok({ written: new Map(), kept: new Map() })
  const applied = await readAppliedDigests(options.database)
  const known = nameAsApplied(content, applied)
  const due = dueDocuments(known, applied)
  const kept = countUnappliedEdits(known, applied)
  if (due.length === 0 && renamedDocuments(known, applied).length === 0)
    return ok({ written: new Map(), kept })
  try {
    return ok({ written: await writeDue(content, due, options), kept })
  } catch (error) {
    if (error instanceof ContentRefused) return failed(...error.faults)
    throw error
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

type WrittenCounts = ContentReport['written']

/** Under a lock: processes that start concurrently wait, and then find nothing due. `documents`: probably due. */
function writeDue(
  content: Content,
  documents: readonly ContentDocument[],
  options: ContentOptions,
): Promise<WrittenCounts> {
  return transactBatch(options.database, {
    documents,
    async write(transaction) {
      await transaction.lock('plinth content')
      const applied = await readAppliedDigests(transaction)
      const known = nameAsApplied(content, applied)
      const renamed = renamedDocuments(known, applied)
      if (renamed.length > 0) await recordApplied(transaction, renamed, new Date().toISOString())
      const due = dueDocuments(known, applied)
      return due.length === 0 ? new Map() : writeAll(due, { ...options, transaction })
    },
    writeOne: (document, transaction) =>
      writeAll([document], { ...options, transaction }).catch(explainExchange),
    refusal: (document, message) => new ContentRefused([diagnose('bad-value', message, document)]),
  })
}

/** The documents have no conflict if they are written together, but the database checks each row immediately. */
function explainExchange(error: unknown): never {
  if (!(error instanceof ContentRefused)) throw error
  throw new ContentRefused(error.faults.map(fault => ({ ...fault, message: `${fault.message}${EXCHANGE}` })))
}

const EXCHANGE =
  ': documents cannot exchange such values in one start. Give one of them an unused value, start, and then write the intended values'

interface TransactionRunnerOptions extends ContentOptions {
  readonly transaction: Transaction
}

async function writeAll(
  due: readonly ContentDocument[],
  { transaction, ...options }: TransactionRunnerOptions,
): Promise<WrittenCounts> {
  const { model, files } = options
  const records = mediaDocuments(due, options)
  const { writing, wanted, missing, placed } = await placeDue(due, records, { transaction, ...options })
  const batch = { ...placed, documents: await completeValues(placed.documents, writing) }
  const conflicts = await findBatchConflicts(batch, writing)
  if (conflicts.length > 0) throw new ContentRefused(conflicts.flatMap(toDiagnostics))
  await storeFiles(
    missing.map(({ file }) => ({ key: mediaKey(file), path: file.path, mime: file.mime })),
    files,
  )
  await writeBatch(batch, { ...options, model, removesOtherVersions: false }, writing)
  await recordApplied(transaction, due, writing.now)
  return countByType(wanted)
}

interface PlaceDueOptions extends Pick<ContentOptions, 'database' | 'model' | 'storage'> {
  readonly files: FileStorage | null
  readonly transaction: Transaction
}

/** The documents that a start writes, and the records of the files among these that are not there. */
async function placeDue(
  due: readonly ContentDocument[],
  records: readonly MediaDocument[],
  { transaction, files, ...options }: PlaceDueOptions,
) {
  const { model, storage } = options
  const writing = importWriteOptions(transaction, options, new Date().toISOString())
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
  return { writing, wanted, missing, placed }
}

/**
 * Refuses a migration after which other documents have unique values of due documents: the start that follows would be
 * refused, while the former version no longer suits the tables. `root`: the folder of the project.
 */
export const refuseContentConflicts =
  (
    content: Content,
    options: Pick<ContentOptions, 'database' | 'model' | 'storage'> & { readonly root: string },
  ): ResultCheck =>
  async transaction => {
    if (content.documents.length === 0) return []
    const applied = await readAppliedDigests(transaction)
    const due = dueDocuments(nameAsApplied(content, applied), applied)
    if (due.length === 0) return []
    const { writing, placed } = await placeDue(due, [], { ...options, transaction, files: null })
    const found = (await findBatchConflicts(placed, writing)).flatMap(toDiagnostics)
    return found
      .map(fromWorkingDirectory(options.root))
      .map(each => refusal('not-unique', null, printDiagnostic(each)))
  }

/** The record of a file in content/media/. */
interface MediaDocument extends ImportedDocument {
  readonly file: MediaFile
}

function mediaDocuments(
  documents: readonly ContentDocument[],
  { model, files: storage }: ContentOptions,
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
  writing: LockingOptions,
): Promise<readonly PlacedContent[]> {
  const made = placed.flatMap(({ existing, first }) => (existing ? [] : [first]))
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

/** Digests of the documents of content/ that were written, by type and name. */
type AppliedDigests = ReadonlyMap<string, string>

type Runner = Pick<Transaction, 'run'>

const documentKey = (uid: string, name: string): string => JSON.stringify([uid, name])

/** The only statement of a start without changes in content/. */
async function readAppliedDigests(runner: Runner): Promise<AppliedDigests> {
  const { rows } = await runner.run({
    name: 'read what content/ has written',
    text: 'SELECT "content_type", "document_id", "digest" FROM "plinth_content"',
    values: [],
  })
  return new Map(rows.map(([uid, name, digest]) => [documentKey(String(uid), String(name)), String(digest)]))
}

/**
 * The entries without a documentId by the names under which they were written. A derived name contains the names of the type and of
 * an attribute, and depends on the attributes that there are: a change of these is none of the entry.
 */
function nameAsApplied({ documents }: Content, ledger: AppliedDigests): Content {
  const names = appliedNames(documents, ledger)
  if (names.size === 0) return { documents }
  const nameOf = (type: ContentType, name: string) => names.get(documentKey(type.uid, name)) ?? name
  const relink: Relink = (_, { target }, link) => ({ ...link, documentId: nameOf(target, link.documentId) })
  return {
    documents: documents.map(document => ({
      ...document,
      name: nameOf(document.type, document.name),
      versions: document.versions.map(version => ({
        ...version,
        values: relinked(document.type, version.values, relink),
      })),
    })),
  }
}

/** By type and derived name: the name of the document that was written from the same values, and that no entry has. */
function appliedNames(
  documents: readonly ContentDocument[],
  ledger: AppliedDigests,
): ReadonlyMap<string, string> {
  const keyOf = ({ type, name }: ContentDocument) => documentKey(type.uid, name)
  const strays = documents.filter(one => one.isDerived && !ledger.has(keyOf(one)))
  if (strays.length === 0 || ledger.size === 0) return new Map()
  const taken = new Set(documents.map(keyOf))
  const free = new Map<string, string[]>()
  for (const [key, digest] of ledger) {
    if (taken.has(key)) continue
    const [uid, name] = JSON.parse(key)
    const place = documentKey(uid, digest)
    const names = free.get(place)
    if (names) names.push(name)
    else free.set(place, [name])
  }
  return new Map(
    strays.flatMap((stray): [string, string][] => {
      const places = [stray.digest, ...stray.otherDigests()].map(each => documentKey(stray.type.uid, each))
      const name = free.get(places.find(place => free.get(place)?.length) ?? '')?.shift()
      return name === undefined ? [] : [[keyOf(stray), name]]
    }),
  )
}

/** Documents that were written under other names of attributes or components: the record gets the current ones. */
const renamedDocuments = ({ documents }: Content, ledger: AppliedDigests): readonly ContentDocument[] =>
  documents.filter(document => {
    const written = ledger.get(documentKey(document.type.uid, document.name))
    return written !== undefined && written !== document.digest && !isEdited(document, ledger)
  })

/** True if a document must be written: it is new, or it has changed in a file with `on: sync`. */
function isDue(document: ContentDocument, ledger: AppliedDigests): boolean {
  const { type, name, on } = document
  return !ledger.has(documentKey(type.uid, name)) || (on === 'sync' && isEdited(document, ledger))
}

/** True if an entry was edited after it was written, in a file with `on: create`. */
const hasUnappliedEdit = (document: ContentDocument, ledger: AppliedDigests): boolean =>
  document.on === 'create' && isEdited(document, ledger)

function isEdited({ type, name, digest, otherDigests }: ContentDocument, ledger: AppliedDigests): boolean {
  const written = ledger.get(documentKey(type.uid, name))
  return written !== undefined && written !== digest && !otherDigests().includes(written)
}

async function recordApplied(
  runner: Runner,
  documents: readonly ContentDocument[],
  now: string,
): Promise<void> {
  const values = [
    documents.map(({ type }) => type.uid),
    documents.map(({ name }) => name),
    documents.map(({ digest }) => digest),
    now,
  ]
  await runner.run({
    name: 'record what content/ has written',
    text: `INSERT INTO "plinth_content" ("content_type", "document_id", "digest", "written_at")
      SELECT u, n, d, $4::timestamptz FROM unnest($1::text[], $2::text[], $3::text[]) AS t (u, n, d)
      ON CONFLICT ("content_type", "document_id") DO UPDATE SET "digest" = excluded."digest", "written_at" = excluded."written_at"`,
    values,
  })
}

import { unmetCondition } from '../access/denial.ts'
import type { Database, Transaction } from '../database/database.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import { type EventAction, type Outbox, openChangeRecorder } from '../documents/outbox.ts'
import {
  assertMatches,
  countMatching,
  mayRevealExistence,
  visibleLocales,
} from '../documents/read/matching.ts'
import { fault, forbidden, RequestFault } from '../faults/fault.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { UploadSettings } from '../project/settings/settings.ts'
import type { Actor } from '../query/command.ts'
import type { Filter } from '../query/query.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { FileConditions } from './file-info.ts'
import { type FileStorage, isStorageKey } from './storage/file-storage.ts'

/** Dependencies of every write of a file. */
export interface FileServiceOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly settings: UploadSettings
  readonly files: FileStorage
  /** Folder of files that are not stored yet. */
  readonly staging: string
  readonly outbox: Outbox
  /** Called with an error of the storage that must not fail the request. */
  report(error: unknown): void
}

export const prepareOptions = ({ files, staging, settings }: FileServiceOptions) => ({
  files,
  folder: staging,
  pixelLimit: settings.pixelLimit,
})

type RecordFileEvent = (documentId: string, action: EventAction, attributes?: readonly string[]) => void

/** `isRepeatable`: after a deadlock, which documents that change at the same time can cause, the work runs again. */
export interface FileTransactionMode {
  /** The caller recorded in events. */
  readonly by: Actor | null
  readonly isRepeatable: boolean
}

/** Runs one transaction, and emits the recorded events after the commit. */
export async function withFileTransaction<Value>(
  work: (transaction: Transaction, recordEvent: RecordFileEvent) => Promise<Value>,
  { by, isRepeatable }: FileTransactionMode,
  { database, outbox, model }: FileServiceOptions,
): Promise<Value> {
  const type = model.builtIn.file
  const recorder = openChangeRecorder(outbox)
  const run = (transaction: Transaction) => {
    const record = recorder.within(transaction, new Date().toISOString())
    return work(transaction, (documentId, action, attributes = []) =>
      record({ type, documentId, changes: [{ locale: null, action }], origin: { by, attributes } }),
    )
  }
  const written = await (isRepeatable ? retryTransaction(database, run) : database.transaction(run))
  recorder.done()
  return written
}

/** For changes of an existing file. */
export interface FileChangeOptions extends FileServiceOptions {
  readonly conditions: FileConditions
}

type FileTransactionOptions = FileServiceOptions & { readonly transaction: Transaction }

/** False if the file is missing or hidden from the caller. Throws forbidden if the caller may read but not write it. */
export async function mayWriteFile(
  conditions: FileConditions,
  documentId: string,
  options: FileTransactionOptions,
): Promise<boolean> {
  const { transaction, storage, model } = options
  const type = model.builtIn.file
  const within = { transaction, storage, defaultLocale: model.defaultLocale }
  const seen = await visibleLocales({ type, documentId, locale: null, conditions }, within)
  if (!seen(null)) return false
  const match = fileMatch(conditions.before, documentId, options)
  if (!match || (await countMatching(match, within)) > 0) return true
  if (mayRevealExistence(conditions)) throw new RequestFault(forbidden(unmetCondition(type, 'before')))
  return false
}

/** Throws forbidden if the file does not meet the condition after the change. */
export async function assertFileMeets(
  filter: Filter | null,
  documentId: string,
  options: FileTransactionOptions,
): Promise<void> {
  const { transaction, storage, model } = options
  const match = fileMatch(filter, documentId, options)
  if (match) await assertMatches(match, 1, { transaction, storage, defaultLocale: model.defaultLocale })
}

const fileMatch = (filter: Filter | null, documentId: string, { model }: FileServiceOptions) =>
  filter && { type: model.builtIn.file, documentIds: [documentId], locale: ALL_LOCALES, filter }

const ALL_LOCALES = { kind: 'all' } as const

/** reference/rest.md#15-upload: the upload has no file, or an empty one. */
export const emptyFiles = (): RequestFault => new RequestFault(fault('validation', 'Files are empty'))

/** reference/rest.md#15-upload: the file to change does not exist. */
export const fileNotFound = (): RequestFault => new RequestFault(fault('notFound', 'Entity not found'))

/** The part of a record that changing or removing the file needs. */
export interface StoredFile {
  readonly id: number
  readonly documentId: string
  readonly hash: string
  readonly ext: string
  readonly mime: string
  /** Storage keys of its smaller pictures. */
  readonly formatKeys: readonly string[]
  /** What the record says of the bytes: size and smaller pictures. */
  readonly content: string
}

interface FindFileOptions {
  readonly transaction: Pick<Transaction, 'run'>
  readonly storage: Storage
  readonly type: ContentType
}

/** Finds a file by its id and locks it until the transaction ends; null if there is none. */
export async function lockFile(
  id: number,
  { transaction, storage, type }: FindFileOptions,
): Promise<StoredFile | null> {
  const table = storage.table(type)
  const column = (attribute: string): string => ident(storage.column(type, attribute))
  const { rows } = await transaction.run({
    name: 'find a file',
    text: `SELECT ${ident(table.documentId)}, ${column('hash')}, ${column('ext')}, ${column('mime')}, ${column('formats')}, ${column('size')} FROM ${ident(table.name)} WHERE ${ident(table.id)} = $1 FOR UPDATE`,
    values: [id],
  })
  const [row] = rows
  if (!row) return null
  const [documentId, hash, ext, mime, formats, size] = row
  return {
    id,
    documentId: String(documentId),
    hash: String(hash),
    ext: ext === null ? '' : String(ext),
    mime: mime === null ? 'application/octet-stream' : String(mime),
    formatKeys: formatKeys(formats),
    content: JSON.stringify([mime, size, formats]),
  }
}

function formatKeys(formats: unknown): readonly string[] {
  const parsed: unknown = typeof formats === 'string' ? JSON.parse(formats) : null
  if (typeof parsed !== 'object' || parsed === null) return []
  return Object.values(parsed).flatMap((format: unknown) =>
    typeof format === 'object' && format !== null && 'hash' in format && 'ext' in format
      ? [`${String(format.hash)}${String(format.ext)}`]
      : [],
  )
}

/** Storage keys of the file. Imported records may have names that are no valid keys: those are left out. */
export const storageKeys = ({
  hash,
  ext,
  formatKeys,
}: Pick<StoredFile, 'hash' | 'ext' | 'formatKeys'>): readonly string[] =>
  [`${hash}${ext}`, ...formatKeys].filter(isStorageKey)

export type WithinFileTransaction = FileChangeOptions & { readonly transaction: Transaction }

/** Locks the file until the transaction ends. null: the file is missing or hidden from the caller. */
export async function findWritable(id: number, options: WithinFileTransaction): Promise<StoredFile | null> {
  const { transaction, storage, model } = options
  const file = await lockFile(id, { transaction, storage, type: model.builtIn.file })
  return file && (await mayWriteFile(options.conditions, file.documentId, options)) ? file : null
}

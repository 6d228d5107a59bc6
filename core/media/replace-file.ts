import { isOutcomeUnknown } from '../database/database-fault.ts'
import { afterCommit } from '../database/request-scope.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import { writeOptions } from '../documents/rows/write-options.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { fileDocument } from './file-record.ts'
import {
  assertFileMeets,
  type FileChangeOptions,
  findWritable,
  lockFile,
  prepareOptions,
  type StoredFile,
  storageKeys,
  type WithinFileTransaction,
  withFileTransaction,
} from './file-transaction.ts'
import { discardStaged, type PreparedFile, prepareFile, removeKeys, type Upload } from './prepare-file.ts'
import { isStorageKey } from './storage/file-storage.ts'
import { discardFiles, stage } from './storage/staging.ts'

/**
 * Replaces the bytes of a file. They are stored last, when only the commit is left. Smaller pictures are made before the
 * transaction, which would otherwise hold a connection and the row lock meanwhile. The storage changes only under the row
 * lock, since a concurrent replacement uses the same keys. False if the file is missing or hidden from the caller.
 */
export async function replaceFile(id: number, upload: Upload, options: FileChangeOptions): Promise<boolean> {
  const { database } = options
  const before = await retryTransaction(database, transaction =>
    findWritable(id, { ...options, transaction }),
  )
  if (!before) return false
  const prepared = await prepareFile(upload, {
    ...prepareOptions(options),
    // An imported record without a valid key has no stored bytes, so there is no URL to keep.
    ...(isStorageKey(`${before.hash}${before.ext}`) && { replaced: { hash: before.hash, ext: before.ext } }),
  })
  let overwritten: Backup | undefined
  try {
    const unused = await withFileTransaction(
      async (transaction, recordEvent) => {
        const within = { ...options, transaction }
        const file = await findWritable(id, within)
        // The file was replaced concurrently: these keys may belong to another file.
        if (!file || file.hash !== before.hash || file.ext !== before.ext) return null
        await undoAttempt(file, overwritten)
        overwritten = await backUp(file, prepared, options)
        const keys = await writeReplacement(file, { upload, prepared, overwritten }, within)
        recordEvent(file.documentId, 'update', ['url', ...Object.keys(upload.info)])
        return keys
      },
      { by: options.conditions.by, isRepeatable: true },
      options,
    )
    if (unused === null) {
      await restoreUnlessReplaced(id, overwritten, options)
      return false
    }
    await afterCommit(() => removeUnused(id, unused, options))
    return true
  } catch (error) {
    if (!isOutcomeUnknown(error)) await restoreUnlessReplaced(id, overwritten, options)
    throw error
  } finally {
    await discardStaged([prepared])
    await overwritten?.discard()
  }
}

/**
 * Before the work is repeated after a deadlock: what the attempt before stored is undone under the lock of the record, unless
 * another replacement has followed.
 */
async function undoAttempt(file: StoredFile, overwritten: Backup | undefined): Promise<void> {
  if (overwritten?.isBegun() && overwritten.content === file.content) await overwritten.restore()
  await overwritten?.discard()
}

interface Replacement {
  readonly upload: Upload
  readonly prepared: PreparedFile
  readonly overwritten: Backup
}

/** Returns the storage keys that are no longer used. */
async function writeReplacement(
  file: StoredFile,
  { upload, prepared, overwritten }: Replacement,
  options: WithinFileTransaction,
): Promise<readonly string[]> {
  const document = fileDocument(options.model.builtIn.file, file.documentId, replacedFields(prepared, upload))
  await writeDocuments([document], writeOptions(options.transaction, options, { touch: true }))
  await assertFileMeets(options.conditions.after, file.documentId, options)
  overwritten.begin()
  try {
    for (const { key, file: part } of prepared.parts) await options.files.store(key, part)
  } catch (error) {
    await overwritten.restore()
    throw error
  }
  const kept = new Set(prepared.parts.map(({ key }) => key))
  return storageKeys(file).filter(key => !kept.has(key))
}

/** reference/rest.md#15-upload: only the given descriptions change; `formats` is never null after a replacement. */
function replacedFields({ record }: PreparedFile, { info }: Upload): Record<string, string | number | null> {
  const { name, hash, ext, mime, size, url, provider, dimensions, formats } = record
  return {
    ...info,
    name,
    hash,
    ext,
    mime,
    size,
    url,
    provider,
    width: dimensions?.width ?? null,
    height: dimensions?.height ?? null,
    formats: JSON.stringify(formats ?? {}),
  }
}

/** Removes smaller pictures that the file no longer has, unless a later replacement has stored them again. */
async function removeUnused(id: number, keys: readonly string[], options: FileChangeOptions): Promise<void> {
  if (keys.length === 0) return
  await settleStorage(id, options, async file => {
    const used = new Set(file ? storageKeys(file) : [])
    await removeKeys(
      keys.filter(key => !used.has(key)),
      options,
    )
  })
}

/** The transaction failed after the storage had changed, and its lock is gone: another replacement may have followed. */
async function restoreUnlessReplaced(
  id: number,
  overwritten: Backup | undefined,
  options: FileChangeOptions,
): Promise<void> {
  if (!overwritten?.isBegun()) return
  await settleStorage(id, options, async file => {
    if (file?.content === overwritten.content) await overwritten.restore()
  })
}

/**
 * Changes the storage under the lock of the record as it is now; null: it was deleted. A failure is reported: the replacement is
 * over, and bytes without a record do no harm.
 */
async function settleStorage(
  id: number,
  { database, storage, model, report }: FileChangeOptions,
  settle: (file: StoredFile | null) => Promise<void>,
): Promise<void> {
  const settling = retryTransaction(database, async transaction =>
    settle(await lockFile(id, { transaction, storage, type: model.builtIn.file })),
  )
  await settling.catch(report)
}

/** Copies of the bytes that a replacement overwrites, in the staging folder. */
interface Backup {
  /** `content` of the file before. */
  readonly content: string
  /** From here on the storage changes. */
  begin(): void
  /** True if the storage has changed and was not restored. */
  isBegun(): boolean
  /** Stores the copies again and removes what is new. */
  restore(): Promise<void>
  discard(): Promise<void>
}

/** A replacement keeps the URL, so that a failure after the first part would leave new bytes under the old record. */
async function backUp(
  file: StoredFile,
  { parts }: Pick<PreparedFile, 'parts'>,
  options: FileChangeOptions,
): Promise<Backup> {
  const { files, staging, report } = options
  const keys = parts.map(({ key }) => key)
  const old = new Set(storageKeys(file))
  const copies: { readonly key: string; readonly path: string }[] = []
  for (const key of keys.filter(each => old.has(each))) {
    const stream = await files.read(key)
    if (stream)
      copies.push({
        key,
        path: (await stage(stream, { folder: staging, sizeLimit: Number.POSITIVE_INFINITY })).path,
      })
  }
  let isBegun = false
  return {
    content: file.content,
    begin: () => {
      isBegun = true
    },
    isBegun: () => isBegun,
    async restore() {
      isBegun = false
      for (const { key, path } of copies) await files.store(key, { path, mime: file.mime }).catch(report)
      await removeKeys(
        keys.filter(key => !old.has(key)),
        options,
      )
    },
    discard: () => discardFiles(copies.map(({ path }) => path)),
  }
}

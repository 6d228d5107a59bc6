import type { Transaction } from '../database/database.ts'
import { afterCommit } from '../database/request-scope.ts'
import { writeTerms } from '../documents/rows/write-terms.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Holder, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { FileInfo } from './file-info.ts'
import { fileDocument } from './file-record.ts'
import {
  assertFileMeets,
  type FileChangeTerms,
  lockFile,
  mayWriteFile,
  prepareTerms,
  type StoredFile,
  storageKeys,
  withFileTransaction,
} from './file-transaction.ts'
import { discardStaged, type PreparedFile, prepareFile, removeKeys, type Upload } from './prepare-file.ts'
import { isStorageKey } from './storage/file-storage.ts'

/** Changes the description of a file. Its bytes and URL stay. False if it is missing or hidden from the caller. */
export function changeFile(id: number, info: FileInfo, terms: FileChangeTerms): Promise<boolean> {
  const { model, conditions } = terms
  return withFileTransaction(
    async (transaction, recordEvent) => {
      const within = { ...terms, transaction }
      const file = await findWritable(id, within)
      if (!file) return false
      const document = fileDocument(model.builtIn.file, file.documentId, { ...info })
      await writeDocuments([document], writeTerms(transaction, terms, { touch: true }))
      await assertFileMeets(conditions.after, file.documentId, within)
      recordEvent(file.documentId, 'update', Object.keys(info))
      return true
    },
    conditions.by,
    terms,
  )
}

/** Removes the record and all references in one transaction, then the bytes: no URL ever points to missing bytes. */
export async function removeFile(id: number, terms: FileChangeTerms): Promise<boolean> {
  const { storage, model, files } = terms
  const table = storage.table(model.builtIn.file)
  const file = await withFileTransaction(
    async (transaction, recordEvent) => {
      const found = await findWritable(id, { ...terms, transaction })
      if (!found) return null
      await clearFileReferences(id, { transaction, model, storage })
      await transaction.run({
        name: 'delete a file',
        text: `DELETE FROM ${name(table.name)} WHERE ${name(table.id)} = $1`,
        values: [id],
      })
      recordEvent(found.documentId, 'delete')
      return found
    },
    terms.conditions.by,
    terms,
  )
  if (!file) return false
  await afterCommit(() => removeKeys(storageKeys(file), files))
  return true
}

/**
 * Replaces the bytes of a file. They are stored last, when only the commit is left. Smaller pictures are made before the
 * transaction, which would otherwise hold a connection and the row lock meanwhile. False if the file is missing or hidden
 * from the caller.
 */
export async function replaceFile(id: number, upload: Upload, terms: FileChangeTerms): Promise<boolean> {
  const { files, database } = terms
  const before = await database.transaction(transaction => findWritable(id, { ...terms, transaction }))
  if (!before) return false
  const prepared = await prepareFile(upload, {
    ...prepareTerms(terms),
    // An imported record without a valid key has no stored bytes, so there is no URL to keep.
    ...(isStorageKey(`${before.hash}${before.ext}`) && { replaced: { hash: before.hash, ext: before.ext } }),
  })
  try {
    const unused = await withFileTransaction(
      async (transaction, recordEvent) => {
        const within = { ...terms, transaction }
        const file = await findWritable(id, within)
        // The file was replaced concurrently: these keys may belong to another file.
        if (!file || file.hash !== before.hash || file.ext !== before.ext) return null
        const keys = await writeReplacement(file, { upload, prepared }, within)
        recordEvent(file.documentId, 'update', ['url', ...Object.keys(upload.info)])
        return keys
      },
      terms.conditions.by,
      terms,
    )
    if (unused === null) return false
    await afterCommit(() => removeKeys(unused, files))
    return true
  } finally {
    await discardStaged([prepared])
  }
}

type ReplaceTerms = FileChangeTerms & { readonly transaction: Transaction }

/** null: the file is missing or hidden from the caller. */
async function findWritable(id: number, terms: ReplaceTerms): Promise<StoredFile | null> {
  const { transaction, storage, model } = terms
  const file = await lockFile(id, { transaction, storage, type: model.builtIn.file })
  return file && (await mayWriteFile(terms.conditions, file.documentId, terms)) ? file : null
}

interface Replacement {
  readonly upload: Upload
  readonly prepared: PreparedFile
}

/** Returns the storage keys that are no longer used. */
async function writeReplacement(
  file: StoredFile,
  { upload, prepared }: Replacement,
  terms: ReplaceTerms,
): Promise<readonly string[]> {
  const document = fileDocument(terms.model.builtIn.file, file.documentId, replacedFields(prepared, upload))
  await writeDocuments([document], writeTerms(terms.transaction, terms, { touch: true }))
  await assertFileMeets(terms.conditions.after, file.documentId, terms)
  for (const { key, file: part } of prepared.parts) await terms.files.store(key, part)
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

interface ClearReferencesTerms {
  readonly transaction: Pick<Transaction, 'run'>
  readonly model: Model
  readonly storage: Storage
}

/** Removes all references to a file: one statement per table that can hold files. */
async function clearFileReferences(fileId: number, terms: ClearReferencesTerms): Promise<void> {
  for (const [text, values] of clearStatements(fileId, terms))
    await terms.transaction.run({ name: 'empty places of a file', text, values })
}

type Sql = readonly [text: string, values: readonly unknown[]]

function* clearStatements(fileId: number, { model, storage }: ClearReferencesTerms): Generator<Sql> {
  for (const holder of [...model.contentTypes.values(), ...model.components.values()]) {
    const columns: string[] = []
    for (const attribute of fileAttributes(holder, model)) {
      const link = storage.link(holder, attribute)
      if (link.kind === 'column') columns.push(link.key)
      else yield [`DELETE FROM ${name(link.table)} WHERE ${name(link.targetKey)} = $1`, [fileId]]
    }
    if (columns.length > 0) yield [clearColumns(holderTable(holder, storage), columns), [fileId]]
  }
}

const fileAttributes = ({ attributes }: Holder, { builtIn }: Model): readonly string[] =>
  [...attributes.values()]
    .filter(
      each =>
        (each.kind === 'media' || (each.kind === 'relation' && each.side === 'owner')) &&
        each.target === builtIn.file,
    )
    .map(each => each.name)

const holderTable = (holder: Holder, storage: Storage): string =>
  holder.holder === 'component' ? storage.componentTable(holder).name : storage.table(holder).name

/** One UPDATE per table: a row may refer to the file in several columns. */
function clearColumns(table: string, columns: readonly string[]): string {
  const set = columns.map(each => `${name(each)} = NULLIF(${name(each)}, $1)`)
  const where = columns.map(each => `${name(each)} = $1`)
  return `UPDATE ${name(table)} SET ${set.join(', ')} WHERE ${where.join(' OR ')}`
}

import { failed, ok, type Result } from '../base/result.ts'
import type { Transaction } from '../database/database.ts'
import { afterCommit } from '../database/generations/write-storage.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Fault } from '../faults/fault.ts'
import { fileDocument } from './file-record.ts'
import {
  assertFileMeets,
  type ChangeTerms,
  mayWriteFile,
  noEntity,
  prepareTerms,
  writeFiles,
  writeTerms,
} from './files-terms.ts'
import { findFile, keysOf, type StoredFile } from './find-file.ts'
import { discardStaged, type PreparedFile, prepareFile, removeKeys, type Upload } from './prepare-file.ts'
import { isKey } from './storage/file-storage.ts'

/**
 * New bytes for a file: last of all, when its record is written and nothing but the commit is left. Smaller pictures
 * are made before the transaction, which would hold a connection and the row meanwhile.
 */
export async function replaceFile(
  id: number,
  upload: Upload,
  terms: ChangeTerms,
): Promise<Result<null, Fault>> {
  const { files, database } = terms
  const seen = await database.transaction(transaction => findWritable(id, { ...terms, transaction }))
  if (!seen) return failed(noEntity())
  const prepared = await prepareFile(upload, {
    ...prepareTerms(terms),
    // Under another name there were no bytes.
    ...(isKey(`${seen.hash}${seen.ext}`) && { replaced: { hash: seen.hash, ext: seen.ext } }),
  })
  try {
    const left = await writeFiles(
      async (transaction, tell) => {
        const within = { ...terms, transaction }
        const file = await findWritable(id, within)
        // Its bytes would be kept under names that are another file's.
        if (!file || file.hash !== seen.hash || file.ext !== seen.ext) return null
        const keys = await replaceFound(file, { upload, prepared }, within)
        tell(file.documentId, 'update', ['url', ...Object.keys(upload.info)])
        return keys
      },
      terms.conditions.by,
      terms,
    )
    if (left === null) return failed(noEntity())
    await afterCommit(() => removeKeys(left, files))
    return ok(null)
  } finally {
    await discardStaged([prepared])
  }
}

type Within = ChangeTerms & { readonly transaction: Transaction }

/** null: there is no such file, or it is not the caller's to change. */
async function findWritable(id: number, terms: Within): Promise<StoredFile | null> {
  const { transaction, storage, model } = terms
  const file = await findFile(id, { transaction, storage, type: model.builtIn.file })
  return file && (await mayWriteFile(terms.conditions, file.documentId, terms)) ? file : null
}

interface Replacing {
  readonly upload: Upload
  readonly prepared: PreparedFile
}

/** Answers the keys that nothing goes by any more. */
async function replaceFound(
  file: StoredFile,
  { upload, prepared }: Replacing,
  terms: Within,
): Promise<readonly string[]> {
  const document = fileDocument(terms.model.builtIn.file, file.documentId, fieldsOf(prepared, upload))
  await writeDocuments([document], writeTerms(terms.transaction, terms))
  await assertFileMeets(terms.conditions.after, file.documentId, terms)
  for (const { key, file: part } of prepared.parts) await terms.files.store(key, part)
  const kept = new Set(prepared.parts.map(({ key }) => key))
  return keysOf(file).filter(key => !kept.has(key))
}

/** contract/rest.md 15: what is said of it stays but for what is said anew; formats are never null then. */
function fieldsOf({ record }: PreparedFile, { info }: Upload): Record<string, string | number | null> {
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

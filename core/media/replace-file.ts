import { failed, ok, type Result } from '../base/result.ts'
import type { Transaction } from '../database/database.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Fault } from '../faults/fault.ts'
import { fileDocument } from './file-record.ts'
import { isKey } from './file-storage.ts'
import {
  assertFileMeets,
  type ChangeTerms,
  mayWriteFile,
  noEntity,
  writeFiles,
  writeTerms,
} from './files-terms.ts'
import { findFile, keysOf, type StoredFile } from './find-file.ts'
import { discardStaged, type PreparedFile, prepareFile, removeKeys, type Upload } from './prepare-file.ts'

/** New bytes for a file: last of all, when its record is written and nothing but the commit is left. */
export async function replaceFile(
  id: number,
  upload: Upload,
  terms: ChangeTerms,
): Promise<Result<null, Fault>> {
  const { storage, model, files } = terms
  const type = model.builtIn.file
  const left = await writeFiles(
    async (transaction, tell) => {
      const file = await findFile(id, { transaction, storage, type })
      const within = { ...terms, transaction }
      if (!file || !(await mayWriteFile(terms.conditions, file.documentId, within))) return null
      const keys = await replaceFound(file, upload, within)
      tell(file.documentId, 'update', ['url', ...Object.keys(upload.info)])
      return keys
    },
    terms.conditions.by,
    terms,
  )
  if (left === null) return failed(noEntity())
  await removeKeys(left, files)
  return ok(null)
}

/** Answers the keys that nothing goes by any more. */
async function replaceFound(
  file: StoredFile,
  upload: Upload,
  terms: ChangeTerms & { readonly transaction: Transaction },
): Promise<readonly string[]> {
  const prepared = await prepareFile(upload, {
    files: terms.files,
    folder: terms.staging,
    // Under another name there were no bytes.
    ...(isKey(`${file.hash}${file.ext}`) && { replaced: { hash: file.hash, ext: file.ext } }),
  })
  try {
    const document = fileDocument(terms.model.builtIn.file, file.documentId, fieldsOf(prepared, upload))
    await writeDocuments([document], writeTerms(terms.transaction, terms))
    await assertFileMeets(terms.conditions.after, file.documentId, terms)
    for (const { key, file: part } of prepared.parts) await terms.files.store(key, part)
  } finally {
    await discardStaged([prepared])
  }
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

import { failed, ok, type Result } from '../base/result.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import type { Fault } from '../faults/fault.ts'
import type { FileInfo } from './file-info.ts'
import { fileDocument } from './file-record.ts'
import {
  assertFileMeets,
  type ChangeTerms,
  mayWriteFile,
  noEntity,
  writeFiles,
  writeTerms,
} from './files-terms.ts'
import { findFile } from './find-file.ts'

/** What is said of a file; its bytes and its address stay. */
export function changeFile(id: number, info: FileInfo, terms: ChangeTerms): Promise<Result<null, Fault>> {
  const { storage, model, conditions } = terms
  const type = model.builtIn.file
  return writeFiles<Result<null, Fault>>(
    async (transaction, tell) => {
      const file = await findFile(id, { transaction, storage, type })
      const within = { ...terms, transaction }
      if (!file || !(await mayWriteFile(conditions, file.documentId, within))) return failed(noEntity())
      const document = fileDocument(type, file.documentId, { ...info })
      await writeDocuments([document], writeTerms(transaction, terms))
      await assertFileMeets(conditions.after, file.documentId, within)
      tell(file.documentId, 'update', Object.keys(info))
      return ok(null)
    },
    conditions.by,
    terms,
  )
}

import { afterCommit } from '../database/generations/write-storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import { type ChangeTerms, mayWriteFile, writeFiles } from './files-terms.ts'
import { findFile, keysOf } from './find-file.ts'
import { removeKeys } from './prepare-file.ts'
import { emptyPlaces } from './storage/clear-file-references.ts'

/** The record and all its places in one transaction, then the bytes: no address is told of what is gone. */
export async function removeFile(id: number, terms: ChangeTerms): Promise<boolean> {
  const { storage, model, files } = terms
  const type = model.builtIn.file
  const table = storage.table(type)
  const file = await writeFiles(
    async (transaction, tell) => {
      const found = await findFile(id, { transaction, storage, type })
      const within = { ...terms, transaction }
      if (!found || !(await mayWriteFile(terms.conditions, found.documentId, within))) return null
      await emptyPlaces(id, { transaction, model, storage })
      await transaction.run({
        name: 'delete a file',
        text: `DELETE FROM ${name(table.name)} WHERE ${name(table.id)} = $1`,
        values: [id],
      })
      tell(found.documentId, 'delete')
      return found
    },
    terms.conditions.by,
    terms,
  )
  if (!file) return false
  await afterCommit(() => removeKeys(keysOf(file), files))
  return true
}

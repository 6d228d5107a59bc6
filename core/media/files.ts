import type { Actor } from '../query/command.ts'
import type { Attachment } from './attachment.ts'
import { checkUploads } from './check-uploads.ts'
import { createFiles } from './create-files.ts'
import type { FileConditions, FileInfo } from './file-info.ts'
import type { FileServiceTerms } from './file-transaction.ts'
import type { Upload } from './prepare-file.ts'
import { type FormFile, type FormRules, type FormSource, type MultipartForm, readForm } from './read-form.ts'
import { discardFiles, duplicateStaged } from './storage/staging.ts'
import { changeFile, removeFile, replaceFile } from './update-file.ts'

/**
 * The only way to write files: bytes and record together. Records are read through documents/. Ids are those of records.
 * A failure leaves neither a record without bytes nor a reference to one. Refusals are thrown RequestFaults.
 */
export interface Files {
  /** Reads a form and stages its files, by default those of the field `files`. The caller must call `discard`. */
  readForm(source: FormSource, rules?: FormRules): Promise<MultipartForm>
  /** Stages a second copy of a file. It must be discarded, too. */
  duplicate(file: FormFile): Promise<FormFile>
  discard(form: Pick<MultipartForm, 'files'>): Promise<void>
  /** Returns the documentIds in the order of `uploads`. `by`: the caller recorded in events. */
  create(
    uploads: readonly Upload[],
    attachment: Attachment | null,
    by: Actor | null,
  ): Promise<readonly string[]>
  /**
   * False if the file is missing or hidden from the caller. This method, `replace` and `remove` throw forbidden if the
   * caller may read the file but it does not meet the conditions.
   */
  change(id: number, info: FileInfo, conditions: FileConditions): Promise<boolean>
  /** Stores new bytes under the same URL. False as in `change`. */
  replace(id: number, upload: Upload, conditions: FileConditions): Promise<boolean>
  /** Removes the file and all references to it. False if the file is missing or hidden from the caller. */
  remove(id: number, conditions: FileConditions): Promise<boolean>
}

/** reference/rest.md#15-upload. */
const UPLOADED: FormRules = { accepts: field => field === 'files', fields: 200, fieldSize: 65_536 }

export function openFiles(terms: FileServiceTerms): Files {
  const { settings, staging } = terms
  return {
    readForm: (source, rules = UPLOADED) =>
      readForm(source, { folder: staging, sizeLimit: settings.sizeLimit, rules }),
    duplicate: async file => ({ ...file, staged: await duplicateStaged(file.staged, staging) }),
    discard: ({ files }) => discardFiles(files.map(({ staged }) => staged.path)),
    async create(uploads, attachment, by) {
      const kinds = [settings.allowedTypes, attachment?.attribute.allowedTypes]
      checkUploads(uploads, { kinds, pixelLimit: settings.pixelLimit })
      return createFiles(uploads, attachment, { ...terms, by })
    },
    change: (id, info, conditions) => changeFile(id, info, { ...terms, conditions }),
    async replace(id, upload, conditions) {
      checkUploads([upload], { kinds: [settings.allowedTypes], pixelLimit: settings.pixelLimit })
      return replaceFile(id, upload, { ...terms, conditions })
    },
    remove: (id, conditions) => removeFile(id, { ...terms, conditions }),
  }
}

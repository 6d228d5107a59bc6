import { isOutcomeUnknown } from '../database/database-fault.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import { writeTerms } from '../documents/rows/write-terms.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { MediaKind } from '../project/settings/settings.ts'
import type { Actor } from '../query/command.ts'
import { type Attachment, type AttachmentTerms, planAttachment } from './attachment.ts'
import type { FileConditions, FileInfo } from './file-info.ts'
import { cleanName, toFileDocument } from './file-record.ts'
import { type FileServiceTerms, prepareTerms, withFileTransaction } from './file-transaction.ts'
import { pictureSize } from './picture-size.ts'
import {
  discardStaged,
  type PreparedFile,
  prepareFile,
  removeKeys,
  storeParts,
  type Upload,
  uploadType,
} from './prepare-file.ts'
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

interface CreateFilesTerms extends FileServiceTerms {
  readonly by: Actor | null
}

/**
 * Stores bytes first, records second. If the records fail, the bytes are removed, unless the outcome of the commit is
 * unknown: bytes without a record do less harm than a record without bytes. Returns documentIds in the order of
 * `uploads`.
 */
async function createFiles(
  uploads: readonly Upload[],
  attachment: Attachment | null,
  terms: CreateFilesTerms,
): Promise<readonly string[]> {
  const prepared: PreparedFile[] = []
  try {
    for (const upload of uploads) prepared.push(await prepareFile(upload, prepareTerms(terms)))
    await storeParts(prepared, terms.files)
    await writeRecords(prepared, attachment, terms)
    return prepared.map(({ record }) => record.documentId)
  } finally {
    await discardStaged(prepared)
  }
}

async function writeRecords(
  prepared: readonly PreparedFile[],
  attachment: Attachment | null,
  terms: CreateFilesTerms,
): Promise<void> {
  try {
    await withFileTransaction(
      async (transaction, recordEvent) => {
        const writing = writeTerms(transaction, terms, { touch: true })
        const ids = prepared.map(({ record }) => record.documentId)
        const owner = attachment ? await attachmentDocuments(ids, { ...writing, attachment }) : []
        await writeDocuments([...prepared.map(each => recordDocument(each, terms)), ...owner], writing)
        for (const id of ids) recordEvent(id, 'create')
      },
      terms.by,
      terms,
    )
  } catch (error) {
    const keys = prepared.flatMap(({ parts }) => parts.map(({ key }) => key))
    if (!isOutcomeUnknown(error)) await removeKeys(keys, terms.files)
    throw error
  }
}

const recordDocument = ({ record }: PreparedFile, { model }: FileServiceTerms): DesiredDocument =>
  toFileDocument(record, model.builtIn.file)

async function attachmentDocuments(
  ids: readonly string[],
  terms: AttachmentTerms,
): Promise<readonly DesiredDocument[]> {
  const owner = await planAttachment(ids, terms)
  if (!owner) throw ownerNotFound(terms)
  return [owner]
}

function ownerNotFound({ attachment: { type } }: AttachmentTerms): RequestFault {
  const message = `Invalid refId: there is no such document of ${type.uid}`
  const details = { key: 'refId', expected: `the id of a document of ${type.uid}` }
  return new RequestFault(fault('validation', message, details))
}

interface UploadRules {
  /** Each list must allow the file; undefined: allows all. */
  readonly kinds: readonly (readonly MediaKind[] | undefined)[]
  /** Maximum number of pixels of a picture. */
  readonly pixelLimit: number
}

/** Throws a RequestFault for files whose kind, by their bytes, is not allowed, and for pictures with too many pixels. */
export function checkUploads(uploads: readonly Upload[], { kinds, pixelLimit }: UploadRules): void {
  for (const upload of uploads) checkKind(upload, kinds)
  for (const upload of uploads) checkPixels(upload, pixelLimit)
}

function checkKind(upload: Upload, rules: UploadRules['kinds']): void {
  const { kind, mime } = uploadType(upload)
  const rule = rules.find(allowed => allowed && !allowed.includes(kind))
  if (!rule) return
  const name = cleanName(upload.file.filename)
  const message = `${name} is no file of a kind that is allowed here: ${rule.join(', ') || 'none are'}`
  throw new RequestFault(fault('validation', message, { key: 'files', found: mime, expected: rule }))
}

/** Checked by the header before decoding, since memory use grows with pixels, not with bytes. */
function checkPixels(upload: Upload, most: number): void {
  const size = pictureSize(upload.file.staged.head, uploadType(upload).mime)
  if (!size || size.width * size.height <= most) return
  const { width, height } = size
  const name = cleanName(upload.file.filename)
  const message = `${name} has ${width} × ${height} pixels, and upload.pixelLimit allows ${most} together`
  throw new RequestFault(
    fault('validation', message, { key: 'files', found: width * height, expected: most }),
  )
}

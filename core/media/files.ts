import { isDiskOutage } from '../base/disk-errors.ts'
import { isOutcomeUnknown } from '../database/database-fault.ts'
import { afterCommit, withinTransaction } from '../database/request-scope.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import { removeLinksTo } from '../documents/links/links-to.ts'
import { writeOptions } from '../documents/rows/write-options.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { MediaAttribute } from '../model/model.ts'
import type { Actor } from '../query/command.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import {
  type Attachment,
  type AttachmentOptions,
  type ChangedDocument,
  lockDocument,
  planAttachment,
} from './attachment.ts'
import type { FileConditions, FileInfo } from './file-info.ts'
import { fileDocument, toFileDocument } from './file-record.ts'
import {
  assertFileMeets,
  type FileChangeOptions,
  type FileServiceOptions,
  findWritable,
  prepareOptions,
  storageKeys,
  withFileTransaction,
} from './file-transaction.ts'
import {
  checkUploads,
  discardStaged,
  type PreparedFile,
  prepareFile,
  removeKeys,
  storeParts,
  type Upload,
} from './prepare-file.ts'
import { type FormFile, type FormRules, type FormSource, type MultipartForm, readForm } from './read-form.ts'
import { replaceFile } from './replace-file.ts'
import { type FileStorage, StorageOutage } from './storage/file-storage.ts'
import { discardFiles, duplicateStaged } from './storage/staging.ts'

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
   * Creates files for media attributes, and runs `use` with their documentIds in the same transaction. If it rejects, neither
   * records nor bytes are left. After a deadlock the transaction runs again if `isRepeatable`.
   */
  createFor<Value>(
    uploads: readonly MediaUpload[],
    options: CreateForOptions,
    use: UseFiles<Value>,
  ): Promise<Value>
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

/** A file, and the media attribute that it is for. */
export interface MediaUpload extends Upload {
  readonly attribute: MediaAttribute
}

export interface CreateForOptions {
  readonly by: Actor | null
  /** The document whose lists `use` reads and changes, locked before; null: none. */
  readonly changed: ChangedDocument | null
  /** True if `use` may run again. */
  readonly isRepeatable: boolean
}

type UseFiles<Value> = (documentIds: readonly string[]) => Promise<Value>

/** reference/rest.md#15-upload. */
const UPLOADED: FormRules = { accepts: field => field === 'files', fields: 200, fieldBytes: 1_048_576 }

export function openFiles(service: FileServiceOptions): Files {
  const options = { ...service, files: withOutages(service) }
  const { settings, staging } = options
  return {
    readForm: (source, rules = UPLOADED) =>
      overStorage(
        readForm(source, { folder: staging, sizeLimit: settings.sizeLimit, rules }),
        options.report,
      ),
    duplicate: async file => ({
      ...file,
      staged: await overStorage(duplicateStaged(file.staged, staging), options.report),
    }),
    discard: ({ files }) => discardFiles(files.map(({ staged }) => staged.path)),
    async create(uploads, attachment, by) {
      const kinds = [settings.allowedTypes, attachment?.attribute.allowedTypes]
      checkUploads(uploads, { kinds, pixelLimit: settings.pixelLimit })
      return createFiles(
        uploads,
        { ...options, by, attachment, changed: null, isRepeatable: true },
        async created => created,
      )
    },
    async createFor(uploads, forOptions, use) {
      for (const upload of uploads) {
        const kinds = [settings.allowedTypes, upload.attribute.allowedTypes]
        checkUploads([upload], { kinds, pixelLimit: settings.pixelLimit })
      }
      return createFiles(uploads, { ...options, ...forOptions, attachment: null }, use)
    },
    change: (id, info, conditions) => changeFile(id, info, { ...options, conditions }),
    async replace(id, upload, conditions) {
      checkUploads([upload], { kinds: [settings.allowedTypes], pixelLimit: settings.pixelLimit })
      // Copies of the bytes that it overwrites are staged.
      return overStorage(replaceFile(id, upload, { ...options, conditions }), options.report)
    },
    remove: (id, conditions) => removeFile(id, { ...options, conditions }),
  }
}

/** The storage for requests. */
const withOutages = ({ files, report }: FileServiceOptions): FileStorage => ({
  ...files,
  store: (key, file) => overStorage(files.store(key, file), report),
  read: key => overStorage(files.read(key), report),
})

/** An outage of the store or the disk is logged with its reason, and answered 503, as one of the database is. */
const overStorage = <Value>(work: Promise<Value>, report: FileServiceOptions['report']): Promise<Value> =>
  work.catch((error: unknown) => {
    if (!(error instanceof StorageOutage) && !isDiskOutage(error)) throw error
    report(error)
    throw new RequestFault(fault('unavailable', 'Service Unavailable'))
  })

interface CreateFilesOptions extends FileServiceOptions, CreateForOptions {
  readonly attachment: Attachment | null
}

/**
 * Stores bytes first, records second. If the records or `use` fail, the bytes are removed, unless the outcome of the commit is
 * unknown: bytes without a record do less harm than a record without bytes. `use` receives the documentIds in the order of
 * `uploads`.
 */
async function createFiles<Value>(
  uploads: readonly Upload[],
  options: CreateFilesOptions,
  use: UseFiles<Value>,
): Promise<Value> {
  const prepared: PreparedFile[] = []
  try {
    for (const upload of uploads)
      prepared.push(await overStorage(prepareFile(upload, prepareOptions(options)), options.report))
    await storeParts(prepared, options)
    return await writeRecords(prepared, options, use)
  } finally {
    await discardStaged(prepared)
  }
}

async function writeRecords<Value>(
  prepared: readonly PreparedFile[],
  options: CreateFilesOptions,
  use: UseFiles<Value>,
): Promise<Value> {
  const { attachment, by, changed, isRepeatable } = options
  const later: (() => unknown)[] = []
  try {
    const value = await withFileTransaction(
      async (transaction, recordEvent) => {
        // What an attempt before, which was rolled back, wanted to do after its commit.
        later.length = 0
        const writing = writeOptions(transaction, options, { touch: true })
        const ids = prepared.map(({ record }) => record.documentId)
        const owner = attachment ? await attachmentDocuments(ids, { ...writing, attachment }) : []
        await writeDocuments([...prepared.map(each => recordDocument(each, options)), ...owner], writing)
        for (const id of ids) recordEvent(id, 'create')
        if (changed) await lockDocument(changed, { ...writing, transaction })
        return withinTransaction({ transaction, afterCommit: later }, () => use(ids))
      },
      { by, isRepeatable },
      options,
    )
    for (const work of later) await afterCommit(work)
    return value
  } catch (error) {
    const keys = prepared.flatMap(({ parts }) => parts.map(({ key }) => key))
    if (!isOutcomeUnknown(error)) await removeKeys(keys, options)
    throw error
  }
}

const recordDocument = ({ record }: PreparedFile, { model }: FileServiceOptions): DesiredDocument =>
  toFileDocument(record, model.builtIn.file)

async function attachmentDocuments(
  ids: readonly string[],
  options: AttachmentOptions,
): Promise<readonly DesiredDocument[]> {
  const owner = await planAttachment(ids, options)
  if (!owner) throw ownerNotFound(options)
  return [owner]
}

function ownerNotFound({ attachment: { type } }: AttachmentOptions): RequestFault {
  const message = `Invalid refId: there is no such document of ${type.uid}`
  const details = { key: 'refId', expected: `the id of a document of ${type.uid}` }
  return new RequestFault(fault('validation', message, details))
}

/** Changes the description of a file. Its bytes and URL stay. False if it is missing or hidden from the caller. */
function changeFile(id: number, info: FileInfo, options: FileChangeOptions): Promise<boolean> {
  const { model, conditions } = options
  return withFileTransaction(
    async (transaction, recordEvent) => {
      const within = { ...options, transaction }
      const file = await findWritable(id, within)
      if (!file) return false
      const document = fileDocument(model.builtIn.file, file.documentId, { ...info })
      await writeDocuments([document], writeOptions(transaction, options, { touch: true }))
      await assertFileMeets(conditions.after, file.documentId, within)
      recordEvent(file.documentId, 'update', Object.keys(info))
      return true
    },
    { by: conditions.by, isRepeatable: true },
    options,
  )
}

/** Removes the record and all references in one transaction, then the bytes: no URL ever points to missing bytes. */
async function removeFile(id: number, options: FileChangeOptions): Promise<boolean> {
  const { storage, model } = options
  const table = storage.table(model.builtIn.file)
  const file = await withFileTransaction(
    async (transaction, recordEvent) => {
      const found = await findWritable(id, { ...options, transaction })
      if (!found) return null
      removeLinksTo(
        { type: model.builtIn.file, document: { key: id }, locale: null },
        { transaction, model, storage },
      )
      await transaction.run({
        name: 'delete a file',
        text: `DELETE FROM ${ident(table.name)} WHERE ${ident(table.id)} = $1`,
        values: [id],
      })
      recordEvent(found.documentId, 'delete')
      return found
    },
    { by: options.conditions.by, isRepeatable: true },
    options,
  )
  if (!file) return false
  await afterCommit(() => removeKeys(storageKeys(file), options))
  return true
}

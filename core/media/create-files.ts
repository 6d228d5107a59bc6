import { isOutcomeUnknown } from '../database/database-fault.ts'
import type { DesiredDocument } from '../documents/desired-state.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { Actor } from '../query/command.ts'
import { type Attachment, type AttachmentTerms, planAttachment } from './attachment.ts'
import { toFileDocument } from './file-record.ts'
import { type FileServiceTerms, prepareTerms, withFileTransaction, writeTerms } from './file-transaction.ts'
import {
  discardStaged,
  type PreparedFile,
  prepareFile,
  removeKeys,
  storeParts,
  type Upload,
} from './prepare-file.ts'

interface CreateFilesTerms extends FileServiceTerms {
  readonly by: Actor | null
}

/**
 * Stores bytes first, records second. If the records fail, the bytes are removed, unless the outcome of the commit is
 * unknown: bytes without a record do less harm than a record without bytes. Returns documentIds in the order of
 * `uploads`.
 */
export async function createFiles(
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
        const writing = writeTerms(transaction, terms)
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

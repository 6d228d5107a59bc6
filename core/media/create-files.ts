import { failed, ok, type Result } from '../base/result.ts'
import { isUnclear } from '../database/database-fault.ts'
import type { WrittenDocument } from '../documents/desired-state.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Actor } from '../query/command.ts'
import { type AttachTerms, planAttachment } from './attach.ts'
import type { Attachment } from './attachment.ts'
import { toFileDocument } from './file-record.ts'
import { type FilesTerms, prepareTerms, writeFiles, writeTerms } from './files-terms.ts'
import {
  discardStaged,
  type PreparedFile,
  prepareFile,
  removeKeys,
  storeParts,
  type Upload,
} from './prepare-file.ts'

interface CreateTerms extends FilesTerms {
  readonly by: Actor | null
}

/**
 * Bytes first, records second; where the records fail, the bytes go again, unless the records may have been written all
 * the same: bytes without a record do less harm than a record without bytes.
 */
export async function createFiles(
  uploads: readonly Upload[],
  attachment: Attachment | null,
  terms: CreateTerms,
): Promise<Result<readonly string[], Fault>> {
  const prepared: PreparedFile[] = []
  try {
    for (const upload of uploads) prepared.push(await prepareFile(upload, prepareTerms(terms)))
    await storeParts(prepared, terms.files)
    await writeRecords(prepared, attachment, terms)
    return ok(prepared.map(({ record }) => record.documentId))
  } catch (error) {
    if (error instanceof RequestFault) return failed(error.fault)
    throw error
  } finally {
    await discardStaged(prepared)
  }
}

async function writeRecords(
  prepared: readonly PreparedFile[],
  attachment: Attachment | null,
  terms: CreateTerms,
): Promise<void> {
  try {
    await writeFiles(
      async (transaction, tell) => {
        const writing = writeTerms(transaction, terms)
        const ids = prepared.map(({ record }) => record.documentId)
        const owner = attachment ? await ownerOf(ids, { ...writing, attachment }) : []
        await writeDocuments([...prepared.map(each => toDocument(each, terms)), ...owner], writing)
        for (const id of ids) tell(id, 'create')
      },
      terms.by,
      terms,
    )
  } catch (error) {
    const keys = prepared.flatMap(({ parts }) => parts.map(({ key }) => key))
    if (!isUnclear(error)) await removeKeys(keys, terms.files)
    throw error
  }
}

const toDocument = ({ record }: PreparedFile, { model }: FilesTerms): WrittenDocument =>
  toFileDocument(record, model.builtIn.file)

async function ownerOf(ids: readonly string[], terms: AttachTerms): Promise<readonly WrittenDocument[]> {
  const owner = await planAttachment(ids, terms)
  if (!owner) throw new RequestFault(noOwner(terms))
  return [owner]
}

const noOwner = ({ attachment: { type } }: AttachTerms): Fault =>
  fault('validation', `Invalid refId: there is no such document of ${type.uid}`, {
    key: 'refId',
    expected: `the id of a document of ${type.uid}`,
  })

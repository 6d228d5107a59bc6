import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import { actorOf } from '../../access/caller.ts'
import { missingPermission } from '../../access/denial.ts'
import { invalidBodyKey, RequestFault } from '../../faults/fault.ts'
import { permitAttachment } from '../../media/attachment.ts'
import { type FileInfo, permitFileChange, permitFileRemoval, readFileInfo } from '../../media/file-info.ts'
import { emptyFiles, fileNotFound } from '../../media/file-transaction.ts'
import type { Upload } from '../../media/prepare-file.ts'
import type { DocumentUse } from '../formats/format.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { STAMPS } from '../sdl/attribute-fields.ts'
import { UploadedFile } from '../sdl/uploaded-file.ts'
import { answerRows, findRecord } from './find-records.ts'
import type { FixedField, FixedTerms } from './fixed-field.ts'
import type { ExecutionContext } from './resolver-context.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The mutations of files (reference/graphql.md#6-writing), with REST's permissions and checks. */
export const uploadFields = (terms: FixedTerms): Readonly<Record<string, FixedField>> =>
  terms.format.name === 'flat' ? flatUploadFields(terms) : nestedUploadFields(terms)

/** The flat format has no upload mutation: files are uploaded over REST. */
const flatUploadFields = (terms: FixedTerms) =>
  ({
    updateUploadFile: field('update', async ({ id, info: data }, execution, info) => {
      const changed = await change({ id, data }, { execution, info, use: 'one' }, terms)
      if (!changed) throw fileNotFound()
      return changed
    }),
    deleteUploadFile: field('delete', (given, execution, info) =>
      remove(given, { execution, info, use: 'one' }, terms),
    ),
  }) satisfies Record<string, FixedField>

const nestedUploadFields = (terms: FixedTerms) =>
  ({
    upload: field('upload', async (given, execution, info) => {
      const uploads = toUploads([given.file], given.info)
      const [row] = await create({ uploads, given, execution, info }, terms)
      return toResponse(row)
    }),
    multipleUpload: field('upload', async (given, execution, info) => {
      const uploads = toUploads(Array.isArray(given.files) ? given.files : [])
      return (await create({ uploads, given, execution, info }, terms)).map(toResponse)
    }),
    updateFileInfo: field('update', async (given, execution, info) => {
      const changed = await change({ ...given, data: given.info }, { execution, info, use: 'payload' }, terms)
      if (!changed) throw fileNotFound()
      return toResponse(changed)
    }),
    removeFile: field('delete', async (given, execution, info) => {
      const removed = await remove(given, { execution, info, use: 'payload' }, terms)
      return removed && toResponse(removed)
    }),
    updateUploadFile: field('update', async ({ id, data }, execution, info) => {
      const described = editableInfo(data)
      return toResponse(await change({ id, data: described }, { execution, info, use: 'payload' }, terms))
    }),
    deleteUploadFile: field('delete', async (given, execution, info) =>
      toResponse(await remove(given, { execution, info, use: 'payload' }, terms)),
    ),
  }) satisfies Record<string, FixedField>

/** A field that needs a permission for files. */
const field = (action: Action, resolve: FixedField['resolve']): FixedField => ({
  allows: ({ caller }) => caller.grants.allows('upload', action),
  reason: ({ caller }) => missingPermission(caller, `upload.${action}`),
  resolve,
})

const toResponse = (row: AnsweredRow | null | undefined) => ({ data: row ?? null })

/** Pairs each uploaded file with the given metadata. Throws a RequestFault if there is no file, or an empty one. */
function toUploads(sent: readonly unknown[], described?: unknown): readonly Upload[] {
  const info = readInfo(described)
  const uploads: Upload[] = []
  for (const each of sent) {
    if (!(each instanceof UploadedFile)) throw emptyFiles()
    const file = each.take()
    if (file.staged.size === 0) throw emptyFiles()
    uploads.push({ file, info })
  }
  if (uploads.length === 0) throw emptyFiles()
  return uploads
}

const readInfo = (info: unknown): FileInfo => (info === undefined || info === null ? {} : readFileInfo(info))

const EDITABLE: ReadonlySet<string> = new Set(['name', 'alternativeText', 'caption', 'focalPoint'])

/** Refuses values that the server derives from the bytes; ignores timestamps, as all inputs do. */
function editableInfo(data: unknown): object {
  const given = Object.entries(typeof data === 'object' && data !== null ? data : {})
  const refused = given.find(([key]) => !EDITABLE.has(key) && !STAMPS.has(key))
  if (refused) throw new RequestFault(invalidBodyKey(refused[0], refused[0]))
  return Object.fromEntries(given)
}

interface FieldCall {
  readonly execution: ExecutionContext
  readonly info: GraphQLResolveInfo
  readonly use: DocumentUse
}

interface CreateCall extends Omit<FieldCall, 'use'> {
  readonly uploads: readonly Upload[]
  readonly given: Arguments
}

async function create(
  { uploads, given, execution: { caller }, info }: CreateCall,
  terms: FixedTerms,
): Promise<readonly AnsweredRow[]> {
  const [ref, refId, field] = [given.ref, given.refId, given.field].map(toText)
  const attachment = permitAttachment({ ref, refId, field }, terms.model, caller)
  const ids = await terms.files.create(uploads, attachment, actorOf(caller))
  return answerRows(
    { type: terms.model.builtIn.file, ids, caller, action: 'upload', use: 'payload' },
    info,
    terms,
  )
}

const toText = (given: unknown): string | undefined => (typeof given === 'string' ? given : undefined)

/** The changed file; null: there is no such file, or the caller may not see it. */
async function change(
  { id, data }: Arguments,
  call: FieldCall,
  terms: FixedTerms,
): Promise<AnsweredRow | null> {
  const { caller } = call.execution
  const { info, conditions } = permitFileChange(readInfo(data), { caller, model: terms.model })
  const found = await find(id, 'update', call, terms)
  if (!found || !(await terms.files.change(found.id, info, conditions))) return null
  const changed = await find(id, 'update', call, terms)
  return changed?.row ?? null
}

/** The deleted file; null: there is no such file, or the caller may not see it. */
async function remove({ id }: Arguments, call: FieldCall, terms: FixedTerms): Promise<AnsweredRow | null> {
  const found = await find(id, 'delete', call, terms)
  const conditions = permitFileRemoval({ caller: call.execution.caller, model: terms.model })
  const removed = found !== null && (await terms.files.remove(found.id, conditions))
  return removed ? found.row : null
}

/** The file with the fields that the client selects; null: there is none, or the caller may not see it. */
async function find(
  id: unknown,
  action: Action,
  { execution: { caller }, info, use }: FieldCall,
  terms: FixedTerms,
) {
  const { file: type } = terms.model.builtIn
  const record = await findRecord(type, id, terms)
  // Read for an unknown file, too: a refusal of the selection must not disclose which files exist.
  const ids = [record?.documentId ?? '']
  const [row] = await answerRows({ type, ids, caller, action, use }, info, terms)
  return record && row ? { id: record.id, row } : null
}

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
import type { FixedField, FixedOptions } from './fixed-field.ts'
import type { ExecutionContext } from './resolver-context.ts'
import type { AnsweredRow } from './resolvers.ts'

/** The mutations of files (reference/graphql.md#6-writing), with REST's permissions and checks. */
export const uploadFields = (options: FixedOptions): Readonly<Record<string, FixedField>> =>
  options.format.name === 'flat' ? flatUploadFields(options) : nestedUploadFields(options)

/** The flat format has no upload mutation: files are uploaded over REST. */
const flatUploadFields = (options: FixedOptions) =>
  ({
    updateUploadFile: field('update', async ({ id, info: data }, execution, info) => {
      const changed = await change({ id, data }, { execution, info, use: 'one' }, options)
      if (!changed) throw fileNotFound()
      return changed
    }),
    deleteUploadFile: field('delete', (input, execution, info) =>
      remove(input, { execution, info, use: 'one' }, options),
    ),
  }) satisfies Record<string, FixedField>

const nestedUploadFields = (options: FixedOptions) =>
  ({
    upload: field('upload', async (input, execution, info) => {
      const uploads = toUploads([input.file], input.info)
      const [row] = await create({ uploads, input, execution, info }, options)
      return toResponse(row)
    }),
    multipleUpload: field('upload', async (input, execution, info) => {
      const uploads = toUploads(Array.isArray(input.files) ? input.files : [])
      return (await create({ uploads, input, execution, info }, options)).map(toResponse)
    }),
    updateFileInfo: field('update', async (input, execution, info) => {
      const changed = await change(
        { ...input, data: input.info },
        { execution, info, use: 'payload' },
        options,
      )
      if (!changed) throw fileNotFound()
      return toResponse(changed)
    }),
    removeFile: field('delete', async (input, execution, info) => {
      const removed = await remove(input, { execution, info, use: 'payload' }, options)
      return removed && toResponse(removed)
    }),
    updateUploadFile: field('update', async ({ id, data }, execution, info) => {
      const described = editableInfo(data)
      return toResponse(await change({ id, data: described }, { execution, info, use: 'payload' }, options))
    }),
    deleteUploadFile: field('delete', async (input, execution, info) =>
      toResponse(await remove(input, { execution, info, use: 'payload' }, options)),
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
  const input = Object.entries(typeof data === 'object' && data !== null ? data : {})
  const refused = input.find(([key]) => !EDITABLE.has(key) && !STAMPS.has(key))
  if (refused) throw new RequestFault(invalidBodyKey(refused[0], refused[0]))
  return Object.fromEntries(input)
}

interface FieldCall {
  readonly execution: ExecutionContext
  readonly info: GraphQLResolveInfo
  readonly use: DocumentUse
}

interface CreateCall extends Omit<FieldCall, 'use'> {
  readonly uploads: readonly Upload[]
  readonly input: Arguments
}

async function create(
  { uploads, input, execution: { caller }, info }: CreateCall,
  options: FixedOptions,
): Promise<readonly AnsweredRow[]> {
  const [ref, refId, field] = [input.ref, input.refId, input.field].map(toText)
  const attachment = permitAttachment({ ref, refId, field }, options.model, caller)
  const ids = await options.files.create(uploads, attachment, actorOf(caller))
  return answerRows(
    { type: options.model.builtIn.file, ids, caller, action: 'upload', use: 'payload' },
    info,
    options,
  )
}

const toText = (input: unknown): string | undefined => (typeof input === 'string' ? input : undefined)

/** The changed file; null: there is no such file, or the caller may not see it. */
async function change(
  { id, data }: Arguments,
  call: FieldCall,
  options: FixedOptions,
): Promise<AnsweredRow | null> {
  const { caller } = call.execution
  const { info, conditions } = permitFileChange(readInfo(data), { caller, model: options.model })
  const found = await find(id, 'update', call, options)
  if (!found || !(await options.files.change(found.id, info, conditions))) return null
  const changed = await find(id, 'update', call, options)
  return changed?.row ?? null
}

/** The deleted file; null: there is no such file, or the caller may not see it. */
async function remove(
  { id }: Arguments,
  call: FieldCall,
  options: FixedOptions,
): Promise<AnsweredRow | null> {
  const found = await find(id, 'delete', call, options)
  const conditions = permitFileRemoval({ caller: call.execution.caller, model: options.model })
  const removed = found !== null && (await options.files.remove(found.id, conditions))
  return removed ? found.row : null
}

/** The file with the fields that the client selects; null: there is none, or the caller may not see it. */
async function find(
  id: unknown,
  action: Action,
  { execution: { caller }, info, use }: FieldCall,
  options: FixedOptions,
) {
  const { file: type } = options.model.builtIn
  const record = await findRecord(type, id, options)
  // Read for an unknown file, too: a refusal of the selection must not disclose which files exist.
  const ids = [record?.documentId ?? '']
  const [row] = await answerRows({ type, ids, caller, action, use }, info, options)
  return record && row ? { id: record.id, row } : null
}

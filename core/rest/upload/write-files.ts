import { actorOf } from '../../access/caller.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../../faults/http-exchange.ts'
import { permitAttachment } from '../../media/attachment.ts'
import { type FileInfo, parseFileInfo, permitFileChange, permitFileRemoval } from '../../media/file-info.ts'
import { emptyFilesFault } from '../../media/file-transaction.ts'
import type { Upload } from '../../media/prepare-file.ts'
import { isForm, type MultipartForm } from '../../media/read-form.ts'
import { answerJson, answerRefusal } from '../answer.ts'
import { parseRowId } from '../endpoint.ts'
import { parseQueryString } from '../parse-query-string.ts'
import { noFile, readFiles, type UploadCall, type UploadTerms } from './read-files.ts'

/** POST: uploads files; with `?id=` changes a file's metadata or bytes (reference/rest.md#15-upload). */
export async function postUpload(call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const parameters = parseQueryString(call.request.search)
  if (!parameters.ok) return answerRefusal(parameters)
  const { id } = parameters.value
  if (!call.caller.grants.allows('upload', id === undefined ? 'upload' : 'update'))
    return toFaultResponse(forbidden())
  const number = id === undefined ? ok(null) : parseRowId(id)
  if (!number.ok) return answerRefusal(number)
  if (!isForm(call.request)) return toFaultResponse(emptyFilesFault())
  const form = await terms.files.readForm(call.request)
  if (!form.ok) return answerRefusal(form)
  try {
    if (number.value === null) return await create(form.value, call, terms)
    return await change(number.value, form.value, call, terms)
  } finally {
    await terms.files.discard(form.value)
  }
}

async function create(form: MultipartForm, call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const uploads = toUploads(form)
  if (!uploads.ok) return answerRefusal(uploads)
  const target = {
    ref: lastField(form, 'ref'),
    refId: lastField(form, 'refId'),
    field: lastField(form, 'field'),
  }
  const attachment = permitAttachment(target, terms.model, call.caller)
  if (!attachment.ok) return answerRefusal(attachment)
  const created = await terms.files.create(uploads.value, attachment.value, actorOf(call.caller))
  if (!created.ok) return answerRefusal(created)
  const files = await readFiles(
    { attribute: 'documentId', values: created.value, action: 'upload' },
    call,
    terms,
  )
  return files.ok ? answerJson(JSON.stringify(files.value), call, 201) : answerRefusal(files)
}

async function change(
  id: number,
  form: MultipartForm,
  call: UploadCall,
  terms: UploadTerms,
): Promise<HttpResponse> {
  const isNew = form.files.length > 0
  const changed = isNew ? await replace(id, form, call, terms) : await describe(id, form, call, terms)
  if (!changed.ok) return answerRefusal(changed)
  const files = await readFiles({ attribute: 'id', values: [id], action: 'update' }, call, terms)
  return files.ok ? answerJson(JSON.stringify(files.value[0]), call) : answerRefusal(files)
}

async function describe(
  id: number,
  form: MultipartForm,
  { caller }: UploadCall,
  { files, model }: UploadTerms,
): Promise<Result<null, Fault>> {
  const infos = parseFileInfo(form.fields.get('fileInfo') ?? [])
  if (!infos.ok) return infos
  const [info] = infos.value
  if (!info) return failed(emptyFilesFault())
  const permitted = permitFileChange(info, { caller, model })
  if (!permitted.ok) return permitted
  return files.change(id, permitted.value.info, permitted.value.conditions)
}

async function replace(
  id: number,
  form: MultipartForm,
  { caller }: UploadCall,
  { files, model }: UploadTerms,
): Promise<Result<null, Fault>> {
  const uploads = toUploads(form)
  if (!uploads.ok) return uploads
  const [first, ...more] = uploads.value
  if (!first || more.length > 0)
    return failed(fault('validation', 'A file can be replaced by one file only', { key: 'files' }))
  const permitted = permitFileChange({ ...first.info, url: '' }, { caller, model })
  if (!permitted.ok) return permitted
  const { info, conditions } = permitted.value
  return files.replace(id, { ...first, info }, conditions)
}

/** Pairs files with their metadata: one `fileInfo` for all files, or one for each. */
function toUploads({ files, fields }: MultipartForm): Result<readonly Upload[], Fault> {
  if (files.length === 0 || files.some(({ staged }) => staged.size === 0)) return failed(emptyFilesFault())
  const infos = parseFileInfo(fields.get('fileInfo') ?? [])
  if (!infos.ok) return infos
  const { value } = infos
  if (value.length > 1 && value.length !== files.length) return failed(wrongInfoCount(files.length))
  const infoOf = (index: number): FileInfo => (value.length === 1 ? value[0] : value[index]) ?? {}
  return ok(files.map((file, index) => ({ file, info: infoOf(index) })))
}

const lastField = ({ fields }: MultipartForm, name: string): string | undefined => fields.get(name)?.at(-1)

const wrongInfoCount = (files: number): Fault =>
  fault('validation', `Invalid fileInfo: expected one, or one for each of the ${files} files`, {
    key: 'fileInfo',
    expected: `one, or ${files}`,
  })

/** DELETE: 200 with the deleted file. */
export async function deleteFile(id: string, call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const number = parseRowId(id)
  if (!number.ok) return answerRefusal(number)
  const found = await readFiles({ attribute: 'id', values: [number.value], action: 'delete' }, call, terms)
  if (!found.ok) return answerRefusal(found)
  const permitted = permitFileRemoval({ caller: call.caller, model: terms.model })
  if (!permitted.ok) return answerRefusal(permitted)
  const [file] = found.value
  const removed = file !== undefined && (await terms.files.remove(number.value, permitted.value))
  return removed ? answerJson(JSON.stringify(file), call) : toFaultResponse(noFile())
}

import { actorOf } from '../../access/caller.ts'
import { fault, forbidden, RequestFault } from '../../faults/fault.ts'
import type { HttpResponse } from '../../faults/http-exchange.ts'
import { permitAttachment } from '../../media/attachment.ts'
import { type FileInfo, parseFileInfo, permitFileChange, permitFileRemoval } from '../../media/file-info.ts'
import { emptyFiles, fileNotFound } from '../../media/file-transaction.ts'
import type { Upload } from '../../media/prepare-file.ts'
import { isForm, type MultipartForm } from '../../media/read-form.ts'
import { answerJson } from '../answer.ts'
import { parseRowId } from '../endpoint.ts'
import { parseQueryString } from '../parse-query-string.ts'
import { noFile, readFiles, type UploadCall, type UploadTerms } from './read-files.ts'

/** POST: uploads files; with `?id=` changes a file's metadata or bytes (reference/rest.md#15-upload). */
export async function postUpload(call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const { id } = parseQueryString(call.request.search)
  if (!call.caller.grants.allows('upload', id === undefined ? 'upload' : 'update'))
    throw new RequestFault(forbidden())
  const number = id === undefined ? null : parseRowId(id)
  if (!isForm(call.request)) throw emptyFiles()
  const form = await terms.files.readForm(call.request)
  try {
    return await (number === null ? create(form, call, terms) : change(number, form, call, terms))
  } finally {
    await terms.files.discard(form)
  }
}

async function create(form: MultipartForm, call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const uploads = toUploads(form)
  const target = {
    ref: lastField(form, 'ref'),
    refId: lastField(form, 'refId'),
    field: lastField(form, 'field'),
  }
  const attachment = permitAttachment(target, terms.model, call.caller)
  const created = await terms.files.create(uploads, attachment, actorOf(call.caller))
  const files = await readFiles({ attribute: 'documentId', values: created, action: 'upload' }, call, terms)
  return answerJson(JSON.stringify(files), call, 201)
}

async function change(
  id: number,
  form: MultipartForm,
  call: UploadCall,
  terms: UploadTerms,
): Promise<HttpResponse> {
  const write = form.files.length > 0 ? replace : describe
  if (!(await write(id, form, call, terms))) throw fileNotFound()
  const [file] = await readFiles({ attribute: 'id', values: [id], action: 'update' }, call, terms)
  return answerJson(JSON.stringify(file), call)
}

function describe(
  id: number,
  form: MultipartForm,
  { caller }: UploadCall,
  { files, model }: UploadTerms,
): Promise<boolean> {
  const [given] = parseFileInfo(form.fields.get('fileInfo') ?? [])
  if (!given) throw emptyFiles()
  const { info, conditions } = permitFileChange(given, { caller, model })
  return files.change(id, info, conditions)
}

function replace(
  id: number,
  form: MultipartForm,
  { caller }: UploadCall,
  { files, model }: UploadTerms,
): Promise<boolean> {
  const [first, ...more] = toUploads(form)
  if (!first || more.length > 0)
    throw new RequestFault(fault('validation', 'A file can be replaced by one file only', { key: 'files' }))
  const { info, conditions } = permitFileChange({ ...first.info, url: '' }, { caller, model })
  return files.replace(id, { ...first, info }, conditions)
}

/** Pairs files with their metadata: one `fileInfo` for all files, or one for each. */
function toUploads({ files, fields }: MultipartForm): readonly Upload[] {
  if (files.length === 0 || files.some(({ staged }) => staged.size === 0)) throw emptyFiles()
  const infos = parseFileInfo(fields.get('fileInfo') ?? [])
  if (infos.length > 1 && infos.length !== files.length) throw wrongInfoCount(files.length)
  const infoOf = (index: number): FileInfo => (infos.length === 1 ? infos[0] : infos[index]) ?? {}
  return files.map((file, index) => ({ file, info: infoOf(index) }))
}

const lastField = ({ fields }: MultipartForm, name: string): string | undefined => fields.get(name)?.at(-1)

function wrongInfoCount(files: number): RequestFault {
  const message = `Invalid fileInfo: expected one, or one for each of the ${files} files`
  return new RequestFault(fault('validation', message, { key: 'fileInfo', expected: `one, or ${files}` }))
}

/** DELETE: 200 with the deleted file. */
export async function deleteFile(word: string, call: UploadCall, terms: UploadTerms): Promise<HttpResponse> {
  const id = parseRowId(word)
  const [file] = await readFiles({ attribute: 'id', values: [id], action: 'delete' }, call, terms)
  const conditions = permitFileRemoval({ caller: call.caller, model: terms.model })
  if (!file || !(await terms.files.remove(id, conditions))) throw noFile()
  return answerJson(JSON.stringify(file), call)
}

import { actorOf } from '../../access/actor.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import { answerFault, type HttpAnswer } from '../../faults/exchange.ts'
import { type Fault, fault, forbidden } from '../../faults/fault.ts'
import { permitAttachment } from '../../media/attachment.ts'
import { type FileInfo, parseFileInfo } from '../../media/file-info.ts'
import { noFiles } from '../../media/files-terms.ts'
import { permitFileChange, permitFileRemoval } from '../../media/permit-file.ts'
import type { Upload } from '../../media/prepare-file.ts'
import { type Form, isForm } from '../../media/read-form.ts'
import { answer, refuse } from '../answer.ts'
import { parseId } from '../parse-id.ts'
import { parseQueryString } from '../parse-query-string.ts'
import { readFiles } from './upload-read.ts'
import { noFile, type UploadTerms, type UploadVisit } from './upload-visit.ts'

/** POST: new files, or with `?id=` a file's words or bytes (contract/rest.md 15). */
export async function upload(visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const { id } = parameters.value
  if (!visit.caller.grants.allows('upload', id === undefined ? 'upload' : 'update'))
    return answerFault(forbidden())
  const number = id === undefined ? ok(null) : parseId(id)
  if (!number.ok) return refuse(number)
  if (!isForm(visit.request)) return answerFault(noFiles())
  const form = await terms.files.readForm(visit.request)
  if (!form.ok) return refuse(form)
  try {
    if (number.value === null) return await create(form.value, visit, terms)
    return await change(number.value, form.value, visit, terms)
  } finally {
    await terms.files.discard(form.value)
  }
}

async function create(form: Form, visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const uploads = toUploads(form)
  if (!uploads.ok) return refuse(uploads)
  const asked = { ref: last(form, 'ref'), refId: last(form, 'refId'), field: last(form, 'field') }
  const attachment = permitAttachment(asked, terms.model, visit.caller)
  if (!attachment.ok) return refuse(attachment)
  const created = await terms.files.create(uploads.value, attachment.value, actorOf(visit.caller))
  if (!created.ok) return refuse(created)
  const files = await readFiles(
    { attribute: 'documentId', values: created.value, action: 'upload' },
    visit,
    terms,
  )
  return files.ok ? answer(JSON.stringify(files.value), visit, 201) : refuse(files)
}

async function change(id: number, form: Form, visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const isNew = form.files.length > 0
  const changed = isNew ? await replace(id, form, visit, terms) : await describe(id, form, visit, terms)
  if (!changed.ok) return refuse(changed)
  const files = await readFiles({ attribute: 'id', values: [id], action: 'update' }, visit, terms)
  return files.ok ? answer(JSON.stringify(files.value[0]), visit) : refuse(files)
}

async function describe(
  id: number,
  form: Form,
  { caller }: UploadVisit,
  { files, model }: UploadTerms,
): Promise<Result<null, Fault>> {
  const infos = parseFileInfo(form.fields.get('fileInfo') ?? [])
  if (!infos.ok) return infos
  const [said] = infos.value
  if (!said) return failed(noFiles())
  const permitted = permitFileChange(said, { caller, model })
  if (!permitted.ok) return permitted
  const { info, conditions } = permitted.value
  return files.change(id, info, conditions)
}

async function replace(
  id: number,
  form: Form,
  { caller }: UploadVisit,
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

/** Each file with what is said of it: one `fileInfo` for all of them, or one for each. */
function toUploads({ files, fields }: Form): Result<readonly Upload[], Fault> {
  if (files.length === 0 || files.some(({ staged }) => staged.size === 0)) return failed(noFiles())
  const infos = parseFileInfo(fields.get('fileInfo') ?? [])
  if (!infos.ok) return infos
  const { value } = infos
  if (value.length > 1 && value.length !== files.length) return failed(uneven(files.length))
  const infoOf = (index: number): FileInfo => (value.length === 1 ? value[0] : value[index]) ?? {}
  return ok(files.map((file, index) => ({ file, info: infoOf(index) })))
}

const last = ({ fields }: Form, name: string): string | undefined => fields.get(name)?.at(-1)

const uneven = (files: number): Fault =>
  fault('validation', `Invalid fileInfo: expected one, or one for each of the ${files} files`, {
    key: 'fileInfo',
    expected: `one, or ${files}`,
  })

/** DELETE: 200 with what is gone. */
export async function removeFile(id: string, visit: UploadVisit, terms: UploadTerms): Promise<HttpAnswer> {
  const number = parseId(id)
  if (!number.ok) return refuse(number)
  const found = await readFiles({ attribute: 'id', values: [number.value], action: 'delete' }, visit, terms)
  if (!found.ok) return refuse(found)
  const permitted = permitFileRemoval({ caller: visit.caller, model: terms.model })
  if (!permitted.ok) return refuse(permitted)
  const [file] = found.value
  const removed = file !== undefined && (await terms.files.remove(number.value, permitted.value))
  return removed ? answer(JSON.stringify(file), visit) : answerFault(noFile())
}

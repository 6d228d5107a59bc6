import type { Action } from '../../access/actions.ts'
import { actorOf, type Caller } from '../../access/caller.ts'
import { denied } from '../../access/denial.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { Params } from '../../actions/action-params.ts'
import { parseTopPage } from '../../actions/parameters/parse-pagination.ts'
import { parseSharedQuery } from '../../actions/parameters/parse-query.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import { type HttpRequest, type HttpResponse, refusalResponse } from '../../faults/http-exchange.ts'
import { permitAttachment } from '../../media/attachment.ts'
import {
  type FileInfo,
  parseFileInfo,
  permitFileChange,
  permitFileRemoval,
  readFileInfo,
} from '../../media/file-info.ts'
import { emptyFiles, fileNotFound } from '../../media/file-transaction.ts'
import type { Files } from '../../media/files.ts'
import type { Upload } from '../../media/prepare-file.ts'
import { isForm, type MultipartForm } from '../../media/read-form.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import type { Comparison, Query, Value } from '../../query/query.ts'
import { answerJson, answerMethod } from '../answer.ts'
import { type GeneratedResponder, parseRowId, refuseConditions, routeArguments } from '../endpoint.ts'
import { parseQueryString, readBareBody, requestParams } from '../parse-query-string.ts'
import type { RestOptions } from '../rest-call.ts'

/** Files over REST: route → caller → permission → form or query → files, documents. */
export function openUploads(options: UploadOptions): GeneratedResponder {
  return (request, acting) => {
    const route = findUploadRoute(request.path, options.settings.prefix)
    if (!route) return null
    const action = UPLOAD_ACTIONS[route.kind][request.method]
    if (action && acting) return handle(action, { request, route, caller: acting }, options)
    return action
      ? perform(action, { request, route }, options)
      : answerMethod(request.method, UPLOAD_ALLOW[route.kind])
  }
}

interface UploadRequest {
  readonly request: HttpRequest
  readonly route: UploadRoute
}

async function perform(
  action: Action,
  { request, route }: UploadRequest,
  options: UploadOptions,
): Promise<HttpResponse> {
  const performed = guardedAction(action, request)
  request.route = `upload.${performed}`
  const guard = options.guards?.get('upload')?.get(performed)
  if (guard) {
    const args = routeArguments(route.kind === 'file' ? { id: route.id } : {})
    return guard({
      request,
      args,
      // Middlewares see a refusal as a response.
      handle: (current, caller) =>
        handle(action, { request: current(), route, caller }, options).catch(refusalResponse),
    })
  }
  const caller = await options.identify(request.headers.authorization)
  request.identified = caller
  return handle(action, { request, route, caller }, options)
}

/** A POST with `?id=` updates a file; without it, or with `?id` alone, uploads new ones: as `postUpload` does. */
const guardedAction = (action: Action, { search }: HttpRequest): Action =>
  action === 'upload' && (routeArguments({}).parse(search)?.id ?? null) !== null ? 'update' : action

async function handle(
  action: Action,
  { route, ...call }: UploadRequest & UploadCall,
  options: UploadOptions,
): Promise<HttpResponse> {
  refuseConditions(call.request)
  if (route.kind === 'upload') return postUpload(call, options)
  if (!call.caller.grants.allows('upload', action)) throw denied(call.caller, 'upload', action)
  if (route.kind === 'files') return getFiles(call, options)
  return action === 'delete' ? deleteFile(route.id, call, options) : getFile(route.id, call, options)
}

/** A path of the file API (reference/rest.md#15-upload). */
type UploadRoute =
  | { readonly kind: 'upload' }
  | { readonly kind: 'files' }
  /** `id` is not parsed. */
  | { readonly kind: 'file'; readonly id: string }

/** The action of each method; a POST with `?id=` needs `update` instead. */
const UPLOAD_ACTIONS: Readonly<Record<UploadRoute['kind'], Readonly<Record<string, Action>>>> = {
  upload: { POST: 'upload' },
  files: { GET: 'find', HEAD: 'find' },
  file: { GET: 'findOne', HEAD: 'findOne', DELETE: 'delete' },
}

const UPLOAD_ALLOW: Readonly<Record<UploadRoute['kind'], string>> = {
  upload: 'POST',
  files: 'HEAD, GET',
  file: 'HEAD, GET, DELETE',
}

/** null: not a path of files. Paths are case-insensitive and may end with one slash. */
function findUploadRoute(path: string, prefix: string): UploadRoute | null {
  const start = `${prefix}/upload`.toLowerCase()
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (!trimmed.toLowerCase().startsWith(start)) return null
  const rest = trimmed.slice(start.length)
  if (rest === '') return { kind: 'upload' }
  const [, words, id] = /^\/(files)(?:\/([^/]+))?$/i.exec(rest) ?? []
  if (words === undefined) return null
  return id === undefined ? { kind: 'files' } : { kind: 'file', id }
}

/** POST: uploads files; with `?id=` changes a file's metadata or bytes (reference/rest.md#15-upload). */
async function postUpload(call: UploadCall, options: UploadOptions): Promise<HttpResponse> {
  const { id } = parseQueryString(call.request.search)
  const action = id === undefined ? 'upload' : 'update'
  if (!call.caller.grants.allows('upload', action)) throw denied(call.caller, 'upload', action)
  const number = id === undefined ? null : parseRowId(id)
  if (!isForm(call.request)) {
    if (number === null) throw emptyFiles()
    return answerChange(number, describe(number, await readInfo(call), call, options), call, options)
  }
  const form = await options.files.readForm(call.request)
  try {
    return await (number === null ? create(form, call, options) : change(number, form, call, options))
  } finally {
    await options.files.discard(form)
  }
}

async function create(form: MultipartForm, call: UploadCall, options: UploadOptions): Promise<HttpResponse> {
  const uploads = toUploads(form)
  const target = {
    ref: lastField(form, 'ref'),
    refId: lastField(form, 'refId'),
    field: lastField(form, 'field'),
  }
  const attachment = permitAttachment(target, options.model, call.caller)
  const created = await options.files.create(uploads, attachment, actorOf(call.caller))
  const files = await readFiles({ attribute: 'documentId', values: created, action: 'upload' }, call, options)
  return answerJson(JSON.stringify(files), call, 201)
}

async function change(
  id: number,
  form: MultipartForm,
  call: UploadCall,
  options: UploadOptions,
): Promise<HttpResponse> {
  const changed =
    form.files.length > 0
      ? replace(id, form, call, options)
      : describe(id, parseFileInfo(form.fields.get('fileInfo') ?? [])[0], call, options)
  return answerChange(id, changed, call, options)
}

/** `fileInfo` of a body that is no form, as an object or as JSON text. */
async function readInfo({ request }: UploadCall): Promise<FileInfo | undefined> {
  const { fileInfo } = await readBareBody(request)
  if (fileInfo === undefined) return undefined
  return typeof fileInfo === 'string' ? parseFileInfo([fileInfo])[0] : readFileInfo(fileInfo)
}

async function answerChange(
  id: number,
  changed: Promise<boolean>,
  call: UploadCall,
  options: UploadOptions,
): Promise<HttpResponse> {
  if (!(await changed)) throw fileNotFound()
  const [file] = await readFiles({ attribute: 'id', values: [id], action: 'update' }, call, options)
  // Another request may have deleted it since.
  if (!file) throw fileNotFound()
  return answerJson(JSON.stringify(file), call)
}

async function describe(
  id: number,
  input: FileInfo | undefined,
  { caller }: UploadCall,
  { files, model }: UploadOptions,
): Promise<boolean> {
  if (!input) throw emptyFiles()
  const { info, conditions } = permitFileChange(input, { caller, model })
  return files.change(id, info, conditions)
}

function replace(
  id: number,
  form: MultipartForm,
  { caller }: UploadCall,
  { files, model }: UploadOptions,
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
async function deleteFile(word: string, call: UploadCall, options: UploadOptions): Promise<HttpResponse> {
  const id = parseRowId(word)
  const [file] = await readFiles({ attribute: 'id', values: [id], action: 'delete' }, call, options)
  const conditions = permitFileRemoval({ caller: call.caller, model: options.model })
  if (!file || !(await options.files.remove(id, conditions))) throw noFile()
  return answerJson(JSON.stringify(file), call)
}

/** A list without an envelope (reference/rest.md#15-upload): pages by the top-level `start` and `limit`, not `pagination`. */
async function getFiles(call: UploadCall, options: UploadOptions): Promise<HttpResponse> {
  const parameters = requestParams(call.request)
  const shared = parseSharedQuery(options.model.builtIn.file, parameters, options)
  const page = parseTopPage(parameters, options.settings.maxLimit)
  const take = { kind: 'many', page, total: false } as const
  const restricted = restrict({ ...shared, take, locale: { kind: 'all' } }, call.caller)
  const { text } = await options.documents.findMany(restricted, 'flat')
  return answerJson(JSON.stringify(withSignedFlag(text)), call)
}

/** One file with all its fields: `fields` is ignored. */
async function getFile(id: string, call: UploadCall, options: UploadOptions): Promise<HttpResponse> {
  const { fields: _, ...parameters } = requestParams(call.request)
  const wanted: FileQuery = { parameters, attribute: 'id', values: [parseRowId(id)], action: 'findOne' }
  const [file] = await readFiles(wanted, call, options)
  if (!file) throw noFile()
  return answerJson(JSON.stringify(file), call)
}

interface FileQuery {
  /** The request's other query parameters. */
  readonly parameters?: Params
  readonly attribute: 'id' | 'documentId'
  readonly values: readonly Value[]
  /** The action whose permission the caller needs. */
  readonly action: Action
}

/** File records in the form of answers, ordered by id. */
async function readFiles(
  { parameters = {}, attribute, values, action }: FileQuery,
  call: UploadCall,
  options: UploadOptions,
): Promise<readonly object[]> {
  const { file } = options.model.builtIn
  const shared = parseSharedQuery(file, parameters, options)
  const id = file.attributes.get(attribute)
  if (id?.kind !== 'scalar') throw new TypeError(`files have no ${attribute}`)
  const filters = [oneOf(id, values), ...(shared.filter ? [shared.filter] : [])]
  const query: Query = {
    ...shared,
    filter: { kind: 'and', filters },
    take: { kind: 'many', page: { start: 0, limit: values.length }, total: false },
    locale: { kind: 'all' },
  }
  const restricted = restrict(query, call.caller, action)
  const { text } = await options.documents.findMany(restricted, 'flat')
  return withSignedFlag(text)
}

const oneOf = (attribute: ScalarAttribute, values: readonly Value[]): Comparison => ({
  kind: 'comparison',
  attribute,
  operator: '$in',
  values,
})

/** URLs are public and not signed; Strapi sets this flag in every record. */
function withSignedFlag(text: string): readonly object[] {
  const files: unknown = JSON.parse(text)
  return Array.isArray(files) ? files.map((file: object) => ({ ...file, isUrlSigned: false })) : []
}

interface UploadOptions extends RestOptions {
  readonly files: Files
}

/** One request by a caller who may do what it asks. */
interface UploadCall {
  readonly request: HttpRequest
  readonly caller: Caller
}

const noFile = (): RequestFault => new RequestFault(fault('notFound', 'file.notFound'))

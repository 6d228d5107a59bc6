import { parse as parseForm } from 'node:querystring'
import { failed, ok, type Result } from '../../base/result.ts'
import { printJsonValue } from '../../base/text.ts'
import { attempt, fault, RequestFault } from '../../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../../faults/http-exchange.ts'
import type { Files } from '../../media/files.ts'
import type { FormFile, FormRules, MultipartForm } from '../../media/read-form.ts'
import { decodeBody, parseJsonBody } from '../../query/parse-json.ts'
import { isRecord } from '../../query/parse-place.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { MAX_NESTING } from '../limits/limit-nesting.ts'
import { UploadedFile } from '../sdl/uploaded-file.ts'
import { requestedDocumentId } from './trusted-documents.ts'

/** One operation that a client requests. */
export interface OperationRequest {
  /** Empty where a document is named instead. */
  readonly query: string
  readonly documentId: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | null
}

/** The operations of a request. In a batch each is parsed, and run or refused, separately: it may have too many to parse all of them. */
export type TransportRequest = { readonly files: Multipart['files'] } & (
  | { readonly kind: 'one'; readonly requested: Result<OperationRequest, HttpResponse> }
  | { readonly kind: 'batch'; readonly inputs: readonly unknown[] }
)

export interface TransportOptions extends MultipartOptions {
  readonly format: GraphqlFormat
}

/**
 * Parses a request of /graphql (reference/graphql.md#10-errors, "HTTP"). Fails with a response in Apollo Server's format,
 * or throws a RequestFault. The caller must discard the files of a parsed request.
 */
export async function parseTransport(
  request: HttpRequest,
  options: TransportOptions,
): Promise<Result<TransportRequest, HttpResponse>> {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return single(parseGet(request, options.format))
    case 'POST':
      return parsePost(request, options)
    default:
      return failed({
        ...refusal(405, 'Apollo Server supports only GET/POST requests.', options.format),
        headers: ALLOWED,
      })
  }
}

const ALLOWED = { Allow: 'HEAD, GET, POST' } as const

/** OPTIONS needs no caller (reference/rest.md#1-envelope-and-status-codes). */
export const METHODS_ANSWER: HttpResponse = {
  status: 200,
  body: '',
  type: 'text/plain; charset=utf-8',
  headers: ALLOWED,
}

const single = (requested: Result<OperationRequest, HttpResponse>): Result<TransportRequest, HttpResponse> =>
  ok({ kind: 'one', requested, files: [] })

function parseGet({ search }: HttpRequest, format: GraphqlFormat): Result<OperationRequest, HttpResponse> {
  const input = parseForm(search)
  return input.query === undefined && requestedDocumentId(input) === null
    ? failed(refusal(400, 'GET query missing.', format))
    : parseOperationRequest(input, format)
}

const NO_BODY = 'POST body missing, invalid Content-Type, or JSON object has no keys.'

async function parsePost(
  request: HttpRequest,
  options: TransportOptions,
): Promise<Result<TransportRequest, HttpResponse>> {
  const { format } = options
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== JSON_TYPE && type !== FORM && type !== MULTIPART) return failed(refusal(400, NO_BODY, format))
  if (type !== JSON_TYPE && isForgeable(request)) throw crossSiteForm()
  if (type === MULTIPART) return parseMultipart(request, options)
  const body = await request.body()
  if (type === FORM) return parseOperations(parseForm(decodeBody(body)), format)
  if (body.length === 0) return failed(refusal(400, NO_BODY, format))
  return parseOperations(parseJsonBody(decodeBody(body), MAX_DEPTH), format)
}

/** Maximum JSON nesting. It exceeds that of variables, whose violation is a GraphQL error (findDeepVariable). */
const MAX_DEPTH = 2 * MAX_NESTING

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

async function parseMultipart(
  request: HttpRequest,
  options: TransportOptions,
): Promise<Result<TransportRequest, HttpResponse>> {
  const { operations, files } = await readMultipart(request, options)
  const sent = parseOperations(operations, options.format)
  if (sent.ok) return ok({ ...sent.value, files })
  await options.files.discard({ files })
  return sent
}

function parseOperations(value: object, format: GraphqlFormat): Result<TransportRequest, HttpResponse> {
  if (Array.isArray(value) && format.errors.requestCode) return failed(refusal(400, NO_BATCHES, format))
  if (Object.keys(value).length === 0) return failed(refusal(400, NO_BODY, format))
  return Array.isArray(value)
    ? ok({ kind: 'batch', inputs: value, files: [] })
    : single(parseOperationRequest(value, format))
}

export function parseOperationRequest(
  input: unknown,
  format: GraphqlFormat,
): Result<OperationRequest, HttpResponse> {
  const requested: Readonly<Record<string, unknown>> =
    typeof input === 'object' && input !== null ? { ...input } : {}
  const { variables, extensions, operationName } = requested
  const query = requested.query ?? ''
  const documentId = requestedDocumentId(requested)
  if (query === '' && documentId === null) return failed(noQuery(format))
  if (typeof query !== 'string') return failed(refusal(400, 'GraphQL queries must be strings.', format))
  const values = parseObject('variables', variables, format)
  if (!values.ok) return values
  const additions = parseObject('extensions', extensions, format)
  if (!additions.ok) return additions
  const name = operationName ?? null
  if (name !== null && typeof name !== 'string') return failed(refusal(400, NO_NAME, format))
  return ok({ query, documentId, variables: values.value, operationName: name })
}

const NO_NAME = '`operationName` in a POST body must be a string if provided.'

/** In a query string or form, objects are JSON text. */
function parseObject(
  name: 'variables' | 'extensions',
  input: unknown,
  format: GraphqlFormat,
): Result<OperationRequest['variables'], HttpResponse> {
  if (input === undefined || input === null || input === '' || input === 'null') return ok({})
  const parsed = typeof input === 'string' ? attempt(() => parseJsonBody(input)) : ok(input)
  if (!parsed.ok) return failed(refusal(400, INVALID_JSON[name], format))
  return isRecord(parsed.value)
    ? ok(parsed.value)
    : failed(refusal(400, `\`${name}\` must be an object, or its JSON text.`, format))
}

/** Apollo Server's messages. */
const INVALID_JSON = {
  variables: 'Variables are invalid JSON.',
  extensions: 'Extensions are invalid JSON.',
}

const noQuery = ({ errors }: GraphqlFormat): HttpResponse =>
  errorResponse(
    400,
    'GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension.',
    errors.requestCode ?? 'INTERNAL_SERVER_ERROR',
  )

/** Apollo Server's message. */
export const NO_BATCHES = 'Operation batching disabled.'

export const errorResponse = (status: number, message: string, code: string): HttpResponse => ({
  status,
  body: JSON.stringify({ errors: [{ message, extensions: { code } }] }),
})

/** The answer to a request that is no operation. */
const refusal = (status: number, message: string, { errors }: GraphqlFormat): HttpResponse =>
  errors.requestCode ? errorResponse(status, message, errors.requestCode) : plainText(status, message)

const plainText = (status: number, body: string): HttpResponse => ({
  status,
  body,
  type: 'text/plain; charset=utf-8',
})

/**
 * CSRF check. Browsers send forms of other sites without a CORS preflight. So a browser's form must come from this site,
 * or have a header that only scripts can set, which forces a preflight. Other programs send no origin and cannot be
 * misused this way.
 */
const isForgeable = ({ headers }: HttpRequest): boolean =>
  !PREFLIGHT_HEADERS.some(name => headers[name] !== undefined) && isCrossSite(headers)

const PREFLIGHT_HEADERS = [
  'authorization',
  'apollo-require-preflight',
  'graphql-require-preflight',
  'x-apollo-operation-name',
  'x-requested-with',
]

function isCrossSite({ origin, host, ...headers }: HttpRequest['headers']): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin' && site !== 'none'
  return origin !== undefined && hostOf(origin) !== host?.toLowerCase()
}

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)

const crossSiteForm = (): RequestFault =>
  new RequestFault(
    fault(
      'forbidden',
      'A form from another site needs a header that its browser asks for first, such as Apollo-Require-Preflight: true',
    ),
  )

interface MultipartOptions {
  readonly files: Files
  /** Without the upload permission files are skipped unread, so that strangers cannot fill the disk (reference/safety.md#s16-uploads). */
  readonly mayUpload: boolean
}

/** The operations of a form and its files, which the caller must discard. */
interface Multipart {
  readonly operations: object
  readonly files: readonly FormFile[]
}

/**
 * Reads a form of the GraphQL multipart request specification, with files inserted where its map names them. Rejects with
 * a RequestFault for a malformed form.
 */
async function readMultipart(request: HttpRequest, options: MultipartOptions): Promise<Multipart> {
  const form = await options.files.readForm(request, openRules(options))
  const files: FormFile[] = [...form.files]
  try {
    return { operations: await fillOperations(form, files, options), files }
  } catch (error) {
    await options.files.discard({ files })
    throw error
  }
}

/** Limits of the form: few fields in addition to `operations` and `map`; together as large as a JSON body's default limit. */
function openRules({ mayUpload }: MultipartOptions): FormRules {
  let names: ReadonlySet<string> | null = null
  return {
    fields: 5,
    fieldBytes: 1_048_576,
    accepts(field, before) {
      const [text] = before.get('map') ?? []
      if (!mayUpload || text === undefined) return false
      names ??= mappedFields(text)
      return names.has(field)
    },
  }
}

function mappedFields(text: string): ReadonlySet<string> {
  try {
    return new Set(parseFileMap(text).keys())
  } catch (error) {
    // The whole form is refused after it has been read.
    if (error instanceof RequestFault) return new Set()
    throw error
  }
}

function fillOperations(form: MultipartForm, kept: FormFile[], options: MultipartOptions): Promise<object> {
  const operations = parseField('operations', onlyField(form, 'operations'))
  const map = parseFileMap(onlyField(form, 'map'))
  if (options.mayUpload) checkFiles(form, map)
  return fillAll(operations, map, { kept, options })
}

function onlyField({ fields }: MultipartForm, name: string): string {
  const [text, ...more] = fields.get(name) ?? []
  if (text === undefined) throw malformed(`Missing multipart field ‘${name}’`)
  if (more.length > 0) throw malformed(`More than one multipart field ‘${name}’`)
  return text
}

function parseField(name: 'operations' | 'map', text: string): object {
  const parsed = attempt(() => parseJsonBody(text))
  if (!parsed.ok) throw malformed(`Invalid JSON in the ‘${name}’ multipart field`)
  return parsed.value
}

/** Each file that the map names must be sent once, after the map. */
function checkFiles({ files }: MultipartForm, map: FileMap): void {
  for (const field of map.keys()) {
    const count = files.filter(file => file.field === field).length
    if (count === 0) throw missingFile(field)
    if (count > 1) throw malformed(`More than one file ‘${shorten(field)}’`)
  }
}

const missingFile = (field: string): RequestFault =>
  new RequestFault(
    fault('badRequest', `File missing in the request: ‘${shorten(field)}’ has to follow ‘map’`),
  )

interface FillOptions {
  readonly kept: FormFile[]
  readonly options: MultipartOptions
}

async function fillAll(operations: object, map: FileMap, { kept, options }: FillOptions): Promise<object> {
  for (const [field, paths] of map) {
    const file = kept.find(each => each.field === field)
    for (const [index, path] of paths.entries()) {
      const own = file && index > 0 ? await options.files.duplicate(file) : file
      if (own && own !== file) kept.push(own)
      if (!fillPlaceholder(operations, path, new UploadedFile(own ?? null))) throw invalidPath(path.join('.'))
    }
  }
  return operations
}

/** Paths into the operations by the name of a file's part, such as `variables`, `files`, `0`. */
type FileMap = ReadonlyMap<string, readonly (readonly string[])[]>

/** Maximum number of places, as many as a form may have files. */
const MAX_PLACES = 100

/** Parses the form's `map`, or throws a RequestFault. Paths may lead only into variables. */
function parseFileMap(text: string): FileMap {
  const input = parseField('map', text)
  if (!isRecord(input)) throw malformed('Invalid type for the ‘map’ multipart field')
  const map = new Map<string, readonly (readonly string[])[]>()
  let places = 0
  for (const [field, texts] of Object.entries(input)) {
    const paths = parsePaths(field, texts)
    map.set(field, paths)
    places += paths.length
  }
  if (places > MAX_PLACES)
    throw new RequestFault(fault('payloadTooLarge', `A request may have at most ${MAX_PLACES} files`))
  return map
}

function parsePaths(field: string, texts: unknown): readonly (readonly string[])[] {
  if (!Array.isArray(texts))
    throw malformed(`Invalid type for the ‘map’ multipart field entry key ‘${shorten(field)}’ array`)
  const wrong: unknown = texts.find(text => !isPath(text))
  if (wrong !== undefined) throw invalidPath(wrong)
  return texts.map(text => String(text).split('.'))
}

const isPath = (text: unknown): boolean =>
  typeof text === 'string' && PATH.test(text) && !text.split('.').some(step => RESERVED.has(step))

/** In a batch, a path begins with the operation's index. */
const PATH = /^(?:\d{1,6}\.)?variables(?:\.[^.]+)+$/

const RESERVED: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor'])

/** The fault of a path without a place for a file. */
const invalidPath = (path: unknown): RequestFault =>
  malformed(`Invalid object path for the ‘map’ multipart field: ‘${shorten(printJsonValue(path))}’`)

const shorten = (text: string): string => text.slice(0, 100)

const malformed = (message: string): RequestFault =>
  new RequestFault(
    fault('badRequest', `${message} (https://github.com/jaydenseric/graphql-multipart-request-spec).`),
  )

/**
 * Inserts a file at a path whose value is null or missing. False: the path leads to no such place. The operations are changed,
 * because they were parsed for this form alone: a copy for each of many files would take quadratic time.
 */
function fillPlaceholder(operations: object, path: readonly string[], file: UploadedFile): boolean {
  const holder = path.slice(0, -1).reduce(valueAt, operations)
  const step = path.at(-1) ?? ''
  const isFree = valueAt(holder, step) === undefined || valueAt(holder, step) === null
  if (!isFree) return false
  if (Array.isArray(holder)) {
    if (!isIndex(holder, step)) return false
    holder[Number(step)] = file
    return true
  }
  if (!isRecord(holder) || holder instanceof UploadedFile) return false
  Object.assign(holder, { [step]: file })
  return true
}

function valueAt(holder: unknown, step: string): unknown {
  if (Array.isArray(holder)) return isIndex(holder, step) ? holder[Number(step)] : undefined
  return isRecord(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined
}

const isIndex = ({ length }: readonly unknown[], step: string): boolean =>
  /^\d+$/.test(step) && Number(step) < length

import { parse as parseForm } from 'node:querystring'
import { failed, ok, type Result } from '../../base/result.ts'
import { attempt, fault, RequestFault } from '../../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../../faults/http-exchange.ts'
import { parseJsonBody } from '../../query/parse-json.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import { MAX_NESTING } from '../limits/limit-nesting.ts'
import { type Multipart, type MultipartTerms, readMultipart } from './read-multipart.ts'
import { requestedDocumentId } from './trusted-documents.ts'

/** One operation that a client requests. */
export interface OperationRequest {
  /** Empty where a document is named instead. */
  readonly query: string
  readonly documentId: string | null
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | null
}

/** The operations of a request. In a batch each is run or refused separately. */
export type TransportRequest = { readonly files: Multipart['files'] } & (
  | { readonly kind: 'one'; readonly requested: Result<OperationRequest, HttpResponse> }
  | { readonly kind: 'batch'; readonly requested: readonly Result<OperationRequest, HttpResponse>[] }
)

export interface TransportTerms extends MultipartTerms {
  readonly format: GraphqlFormat
}

/**
 * Parses a request of /graphql (reference/graphql.md#10-errors, "HTTP"). Fails with a response in Apollo Server's format,
 * or throws a RequestFault. The caller must discard the files of a parsed request.
 */
export async function parseTransport(
  request: HttpRequest,
  terms: TransportTerms,
): Promise<Result<TransportRequest, HttpResponse>> {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return single(parseGet(request, terms.format))
    case 'POST':
      return parsePost(request, terms)
    default:
      return failed({
        ...refusal(405, 'Apollo Server supports only GET/POST requests.', terms.format),
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
  const given = parseForm(search)
  return given.query === undefined && requestedDocumentId(given) === null
    ? failed(refusal(400, 'GET query missing.', format))
    : parseOperationRequest(given, format)
}

const NO_BODY = 'POST body missing, invalid Content-Type, or JSON object has no keys.'

async function parsePost(
  request: HttpRequest,
  terms: TransportTerms,
): Promise<Result<TransportRequest, HttpResponse>> {
  const { format } = terms
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== JSON_TYPE && type !== FORM && type !== MULTIPART) return failed(refusal(400, NO_BODY, format))
  if (type !== JSON_TYPE && isForgeable(request)) throw crossSiteForm()
  if (type === MULTIPART) return parseMultipart(request, terms)
  const body = await request.body()
  if (type === FORM) return parseOperations(parseForm(body.toString()), format)
  if (body.length === 0) return failed(refusal(400, NO_BODY, format))
  return parseOperations(parseJsonBody(body.toString(), MAX_DEPTH), format)
}

/** Maximum JSON nesting. It exceeds that of variables, whose violation is a GraphQL error (findDeepVariable). */
const MAX_DEPTH = 2 * MAX_NESTING

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

async function parseMultipart(
  request: HttpRequest,
  terms: TransportTerms,
): Promise<Result<TransportRequest, HttpResponse>> {
  const { operations, files } = await readMultipart(request, terms)
  const sent = parseOperations(operations, terms.format)
  if (sent.ok) return ok({ ...sent.value, files })
  await terms.files.discard({ files })
  return sent
}

function parseOperations(value: object, format: GraphqlFormat): Result<TransportRequest, HttpResponse> {
  if (Array.isArray(value) && format.errors.requestCode) return failed(refusal(400, NO_BATCHES, format))
  if (Object.keys(value).length === 0) return failed(refusal(400, NO_BODY, format))
  return Array.isArray(value)
    ? ok({ kind: 'batch', requested: value.map(each => parseOperationRequest(each, format)), files: [] })
    : single(parseOperationRequest(value, format))
}

function parseOperationRequest(
  given: unknown,
  format: GraphqlFormat,
): Result<OperationRequest, HttpResponse> {
  const requested: Readonly<Record<string, unknown>> =
    typeof given === 'object' && given !== null ? { ...given } : {}
  const { variables, operationName } = requested
  const query = requested.query ?? ''
  const documentId = requestedDocumentId(requested)
  if (query === '' && documentId === null) return failed(noQuery(format))
  if (typeof query !== 'string') return failed(refusal(400, 'GraphQL queries must be strings.', format))
  const values = parseVariables(variables, format)
  if (!values.ok) return values
  return ok({
    query,
    documentId,
    variables: values.value,
    operationName: typeof operationName === 'string' ? operationName : null,
  })
}

/** In a query string or form, variables are JSON text. */
function parseVariables(
  given: unknown,
  format: GraphqlFormat,
): Result<OperationRequest['variables'], HttpResponse> {
  if (given === undefined || given === null || given === '' || given === 'null') return ok({})
  if (typeof given === 'object') return ok({ ...given })
  const parsed = typeof given === 'string' ? attempt(() => parseJsonBody(given)) : failed()
  return parsed.ok ? ok({ ...parsed.value }) : failed(refusal(400, NO_VARIABLES, format))
}

const NO_VARIABLES = 'Variables are invalid JSON.'

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

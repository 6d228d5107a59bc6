import { parse as parseForm } from 'node:querystring'
import { failed, ok, type Result } from '../../base/result.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../../faults/http-exchange.ts'
import { parseJson } from '../../query/parse-json.ts'
import type { Asked } from '../engine.ts'
import { MOST_NESTED } from '../limits/limit-tokens.ts'
import { documentIdOf } from './document-id.ts'
import { forged, isForgeable } from './forgery.ts'
import { type Multipart, type MultipartTerms, readMultipart } from './read-multipart.ts'

/** One operation, or several in one request; each is run, or refused on its own. */
export type Sent = { readonly files: Multipart['files'] } & (
  | { readonly kind: 'one'; readonly asked: Result<Asked, HttpResponse> }
  | { readonly kind: 'batch'; readonly asked: readonly Result<Asked, HttpResponse>[] }
)

/**
 * A request of /graphql → what it asks for (contract/graphql.md 10, "HTTP"), or an answer that refuses it. The files
 * of one that is not refused have to be discarded.
 */
export async function parseTransport(
  request: HttpRequest,
  terms: MultipartTerms,
): Promise<Result<Sent, HttpResponse>> {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return one(parseGet(request))
    case 'POST':
      return parsePost(request, terms)
    default:
      return failed({
        ...text(405, 'Apollo Server supports only GET/POST requests.'),
        headers: ALLOWED,
      })
  }
}

const ALLOWED = { Allow: 'HEAD, GET, POST' } as const

/** OPTIONS needs no caller (contract/rest.md 1). */
export const METHODS_ANSWER: HttpResponse = {
  status: 200,
  body: '',
  type: 'text/plain; charset=utf-8',
  headers: ALLOWED,
}

const one = (asked: Result<Asked, HttpResponse>): Result<Sent, HttpResponse> =>
  ok({ kind: 'one', asked, files: [] })

function parseGet({ search }: HttpRequest): Result<Asked, HttpResponse> {
  const given = parseForm(search)
  return given.query === undefined && documentIdOf(given) === null
    ? failed(text(400, 'GET query missing.'))
    : parseAsked(given)
}

const NO_BODY = 'POST body missing, invalid Content-Type, or JSON object has no keys.'

async function parsePost(request: HttpRequest, terms: MultipartTerms): Promise<Result<Sent, HttpResponse>> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== JSON_TYPE && type !== FORM && type !== MULTIPART) return failed(text(400, NO_BODY))
  if (type !== JSON_TYPE && isForgeable(request)) return failed(toFaultResponse(forged()))
  if (type === MULTIPART) return parseMultipart(request, terms)
  const body = await request.body()
  if (!body.ok) return failed(...body.reasons.map(toFaultResponse))
  if (type === FORM) return parseSent(parseForm(body.value.toString()))
  if (body.value.length === 0) return failed(text(400, NO_BODY))
  const parsed = parseJson(body.value.toString(), DEEPEST)
  return parsed.ok ? parseSent(parsed.value) : failed(...parsed.reasons.map(toFaultResponse))
}

/** Twice what variables may nest, which deepVariable tells as an error of GraphQL: no more is walked. */
const DEEPEST = 2 * MOST_NESTED

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'
const MULTIPART = 'multipart/form-data'

async function parseMultipart(
  request: HttpRequest,
  terms: MultipartTerms,
): Promise<Result<Sent, HttpResponse>> {
  const read = await readMultipart(request, terms)
  if (!read.ok) return failed(...read.reasons.map(toFaultResponse))
  const { operations, files } = read.value
  const sent = parseSent(operations)
  if (sent.ok) return ok({ ...sent.value, files })
  await terms.files.discard({ files })
  return sent
}

function parseSent(value: object): Result<Sent, HttpResponse> {
  if (Object.keys(value).length === 0) return failed(text(400, NO_BODY))
  return Array.isArray(value)
    ? ok({ kind: 'batch', asked: value.map(parseAsked), files: [] })
    : one(parseAsked(value))
}

function parseAsked(given: unknown): Result<Asked, HttpResponse> {
  const asked: Readonly<Record<string, unknown>> =
    typeof given === 'object' && given !== null ? { ...given } : {}
  const { variables, operationName } = asked
  const query = asked.query ?? ''
  const documentId = documentIdOf(asked)
  if (query === '' && documentId === null) return failed(NO_QUERY)
  if (typeof query !== 'string') return failed(text(400, 'GraphQL queries must be strings.'))
  const values = parseVariables(variables)
  if (!values.ok) return values
  return ok({
    query,
    documentId,
    variables: values.value,
    operationName: typeof operationName === 'string' ? operationName : null,
  })
}

/** In a query string and in a form they are JSON in a text. */
function parseVariables(given: unknown): Result<Asked['variables'], HttpResponse> {
  if (given === undefined || given === null || given === '' || given === 'null') return ok({})
  if (typeof given === 'object') return ok({ ...given })
  const parsed = typeof given === 'string' ? parseJson(given) : failed()
  return parsed.ok ? ok({ ...parsed.value }) : failed(text(400, NO_VARIABLES))
}

const NO_VARIABLES = 'Variables are invalid JSON.'

const NO_QUERY: HttpResponse = {
  status: 400,
  body: JSON.stringify({
    errors: [
      {
        message: 'GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension.',
        extensions: { code: 'INTERNAL_SERVER_ERROR' },
      },
    ],
  }),
}

const text = (status: number, body: string): HttpResponse => ({
  status,
  body,
  type: 'text/plain; charset=utf-8',
})

import { parse as parseForm } from 'node:querystring'
import { failed, ok, type Result } from '../base/result.ts'
import { answerFault, type HttpAnswer, type HttpRequest } from '../faults/exchange.ts'
import { fault } from '../faults/fault.ts'
import type { Asked } from './engine.ts'

/** One operation, or several in one request; each is run, or refused on its own. */
export type Sent =
  | { readonly kind: 'one'; readonly asked: Result<Asked, HttpAnswer> }
  | { readonly kind: 'batch'; readonly asked: readonly Result<Asked, HttpAnswer>[] }

/** A request of /graphql → what it asks for (contract/graphql.md 10, "HTTP"), or an answer that refuses it. */
export async function parseTransport(request: HttpRequest): Promise<Result<Sent, HttpAnswer>> {
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      return one(parseGet(request))
    case 'POST':
      return parsePost(request)
    default:
      return failed({
        ...text(405, 'Apollo Server supports only GET/POST requests.'),
        headers: { Allow: 'GET, POST' },
      })
  }
}

const one = (asked: Result<Asked, HttpAnswer>): Result<Sent, HttpAnswer> => ok({ kind: 'one', asked })

function parseGet({ search }: HttpRequest): Result<Asked, HttpAnswer> {
  const { query, variables, operationName } = parseForm(search)
  if (query === undefined) return failed(text(400, 'GET query missing.'))
  return parseAsked({ query, variables, operationName })
}

const NO_BODY = 'POST body missing, invalid Content-Type, or JSON object has no keys.'

async function parsePost(request: HttpRequest): Promise<Result<Sent, HttpAnswer>> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json' && type !== 'application/x-www-form-urlencoded')
    return failed(text(400, NO_BODY))
  const body = await request.body()
  if (!body.ok) return failed(...body.reasons.map(answerFault))
  const parsed =
    type === 'application/json' ? parseJson(body.value.toString()) : ok(parseForm(body.value.toString()))
  if (!parsed.ok) return parsed
  const { value } = parsed
  if (Array.isArray(value)) {
    if (value.length === 0) return failed(text(400, NO_BODY))
    return ok({ kind: 'batch', asked: value.map(parseAsked) })
  }
  return Object.keys(value).length === 0 ? failed(text(400, NO_BODY)) : one(parseAsked(value))
}

function parseJson(body: string): Result<object, HttpAnswer> {
  if (body === '') return failed(text(400, NO_BODY))
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null) return ok(value)
    return failed(answerFault(fault('syntax', 'invalid JSON, only supports object and array')))
  } catch (error) {
    return failed(answerFault(fault('syntax', error instanceof Error ? error.message : String(error))))
  }
}

function parseAsked(given: unknown): Result<Asked, HttpAnswer> {
  const { query, variables, operationName }: Readonly<Record<string, unknown>> =
    typeof given === 'object' && given !== null ? { ...given } : {}
  if (query === undefined || query === null || query === '') return failed(NO_QUERY)
  if (typeof query !== 'string') return failed(text(400, 'GraphQL queries must be strings.'))
  const values = parseVariables(variables)
  if (!values.ok) return values
  return ok({
    query,
    variables: values.value,
    operationName: typeof operationName === 'string' ? operationName : null,
  })
}

/** In a query string and in a form they are JSON in a text. */
function parseVariables(given: unknown): Result<Asked['variables'], HttpAnswer> {
  if (given === undefined || given === null || given === '') return ok({})
  if (typeof given !== 'string')
    return typeof given === 'object' ? ok({ ...given }) : failed(text(400, NO_VARIABLES))
  try {
    return parseVariables(JSON.parse(given) ?? {})
  } catch (error) {
    if (error instanceof SyntaxError) return failed(text(400, NO_VARIABLES))
    throw error
  }
}

const NO_VARIABLES = 'Variables are invalid JSON.'

const NO_QUERY: HttpAnswer = {
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

const text = (status: number, body: string): HttpAnswer => ({
  status,
  body,
  type: 'text/plain; charset=utf-8',
})

import type { IncomingHttpHeaders } from 'node:http'
import { entityTag } from '../base/text.ts'
import { fault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { ServerSettings } from '../project/settings/settings.ts'

/** Alternating names and values, as `writeHead` takes them. */
export type HeaderList = readonly string[]

export interface Cors {
  /** The CORS headers of any answer. */
  headersFor(origin: string | undefined): HeaderList
  /** The headers of the answer to a preflight; null: the request is not a preflight. */
  preflight(method: string, headers: IncomingHttpHeaders): HeaderList | null
}

/** A shared cache must not mix answers of different callers or response formats. */
const VARY: HeaderList = ['Vary', 'Origin, Authorization, Strapi-Response-Format']

const METHODS = 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS'
const HEADERS = 'Content-Type,Authorization,Origin,Accept'
/** Plinth's own headers, and those that GraphQL asks forms of other sites for: allowed when a preflight asks for them. */
const MORE_HEADERS: readonly string[] = [
  'apollo-require-preflight',
  'graphql-require-preflight',
  'idempotency-key',
  'if-match',
  'if-none-match',
  'strapi-response-format',
  'x-apollo-operation-name',
  'x-plinth-position',
  'x-request-id',
  'x-requested-with',
]
const MAX_AGE = '31536000'

/** The answer repeats the request's origin if it is allowed (reference/rest.md#1-envelope-and-status-codes). */
export function createCors({ origins, credentials, headers: own }: ServerSettings['cors']): Cors {
  const more = new Set([...MORE_HEADERS, ...own.map(name => name.toLowerCase())])
  const isAllowed = (name: string): boolean => more.has(name) || (more.has('*') && HEADER_NAME.test(name))
  const all = origins.includes('*')
  const known = new Set(origins)
  const shared = credentials ? ['Access-Control-Allow-Credentials', 'true'] : []
  const allowed = (origin: string): HeaderList => [...VARY, 'Access-Control-Allow-Origin', origin, ...shared]
  const headersFor = (origin: string | undefined): HeaderList =>
    origin !== undefined && (all || known.has(origin)) ? allowed(origin) : VARY
  return {
    headersFor: origin =>
      origin === undefined ? VARY : [...headersFor(origin), 'Access-Control-Expose-Headers', EXPOSED_HEADERS],
    preflight(method, headers) {
      if (method !== 'OPTIONS' || headers.origin === undefined) return null
      if (headers['access-control-request-method'] === undefined) return null
      const asked = headers['access-control-request-headers']
      return [...headersFor(headers.origin), ...preflightHeaders(asked, isAllowed)]
    },
  }
}

const EXPOSED_HEADERS =
  'ETag,Idempotency-Key,Idempotency-Replayed,X-Request-Id,X-Plinth-Position,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset'

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/

function preflightHeaders(asked: string | undefined, isAllowed: (name: string) => boolean): HeaderList {
  const names = (asked ?? '').split(',').map(name => name.trim().toLowerCase())
  const more = names.filter(isAllowed)
  return [
    'Access-Control-Allow-Methods',
    METHODS,
    'Access-Control-Allow-Headers',
    [HEADERS, ...more].join(','),
    'Access-Control-Max-Age',
    MAX_AGE,
  ]
}

/** The defaults of the contract (reference/rest.md#17-differences-from-strapi). */
export const SECURITY_HEADERS: HeaderList = [
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'SAMEORIGIN',
  'Referrer-Policy',
  'no-referrer',
  'Strict-Transport-Security',
  'max-age=31536000; includeSubDomains',
]

/**
 * Cache-Control for an answer that sets none; null: it does. An answer to credentials is private. Any other answer may be
 * stored but must be revalidated each time: the data may change at any moment.
 */
export function cacheControlFor(
  answer: HttpResponse,
  { headers }: Pick<HttpRequest, 'headers'>,
): string | null {
  for (const name in answer.headers) if (name.toLowerCase() === 'cache-control') return null
  return headers.authorization === undefined ? 'no-cache' : 'private'
}

type TaggedRequest = Pick<HttpRequest, 'method' | 'headers'>

/**
 * Adds an ETag to a successful answer. Evaluates If-Match and If-None-Match of reads (reference/rest.md#17-differences-from-strapi; RFC 9110, 13.2);
 * writes evaluate their conditions before they run.
 */
export function applyTag(answer: HttpResponse, { method, headers }: TaggedRequest): HttpResponse {
  if (!answer.hasEtag || answer.status >= 300 || answer.body === null) return answer
  const own = ownTag(answer)
  const tag = own?.replace('W/', '') ?? `"${answer.etag ?? entityTag(answer.body)}"`
  const tagged = own === undefined ? { ...answer, headers: { ...answer.headers, ETag: tag } } : answer
  if (method !== 'GET' && method !== 'HEAD') return tagged
  const match = headers['if-match']
  if (match !== undefined && !matchesTag(match, tag))
    return toFaultResponse(fault('preconditionFailed', 'The document has changed'))
  const noneMatch = headers['if-none-match']
  if (noneMatch === undefined || !matchesTag(noneMatch.replaceAll('W/', ''), tag)) return tagged
  return { ...tagged, status: 304, body: null }
}

/** The ETag that project code has set. */
function ownTag({ headers }: HttpResponse): string | undefined {
  for (const name in headers) if (name.toLowerCase() === 'etag') return headers[name]
  return undefined
}

const matchesTag = (condition: string, tag: string): boolean =>
  condition.trim() === '*' || condition.split(',').some(each => each.trim() === tag)

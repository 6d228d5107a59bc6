import type { IncomingHttpHeaders } from 'node:http'
import type { ServerSettings } from '../project/settings/settings.ts'

/** Names and values in turns, as `writeHead` takes them. */
export type HeaderList = readonly string[]

export interface Cors {
  /** What every answer says to browsers of other origins. */
  headersFor(origin: string | undefined): HeaderList
  /** The headers of the answer to a preflight; null where the request is none. */
  preflight(method: string, headers: IncomingHttpHeaders): HeaderList | null
}

/** What answers depend on: a shared cache must mix neither callers nor response formats. */
const ALWAYS: HeaderList = ['Vary', 'Origin, Authorization, Strapi-Response-Format']

const METHODS = 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS'
const HEADERS = 'Content-Type,Authorization,Origin,Accept'
/** Ours beside those of the contract: allowed to whoever asks for one. */
const MORE_HEADERS: ReadonlySet<string> = new Set([
  'idempotency-key',
  'if-match',
  'if-none-match',
  'strapi-response-format',
  'x-plinth-position',
  'x-request-id',
])
const MAX_AGE = '31536000'

/** contract/rest.md 1: the origin is told back, whichever of the allowed ones it is. */
export function createCors({ origins, credentials }: ServerSettings['cors']): Cors {
  const all = origins.includes('*')
  const known = new Set(origins)
  const shared = credentials ? ['Access-Control-Allow-Credentials', 'true'] : []
  const allowed = (origin: string): HeaderList => [
    ...ALWAYS,
    'Access-Control-Allow-Origin',
    origin,
    ...shared,
  ]
  const headersFor = (origin: string | undefined): HeaderList =>
    origin !== undefined && (all || known.has(origin)) ? allowed(origin) : ALWAYS
  return {
    headersFor: origin =>
      origin === undefined ? ALWAYS : [...headersFor(origin), 'Access-Control-Expose-Headers', EXPOSED],
    preflight(method, headers) {
      if (method !== 'OPTIONS' || headers.origin === undefined) return null
      if (headers['access-control-request-method'] === undefined) return null
      const asked = headers['access-control-request-headers']
      return [...headersFor(headers.origin), ...termsFor(asked)]
    },
  }
}

const EXPOSED =
  'ETag,Idempotency-Key,Idempotency-Replayed,X-Request-Id,X-Plinth-Position,X-RateLimit-Limit,X-RateLimit-Remaining,X-RateLimit-Reset'

function termsFor(asked: string | undefined): HeaderList {
  const names = (asked ?? '').split(',').map(name => name.trim().toLowerCase())
  const more = names.filter(name => MORE_HEADERS.has(name))
  return [
    'Access-Control-Allow-Methods',
    METHODS,
    'Access-Control-Allow-Headers',
    [HEADERS, ...more].join(','),
    'Access-Control-Max-Age',
    MAX_AGE,
  ]
}

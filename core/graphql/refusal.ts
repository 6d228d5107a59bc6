import type { IncomingHttpHeaders } from 'node:http'
import { FAULTS, type Fault, type FaultCode } from '../faults/fault.ts'
import type { HttpResponse } from '../faults/http-exchange.ts'
import type { GraphqlSettings } from '../project/settings/settings.ts'
import type { FormatName } from './formats/format.ts'

/** Error codes (reference/graphql.md#10-errors); all other faults are INTERNAL_SERVER_ERROR. */
const CODES: Readonly<Partial<Record<FaultCode, string>>> = {
  validation: 'BAD_USER_INPUT',
  forbidden: 'FORBIDDEN',
  policy: 'FORBIDDEN',
  unauthorized: 'FORBIDDEN',
  application: 'STRAPI_APPLICATION_ERROR',
  pagination: 'STRAPI_PAGINATION_ERROR',
  notFound: 'STRAPI_NOT_FOUND_ERROR',
  payloadTooLarge: 'STRAPI_PAYLOAD_TOO_LARGE_ERROR',
  tooLarge: 'STRAPI_PAYLOAD_TOO_LARGE_ERROR',
  rejected: 'STRAPI_BAD_REQUEST_ERROR',
  conflict: 'STRAPI_CONFLICT_ERROR',
  rateLimit: 'STRAPI_RATE_LIMIT_ERROR',
  notImplemented: 'STRAPI_NOT_IMPLEMENTED_ERROR',
}

/** The extensions of a fault's error: its code and REST's error object. */
export const faultExtensions = ({ code, message, details }: Fault) => ({
  error: { name: FAULTS[code].name, message, details },
  code: CODES[code] ?? 'INTERNAL_SERVER_ERROR',
})

/**
 * Faults of the server around an operation. A GraphQL client reads `errors` only: with REST's `{ data: null, error }` it
 * would see an empty success. Credentials and malformed forms are refused in REST's form (reference/graphql.md#10-errors).
 */
const AROUND_OPERATIONS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  'unavailable',
  'internal',
  'rateLimit',
  'payloadTooLarge',
  'tooLarge',
  'requestTimeout',
  'headersTooLarge',
])

/** The head of a request. */
interface RequestHead {
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

/**
 * An answer in the form of its path: the answers to faults of the server get GraphQL's form at and below the GraphQL
 * endpoints. `explains`: the error contains the reason of a refusal.
 */
export function toEndpointForm(
  answer: HttpResponse,
  { path, headers }: RequestHead,
  { graphql, explains = false }: { readonly graphql: GraphqlEndpoints; readonly explains?: boolean },
): HttpResponse {
  const { fault, reason } = answer
  if (fault === undefined || !AROUND_OPERATIONS.has(fault.code)) return answer
  const endpoint = Object.keys(graphql).find(each => path === each || path.startsWith(`${each}/`))
  const format = endpoint === undefined ? undefined : graphql[endpoint]
  if (format === undefined) return answer
  const details = explains && reason !== undefined ? { ...fault.details, reason } : fault.details
  const error = { message: fault.message, extensions: faultExtensions({ ...fault, details }) }
  return { ...answer, body: JSON.stringify({ errors: [error] }), type: responseType(headers, format) }
}

/** `graphql.endpoints`: the format of each path. */
export type GraphqlEndpoints = GraphqlSettings['endpoints']

/** As in Strapi: Strapi 4 names no charset, and Strapi 5 answers with the media type of GraphQL where it is accepted. */
export function responseType({ accept }: IncomingHttpHeaders, format: FormatName): string {
  if (format === 'nested') return 'application/json'
  const isAccepted = accept?.includes('application/graphql-response+json')
  return `application/${isAccepted ? 'graphql-response+json' : 'json'}; charset=utf-8`
}

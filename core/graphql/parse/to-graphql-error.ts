import { GraphQLError } from 'graphql'
import { FAULTS, type Fault, type FaultCode, FORBIDDEN, RequestFault } from '../../faults/fault.ts'

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

/** Converts a fault to a GraphQL error with a code and REST's error object. */
export function toGraphqlError(fault: Fault): GraphQLError {
  const { message, details } = publicFault(fault)
  if (fault.code === 'foreignPart')
    return new GraphQLError(message, { extensions: { code: 'INTERNAL_SERVER_ERROR' } })
  const { name } = FAULTS[fault.code]
  const code = CODES[fault.code] ?? 'INTERNAL_SERVER_ERROR'
  const error = new GraphQLError(message, { extensions: { error: { name, message, details }, code } })
  if (fault.reason !== undefined) reasons.set(error, fault.reason)
  return error
}

/** Marks errors that toGraphqlError returned. The mark is not in their extensions, because clients see those. */
const reasons = new WeakMap<Error, string>()

/** Why a field is refused, for the log and for responses in development; undefined: not known. */
export function denialReason(error: GraphQLError): string | undefined {
  const { originalError = error } = error
  return originalError instanceof RequestFault ? originalError.fault.reason : reasons.get(originalError)
}

function publicFault({ code, message, details }: Fault): Pick<Fault, 'message' | 'details'> {
  // A message from project code is kept.
  if (code === 'forbidden' && message === FORBIDDEN) return { message: 'Forbidden access', details: {} }
  return { message, details }
}

/** Adds a code to an error that has none. */
export function withCode(error: GraphQLError, code: string): GraphQLError {
  const { nodes, source, positions, path, extensions } = error
  return new GraphQLError(error.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { code, ...extensions },
  })
}

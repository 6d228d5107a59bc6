import { GraphQLError } from 'graphql'
import { type Fault, FORBIDDEN, RequestFault } from '../../faults/fault.ts'
import { faultExtensions } from '../refusal.ts'

/** Converts a fault to a GraphQL error with a code and REST's error object. */
export function toGraphqlError(fault: Fault): GraphQLError {
  const { message, details } = publicFault(fault)
  // REST's name of it is no error of a caller in GraphQL.
  const code = fault.code === 'foreignPart' ? 'application' : fault.code
  const error = new GraphQLError(message, {
    extensions: faultExtensions({ ...fault, code, message, details }),
  })
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

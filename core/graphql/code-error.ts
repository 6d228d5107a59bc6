import { GraphQLError } from 'graphql'
import { RequestFault } from '../faults/fault.ts'
import { toGraphqlError } from './to-graphql-error.ts'

/**
 * What code of the project threw, as GraphQL tells it (contract/graphql.md 10): errors of the contract with their
 * code, a plain Error with its message. Any other trouble is the log's to hear of.
 */
export function codeError(error: unknown): unknown {
  if (error instanceof RequestFault) return toGraphqlError(error.fault)
  if (error instanceof GraphQLError || !isPlain(error)) return error
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
}

/** Errors of libraries and of the database have a class or properties of their own, and may tell too much. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Error &&
  Object.getPrototypeOf(error) === Error.prototype &&
  Object.keys(error).length === 0

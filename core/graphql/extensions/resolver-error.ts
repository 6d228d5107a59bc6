import { GraphQLError } from 'graphql'
import { UnavailableError } from '../../faults/errors.ts'
import { RequestFault } from '../../faults/fault.ts'
import { toGraphqlError } from '../parse/to-graphql-error.ts'

/**
 * What code of the project threw, as GraphQL tells it (contract/graphql.md 10): errors of the contract with their
 * code, a plain Error with its message, which `log` hears of, too. Any other trouble is the log's alone.
 */
export function codeError(error: unknown, log: (error: Error) => void): unknown {
  // What became of the data is known where the whole field is.
  if (error instanceof UnavailableError) return error
  if (error instanceof RequestFault) return toGraphqlError(error.fault)
  if (error instanceof GraphQLError) return error
  if (isForeign(error)) return new GraphQLError(error.message, { extensions: error.extensions })
  if (!isPlain(error)) return error
  log(error)
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { code: 'INTERNAL_SERVER_ERROR' },
  })
}

/** Made by the copy of the GraphQL library that the project has. */
const isForeign = (
  error: unknown,
): error is Error & { readonly extensions: Readonly<Record<string, unknown>> } =>
  error instanceof Error &&
  error.name === 'GraphQLError' &&
  'extensions' in error &&
  typeof error.extensions === 'object'

/** Errors of libraries and of the database have a class or properties of their own, and may tell too much. */
const isPlain = (error: unknown): error is Error =>
  error instanceof Error &&
  Object.getPrototypeOf(error) === Error.prototype &&
  Object.keys(error).length === 0

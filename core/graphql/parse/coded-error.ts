import { GraphQLError } from 'graphql'

/** The same error with a code, unless it has one. */
export function coded(error: GraphQLError, code: string): GraphQLError {
  const { nodes, source, positions, path, extensions } = error
  return new GraphQLError(error.message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions: { code, ...extensions },
  })
}

import { type ASTNode, GraphQLError } from 'graphql'

/** The keys of `graphql.config.limits` that bound what is asked for. */
export type LimitKey = 'tokens' | 'aliases' | 'rootFields' | 'cost'

/** Something that there is too much of. */
export interface Excess {
  /** In the plural: `aliases`. */
  readonly what: string
  /** A count, or the first that is too many where nobody counted on. */
  readonly counted: number
  readonly most: number
  /** The key in project.yaml that says so; null: nothing there does. */
  readonly key: string | null
  readonly node?: ASTNode
}

/** A limit as the client is told of it: the limit, the count, and the key in project.yaml. HTTP 400, before anything is run. */
export function overLimit({ what, counted, most, key, node }: Excess): GraphQLError {
  const allowed = key === null ? `at most ${most} are allowed` : `${key} in project.yaml allows ${most}`
  return new GraphQLError(`Too many ${what}: ${counted}, and ${allowed}`, {
    ...(node ? { nodes: node } : {}),
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', limit: { what, counted, most, key } },
  })
}

/** `graphql.config.limits.aliases` */
export const keyOf = (limit: LimitKey): string => `graphql.config.limits.${limit}`

import { type ASTNode, GraphQLError } from 'graphql'
import type { GraphqlSettings } from '../../project/settings/settings.ts'

/** The limits of one request, shared by all of its operations. */
export interface Budget {
  /** Amounts used so far. */
  readonly used: Record<LimitKey | 'introspection', number>
  readonly limits: GraphqlSettings['config']['limits']
}

export const openBudget = (limits: Budget['limits']): Budget => ({
  used: { tokens: 0, aliases: 0, rootFields: 0, introspection: 0 },
  limits,
})

/** Takes an amount from the budget. Over the limit it takes nothing and returns an error. */
export function spend({ used, limits }: Budget, limit: LimitKey, count: number): GraphQLError | null {
  const counted = used[limit] + count
  const most = limits[limit]
  if (counted > most) return overLimit({ what: WORDS[limit], counted, limit: most, key: limitPath(limit) })
  used[limit] = counted
  return null
}

const WORDS = { tokens: 'tokens', aliases: 'aliases', rootFields: 'root fields' } as const

/** The same for introspection, in schema elements; `most` suffices to read the whole schema twice. */
export function spendIntrospection({ used }: Budget, cost: number, most: number): GraphQLError | null {
  const counted = used.introspection + cost
  if (counted > most)
    return overLimit({ what: 'things asked for by introspection', counted, limit: most, key: null })
  used.introspection = counted
  return null
}

/** Keys of `graphql.config.limits` that are checked before an operation runs. */
type LimitKey = 'tokens' | 'aliases' | 'rootFields'

/** An exceeded limit. */
export interface Excess {
  /** The counted elements in the plural, such as `aliases`. */
  readonly what: string
  /** The count; limit + 1 if counting stopped there. */
  readonly counted: number
  readonly limit: number
  /** The key of the limit in project.yaml; null: the limit is fixed. */
  readonly key: string | null
  readonly node?: ASTNode
}

/** The error of an exceeded limit, with limit, count and key. HTTP 400; nothing was executed. */
export function overLimit({ what, counted, limit: most, key, node }: Excess): GraphQLError {
  const allowed = key === null ? `at most ${most} are allowed` : `${key} in project.yaml allows ${most}`
  return new GraphQLError(`Too many ${what}: ${counted}, and ${allowed}`, {
    ...(node ? { nodes: node } : {}),
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', limit: { what, counted, most, key } },
  })
}

/** `graphql.config.limits.aliases` */
export const limitPath = (limit: LimitKey): string => `graphql.config.limits.${limit}`

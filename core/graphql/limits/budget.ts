import { type ASTNode, GraphQLError } from 'graphql'
import type { GraphqlSettings } from '../../project/settings/settings.ts'

/** What the operations of one request may use, all of them together. */
export interface Budget {
  /** What is used already. */
  readonly used: Record<LimitKey | 'introspection', number>
  readonly limits: GraphqlSettings['config']['limits']
}

export const openBudget = (limits: Budget['limits']): Budget => ({
  used: { tokens: 0, aliases: 0, rootFields: 0, cost: 0, introspection: 0 },
  limits,
})

/** Takes from the budget; or says what there would be too much of, and takes nothing. */
export function spend(
  { used, limits }: Budget,
  limit: Exclude<LimitKey, 'cost'>,
  count: number,
): GraphQLError | null {
  const counted = used[limit] + count
  const most = limits[limit]
  if (counted > most) return overLimit({ what: WORDS[limit], counted, limit: most, key: limitPath(limit) })
  used[limit] = counted
  return null
}

const WORDS = { tokens: 'tokens', aliases: 'aliases', rootFields: 'root fields' } as const

/** The same for the documents that answers may hold: each role has a limit of its own, or the default. */
export function spendCost({ used, limits }: Budget, role: string | null, cost: number): GraphQLError | null {
  const own = role !== null && Object.hasOwn(limits.cost, role) ? role : 'default'
  const most = limits.cost[own] ?? Number.POSITIVE_INFINITY
  const counted = used.cost + cost
  const key = own === 'default' ? limitPath('cost') : `${limitPath('cost')}.${own}`
  if (counted > most)
    return overLimit({ what: 'documents that the answer may hold', counted, limit: most, key })
  used.cost = counted
  return null
}

/** What introspection may answer, in things: `most` is enough to read the whole schema twice. */
export function spendIntrospection({ used }: Budget, cost: number, most: number): GraphQLError | null {
  const counted = used.introspection + cost
  if (counted > most)
    return overLimit({ what: 'things asked for by introspection', counted, limit: most, key: null })
  used.introspection = counted
  return null
}

/** The keys of `graphql.config.limits` that bound what is asked for. */
type LimitKey = 'tokens' | 'aliases' | 'rootFields' | 'cost'

/** Something that there is too much of. */
export interface Excess {
  /** In the plural: `aliases`. */
  readonly what: string
  /** A count, or the first that is too many where nobody counted on. */
  readonly counted: number
  readonly limit: number
  /** The key in project.yaml that says so; null: nothing there does. */
  readonly key: string | null
  readonly node?: ASTNode
}

/** A limit as the client is told of it: the limit, the count, and the key in project.yaml. HTTP 400, before anything is run. */
export function overLimit({ what, counted, limit: most, key, node }: Excess): GraphQLError {
  const allowed = key === null ? `at most ${most} are allowed` : `${key} in project.yaml allows ${most}`
  return new GraphQLError(`Too many ${what}: ${counted}, and ${allowed}`, {
    ...(node ? { nodes: node } : {}),
    extensions: { code: 'GRAPHQL_VALIDATION_FAILED', limit: { what, counted, most, key } },
  })
}

/** `graphql.config.limits.aliases` */
export const limitPath = (limit: LimitKey): string => `graphql.config.limits.${limit}`

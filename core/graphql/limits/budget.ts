import type { GraphQLError } from 'graphql'
import type { GraphqlSettings } from '../../project/settings/settings.ts'
import { keyOf, type LimitKey, overLimit } from './limit-error.ts'

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
  if (counted > most) return overLimit({ what: WORDS[limit], counted, most, key: keyOf(limit) })
  used[limit] = counted
  return null
}

const WORDS = { tokens: 'tokens', aliases: 'aliases', rootFields: 'root fields' } as const

/** The same for the documents that answers may hold: each role has a limit of its own, or the default. */
export function spendCost({ used, limits }: Budget, role: string | null, cost: number): GraphQLError | null {
  const own = role !== null && Object.hasOwn(limits.cost, role) ? role : 'default'
  const most = limits.cost[own] ?? Number.POSITIVE_INFINITY
  const counted = used.cost + cost
  const key = own === 'default' ? keyOf('cost') : `${keyOf('cost')}.${own}`
  if (counted > most) return overLimit({ what: 'documents that the answer may hold', counted, most, key })
  used.cost = counted
  return null
}

/** What introspection may answer, in things: `most` is enough to read the whole schema twice. */
export function spendIntrospection({ used }: Budget, cost: number, most: number): GraphQLError | null {
  const counted = used.introspection + cost
  if (counted > most)
    return overLimit({ what: 'things asked for by introspection', counted, most, key: null })
  used.introspection = counted
  return null
}

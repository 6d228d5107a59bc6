import type { Filter } from '../../query/query.ts'

/** The user's attributes by name, those behind to-one relations nested in objects. */
export interface UserValues {
  readonly [attribute: string]: unknown
}

/**
 * A permission's `where`, compiled. `personal`: it speaks of `$user` and is read anew for each user; null where
 * one of its values is missing.
 */
export type Condition =
  | { readonly kind: 'fixed'; readonly filter: Filter }
  | {
      readonly kind: 'personal'
      readonly bind: (user: UserValues) => Filter | null
      /** As it is for somebody: for what follows from its form alone. */
      readonly sample: Filter
    }

/** Met by no document. */
const NOTHING: Filter = { kind: 'or', filters: [] }

/** The condition as it is for one caller; met by nothing where a `$user.…` has no value. */
export function filterFor(condition: Condition, user: UserValues | null): Filter {
  if (condition.kind === 'fixed') return condition.filter
  return (user && condition.bind(user)) ?? NOTHING
}

/** All of the filters; null where there is none. */
export function conjunction(...filters: readonly (Filter | null)[]): Filter | null {
  const present = filters.filter(filter => filter !== null)
  if (present.length < 2) return present[0] ?? null
  return { kind: 'and', filters: present }
}

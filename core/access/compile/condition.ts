import type { RawRule } from '@casl/ability'
import type { Model } from '../../model/model.ts'
import type { PermissionOptions } from '../../project/settings/settings.ts'
import type { Filter } from '../../query/query.ts'

/** The user's attributes by name, those behind to-one relations nested in objects. */
export interface UserValues {
  readonly [attribute: string]: unknown
}

/**
 * A permission's `where`, compiled. `personal`: it refers to `$user` and is bound for each user; null: the user has no
 * value for one of the references.
 */
export type Condition =
  | { readonly kind: 'fixed'; readonly filter: Filter }
  | {
      readonly kind: 'personal'
      readonly bind: (user: UserValues) => Filter | null
      /** The filter with sample values, for uses that depend on its structure only. */
      readonly sample: Filter
      /** It refers to an attribute of the user that no caller may read. */
      readonly isPrivate: boolean
    }

/** One permission as a CASL rule. No `fields`: every field. No `conditions`: every row. */
export type AbilityRule = RawRule<[string, string], Condition> & {
  /** Values that the server writes instead of those of the body. */
  readonly set?: PermissionOptions['set']
  /** It covers documents that the caller creates, and no stored ones. */
  readonly onlyNew?: true
}

/** All permissions of one role or token, each action of a subject at most once. */
export interface RoleRules {
  readonly rules: readonly AbilityRule[]
  readonly model: Model
}

/** Matches no document. */
export const MATCHES_NOTHING: Filter = { kind: 'or', filters: [] }

/** The condition for one caller. It matches nothing if a `$user.…` has no value. */
export function filterFor(condition: Condition, user: UserValues | null): Filter {
  if (condition.kind === 'fixed') return condition.filter
  return (user && condition.bind(user)) ?? MATCHES_NOTHING
}

/** The conjunction of the filters; null if there is none. */
export function conjunction(...filters: readonly (Filter | null)[]): Filter | null {
  const present = filters.filter(filter => filter !== null)
  if (present.length < 2) return present[0] ?? null
  return { kind: 'and', filters: present }
}

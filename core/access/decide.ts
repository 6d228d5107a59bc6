import type { ContentType } from '../model/model.ts'
import { subjectOf } from './actions.ts'
import { entryOf, type PermissionEntry, type PermissionTable, WILDCARD } from './permission-entries.ts'

/**
 * The permission of a role for one action on one content-type. `value` is the effective value, `entry` the entry that
 * decides.
 */
export type Decision =
  /** An entry names the action, for the type or for `"*"`. */
  | {
      readonly kind: 'declared'
      readonly value: PermissionEntry['value']
      readonly entry: PermissionEntry
      /** The entry for `"*"` that the entry for this type overrides. */
      readonly overridden: PermissionEntry | null
    }
  /** Another action implies it. */
  | {
      readonly kind: 'implied'
      readonly value: PermissionEntry['value']
      readonly entry: PermissionEntry
      readonly by: string
    }
  | { readonly kind: 'undeclared'; readonly value: false; readonly entry: null }

/**
 * The actions that imply one that the role does not name (reference/rest.md#17-differences-from-strapi). Reading implies nothing: drafts are
 * visible only to a role that changes documents or names `readDrafts`.
 */
const IMPLIED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['publish', ['update', 'create']],
  ['readDrafts', ['update']],
])

/** `create` publishes what the caller creates: a caller who may add documents must not take back those of others. */
export const coversOnlyNew = (decision: Decision, action: string): boolean =>
  decision.kind === 'implied' && decision.by === 'create' && action === 'publish'

const UNDECIDED: Decision = Object.freeze({ kind: 'undeclared', value: false, entry: null })

export function decide(entries: PermissionTable, type: ContentType, action: string): Decision {
  const own = namedOrWildcard(entries, type, action)
  if (own)
    return {
      kind: 'declared',
      value: own.value,
      entry: own,
      overridden: overriddenBy(own, entries, type, action),
    }
  return type.draftAndPublish ? decideImplied(entries, type, action) : UNDECIDED
}

function decideImplied(entries: PermissionTable, type: ContentType, action: string): Decision {
  for (const by of IMPLIED_BY.get(action) ?? []) {
    const entry = namedOrWildcard(entries, type, by)
    if (entry?.value) return { kind: 'implied', value: rowsOnly(entry.value), entry, by }
  }
  return UNDECIDED
}

const namedOrWildcard = (
  entries: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | undefined =>
  entryOf(entries, subjectOf(type), action) ?? wildcardTypeEntry(entries, type, action)

/** `"*"` covers the project's own types, not the built-in ones. */
const wildcardTypeEntry = (
  entries: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | undefined => (type.builtIn ? undefined : entryOf(entries, WILDCARD, action))

function overriddenBy(
  own: PermissionEntry,
  entries: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | null {
  const every = wildcardTypeEntry(entries, type, action)
  return every && every !== own ? every : null
}

/** An implied action applies to the same documents as the action that implies it. */
const rowsOnly = (value: PermissionEntry['value']): PermissionEntry['value'] =>
  typeof value === 'object' && value.where ? { where: value.where } : Boolean(value)

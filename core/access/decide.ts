import type { ContentType } from '../model/model.ts'
import { subjectOf } from './actions.ts'
import { entryOf, type PermissionEntry, type PermissionTable, WILDCARD } from './permission-entries.ts'

/**
 * The permission of a role for one action on one content-type. `said` is the effective value, `cell` the entry that
 * decides.
 */
export type Decision =
  /** An entry names the action, for the type or for `"*"`. */
  | {
      readonly kind: 'said'
      readonly said: PermissionEntry['value']
      readonly cell: PermissionEntry
      /** The entry for `"*"` that the entry for this type overrides. */
      readonly beaten: PermissionEntry | null
    }
  /** Another action implies it. */
  | {
      readonly kind: 'implied'
      readonly said: PermissionEntry['value']
      readonly cell: PermissionEntry
      readonly by: string
    }
  | { readonly kind: 'unsaid'; readonly said: false; readonly cell: null }

/**
 * The actions that imply one that the role does not name (reference/rest.md#17-differences-from-strapi). Reading implies nothing: drafts are
 * visible only to a role that changes documents or names `readDrafts`.
 */
const IMPLIED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['publish', ['update', 'create']],
  ['readDrafts', ['update']],
])

const UNDECIDED: Decision = Object.freeze({ kind: 'unsaid', said: false, cell: null })

export function decide(entries: PermissionTable, type: ContentType, action: string): Decision {
  const own = namedOrWildcard(entries, type, action)
  if (own)
    return { kind: 'said', said: own.value, cell: own, beaten: overriddenBy(own, entries, type, action) }
  return type.draftAndPublish ? decideImplied(entries, type, action) : UNDECIDED
}

function decideImplied(entries: PermissionTable, type: ContentType, action: string): Decision {
  for (const by of IMPLIED_BY.get(action) ?? []) {
    const cell = namedOrWildcard(entries, type, by)
    if (cell?.value) return { kind: 'implied', said: rowsOnly(cell.value), cell, by }
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
const rowsOnly = (said: PermissionEntry['value']): PermissionEntry['value'] =>
  typeof said === 'object' && said.where ? { where: said.where } : Boolean(said)

import type { ContentType } from '../model/model.ts'
import { subjectOf } from './actions.ts'
import { entryOf, type PermissionEntry, type PermissionTable, WILDCARD } from './permission-entries.ts'

/**
 * What a role says of one action on one content-type, and why. `said` is what it comes to, `cell` the permission
 * that decides.
 */
export type Decision =
  /** In so many words, for the type or for all of them. */
  | {
      readonly kind: 'said'
      readonly said: PermissionEntry['value']
      readonly cell: PermissionEntry
      /** What the role says of every type, where naming this one beats it. */
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
 * The actions that imply one that the role does not name (contract/rest.md 0). Reading implies nothing: drafts are
 * visible only to a role that changes documents or names `readDrafts`.
 */
const IMPLIED_BY: ReadonlyMap<string, readonly string[]> = new Map([
  ['publish', ['update', 'create']],
  ['readDrafts', ['update']],
])

const UNDECIDED: Decision = Object.freeze({ kind: 'unsaid', said: false, cell: null })

export function decide(cells: PermissionTable, type: ContentType, action: string): Decision {
  const own = namedOrWildcard(cells, type, action)
  if (own) return { kind: 'said', said: own.value, cell: own, beaten: overriddenBy(own, cells, type, action) }
  return type.draftAndPublish ? decideImplied(cells, type, action) : UNDECIDED
}

function decideImplied(cells: PermissionTable, type: ContentType, action: string): Decision {
  for (const by of IMPLIED_BY.get(action) ?? []) {
    const cell = namedOrWildcard(cells, type, by)
    if (cell?.value) return { kind: 'implied', said: rowsOnly(cell.value), cell, by }
  }
  return UNDECIDED
}

const namedOrWildcard = (
  cells: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | undefined =>
  entryOf(cells, subjectOf(type), action) ?? wildcardTypeEntry(cells, type, action)

/** `"*"` stands for the project's own types. */
const wildcardTypeEntry = (
  cells: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | undefined => (type.builtIn ? undefined : entryOf(cells, WILDCARD, action))

function overriddenBy(
  own: PermissionEntry,
  cells: PermissionTable,
  type: ContentType,
  action: string,
): PermissionEntry | null {
  const every = wildcardTypeEntry(cells, type, action)
  return every && every !== own ? every : null
}

/** An implied action applies to the same documents as the action that implies it. */
const rowsOnly = (said: PermissionEntry['value']): PermissionEntry['value'] =>
  typeof said === 'object' && said.where ? { where: said.where } : Boolean(said)

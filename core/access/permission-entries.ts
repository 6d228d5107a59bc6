import type { Path } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Permissions, PermissionTerms } from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS, CONTENT_ACTIONS, isBuiltInSubject } from './actions.ts'

/** One permission as it was written: what it says, and where. */
export interface PermissionEntry {
  readonly value: boolean | PermissionTerms
  readonly path: Path
  readonly origin: EntryOrigin
}

/** Whether it stands in the file, or follows from there being nothing on `auth` in `public`, or from a token's type. */
export type EntryOrigin = 'file' | 'open' | 'token-type'

/** subject → action → permission, with `"*"` for actions written out; `"*"` for content-types stays a subject. */
export type PermissionTable = ReadonlyMap<string, ReadonlyMap<string, PermissionEntry>>

export const WILDCARD = '*'

/** Every word that may stand for a subject. */
export const subjectNames = (model: Model): readonly string[] => [
  ...[...model.contentTypes.values()].filter(type => !type.builtIn).map(type => type.key),
  ...Object.keys(BUILT_IN_ACTIONS),
  WILDCARD,
]

/** Every action that a subject knows, whether or not this one of them has drafts and locales. */
export const actionNames = (subject: string): readonly string[] =>
  isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : CONTENT_ACTIONS

export const entryOf = (
  cells: PermissionTable,
  subject: string,
  action: string,
): PermissionEntry | undefined => cells.get(subject)?.get(action)

/** `path`: of the permissions; of what they follow from where they are not in the file. */
export const toPermissionTable = (
  permissions: Permissions,
  path: Path,
  origin: EntryOrigin = 'file',
): PermissionTable =>
  new Map(
    Object.entries(permissions).map(([subject, said]) => {
      const toCell = (action: string, terms: PermissionEntry['value']): PermissionEntry => ({
        value: terms,
        path: origin === 'file' ? [...path, subject, action] : path,
        origin,
      })
      return [subject, toRow(subject, said, toCell)]
    }),
  )

/** An action that is named beats `"*"` beside it. */
function toRow(
  subject: string,
  said: Permissions[string],
  toCell: (action: string, terms: PermissionEntry['value']) => PermissionEntry,
): ReadonlyMap<string, PermissionEntry> {
  const row = new Map<string, PermissionEntry>()
  const every = said[WILDCARD]
  if (every !== undefined) {
    for (const action of actionNames(subject)) row.set(action, toCell(WILDCARD, every))
  }
  for (const [action, terms] of Object.entries(said)) {
    if (action !== WILDCARD) row.set(action, toCell(action, terms))
  }
  return row
}

/** What the second says replaces what the first says of the same action of the same subject. */
export function overridePermissions(below: PermissionTable, above: PermissionTable): PermissionTable {
  const merged = new Map(below)
  for (const [subject, row] of above) merged.set(subject, new Map([...(below.get(subject) ?? []), ...row]))
  return merged
}

import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Project } from '../project/project.ts'
import type { PermissionOptions, Permissions } from '../project/settings/settings.ts'
import { BUILT_IN_ACTIONS, CONTENT_ACTIONS, isBuiltInSubject } from './actions.ts'

/** One permission as it was declared, with its path in the project file. */
export interface PermissionEntry {
  readonly value: boolean | PermissionOptions
  readonly path: Path
  readonly origin: EntryOrigin
}

/** `file`: declared; `open`: default because `public` does not declare `auth`; `token-type`: from the type of a token. */
export type EntryOrigin = 'file' | 'open' | 'token-type'

/** subject → action → entry. `"*"` as an action is expanded; `"*"` as a subject is kept. */
export type PermissionTable = ReadonlyMap<string, ReadonlyMap<string, PermissionEntry>>

export const WILDCARD = '*'

/** Every valid name of a subject. */
export const subjectNames = (model: Model): readonly string[] => [
  ...[...model.contentTypes.values()].filter(type => !type.builtIn).map(type => type.key),
  ...Object.keys(BUILT_IN_ACTIONS),
  WILDCARD,
]

/** Every action of a subject, including those that need drafts or locales. */
export const actionNames = (subject: string): readonly string[] =>
  isBuiltInSubject(subject) ? BUILT_IN_ACTIONS[subject] : CONTENT_ACTIONS

export const entryOf = (
  entries: PermissionTable,
  subject: string,
  action: string,
): PermissionEntry | undefined => entries.get(subject)?.get(action)

/** `path`: of the permissions, or of the setting that implies them if they are not in the file. */
export const toPermissionTable = (
  permissions: Permissions,
  path: Path,
  origin: EntryOrigin = 'file',
): PermissionTable =>
  new Map(
    Object.entries(permissions).map(([subject, declared]) => {
      const toCell = (action: string, permission: PermissionEntry['value']): PermissionEntry => ({
        value: permission,
        path: origin === 'file' ? [...path, subject, action] : path,
        origin,
      })
      return [subject, toRow(subject, declared, toCell)]
    }),
  )

/** A named action overrides `"*"` of the same subject. */
function toRow(
  subject: string,
  declared: Permissions[string],
  toCell: (action: string, permission: PermissionEntry['value']) => PermissionEntry,
): ReadonlyMap<string, PermissionEntry> {
  const row = new Map<string, PermissionEntry>()
  const every = declared[WILDCARD]
  if (every !== undefined) {
    for (const action of actionNames(subject)) row.set(action, toCell(WILDCARD, every))
  }
  for (const [action, permission] of Object.entries(declared)) {
    if (action !== WILDCARD) row.set(action, toCell(action, permission))
  }
  return row
}

/** Entries of `above` replace those of `below` for the same action of the same subject. */
export function overridePermissions(below: PermissionTable, above: PermissionTable): PermissionTable {
  const merged = new Map(below)
  for (const [subject, row] of above) merged.set(subject, new Map([...(below.get(subject) ?? []), ...row]))
  return merged
}

/** The diagnostic codes of this module. project/ reports the errors that are visible without a model. */
type AccessFault =
  | 'conflicting-parents'
  | 'unknown-subject'
  | 'unknown-action'
  | 'action-not-applicable'
  | 'misplaced-key'
  | 'unknown-field'
  | 'bad-condition'
  | 'unknown-user-path'

/** A fault before its path is resolved to a file, line and column. */
export interface AccessFinding {
  readonly code: AccessFault
  readonly message: string
  readonly path: Path
  /** The caret points at the key instead of its value. */
  readonly atKey?: boolean
  readonly related?: { readonly path: Path; readonly message: string }
}

export function toDiagnostic(
  { code, message, path, atKey, related }: AccessFinding,
  project: Project,
): Diagnostic {
  const diagnostic = {
    code,
    message,
    path,
    location: atKey ? project.keyLocation(path) : project.location(path),
  }
  if (!related) return diagnostic
  return { ...diagnostic, related: { location: project.location(related.path), message: related.message } }
}

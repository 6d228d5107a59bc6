import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { Project } from '../project/project.ts'

/** The diagnostic codes of this module. project/ reports the errors that are visible without a model. */
export type AccessFault =
  | 'conflicting-parents'
  | 'unknown-subject'
  | 'unknown-action'
  | 'action-not-applicable'
  | 'misplaced-terms'
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
  const diagnostic = { code, message, path, place: atKey ? project.keyPlace(path) : project.place(path) }
  if (!related) return diagnostic
  return { ...diagnostic, related: { place: project.place(related.path), message: related.message } }
}

import type { Diagnostic, Path, SourceLocation } from '../faults/diagnostic.ts'

/** The closed list of this module's error codes: everything that can be wrong with a project file. */
export type ProjectFault =
  | 'unreadable'
  | 'too-large'
  | 'bad-encoding'
  | 'syntax'
  | 'too-deep'
  | 'unknown-tag'
  | 'unknown-alias'
  | 'alias-bomb'
  | 'bad-merge'
  | 'bad-key'
  | 'duplicate-key'
  | 'bad-number'
  | 'unset-variable'
  | 'bad-substitution'
  | 'bad-include'
  | 'include-cycle'
  | 'duplicate-name'
  | 'unknown-key'
  | 'missing-key'
  | 'wrong-type'
  | 'unknown-word'
  | 'bad-value'
  | 'bad-name'
  | 'reserved-name'
  | 'conflict'
  | 'unknown-name'
  | 'cycle'

/** The result of a check: a fault with a path, before its location in the file is known. */
export interface ProjectFinding {
  readonly code: ProjectFault
  readonly message: string
  readonly path: Path
  /** The declaration that is missing. The finding is a consequence if it does not match the schema. */
  readonly missing?: Path
  /** The caret points to the key instead of its value. */
  readonly atKey?: boolean
  /** A second path that is involved, with its own message. */
  readonly related?: { readonly path: Path; readonly message: string }
}

/** Sorts by file, line and column. The sort is stable. */
export function sortDiagnostics<Fault extends Diagnostic>(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((a, b) => comparePlaces(a.location, b.location))
}

function comparePlaces(a: SourceLocation, b: SourceLocation): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column
}

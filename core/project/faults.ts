import type { Diagnostic, Path, SourceLocation } from '../faults/diagnostic.ts'

/** Everything that can be wrong with a file that Plinth reads: the closed list of this room's codes. */
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

/** A fault before it is tied to a place: what the checks return. */
export interface Finding {
  readonly code: ProjectFault
  readonly message: string
  readonly path: Path
  /** The caret stands under the key rather than under its value. */
  readonly atKey?: boolean
  /** A second path that takes part, and what to say of it. */
  readonly related?: { readonly path: Path; readonly message: string }
}

/** By file, then line, then column; faults of one place keep their order. */
export function sortDiagnostics<Fault extends Diagnostic>(faults: readonly Fault[]): readonly Fault[] {
  return faults.toSorted((a, b) => comparePlaces(a.place, b.place))
}

function comparePlaces(a: SourceLocation, b: SourceLocation): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return a.line - b.line || a.column - b.column
}

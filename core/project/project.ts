import type { Path, SourceLocation } from '../faults/diagnostic.ts'
import type { Settings } from './settings/settings.ts'

/** A project file that was read, checked and normalised: includes merged, environment substituted, defaults filled in. Frozen. */
export interface Project {
  /** Absolute path of the folder that holds project.yaml. */
  readonly root: string
  /** Absolute path of project.yaml. */
  readonly file: string
  /** Absolute paths of project.yaml and of all that it includes. */
  readonly files: readonly string[]
  readonly settings: Settings
  /** Where a key stands; for a path that stands in no file (a default), the place of its nearest ancestor that does. */
  place(path: Path): SourceLocation
  /** Where a mapping's key itself stands, not its value. */
  keyPlace(path: Path): SourceLocation
}

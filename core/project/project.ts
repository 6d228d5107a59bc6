import type { Path, SourceLocation } from '../faults/diagnostic.ts'
import type { Settings } from './settings/settings.ts'
import type { WrittenValue } from './yaml/read-yaml.ts'

/** A checked and normalised project: includes merged, environment substituted, defaults filled in. Frozen. */
export interface Project {
  /** Absolute path of the folder of project.yaml. */
  readonly root: string
  /** Absolute path of project.yaml. */
  readonly file: string
  /** Absolute paths of project.yaml and of all included files. */
  readonly files: readonly string[]
  readonly settings: Settings
  /** The location of a value. For a path that is in no file (a default): the location of its nearest ancestor. */
  location(path: Path): SourceLocation
  /** The value as a file, an option or the environment gives it; null: a default. */
  writtenAt(path: Path): WrittenValue | null
  /** The location of a mapping's key instead of its value. */
  keyLocation(path: Path): SourceLocation
}

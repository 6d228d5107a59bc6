import type { WrittenVersion } from '../documents/desired-state.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { ContentType } from '../model/model.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'
import type { MediaFile } from './media-file.ts'

/** The documents of content/, read and checked: whatever is in here can be written. */
export interface Content {
  /** By type in the order of the model, then in the order of the file. */
  readonly documents: readonly ContentDocument[]
}

export interface ContentDocument extends Entry {
  /** Of users, roles and single types one that stands for the real one until it is looked up. */
  readonly documentId: string
  /** One a locale. */
  readonly versions: readonly ContentVersion[]
  /** The files of content/media/ that it uses. */
  readonly files: readonly MediaFile[]
  /** Changes when anything that would be written does; passwords apart. */
  readonly digest: string
}

export interface ContentVersion extends WrittenVersion {
  /** The attributes that the file names: the others hold what a new document starts with. */
  readonly given: ReadonlySet<string>
  /** Where its attributes stand in the file. */
  readonly path: Path
}

/** One document as a file has it. */
export interface Entry {
  readonly type: ContentType
  /** What the document goes by in content/: its documentId, a user's username. */
  readonly name: string
  /** `create`: written once; `sync`: the file's changes are written too. */
  readonly on: Mode
  readonly source: YamlSource
  /** Where the document stands in the file. */
  readonly path: Path
}

export const MODES = ['create', 'sync'] as const
export type Mode = (typeof MODES)[number]

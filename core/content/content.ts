import type { DesiredVersion } from '../documents/desired-state.ts'
import type { Path } from '../faults/diagnostic.ts'
import type { ContentType } from '../model/model.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'
import type { MediaFile } from './media-file.ts'

/** The parsed and checked documents of content/. */
export interface Content {
  /** Ordered by type as in the model, then as in the file. */
  readonly documents: readonly ContentDocument[]
}

export interface ContentDocument extends ContentEntry {
  /** For users, roles and single types a placeholder until the real id is looked up. */
  readonly documentId: string
  /** One per locale. */
  readonly versions: readonly ContentVersion[]
  /** Files of content/media/ that the document uses. */
  readonly files: readonly MediaFile[]
  /** Changes with any value that would be written, except passwords. */
  readonly digest: string
}

export interface ContentVersion extends DesiredVersion {
  /** Attributes that the file sets; the others have default values. */
  readonly given: ReadonlySet<string>
  /** Path of its attributes in the file. */
  readonly path: Path
}

/** Identity and place of one document in a file. */
export interface ContentEntry {
  readonly type: ContentType
  /** Name of the document in content/: its documentId; for a user the username. */
  readonly name: string
  /** `create`: written once; `sync`: changes of the file are written too. */
  readonly on: ApplyMode
  readonly source: YamlSource
  /** Path of the document in the file. */
  readonly path: Path
}

export const MODES = ['create', 'sync'] as const
export type ApplyMode = (typeof MODES)[number]

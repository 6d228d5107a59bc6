import { isShared } from '../documents/rows/planning.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { ImportedDocument, ImportedVersion } from '../import/imported-document.ts'
import type { ContentType } from '../model/model.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'
import type { MediaFile } from './media-file.ts'

/** The parsed and checked documents of content/. */
export interface Content {
  /** Ordered by type as in the model, then as in the file. */
  readonly documents: readonly ContentDocument[]
}

export interface ContentDocument extends ContentEntry, ImportedDocument {
  /** One per locale. */
  readonly versions: readonly ContentVersion[]
  /** Files of content/media/ that the document uses. */
  readonly files: readonly MediaFile[]
  /** Changes with any value that would be written, except passwords. */
  readonly digest: string
  /**
   * Of the same entry, for the type with and without drafts and locales, and with the former names of attributes and components:
   * neither gaining or losing these nor a rename edits an entry.
   */
  readonly otherDigests: () => readonly string[]
}

export interface ContentVersion extends ImportedVersion {
  /** Path of its attributes in the file. */
  readonly path: Path
}

/** Identity and place of one document in a file. */
export interface ContentEntry {
  readonly type: ContentType
  /** Name of the document in content/: its documentId; for a user the username. */
  readonly name: string
  /** True if the entry has no documentId: its name is derived from its values, and from names of the project. */
  readonly isDerived: boolean
  /** `create`: written once; `sync`: changes of the file are written too. */
  readonly on: ApplyMode
  readonly source: YamlSource
  /** Path of the document in the file. */
  readonly path: Path
}

export type ApplyMode = 'create' | 'sync'

/** Path of a value in the file; shared attributes are at the top level. */
export function valuePath(
  { type, path, versions }: ContentDocument,
  locale: string | null,
  value: Path,
): Path {
  const isTopLevel = isShared(type, type.attributes.get(String(value[0])))
  const version = isTopLevel ? undefined : versions.find(each => each.locale === locale)
  return [...(version?.path ?? path), ...value]
}

/** Diagnostic codes of content/, in addition to those of any YAML file. */
type ContentFault =
  | 'unknown-type'
  | 'bad-shape'
  | 'unknown-key'
  | 'bad-value'
  | 'bad-document-id'
  | 'duplicate-document'
  | 'unknown-locale'
  | 'unknown-reference'
  | 'link-conflict'
  | 'not-unique'
  | 'bad-file'

interface YamlSpot {
  readonly source: YamlSource
  readonly path: Path
  /** Points the caret to the key instead of its value. */
  readonly atKey?: boolean
}

export function diagnose(
  code: ContentFault,
  message: string,
  { source, path, atKey = false }: YamlSpot,
  related?: Diagnostic['related'],
): Diagnostic {
  const location = atKey ? source.keyLocation(path) : source.location(path)
  return { code, message, path, location, ...(related === undefined ? {} : { related }) }
}

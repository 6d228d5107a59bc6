import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'

/** Diagnostic codes of content/, in addition to those of any YAML file. */
export type ContentFault =
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

export interface YamlSpot {
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
  const place = atKey ? source.keyPlace(path) : source.place(path)
  return { code, message, path, place, ...(related === undefined ? {} : { related }) }
}

import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import type { YamlSource } from '../project/yaml/read-yaml.ts'

/** Everything that can be wrong with content/, beside what is wrong with any YAML file. */
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

export interface Spot {
  readonly source: YamlSource
  readonly path: Path
  /** The caret stands under the key rather than under its value. */
  readonly atKey?: boolean
}

export function diagnose(
  code: ContentFault,
  message: string,
  { source, path, atKey = false }: Spot,
  related?: Diagnostic['related'],
): Diagnostic {
  const place = atKey ? source.keyPlace(path) : source.place(path)
  return { code, message, path, place, ...(related === undefined ? {} : { related }) }
}

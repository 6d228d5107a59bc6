import type { DesiredRow, Values } from '../../../core/documents/desired-state.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { Status } from '../../../core/query/query.ts'
import type { LineFault } from '../stream-fault.ts'

/** A parsed line: values in stored form; links with the names of their targets. */
export interface ParsedDocument {
  readonly line: number
  readonly type: ContentType
  readonly documentId: string
  /** The row number that links refer to, if the line has one. */
  readonly key: number | undefined
  readonly versions: readonly ParsedVersion[]
  readonly shared: ReadonlyMap<Status, ParsedPart>
  /** The defaults of attributes that the stream does not declare. */
  readonly defaults: Values
  /** Faults that apply only if the document is new: required attributes that the stream does not declare. */
  readonly lacking: readonly LineFault[]
}

/** `digest`: equal for equal values. */
export interface ParsedPart {
  readonly values: Values
  readonly digest: string
}

export interface ParsedVersion extends ParsedPart {
  readonly locale: string | null
  readonly status: Status
  /** null: the line has neither timestamps nor a number. */
  readonly row: DesiredRow | null
}

/** `article first` */
export const nameOf = ({ key }: ContentType, documentId: string): string => `${key} ${documentId}`

/** `article first (en, published)` */
export const aboutVersion = (
  type: ContentType,
  documentId: string,
  { locale, status }: { readonly locale?: string | null | undefined; readonly status?: Status | undefined },
): string => {
  const words = [
    ...(type.localized && locale ? [locale] : []),
    ...(type.draftAndPublish && status ? [status] : []),
  ]
  return `${nameOf(type, documentId)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`
}

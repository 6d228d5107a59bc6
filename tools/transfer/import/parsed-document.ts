import type { Values, WrittenRow } from '../../../core/documents/desired-state.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { Status } from '../../../core/query/query.ts'
import type { LineFault } from '../stream-fault.ts'

/** A line whose values are in stored form; of links, the names of what they lead to. */
export interface ParsedDocument {
  readonly line: number
  readonly type: ContentType
  readonly documentId: string
  /** The number of the row that names it, where the line says it. */
  readonly key: number | undefined
  readonly versions: readonly ParsedVersion[]
  readonly shared: ReadonlyMap<Status, ParsedPart>
  /** What attributes begin with of which the stream says nothing. */
  readonly defaults: Values
  /** What is wrong with it where it is new: what it must have and the stream says nothing of. */
  readonly lacking: readonly LineFault[]
}

/** `digest`: equal where the values are. */
export interface ParsedPart {
  readonly values: Values
  readonly digest: string
}

export interface ParsedVersion extends ParsedPart {
  readonly locale: string | null
  readonly status: Status
  /** null: the line says neither stamps nor a number. */
  readonly row: WrittenRow | null
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

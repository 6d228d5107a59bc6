import type { ImportedDocument, ImportedVersion } from '../../../core/import/imported-document.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { Status } from '../../../core/query/query.ts'
import type { LineFault } from '../stream-fault.ts'

/** A parsed line. Its name is the documentId. */
export interface ParsedDocument extends ImportedDocument {
  readonly line: number
  readonly versions: readonly ParsedVersion[]
  /** Faults that apply only if the document is new: required attributes that the stream does not declare. */
  readonly lacking: readonly LineFault[]
}

export interface ParsedVersion extends ImportedVersion {
  readonly status: Status
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

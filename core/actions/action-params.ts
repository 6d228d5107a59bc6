import { fault, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'

/** Parameters of an action, in the form of a parsed query string: strings, lists and objects of them; `data` of a body. */
export type Params = Readonly<Record<string, unknown>>

export const invalidParam = (message: string, key: string): RequestFault =>
  new RequestFault(fault('validation', message, { key }))

/** The documentId of the parameters; null for a single type. */
export function parseDocumentId({ documentId }: Params, type: ContentType): string | null {
  if (typeof documentId === 'string' && documentId !== '') return documentId
  if (documentId === undefined && type.kind === 'single') return null
  throw invalidParam(`documentId must be the documentId of a document of ${type.key}`, 'documentId')
}

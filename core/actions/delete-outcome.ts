import { isRecord } from '../base/plain-data.ts'

/** The outcome of a delete as code and document middlewares get it. `document`: what the protocol answers; `named`: the documentId of the request. */
export const toDeleteOutcome = (document: unknown, named: unknown = null) =>
  isRecord(document)
    ? { documentId: document.documentId ?? named, entries: [document] }
    : { documentId: named, entries: [] }

/** The document that such an outcome answers; null: none. */
export const deletedDocumentOf = (outcome: unknown): unknown =>
  isRecord(outcome) && Array.isArray(outcome.entries) ? (outcome.entries[0] ?? null) : null

import type { Query } from '../../query/query.ts'

type TakeOne = Extract<Query['take'], { readonly kind: 'one' }>

/** An `id` argument: a documentId, or of digits alone the id of a record (contract/graphql.md 0). */
export function parseId(raw: unknown): TakeOne {
  const id = String(raw ?? '')
  // PostgreSQL takes no NUL; no document has one in its id.
  if (id.includes('\0')) return { kind: 'one', documentId: '' }
  const recordId = /^\d+$/.test(id) ? Number(id) : Number.NaN
  return Number.isSafeInteger(recordId)
    ? { kind: 'one', documentId: null, recordId }
    : { kind: 'one', documentId: id }
}

import { trusted } from '../../access/brand.ts'
import { ALL_ROWS, scalarOf } from '../../identity/users/user-values.ts'
import type { ContentType } from '../../model/model.ts'
import type { Filter } from '../../query/query.ts'
import type { ResolveTerms } from './resolve-read.ts'

/** A record of a built-in type, by both its names. */
export interface NamedRecord {
  readonly id: number
  readonly documentId: string
}

/**
 * The record that an argument `id` means, by its documentId or its number (contract/graphql.md 0). Whoever asks: what
 * may be done to it is for others to say. null: there is none.
 */
export async function findRecord(
  type: ContentType,
  given: unknown,
  { documents }: Pick<ResolveTerms, 'documents'>,
): Promise<NamedRecord | null> {
  const text = String(given)
  if (text.includes('\0')) return null
  const query = trusted({
    ...ALL_ROWS,
    type,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    selection: { fields: [scalarOf(type, 'id'), scalarOf(type, 'documentId')], named: true, populate: [] },
    filter: toFilter(type, text),
  })
  const found = JSON.parse((await documents.findMany(query, 'flat')).text) as readonly NamedRecord[]
  return found[0] ?? null
}

const toFilter = (type: ContentType, text: string): Filter => {
  const isNumber = /^\d{1,9}$/.test(text)
  return {
    kind: 'comparison',
    attribute: scalarOf(type, isNumber ? 'id' : 'documentId'),
    operator: '$eq',
    values: [isNumber ? Number(text) : text],
  }
}

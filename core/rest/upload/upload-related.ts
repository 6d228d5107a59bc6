import { restrict } from '../../access/restrict/restrict.ts'
import type { ContentType, MediaAttribute } from '../../model/model.ts'
import type { Filter, Query } from '../../query/query.ts'
import { parseFields } from '../parameters/parse-fields.ts'
import type { Parameters } from '../parse-query-string.ts'
import type { UploadTerms, UploadVisit } from './upload-visit.ts'

/** Whether a query asks for the places of a file, and the rest of it: that is no attribute of files. */
export function splitRelated(parameters: Parameters): {
  readonly asked: Parameters
  readonly related: boolean
} {
  const { populate, ...rest } = parameters
  const only = Array.isArray(populate) && populate.length === 1 ? populate[0] : populate
  if (only === 'related') return { asked: rest, related: true }
  return { asked: parameters, related: populate === '*' }
}

/**
 * The published documents that hold a file in an attribute of their own, as far as the caller may find them: one
 * statement a content-type that has such attributes, at most a page of each.
 */
export async function findRelated(
  fileId: number,
  visit: UploadVisit,
  terms: UploadTerms,
): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for (const type of terms.model.contentTypes.values()) {
    const query = relatedQuery(fileId, type, { visit, terms })
    const restricted = query && restrict(query, visit.caller)
    if (!restricted?.ok) continue
    const { text } = await terms.documents.findMany(restricted.value, 'flat')
    const documents: unknown = JSON.parse(text)
    if (Array.isArray(documents))
      found.push(...documents.map((document: object) => ({ __type: type.uid, ...document })))
  }
  return found
}

interface Asking {
  readonly visit: UploadVisit
  readonly terms: UploadTerms
}

/** null: the caller sees no place of this type. */
function relatedQuery(fileId: number, type: ContentType, { visit, terms }: Asking): Query | null {
  const view = visit.caller.grants.view(type, 'find')
  const filters = [...type.attributes.values()].flatMap(attribute =>
    attribute.kind === 'media' && view?.readable.has(attribute) ? [holds(attribute, fileId)] : [],
  )
  const fields = parseFields(undefined, type)
  if (filters.length === 0 || !fields.ok) return null
  return {
    kind: 'query',
    type,
    take: { kind: 'many', page: { start: 0, limit: terms.settings.maxLimit }, total: false },
    status: 'published',
    locale: { kind: 'all' },
    selection: { ...fields.value, populate: [] },
    filter: { kind: 'or', filters },
    search: null,
    publication: null,
    sort: [],
  }
}

function holds(attribute: MediaAttribute, fileId: number): Filter {
  const id = attribute.target.attributes.get('id')
  if (id?.kind !== 'scalar') throw new TypeError('files have no id')
  const filter: Filter = { kind: 'comparison', attribute: id, operator: '$eq', values: [fileId] }
  return { kind: 'related', attribute, scope: null, filter }
}

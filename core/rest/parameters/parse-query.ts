import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { ContentType, Model, ScalarAttribute, ValueType } from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { findTooManyJoins } from '../../query/join-limit.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { parseSort } from '../../query/parse-sort.ts'
import type { Query, Search, Status } from '../../query/query.ts'
import type { QueryParameters } from '../parse-query-string.ts'
import { parseCursor } from './cursor.ts'
import { joinsTables, parseFields, withSortedFields } from './parse-fields.ts'
import { type Pagination, pageOf, parsePagination } from './parse-pagination.ts'
import { parsePopulate } from './parse-populate.ts'
import { parseLocales, parsePublication, parseStatus } from './parse-version.ts'
import { findExcessPopulate } from './populate-names.ts'

export interface QueryParseTerms {
  readonly model: Model
  readonly settings: RestSettings
}

/** The parts of a query that lists and single documents share. */
type Shared = Content & Versions & Pick<Query, 'kind' | 'type'>

/** Parses reference/rest.md. The first fault is reported in Strapi's order: filters, sort, fields, populate. */
export function parseSharedQuery(
  type: ContentType,
  parameters: QueryParameters,
  terms: QueryParseTerms,
): Result<Shared, Fault> {
  if (parameters.lookup !== undefined) return failed(fault('validation', "Invalid params: 'lookup'"))
  const content = parseContent(type, parameters, terms)
  if (!content.ok) return content
  const versions = parseVersions(type, parameters)
  if (!versions.ok) return versions
  const { filter, sort, selection } = content.value
  const { status, publication, search } = versions.value
  return ok({ kind: 'query', type, status, selection, filter, search, publication, sort })
}

type Content = Pick<Query, 'filter' | 'sort' | 'selection'>

function parseContent(
  type: ContentType,
  parameters: QueryParameters,
  { model }: QueryParseTerms,
): Result<Content, Fault> {
  const filter = parameters.filters === undefined ? ok(null) : parseFilter(parameters.filters, type)
  if (!filter.ok) return filter
  const sort = parseSort(parameters.sort, type)
  if (!sort.ok) return sort
  const fields = parseFields(parameters.fields, type)
  if (!fields.ok) return fields
  const populate = parsePopulate(parameters.populate, type, model.components)
  if (!populate.ok) return populate
  const excess = findExcessPopulate(populate.value)
  if (excess) return failed(excess)
  const named = joinsTables(filter.value) ? withSortedFields(fields.value, sort.value) : fields.value
  const content = {
    filter: filter.value,
    sort: sort.value,
    selection: { ...named, populate: populate.value },
  }
  const tooMany = findTooManyJoins(content)
  return tooMany ? failed(tooMany) : ok(content)
}

type Versions = Pick<Query, 'publication' | 'search'> & { readonly status: Status }

function parseVersions(type: ContentType, parameters: QueryParameters): Result<Versions, Fault> {
  const status = parseStatus(parameters.status)
  if (!status.ok) return status
  const publication = parsePublication(type, parameters)
  if (!publication.ok) return publication
  const search = parseSearch(type, parameters._q)
  if (!search.ok) return search
  return ok({ status: status.value, publication: publication.value, search: search.value })
}

export interface ListQuery {
  readonly query: Query
  readonly pagination: Pagination
}

/** Parses the parameters of a list. */
export function parseListQuery(
  type: ContentType,
  parameters: QueryParameters,
  terms: QueryParseTerms,
): Result<ListQuery, Fault> {
  const shared = parseSharedQuery(type, parameters, terms)
  if (!shared.ok) return shared
  const pagination = parsePagination(parameters, terms.settings)
  if (!pagination.ok) return pagination
  const locale = parseLocales(type, parameters, { model: terms.model, many: true })
  if (!locale.ok) return locale
  const { after: cursor, withCount } = pagination.value
  const after = cursor === undefined ? ok(undefined) : parseCursor(cursor, type, shared.value.sort)
  if (!after.ok) return after
  const begun = after.value === undefined ? {} : { after: after.value }
  const take = { kind: 'many', page: pageOf(pagination.value), total: withCount, ...begun } as const
  return ok({ query: { ...shared.value, take, locale: locale.value }, pagination: pagination.value })
}

/** Parses the parameters of one document; `documentId` is null for a single type. Pagination is ignored. */
export function parseOneQuery(
  type: ContentType,
  documentId: string | null,
  parameters: QueryParameters,
  terms: QueryParseTerms,
): Result<Query, Fault> {
  const shared = parseSharedQuery(type, parameters, terms)
  if (!shared.ok) return shared
  const locale = parseLocales(type, parameters, { model: terms.model, many: false })
  if (!locale.ok) return locale
  return ok({ ...shared.value, take: { kind: 'one', documentId }, locale: locale.value })
}

const SEARCHED: ReadonlySet<ValueType> = new Set<ValueType>([
  'documentId',
  'string',
  'text',
  'richtext',
  'enumeration',
  'email',
  'uid',
  'integer',
  'biginteger',
  'float',
  'decimal',
])

/** Parses `_q` (reference/rest.md#7-filters), which searches all text, number and uid attributes and the documentId. */
function parseSearch(type: ContentType, raw: unknown): Result<Search | null, Fault> {
  if (raw === undefined || raw === '') return ok(null)
  if (typeof raw !== 'string' || raw.includes('\0'))
    return failed(fault('validation', 'Invalid value for _q: expected a text', { key: '_q' }))
  return ok({ text: raw, attributes: searchedAttributes(type) })
}

const known = new WeakMap<ContentType, readonly ScalarAttribute[]>()

function searchedAttributes(type: ContentType): readonly ScalarAttribute[] {
  const before = known.get(type)
  if (before) return before
  const attributes = [...type.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  const searched = attributes.filter(attribute => SEARCHED.has(attribute.type))
  known.set(type, searched)
  return searched
}

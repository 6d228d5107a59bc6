import { memoize } from '../../base/memo.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { ContentType, Model, ScalarAttribute, ValueType } from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { findTooManyJoins } from '../../query/join-limit.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { parseSort } from '../../query/parse-sort.ts'
import { isRelevance, parseTextSearch } from '../../query/parse-text-search.ts'
import type { Query, Search, Status, VersionChoice } from '../../query/query.ts'
import type { Params } from '../action-params.ts'
import { joinsTables, parseFields, withSortedFields } from './parse-fields.ts'
import { badCursor, type PaginationParams, pageOf, parseCursor, parsePagination } from './parse-pagination.ts'
import { parsePopulate } from './parse-populate.ts'
import { parseLocales, parsePublication, parseStatusParam } from './parse-version.ts'
import { findExcessPopulate } from './populate-names.ts'

export interface QueryParseTerms {
  readonly model: Model
  readonly settings: RestSettings
}

/** The parts of a query that lists and single documents share. */
type Shared = Content & Versions & Pick<Query, 'kind' | 'type' | 'textSearch'>

/** Parses reference/rest.md. The first fault is reported in Strapi's order: filters, sort, fields, populate. */
export function parseSharedQuery(type: ContentType, parameters: Params, terms: QueryParseTerms): Shared {
  if (parameters.lookup !== undefined) throw new RequestFault(fault('validation', "Invalid params: 'lookup'"))
  const textSearch = parseTextSearch(type, parameters)
  const sorted = textSearch && isRelevance(parameters.sort) ? { ...parameters, sort: undefined } : parameters
  const content = parseContent(type, sorted, terms)
  const versions = parseVersions(type, parameters)
  const { filter, sort, selection } = content
  const { status, publication, search } = versions
  const query = { kind: 'query', type, status, selection, filter, search, publication, sort } as const
  return textSearch ? { ...query, textSearch } : query
}

type Content = Pick<Query, 'filter' | 'sort' | 'selection'>

function parseContent(type: ContentType, parameters: Params, { model }: QueryParseTerms): Content {
  const filter = parameters.filters === undefined ? null : parseFilter(parameters.filters, type)
  const sort = parseSort(parameters.sort, type)
  const fields = parseFields(parameters.fields, type)
  const populate = parsePopulate(parameters.populate, type, model.components)
  const excess = findExcessPopulate(populate)
  if (excess) throw new RequestFault(excess)
  const named = joinsTables(filter) ? withSortedFields(fields, sort) : fields
  const content = {
    filter,
    sort,
    selection: { ...named, populate },
  }
  const tooMany = findTooManyJoins(content)
  if (tooMany) throw new RequestFault(tooMany)
  return content
}

type Versions = Pick<Query, 'publication' | 'search'> & { readonly status: Status }

function parseVersions(type: ContentType, parameters: Params): Versions {
  const status = parseStatusParam(parameters.status)
  const publication = parsePublication(type, parameters)
  const search = parseSearch(type, parameters._q)
  return { status, publication, search }
}

/** What is read can also be the `latest` versions, in a project with `rest.responseFormat: v4`. */
function parseReadQuery(
  type: ContentType,
  parameters: Params,
  terms: QueryParseTerms,
): Omit<Shared, 'status'> & Pick<Query, 'status'> {
  const isLatest = parameters.status === LATEST && terms.settings.responseFormat === 'v4'
  if (!isLatest) return parseSharedQuery(type, parameters, terms)
  const { status: _, ...others } = parameters
  return { ...parseSharedQuery(type, others, terms), status: LATEST }
}

const LATEST = 'latest' satisfies VersionChoice

export interface ListQuery {
  readonly query: Query
  readonly pagination: PaginationParams
}

/** Parses the parameters of a list. */
export function parseListQuery(type: ContentType, parameters: Params, terms: QueryParseTerms): ListQuery {
  const shared = parseReadQuery(type, parameters, terms)
  const pagination = parsePagination(parameters, terms.settings)
  const locale = parseLocales(type, parameters, { model: terms.model, many: true })
  const { after: cursor, withCount } = pagination
  if (cursor !== undefined && shared.textSearch?.byRank)
    throw new RequestFault(badCursor('a list that is sorted by relevance has no cursors'))
  const after = cursor === undefined ? undefined : parseCursor(cursor, type, shared.sort)
  const begun = after === undefined ? {} : { after }
  const take = { kind: 'many', page: pageOf(pagination), total: withCount, ...begun } as const
  return { query: { ...shared, take, locale }, pagination }
}

/** Parses the parameters of one document; `documentId` is null for a single type. Pagination is ignored. */
export function parseOneQuery(
  type: ContentType,
  documentId: string | null,
  parameters: Params,
  terms: QueryParseTerms,
): Query {
  const shared = parseReadQuery(type, parameters, terms)
  const locale = parseLocales(type, parameters, { model: terms.model, many: false })
  return { ...shared, take: { kind: 'one', documentId }, locale }
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
export function parseSearch(type: ContentType, raw: unknown): Search | null {
  if (raw === undefined || raw === '') return null
  if (typeof raw !== 'string' || raw.includes('\0'))
    throw new RequestFault(fault('validation', 'Invalid value for _q: expected a text', { key: '_q' }))
  return { text: raw, attributes: searchedAttributes(type) }
}

const searchedAttributes = memoize((type: ContentType): readonly ScalarAttribute[] => {
  const attributes = [...type.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  return attributes.filter(attribute => SEARCHED.has(attribute.type))
})

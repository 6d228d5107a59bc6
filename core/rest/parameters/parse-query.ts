import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { ContentType, Model } from '../../model/model.ts'
import type { RestSettings } from '../../project/settings/settings.ts'
import { findTooManySteps } from '../../query/join-limit.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { parseSort } from '../../query/parse-sort.ts'
import type { Query, Status } from '../../query/query.ts'
import type { Parameters } from '../parse-query-string.ts'
import { parseCursor } from './cursor.ts'
import { parseFields } from './parse-fields.ts'
import { type Pagination, pageOf, parsePagination } from './parse-pagination.ts'
import { parsePopulate } from './parse-populate.ts'
import { parseSearch } from './parse-search.ts'
import { parseLocales, parsePublication, parseStatus } from './parse-version.ts'
import { findExcess } from './populate-bounds.ts'
import { goesFurther, withSorted } from './sorted-fields.ts'

export interface QueryTerms {
  readonly model: Model
  readonly settings: RestSettings
}

/** What of a read does not depend on how many documents it is for. */
type Shared = Content & Versions & Pick<Query, 'kind' | 'type'>

/** contract/rest.md 4 to 8 and 10; faults are told in the order of the reference: filters, sort, fields, populate. */
export function parseSharedQuery(
  type: ContentType,
  parameters: Parameters,
  terms: QueryTerms,
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
  parameters: Parameters,
  { model }: QueryTerms,
): Result<Content, Fault> {
  const filter = parameters.filters === undefined ? ok(null) : parseFilter(parameters.filters, type)
  if (!filter.ok) return filter
  const sort = parseSort(parameters.sort, type)
  if (!sort.ok) return sort
  const fields = parseFields(parameters.fields, type)
  if (!fields.ok) return fields
  const populate = parsePopulate(parameters.populate, type, model.components)
  if (!populate.ok) return populate
  const excess = findExcess(populate.value)
  if (excess) return failed(excess)
  const named = goesFurther(filter.value) ? withSorted(fields.value, sort.value) : fields.value
  const content = {
    filter: filter.value,
    sort: sort.value,
    selection: { ...named, populate: populate.value },
  }
  const tooMany = findTooManySteps(content)
  return tooMany ? failed(tooMany) : ok(content)
}

type Versions = Pick<Query, 'publication' | 'search'> & { readonly status: Status }

function parseVersions(type: ContentType, parameters: Parameters): Result<Versions, Fault> {
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

/** The query string of a list → its query. */
export function parseListQuery(
  type: ContentType,
  parameters: Parameters,
  terms: QueryTerms,
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

/** The query string of one document, or of a single type where `documentId` is null. Pagination is ignored. */
export function parseOneQuery(
  type: ContentType,
  documentId: string | null,
  parameters: Parameters,
  terms: QueryTerms,
): Result<Query, Fault> {
  const shared = parseSharedQuery(type, parameters, terms)
  if (!shared.ok) return shared
  const locale = parseLocales(type, parameters, { model: terms.model, many: false })
  if (!locale.ok) return locale
  return ok({ ...shared.value, take: { kind: 'one', documentId }, locale: locale.value })
}

import { forbidden, type QueryParam, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { Query, RestrictedQuery } from '../../query/query.ts'
import { type Action, actionsOf } from '../actions.ts'
import { brand } from '../brand.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { conjunction } from '../compile/condition.ts'
import {
  mapOrDrop,
  type ReadScope,
  type Restriction,
  type RowVisibility,
  rowVisibility,
} from './read-scope.ts'
import { restrictFilter, restrictSort } from './restrict-filter.ts'
import { restrictSelection } from './restrict-selection.ts'

/**
 * The only gate between a request and its data: narrows a query to what its caller may read. Refuses (403) actions that
 * are not granted and drafts that the caller may not read; without draft access, `latest` means the published version.
 * Refuses (400) unreadable attributes that the request names, and drops those that it does not name.
 * `action`: `find` for lists and single types, `findOne` for one document by default; the write's for its answer.
 */
export function restrict(asked: Query, caller: Caller, action: Action = readAction(asked)): RestrictedQuery {
  const view = caller.grants.readAccess(asked.type, action)
  if (!view) throw new RequestFault(forbidden())
  const query = resolveLatest(asked, view)
  if (!draftsAllowed(query, view)) throw new RequestFault(forbidden())
  const restriction: Restriction = { caller, refused: [] }
  const narrowed = narrow(query, view, restriction)
  const [first] = restriction.refused
  if (first) throw new RequestFault(first)
  return brand(narrowed)
}

const readAction = ({ take, type }: Query): Action =>
  take.kind === 'one' && hasFindOne(type) ? 'findOne' : 'find'

/** Single types and locales have `find` only. */
const hasFindOne = (type: ContentType): boolean =>
  type.builtIn ? actionsOf(type).includes('findOne') : type.kind === 'collection'

/** Without draft access, `latest` means the published version. */
const resolveLatest = (query: Query, { drafts }: ReadAccess): Query =>
  query.status === 'latest' && (drafts === null || !query.type.draftAndPublish)
    ? { ...query, status: 'published' }
    : query

const draftsAllowed = (query: Query, view: ReadAccess): boolean =>
  !asksForDrafts(query) || view.drafts !== null

/** A publication filter reveals whether drafts exist even if it returns published versions. */
const asksForDrafts = ({ type, status, publication }: Query): boolean =>
  type.draftAndPublish && (status === 'draft' || publication !== null)

/** The order decides which fault is reported: filters, sort, fields, populate. */
function narrow(query: Query, view: ReadAccess, restriction: Restriction): Query {
  const at = (param: QueryParam): ReadScope => ({
    readable: view.readable,
    status: query.status,
    path: '',
    param,
  })
  const { where, sights } = queryVisibility(query, view, restriction)
  const asked = query.filter && restrictFilter(query.filter, at('filters'), restriction)
  const filter = conjunction(where, asked)
  const sort = mapOrDrop(query.sort, part => restrictSort(part, at('sort'), restriction))
  const selection = restrictSelection(query.selection, at('fields'), restriction)
  const search = narrowSearch(query.search, view)
  const same =
    filter === query.filter && sort === query.sort && selection === query.selection && search === query.search
  return same && !sights
    ? query
    : { ...query, filter, sort, selection, search, ...(sights && { visibleVersions: sights }) }
}

/** Hidden versions must not leak, not even through publication filters (reference/safety.md#s11-drafts). */
function queryVisibility(
  { type, status, publication }: Query,
  view: ReadAccess,
  restriction: Restriction,
): RowVisibility {
  const sight = rowVisibility(view, type, status, restriction)
  if (publication === null) return sight
  return { where: sight.where, sights: rowVisibility(view, type, 'latest', restriction).sights }
}

/** The search covers readable attributes only; without any it matches nothing. */
function narrowSearch(search: Query['search'], { readable }: ReadAccess): Query['search'] {
  if (!search) return null
  const attributes = mapOrDrop(search.attributes, attribute => (readable.has(attribute) ? attribute : null))
  return attributes === search.attributes ? search : { ...search, attributes }
}

import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, forbidden, type QueryParam } from '../../faults/fault.ts'
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
 * The one gate between a request and its data: a query narrowed to what its caller may see. Refuses (403) an
 * action that is not granted and drafts that are not for the caller (who gets the published version where he asks
 * for the latest), and (400) whatever the request names that
 * he may not read; leaves out what it did not name. `action` is the one that the request is: by default `find`
 * for lists and single types, `findOne` for one document; a write's, for the read of its answer.
 */
export function restrict(
  asked: Query,
  caller: Caller,
  action: Action = readAction(asked),
): Result<RestrictedQuery, Fault> {
  const view = caller.grants.readAccess(asked.type, action)
  if (!view) return failed(forbidden())
  const query = resolveLatest(asked, view)
  if (!draftsAllowed(query, view)) return failed(forbidden())
  const walk: Restriction = { caller, refused: [] }
  const narrowed = narrow(query, view, walk)
  const [first] = walk.refused
  return first ? failed(first) : ok(brand(narrowed))
}

const readAction = ({ take, type }: Query): Action =>
  take.kind === 'one' && hasFindOne(type) ? 'findOne' : 'find'

/** Single types are found, and locales, too. */
const hasFindOne = (type: ContentType): boolean =>
  type.builtIn ? actionsOf(type).includes('findOne') : type.kind === 'collection'

/** Whoever sees no drafts knows of none: the latest that there is for him is what is published. */
const resolveLatest = (query: Query, { drafts }: ReadAccess): Query =>
  query.status === 'latest' && (drafts === null || !query.type.draftAndPublish)
    ? { ...query, status: 'published' }
    : query

const draftsAllowed = (query: Query, view: ReadAccess): boolean =>
  !asksForDrafts(query) || view.drafts !== null

/** A publication filter tells of drafts even where it answers published versions. */
const asksForDrafts = ({ type, status, publication }: Query): boolean =>
  type.draftAndPublish && (status === 'draft' || publication !== null)

/** In the order in which the first fault is told: filters, sort, fields, populate. */
function narrow(query: Query, view: ReadAccess, walk: Restriction): Query {
  const at = (param: QueryParam): ReadScope => ({
    readable: view.readable,
    status: query.status,
    path: '',
    param,
  })
  const { where, sights } = queryVisibility(query, view, walk)
  const asked = query.filter && restrictFilter(query.filter, at('filters'), walk)
  const filter = conjunction(where, asked)
  const sort = mapOrDrop(query.sort, part => restrictSort(part, at('sort'), walk))
  const selection = restrictSelection(query.selection, at('fields'), walk)
  const search = narrowSearch(query.search, view)
  const same =
    filter === query.filter && sort === query.sort && selection === query.selection && search === query.search
  return same && !sights
    ? query
    : { ...query, filter, sort, selection, search, ...(sights && { visibleVersions: sights }) }
}

/** A version out of sight is none to be told of: not that it is there, nor that it differs (safety S11). */
function queryVisibility(
  { type, status, publication }: Query,
  view: ReadAccess,
  walk: Restriction,
): RowVisibility {
  const sight = rowVisibility(view, type, status, walk)
  if (publication === null) return sight
  return { where: sight.where, sights: rowVisibility(view, type, 'latest', walk).sights }
}

/** Text is looked for in readable attributes alone; in none, it is not found. */
function narrowSearch(search: Query['search'], { readable }: ReadAccess): Query['search'] {
  if (!search) return null
  const attributes = mapOrDrop(search.attributes, attribute => (readable.has(attribute) ? attribute : null))
  return attributes === search.attributes ? search : { ...search, attributes }
}

import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, forbidden, type QueryParam } from '../faults/fault.ts'
import type { Query, RestrictedQuery, Sights } from '../query/query.ts'
import type { Action } from './actions.ts'
import { brand } from './brand.ts'
import type { Caller, View } from './caller.ts'
import { conjunction } from './condition.ts'
import { restrictFilter, restrictSort } from './restrict-filter.ts'
import { restrictSelection } from './restrict-selection.ts'
import { mapKept, rowCondition, type Standing, type Walk } from './walk.ts'

/**
 * The one gate between a request and its data: a query narrowed to what its caller may see. Refuses (403) an
 * action that is not granted and drafts that are not for the caller, and (400) whatever the request names that
 * he may not read; leaves out what it did not name. `action` is the one that the request is: by default `find`
 * for lists and single types, `findOne` for one document; a write's, for the read of its answer.
 */
export function restrict(
  query: Query,
  caller: Caller,
  action: Action = readAction(query),
): Result<RestrictedQuery, Fault> {
  const view = caller.grants.view(query.type, action)
  if (!view || !draftsAllowed(query, view)) return failed(forbidden())
  const walk: Walk = { caller, refused: [] }
  const narrowed = narrow(query, view, walk)
  const [first] = walk.refused
  return first ? failed(first) : ok(brand(narrowed))
}

const readAction = ({ take, type }: Query): Action =>
  take.kind === 'one' && type.kind === 'collection' ? 'findOne' : 'find'

const draftsAllowed = (query: Query, view: View): boolean => !asksForDrafts(query) || view.drafts !== null

/** A publication filter tells of drafts even where it answers published versions. */
const asksForDrafts = ({ type, status, publication }: Query): boolean =>
  type.draftAndPublish && (status === 'draft' || publication !== null)

/** In the order in which the first fault is told: filters, sort, fields, populate. */
function narrow(query: Query, view: View, walk: Walk): Query {
  const at = (param: QueryParam): Standing => ({
    readable: view.readable,
    status: query.status,
    path: '',
    param,
  })
  const asked = query.filter && restrictFilter(query.filter, at('filters'), walk)
  const filter = conjunction(rowCondition(view, query.type, query.status, walk), asked)
  const sort = mapKept(query.sort, part => restrictSort(part, at('sort'), walk))
  const selection = restrictSelection(query.selection, at('fields'), walk)
  const search = narrowSearch(query.search, view)
  const same =
    filter === query.filter && sort === query.sort && selection === query.selection && search === query.search
  const sights = sightsOf(query, view, walk)
  return same && !sights ? query : { ...query, filter, sort, selection, search, ...(sights && { sights }) }
}

/** A version out of sight is none to be told of: not that it is there, nor that it differs (safety S11). */
function sightsOf({ type, publication }: Query, view: View, walk: Walk): Sights | null {
  if (publication === null) return null
  const published = rowCondition(view, type, 'published', walk)
  const draft = rowCondition(view, type, 'draft', walk)
  return published || draft ? { published, draft } : null
}

/** Text is looked for in readable attributes alone; in none, it is not found. */
function narrowSearch(search: Query['search'], { readable }: View): Query['search'] {
  if (!search) return null
  const attributes = mapKept(search.attributes, attribute => (readable.has(attribute) ? attribute : null))
  return attributes === search.attributes ? search : { ...search, attributes }
}

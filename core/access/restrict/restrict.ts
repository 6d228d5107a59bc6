import { groupBy } from '../../base/plain-data.ts'
import { fault, type QueryParam, RequestFault } from '../../faults/fault.ts'
import { type MediaSource, mediaSources } from '../../model/media-sources.ts'
import type { Attribute, ContentType } from '../../model/model.ts'
import { invalidHighlight } from '../../query/parse-text-search.ts'
import type {
  ComponentPopulate,
  Filter,
  LinkPopulate,
  MorphPart,
  MorphPopulate,
  Populate,
  Query,
  RelatedFilter,
  RestrictedQuery,
  Selection,
  ShapePart,
  Sort,
  SortStep,
  TextSearch,
  ZonePopulate,
} from '../../query/query.ts'
import { type Action, actionsOf } from '../actions.ts'
import { brand } from '../brand.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { conjunction } from '../compile/condition.ts'
import { readablePaths } from '../compile/search-sets.ts'
import { deniedType } from '../denial.ts'
import { readableAttributes } from '../readable-attributes.ts'
import {
  enter,
  enterComponent,
  enterDocuments,
  enterLink,
  mapOrDrop,
  type ReadScope,
  type Restriction,
  type RowVisibility,
  refuseAttribute,
  refuseUnknown,
  requireReadable,
  rowVisibility,
} from './read-scope.ts'

/**
 * The only gate between a request and its data: narrows a query to what its caller may read. Refuses (403) actions that
 * are not granted and drafts that the caller may not read; without draft access, `latest` means the published version.
 * Refuses (400) unreadable attributes that the request names, and drops those that it does not name.
 * `action`: `find` for lists and single types, `findOne` for one document by default; the write's for its answer.
 */
export function restrict(
  requested: Query,
  caller: Caller,
  action: Action = readAction(requested),
): RestrictedQuery {
  const access = caller.grants.readAccess(requested.type, action)
  if (!access) throw deniedType(caller, requested.type, action)
  const query = resolveLatest(requested, access)
  if (!draftsAllowed(query, access)) throw deniedType(caller, query.type, 'readDrafts')
  const restriction: Restriction = { caller, refused: [] }
  const narrowed = narrow(query, access, restriction)
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

const draftsAllowed = (query: Query, access: ReadAccess): boolean =>
  !asksForDrafts(query) || access.drafts !== null

/** A publication filter reveals whether drafts exist even if it returns published versions. */
const asksForDrafts = ({ type, status, publication }: Query): boolean =>
  type.draftAndPublish && (status === 'draft' || publication !== null)

/** The order decides which fault is reported: filters, sort, fields, populate. */
function narrow(query: Query, access: ReadAccess, restriction: Restriction): Query {
  const at = (param: QueryParam): ReadScope => ({
    readable: access.readable,
    status: query.status,
    path: '',
    param,
  })
  const { where, versions } = queryVisibility(query, access, restriction)
  const requested = query.filter && restrictFilter(query.filter, at('filters'), restriction)
  const filter = conjunction(where, requested)
  const sort = mapOrDrop(query.sort, part => restrictSort(part, at('sort'), restriction))
  const selection = restrictSelection(query.selection, at('fields'), restriction)
  const search = narrowSearch(query.search, access)
  const textSearch = query.textSearch && narrowTextSearch(query.textSearch, query.type, access, restriction)
  const same =
    filter === query.filter &&
    sort === query.sort &&
    selection === query.selection &&
    search === query.search &&
    textSearch === query.textSearch
  return same && !versions
    ? query
    : {
        ...query,
        filter,
        sort,
        selection,
        search,
        ...(textSearch && { textSearch }),
        ...(versions && { visibleVersions: versions }),
      }
}

/** Hidden versions must not leak, not even through publication filters (reference/safety.md#s11-drafts). */
function queryVisibility(
  { type, status, publication }: Query,
  access: ReadAccess,
  restriction: Restriction,
): RowVisibility {
  const visible = rowVisibility(access, type, status, restriction)
  if (publication === null) return visible
  return { where: visible.where, versions: rowVisibility(access, type, 'latest', restriction).versions }
}

/** The search covers readable attributes only; without any it matches nothing. */
function narrowSearch(search: Query['search'], { readable }: ReadAccess): Query['search'] {
  if (!search) return null
  const attributes = mapOrDrop(search.attributes, attribute => (readable.has(attribute) ? attribute : null))
  return attributes === search.attributes ? search : { ...search, attributes }
}

/** Searches in the readable paths only, each set of which has its own vector. */
function narrowTextSearch(
  search: TextSearch,
  type: ContentType,
  { readable }: ReadAccess,
  { refused }: Restriction,
): TextSearch {
  const allowed = readablePaths(type, readable)
  const paths = mapOrDrop(search.paths, path => (allowed.includes(path) ? path : null))
  if (paths.length === 0)
    refused.push(
      fault('validation', 'Invalid parameter search: none of its attributes is readable', { key: 'search' }),
    )
  for (const { name } of search.highlight) if (!allowed.includes(name)) refused.push(invalidHighlight(name))
  return paths === search.paths ? search : { ...search, paths }
}

/**
 * `at.param` is the parameter of the fields; for populates it is always `populate`. Fields that the request names must
 * be readable. Unreadable fields of the default selection are dropped.
 */
function restrictSelection(selection: Selection, at: ReadScope, restriction: Restriction): Selection {
  const fields = selection.named
    ? mapOrDrop(selection.fields, field =>
        selection.internalFields?.has(field) || requireReadable(field, at, restriction) ? field : null,
      )
    : mapOrDrop(selection.fields, field => (at.readable.has(field) ? field : null))
  const inside: ReadScope = at.param === 'populate' ? at : { ...at, param: 'populate' }
  const populate = mapOrDrop(selection.populate, part => restrictPopulate(part, inside, restriction))
  if (fields === selection.fields && populate === selection.populate) return selection
  return { ...selection, fields, populate }
}

/** null: left out of the answer. */
function restrictPopulate(populate: Populate, at: ReadScope, restriction: Restriction): Populate | null {
  if (!at.readable.has(populate.attribute)) {
    if (populate.origin !== 'all') refuseAttribute(populate.attribute, at, restriction)
    return null
  }
  switch (populate.kind) {
    case 'link':
      return restrictLink(populate, at, restriction)
    case 'component':
      return restrictRows(populate, inside(populate, enterComponent(populate.attribute, at).to), restriction)
    case 'zone':
      return restrictZone(populate, at, restriction)
    case 'morph':
      return restrictMorph(populate, at, restriction)
    default:
      return refuseUnknown(populate, restriction)
  }
}

/** Without `find` on the target the populate is dropped silently (reference/rest.md#8-populate). */
function restrictLink(populate: LinkPopulate, at: ReadScope, restriction: Restriction): LinkPopulate | null {
  const next = enterLink(
    populate.attribute,
    at,
    throughOpenedRelation(populate, restriction),
    populate.status,
  )
  if (!next) return null
  const kept = restrictRows(populate, inside(populate, next.to), restriction)
  return kept === null || kept.scope === next.scope ? kept : { ...kept, scope: next.scope }
}

function restrictRows<Rows extends LinkPopulate | ComponentPopulate>(
  populate: Rows,
  at: ReadScope,
  restriction: Restriction,
): Rows | null {
  const own = { ...at, path: '' }
  const filter = populate.filter && restrictFilter(populate.filter, own, restriction)
  const sort = mapOrDrop(populate.sort, part => restrictSort(part, own, restriction))
  const selection = restrictSelection(populate.selection, at, restriction)
  if (populate.origin === 'passed' && selection.populate.length === 0) return null
  const same = filter === populate.filter && sort === populate.sort && selection === populate.selection
  return same ? populate : { ...populate, filter, sort, selection }
}

/** The zone is kept even if nothing inside is readable: its entries are part of the document. */
function restrictZone(populate: ZonePopulate, at: ReadScope, restriction: Restriction): ZonePopulate {
  const path = `${at.path}${populate.attribute.name}.`
  const parts = mapOrDrop(populate.parts, part => {
    const there = inside(populate, { ...at, path, readable: readableAttributes(part.holder) })
    return restrictPart(part, there, restriction)
  })
  return parts === populate.parts ? populate : { ...populate, parts }
}

/** Keeps the documents that use a file if `find` allows them and the caller may read the attribute. */
const restrictMorph = (populate: MorphPopulate, at: ReadScope, restriction: Restriction): MorphPopulate => ({
  ...populate,
  parts: populate.parts.flatMap(part => {
    const sources = mediaSources(populate.attribute, part.holder)
    return [...groupBy(sources, ({ root }) => root)].flatMap(([root, from]) =>
      restrictMorphPart({ part, populate, root, sources: from }, at, restriction),
    )
  }),
})

interface MorphBranch {
  readonly populate: MorphPopulate
  readonly part: MorphPart
  readonly root: ContentType
  /** The media attributes that start at the root. */
  readonly sources: readonly MediaSource[]
}

/** A component can be read by a caller who may read its document. */
function restrictMorphPart(
  { part, populate, root, sources }: MorphBranch,
  at: ReadScope,
  restriction: Restriction,
): readonly MorphPart[] {
  const access = restriction.caller.grants.readAccess(root, 'find')
  const kept = access ? sources.filter(source => isReadableSource(source, access.readable)) : []
  if (!access || kept.length === 0) return []
  const { name } = populate.attribute
  const { to, scope } = enterDocuments({ target: root, name, access, requested: at.status }, at, restriction)
  const readable = part.holder === root ? to.readable : readableAttributes(part.holder)
  const allowed = restrictPart(part, inside(populate, { ...to, readable }), restriction)
  return kept.map(source => ({ ...allowed, source, scope }))
}

const isReadableSource = ({ steps, media }: MediaSource, readable: ReadonlySet<Attribute>): boolean => {
  const [first, ...others] = [...steps.map(({ attribute }) => attribute), media]
  return (
    first !== undefined &&
    readable.has(first) &&
    steps.every(({ component }, index) => {
      const next = others[index]
      return next !== undefined && readableAttributes(component).has(next)
    })
  )
}

function restrictPart<Kind extends ShapePart>(part: Kind, at: ReadScope, restriction: Restriction): Kind {
  const filter = part.filter && restrictFilter(part.filter, { ...at, path: '' }, restriction)
  const selection = restrictSelection(part.selection, at, restriction)
  if (selection === part.selection && filter === part.filter) return part
  return { ...part, selection, ...(filter && { filter }) }
}

/** Faults report paths from the innermost populate on; a dotted populate (`a.b`) keeps its full path (reference/rest.md#2-errors). */
const inside = ({ origin: requested }: Populate, to: ReadScope): ReadScope =>
  requested === 'passed' ? to : { ...to, path: '' }

/**
 * The restriction for one link: if the project opened the link to the caller, its target is readable. Drafts of the
 * target stay hidden from a caller who may not read them.
 */
function throughOpenedRelation(
  { bypassFind: opened, attribute: { target } }: LinkPopulate,
  restriction: Restriction,
): Restriction {
  if (!opened) return restriction
  const { caller } = restriction
  const own = caller.grants.readAccess(target, 'find')
  const access: ReadAccess =
    opened === 'kept' && own
      ? own
      : { readable: readableAttributes(target), where: null, drafts: own?.drafts ?? null }
  return { ...restriction, caller: { ...caller, grants: { ...caller.grants, readAccess: () => access } } }
}

/** Every attribute in a filter must be readable, whatever its path. A filter is never dropped: that would return more rows. */
function restrictFilter(filter: Filter, at: ReadScope, restriction: Restriction): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = mapOrDrop(filter.filters, part => restrictFilter(part, at, restriction))
      return filters === filter.filters ? filter : { ...filter, filters }
    }
    case 'not': {
      const inner = restrictFilter(filter.filter, at, restriction)
      return inner === filter.filter ? filter : { ...filter, filter: inner }
    }
    case 'comparison':
      requireReadable(filter.attribute, at, restriction)
      return filter
    case 'related':
      return restrictRelated(filter, at, restriction)
    default:
      return refuseUnknown(filter, restriction)
  }
}

function restrictRelated(related: RelatedFilter, at: ReadScope, restriction: Restriction): RelatedFilter {
  if (!requireReadable(related.attribute, at, restriction)) return related
  const next = enter(related.attribute, at, restriction)
  if (!next) {
    refuseAttribute(related.attribute, at, restriction)
    return related
  }
  const filter = restrictFilter(related.filter, next.to, restriction)
  const { scope } = next
  return filter === related.filter && scope === related.scope ? related : { ...related, filter, scope }
}

function restrictSort(sort: Sort, start: ReadScope, restriction: Restriction): Sort {
  let at = start
  const path: SortStep[] = []
  for (const { attribute } of sort.path) {
    if (!requireReadable(attribute, at, restriction)) return sort
    const next = enter(attribute, at, restriction)
    if (!next) {
      refuseAttribute(attribute, at, restriction)
      return sort
    }
    path.push({ attribute, scope: next.scope })
    at = next.to
  }
  requireReadable(sort.attribute, at, restriction)
  return path.every((taken, index) => taken.scope === sort.path[index]?.scope) ? sort : { ...sort, path }
}

import { type Fault, forbidden, invalidKey, type QueryParam } from '../../faults/fault.ts'
import type { Attribute, ComponentAttribute, ContentType, LinkAttribute } from '../../model/model.ts'
import type { Filter, LinkScope, Status, VersionChoice, VisibleVersions } from '../../query/query.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { conjunction, filterFor } from '../compile/condition.ts'
import { readableAttributes } from '../readable-attributes.ts'

/** One pass through a query for one caller. Refusals are collected; the first is reported. */
export interface Restriction {
  readonly caller: Caller
  readonly refused: Fault[]
}

/** The scope at one point of a query: its readable attributes, and the versions that its links resolve to. */
export interface ReadScope {
  readonly readable: ReadonlySet<Attribute>
  readonly status: VersionChoice
  /** The dotted path from the start of the query's part to here, with a trailing dot; empty at the start. */
  readonly path: string
  readonly param: QueryParam
}

export interface EnteredScope {
  readonly to: ReadScope
  readonly scope: LinkScope | null
}

/** True if the attribute may be read here; otherwise adds a refusal. */
export function requireReadable(attribute: Attribute, at: ReadScope, restriction: Restriction): boolean {
  if (at.readable.has(attribute)) return true
  refuseAttribute(attribute, at, restriction)
  return false
}

export function refuseAttribute({ name }: Attribute, at: ReadScope, restriction: Restriction): void {
  restriction.refused.push(invalidKey(name, at.path + name, at.param))
}

/** Denies by default: a node of an unknown kind may contain anything. */
export function refuseUnknown<Node>(node: Node, restriction: Restriction): Node {
  restriction.refused.push(forbidden('The query has a part of an unknown kind'))
  return node
}

/** The scope behind a link or inside a component; null: the caller may not `find` the target. */
export const enter = (
  attribute: LinkAttribute | ComponentAttribute,
  at: ReadScope,
  restriction: Restriction,
): EnteredScope | null =>
  attribute.kind === 'component' ? enterComponent(attribute, at) : enterLink(attribute, at, restriction)

export const enterComponent = ({ name, component }: ComponentAttribute, at: ReadScope): EnteredScope => ({
  to: { ...at, readable: readableAttributes(component), path: `${at.path}${name}.` },
  scope: null,
})

/** `asked`: the version choice of the request for this link. */
export function enterLink(
  attribute: LinkAttribute,
  at: ReadScope,
  restriction: Restriction,
  requested: VersionChoice = at.status,
): EnteredScope | null {
  const access = linkReadAccess(attribute, restriction)
  const { target, name } = attribute
  return access && enterDocuments({ target, name, access, requested }, at, restriction)
}

/** The documents that a link leads to. `name`: of the link, for faults. */
export interface EnteredDocuments {
  readonly target: ContentType
  readonly name: string
  readonly access: ReadAccess
  readonly requested: VersionChoice
}

export function enterDocuments(
  { target, name, access, requested }: EnteredDocuments,
  at: ReadScope,
  restriction: Restriction,
): EnteredScope {
  const narrowed = requested !== 'published' && target.draftAndPublish && !access.drafts
  // Links of a type without drafts resolve to published versions, also in a plan.
  const status = narrowed || (requested === 'latest' && !target.draftAndPublish) ? 'published' : requested
  const to = { ...at, readable: access.readable, status, path: `${at.path}${name}.` }
  return {
    to,
    scope: scopeOf(narrowed ? 'published' : null, rowVisibility(access, target, status, restriction)),
  }
}

/** Media need only a readable attribute (reference/rest.md#8-populate). Other links need `find` on the target. */
function linkReadAccess({ kind, target }: LinkAttribute, restriction: Restriction): ReadAccess | null {
  if (kind === 'media') return { readable: readableAttributes(target), where: null, drafts: null }
  return restriction.caller.grants.readAccess(target, 'find')
}

const scopeOf = (status: Status | null, { where, versions }: RowVisibility): LinkScope | null =>
  status === null && where === null && !versions
    ? null
    : { status, where, ...(versions && { visibleVersions: versions }) }

/** The rows of a type that the caller may read: one condition for all rows, or one for each status. */
export interface RowVisibility {
  /** null: all rows. */
  readonly where: Filter | null
  /** null: all rows that meet `where`. */
  readonly versions: VisibleVersions | null
}

export function rowVisibility(
  access: ReadAccess,
  type: ContentType,
  reading: VersionChoice,
  restriction: Pick<Restriction, 'caller'>,
): RowVisibility {
  if (reading !== 'latest') return { where: rowCondition(access, type, reading, restriction), versions: null }
  const published = rowCondition(access, type, 'published', restriction)
  const draft = rowCondition(access, type, 'draft', restriction)
  return { where: null, versions: published || draft ? { published, draft } : null }
}

/** The condition on rows of one status that the caller may read; null: all of them. */
export function rowCondition(
  access: ReadAccess,
  type: ContentType,
  status: Status,
  { caller: { user } }: Pick<Restriction, 'caller'>,
): Filter | null {
  const draft = status === 'draft' && type.draftAndPublish ? access.drafts?.where : null
  return conjunction(access.where && filterFor(access.where, user), draft ? filterFor(draft, user) : null)
}

/** Maps the items and drops those that become null. Returns the same array if nothing changes, so callers can compare by identity. */
export function mapOrDrop<Item>(
  items: readonly Item[],
  change: (item: Item) => Item | null,
): readonly Item[] {
  const changed = items.map(change)
  if (changed.every((item, index) => item === items[index])) return items
  return changed.filter(item => item !== null)
}

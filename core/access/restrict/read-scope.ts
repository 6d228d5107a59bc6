import { type Fault, forbidden, invalidKey, type QueryParam } from '../../faults/fault.ts'
import type { Attribute, ComponentAttribute, ContentType, LinkAttribute } from '../../model/model.ts'
import type { Filter, LinkScope, Status, VersionChoice, VisibleVersions } from '../../query/query.ts'
import type { Caller, ReadAccess } from '../caller.ts'
import { conjunction, filterFor } from '../compile/condition.ts'
import { readableAttributes } from './visible.ts'

/** One passage through a query for one caller. What is refused is collected; the first of it is told. */
export interface Restriction {
  readonly caller: Caller
  readonly refused: Fault[]
}

/** Where the walk stands: which attributes may be read there, and in which versions its links resolve. */
export interface ReadScope {
  readonly readable: ReadonlySet<Attribute>
  readonly status: VersionChoice
  /** What lies between the start of the query's part and here, with a dot behind it; else empty. */
  readonly path: string
  readonly param: QueryParam
}

export interface EnteredScope {
  readonly to: ReadScope
  readonly scope: LinkScope | null
}

/** Whether the attribute may be read here; refuses the query where not. */
export function requireReadable(attribute: Attribute, at: ReadScope, walk: Restriction): boolean {
  if (at.readable.has(attribute)) return true
  refuseAttribute(attribute, at, walk)
  return false
}

export function refuseAttribute({ name }: Attribute, at: ReadScope, walk: Restriction): void {
  walk.refused.push(invalidKey(name, at.path + name, at.param))
}

/** A node of a kind that this room does not know may carry anything: deny by default. */
export function refuseUnknown<Node>(node: Node, walk: Restriction): Node {
  walk.refused.push(forbidden())
  return node
}

/** Over a link or into a component; null where the caller may not `find` what lies there. */
export const enter = (
  attribute: LinkAttribute | ComponentAttribute,
  at: ReadScope,
  walk: Restriction,
): EnteredScope | null =>
  attribute.kind === 'component' ? enterComponent(attribute, at) : enterLink(attribute, at, walk)

export const enterComponent = ({ name, component }: ComponentAttribute, at: ReadScope): EnteredScope => ({
  to: { ...at, readable: readableAttributes(component), path: `${at.path}${name}.` },
  scope: null,
})

/** `asked`: the versions that the request names itself. */
export function enterLink(
  attribute: LinkAttribute,
  at: ReadScope,
  walk: Restriction,
  asked: VersionChoice = at.status,
): EnteredScope | null {
  const { target, name } = attribute
  const view = linkReadAccess(attribute, walk)
  if (!view) return null
  const narrowed = asked !== 'published' && target.draftAndPublish && !view.drafts
  // As in a plan: what is neither draft nor published leads on to what is published.
  const status = narrowed || (asked === 'latest' && !target.draftAndPublish) ? 'published' : asked
  const to = { ...at, readable: view.readable, status, path: `${at.path}${name}.` }
  return { to, scope: scopeOf(narrowed ? 'published' : null, rowVisibility(view, target, status, walk)) }
}

/** Media are shown to whoever may read the attribute (contract/rest.md 8); all else needs `find` on the target. */
function linkReadAccess({ kind, target }: LinkAttribute, walk: Restriction): ReadAccess | null {
  if (kind === 'media') return { readable: readableAttributes(target), where: null, drafts: null }
  return walk.caller.grants.readAccess(target, 'find')
}

const scopeOf = (status: Status | null, { where, sights }: RowVisibility): LinkScope | null =>
  status === null && where === null && !sights
    ? null
    : { status, where, ...(sights && { visibleVersions: sights }) }

/** Which rows of a type are in the caller's sight: what holds for all of them, or for those of each status. */
export interface RowVisibility {
  /** null: all of them. */
  readonly where: Filter | null
  /** null: each that meets `where`. */
  readonly sights: VisibleVersions | null
}

export function rowVisibility(
  view: ReadAccess,
  type: ContentType,
  reading: VersionChoice,
  walk: Pick<Restriction, 'caller'>,
): RowVisibility {
  if (reading !== 'latest') return { where: rowCondition(view, type, reading, walk), sights: null }
  const published = rowCondition(view, type, 'published', walk)
  const draft = rowCondition(view, type, 'draft', walk)
  return { where: null, sights: published || draft ? { published, draft } : null }
}

/** Which rows of one status are in the caller's sight; null: all of them. */
export function rowCondition(
  view: ReadAccess,
  type: ContentType,
  status: Status,
  { caller: { user } }: Pick<Restriction, 'caller'>,
): Filter | null {
  const draft = status === 'draft' && type.draftAndPublish ? view.drafts?.where : null
  return conjunction(view.where && filterFor(view.where, user), draft ? filterFor(draft, user) : null)
}

/** The list itself where every item stays as it is; items that become null are left out. */
export function mapOrDrop<Item>(
  items: readonly Item[],
  change: (item: Item) => Item | null,
): readonly Item[] {
  const changed = items.map(change)
  if (changed.every((item, index) => item === items[index])) return items
  return changed.filter(item => item !== null)
}

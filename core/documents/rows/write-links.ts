import type { ContentType } from '../../model/model.ts'
import type { ColumnLink, TableLink } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import type { LinkTarget } from '../desired-state.ts'
import type { LinkKey } from '../sql/write-rows.ts'

/** The owner of a link. A link stores the status or locale of its target only where the owner's version does not determine it. */
export interface LinkOwner {
  readonly root: ContentType
  readonly status: Status
}

export interface EdgeOptions {
  readonly owner: LinkOwner
  readonly target: ContentType
  readonly defaultLocale: string
}

/** A target that was found. */
export interface ResolvedTarget extends Omit<LinkTarget, 'key'> {
  readonly key: LinkKey
}

/** Statuses that entries name: the target's, where the owner has none and the target has. [null]: not named. */
const namedStatuses = (
  owner: ContentType,
  target: ContentType,
  { status }: Pick<LinkTarget, 'status'>,
): readonly (Status | null)[] => {
  if (owner.draftAndPublish || !target.draftAndPublish) return UNNAMED
  return status === null ? BOTH : [status]
}

const UNNAMED = [null] as const
const BOTH = ['published', 'draft'] as const

/** The locale that an entry names: the target's, where the owner has none and the target has. */
const namedLocale = (
  { owner, target, defaultLocale }: EdgeOptions,
  entry: Pick<LinkTarget, 'locale'>,
): string | null => (owner.root.localized || !target.localized ? null : (entry.locale ?? defaultLocale))

/** The columns that store a to-one link. */
export const targetColumnsOf = ({ key, draftKey, locale, draftLocale }: ColumnLink): readonly string[] =>
  [key, draftKey, locale, draftLocale].filter(column => column !== null)

/** True if the columns of a row hold a to-one link. */
export const holdsLink = ({ key, draftKey }: ColumnLink, columns: ReadonlyMap<string, unknown>): boolean =>
  [key, draftKey].some(column => column !== null && (columns.get(column) ?? null) !== null)

/** The columns of a to-one link; the last target counts, in each slot of its own (reference/documents.md#6-what-a-link-stores, reference/documents.md#7-tables). */
export function columnLinkValues(
  link: ColumnLink,
  targets: readonly ResolvedTarget[],
  options: EdgeOptions,
): ReadonlyMap<string, LinkKey | string | null> {
  const columns = new Map<string, LinkKey | string | null>(
    targetColumnsOf(link).map(column => [column, null]),
  )
  for (const target of targets) {
    for (const status of namedStatuses(options.owner.root, options.target, target)) {
      const slot = slotOf(link, status)
      columns.set(slot.key, target.key)
      if (slot.locale !== null) columns.set(slot.locale, namedLocale(options, target))
    }
  }
  return columns
}

/** The columns that store a link to this status of the target; null: the link has no status. */
export function slotOf(
  link: ColumnLink,
  status: Status | null,
): { readonly key: string; readonly locale: string | null } {
  if (status === 'draft' && link.draftKey !== null) return { key: link.draftKey, locale: link.draftLocale }
  return { key: link.key, locale: link.locale }
}

/** A row of a link table, but for its owner. */
export interface Edge {
  readonly key: LinkKey
  readonly status: Status | null
  readonly locale: string | null
  /** The owner's place in the list of the other side, where it was given. */
  readonly inversePlace?: number | undefined
}

/** The link rows of a list of targets, in order. Of duplicates the first counts. */
export function edgesOf(targets: readonly ResolvedTarget[], options: EdgeOptions): readonly Edge[] {
  const edges: Edge[] = []
  for (const target of targets) {
    const locale = namedLocale(options, target)
    for (const status of namedStatuses(options.owner.root, options.target, target))
      edges.push({ key: target.key, status, locale, inversePlace: target.inversePlace })
  }
  if (edges.length < 2) return edges
  const seen = new Map<LinkKey, Edge[]>()
  return edges.filter(edge => {
    const same = seen.get(edge.key)
    if (!same) seen.set(edge.key, [edge])
    else if (same.some(each => isSameEdge(each, edge))) return false
    else same.push(edge)
    return true
  })
}

const isSameEdge = (a: Edge, b: Edge): boolean =>
  a.key === b.key && a.status === b.status && a.locale === b.locale

/** The columns of a link table that identify the target. */
export function edgeColumns(link: TableLink, edge: Edge): ReadonlyMap<string, LinkKey | string | null> {
  const columns = new Map<string, LinkKey | string | null>([[link.targetKey, edge.key]])
  if (link.targetStatus !== null) columns.set(link.targetStatus, edge.status)
  if (link.targetLocale !== null) columns.set(link.targetLocale, edge.locale)
  return columns
}

import type { Holder, MediaAttribute, RelationAttribute } from '../../model/model.ts'
import type { TableLink } from '../../model/storage.ts'
import type { LinkTarget, Slot, Stored } from '../desired-state.ts'
import {
  type Columns,
  type CurrentRow,
  type NewPlace,
  type NewRow,
  numberIn,
  placeAtEnd,
  type RowId,
  type RowValue,
} from '../sql/write-rows.ts'
import { placesOf } from './list-places.ts'
import type { Owner, OwnerRow, Planning } from './planning.ts'
import { type Edge, edgeColumns, edgesOf, type ResolvedTarget } from './write-links.ts'
import { tableLinkOf } from './write-load.ts'

/** Targets that are there; a link to a document that was deleted is none. */
export const resolve = (
  attribute: RelationAttribute | MediaAttribute,
  targets: readonly LinkTarget<Slot>[],
  { keys }: Pick<Planning, 'keys'>,
): readonly ResolvedTarget[] => {
  const resolved: ResolvedTarget[] = []
  for (const target of targets) {
    if (hasKey(target)) resolved.push(target)
    else {
      const key = keys(attribute.target, target.documentId)
      if (key !== undefined) resolved.push({ ...target, key })
    }
  }
  return resolved
}

const hasKey = (target: LinkTarget<Slot>): target is LinkTarget<Slot> & { readonly key: number | Slot } =>
  target.key !== undefined

/** Plans the changes that make the rows of a link table equal to the whole list, with the same positions in every status. Returns whether anything changes. */
export function planList(
  holder: Holder,
  attribute: RelationAttribute | MediaAttribute,
  targets: readonly LinkTarget<Slot>[],
  owner: Owner,
  planning: Planning,
): boolean {
  const link = tableLinkOf(holder, attribute.name, planning.options)
  const resolved = resolve(attribute, targets, planning)
  const [first] = owner.rows
  if (first === undefined) return false
  const edges = edgesOf(resolved, {
    owner: { root: owner.root, status: first.status },
    target: attribute.target,
    defaultLocale: planning.options.defaultLocale,
  })
  const now = rowsByEdge(link, currentRows(link, owner, first, planning))
  const places = placesOf(placesNow(link, edges, now)).map(place => place ?? placeAtEnd(link.table))
  const fresh = edges.map(
    edge => edge.inversePlace ?? inversePlace(link, rowOf(link, edge, now)) ?? placeAtEnd(link.table),
  )
  planning.changes.links.add(link.table)
  const changed = owner.rows.map(row => planRow({ link, edges, places, fresh }, owner, row, planning))
  return changed.includes(true)
}

function inversePlace({ inversePosition }: TableLink, row: CurrentRow | undefined): number | undefined {
  const place = inversePosition === null ? undefined : row?.get(inversePosition)
  return typeof place === 'number' ? place : undefined
}

interface List {
  readonly link: TableLink
  readonly edges: readonly Edge[]
  readonly places: readonly (number | NewPlace)[]
  /** For the lists of the other side, where a link is new; one that another status has already keeps its place. */
  readonly fresh: readonly (number | NewPlace)[]
}

const ownerValue = (own: string, owner: Owner, row: OwnerRow): RowId | Stored =>
  own === 'status' ? row.status : own === 'document_key' ? owner.key : row.id

function currentRows(
  link: TableLink,
  owner: Owner,
  row: OwnerRow,
  { current }: Planning,
): readonly CurrentRow[] {
  const values = link.owner.map(([, own]) => ownerValue(own, owner, row))
  const stored = values.filter(value => typeof value !== 'object' || value === null)
  return stored.length < values.length ? [] : current.links(link, stored)
}

/** The rows of one owner by the key of their edge. */
type RowsByEdge = ReadonlyMap<string, CurrentRow>

const rowsByEdge = (link: TableLink, rows: readonly CurrentRow[]): RowsByEdge =>
  new Map(
    rows.map(row => [
      edgeKey(
        row.get(link.targetKey),
        link.targetStatus && row.get(link.targetStatus),
        link.targetLocale && row.get(link.targetLocale),
      ),
      row,
    ]),
  )

const edgeKey = (...of: readonly unknown[]): string => of.map(each => each ?? '').join('\n')

const rowOf = (link: TableLink, { key, status, locale }: Edge, rows: RowsByEdge): CurrentRow | undefined =>
  typeof key === 'number'
    ? rows.get(edgeKey(key, link.targetStatus && status, link.targetLocale && locale))
    : undefined

const placesNow = (link: TableLink, edges: readonly Edge[], rows: RowsByEdge) =>
  edges.map(edge => {
    const row = rowOf(link, edge, rows)
    return row && numberIn(row, link.position)
  })

function planRow(
  { link, edges, places, fresh }: List,
  owner: Owner,
  row: OwnerRow,
  planning: Planning,
): boolean {
  const { removals, updates, inserts } = planning.changes
  const before = removals.length + updates.length + inserts.length
  const rows = currentRows(link, owner, row, planning)
  const byEdge = rowsByEdge(link, rows)
  const kept = new Set<CurrentRow>()
  for (const [index, edge] of edges.entries()) {
    const place = places[index] ?? placeAtEnd(link.table)
    const found = rowOf(link, edge, byEdge)
    if (found) kept.add(found)
    const moved = found === undefined ? NOTHING_MOVED : movedIn(link, edge, place, found)
    if (found && moved.size > 0) updates.push({ table: link.table, key: idOf(found), columns: moved })
    if (!found) inserts.push(newLink({ link, edge, place, fresh: fresh[index] }, owner, row))
  }
  for (const gone of rows) if (!kept.has(gone)) removals.push({ table: link.table, key: idOf(gone) })
  return removals.length + updates.length + inserts.length > before
}

const NOTHING_MOVED: Columns = new Map()

/** The places of a link that are others than it has. */
function movedIn(
  { position, inversePosition }: TableLink,
  edge: Edge,
  place: number | NewPlace,
  row: CurrentRow,
): Columns {
  const moved = new Map<string, RowValue>()
  if (row.get(position) !== place) moved.set(position, place)
  const input = edge.inversePlace
  if (inversePosition !== null && input !== undefined && row.get(inversePosition) !== input)
    moved.set(inversePosition, input)
  return moved
}

interface NewLink {
  readonly link: TableLink
  readonly edge: Edge
  readonly place: number | NewPlace
  readonly fresh: number | NewPlace | undefined
}

/** In the other side's list it comes last. */
function newLink({ link, edge, place, fresh }: NewLink, owner: Owner, row: OwnerRow): NewRow {
  const columns = new Map<string, RowValue>(
    link.owner.map(([column, own]) => [column, ownerValue(own, owner, row)]),
  )
  for (const [column, value] of edgeColumns(link, edge)) columns.set(column, value)
  columns.set(link.position, place)
  if (link.inversePosition !== null)
    columns.set(
      link.inversePosition,
      typeof place === 'number' || typeof fresh === 'number' ? (fresh ?? placeAtEnd(link.table)) : place,
    )
  return { table: link.table, columns }
}

const idOf = (row: CurrentRow): ReadonlyMap<string, Stored> => new Map([['id', numberIn(row, 'id')]])

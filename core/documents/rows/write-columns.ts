import type { Attribute, Holder, MediaAttribute, RelationAttribute } from '../../model/model.ts'
import type { ColumnLink } from '../../model/storage.ts'
import type { Slot, Values } from '../desired-state.ts'
import {
  type Columns,
  type CurrentRow,
  changedColumns,
  type NewPlace,
  placeAtEnd,
  type RowValue,
} from '../sql/write-rows.ts'
import type { Owner, OwnerRow, Planning } from './planning.ts'
import { columnLinkValues, holdsLink, targetColumnsOf } from './write-links.ts'
import { resolve } from './write-list.ts'

/** Columns that one row gets, and the to-one links among them that need more than their own columns. */
export interface PlannedColumns {
  readonly columns: Columns
  readonly links: readonly PlannedLink[]
}

interface PlannedLink {
  readonly attribute: Attribute
  readonly link: ColumnLink
  /** The place in the list of the other side that was given. */
  readonly place: number | undefined
}

/** The owner's places in the lists of the other side, by attribute. All rows of a document share them. */
export type InversePlaces = Map<string, number | NewPlace>

/** The columns of a row for these values: scalars, and to-one links with the columns of each status. */
export function columnsOfValues(
  holder: Holder,
  values: Values<Slot>,
  at: { readonly owner: Owner; readonly row: OwnerRow },
  planning: Planning,
): PlannedColumns {
  const { storage, defaultLocale } = planning.options
  const columns = new Map<string, RowValue>()
  const links: PlannedLink[] = []
  for (const [name, value] of values) {
    const attribute = holder.attributes.get(name)
    if (value.kind === 'scalar') columns.set(storage.column(holder, name), value.value)
    if (value.kind !== 'links' || !isColumnLinked(attribute)) continue
    const link = storage.link(holder, name)
    if (link.kind === 'table') throw new TypeError(`${holder.uid}.${name} is no column`)
    const owner = { root: at.owner.root, status: at.row.status }
    const options = { owner, target: attribute.target, defaultLocale }
    for (const [column, key] of columnLinkValues(link, resolve(attribute, value.targets, planning), options))
      columns.set(column, key)
    links.push({ attribute, link, place: value.targets.at(-1)?.inversePlace })
  }
  return { columns, links }
}

const isColumnLinked = (attribute: Attribute | undefined): attribute is RelationAttribute | MediaAttribute =>
  attribute !== undefined &&
  ((attribute.kind === 'relation' && attribute.side === 'owner') || attribute.kind === 'media') &&
  !attribute.many

/**
 * The changed columns of a row. A changed link gets a new place at the end of the other side's list. A two-way
 * one-to-one takes its new target from the former owner.
 */
export function changesOf(
  planned: PlannedColumns,
  row: CurrentRow | undefined,
  table: string,
  places: InversePlaces,
): ChangedColumns {
  const { columns, links } = planned
  if (links.length > 0) return changesWithLinks(planned, row, table, places)
  return { columns: row ? changedColumns(row, columns) : columns, relinked: [] }
}

interface ChangedColumns {
  readonly columns: Columns
  readonly relinked: readonly PlannedLink[]
}

function changesWithLinks(
  { columns, links }: PlannedColumns,
  row: CurrentRow | undefined,
  table: string,
  places: InversePlaces,
): ChangedColumns {
  const changed = new Map(row ? changedColumns(row, columns) : columns)
  for (const { attribute, link } of links) {
    const place = link.inversePosition === null ? undefined : row?.get(link.inversePosition)
    if (typeof place === 'number' && !changed.has(link.key) && !places.has(attribute.name))
      places.set(attribute.name, place)
  }
  for (const { link, place } of links)
    if (
      link.inversePosition !== null &&
      place !== undefined &&
      row &&
      row.get(link.inversePosition) !== place
    )
      changed.set(link.inversePosition, place)
  const relinked = links.filter(({ link }) => targetColumnsOf(link).some(column => changed.has(column)))
  for (const { attribute, link, place } of relinked) {
    if (link.inversePosition === null) continue
    if (holdsLink(link, columns))
      changed.set(link.inversePosition, place ?? placeFor(attribute, table, places))
    else if (row) changed.set(link.inversePosition, null)
  }
  return { columns: changed, relinked }
}

function placeFor(attribute: Attribute, table: string, places: InversePlaces): number | NewPlace {
  const place = places.get(attribute.name) ?? placeAtEnd(table)
  places.set(attribute.name, place)
  return place
}

import type { Attribute, ComponentAttribute, Holder, ZoneAttribute } from '../../model/model.ts'
import { ownerName } from '../../model/storage.ts'
import type { DesiredComponent } from '../desired-state.ts'
import { type Columns, type CurrentRow, numberIn, type RowId, type RowValue } from '../sql/write-rows.ts'
import { componentKey } from './remove-component.ts'
import { changesOf, columnsOfValues } from './write-columns.ts'
import type { Owner, OwnerRow, Planning } from './write-owner.ts'

/** A component in its place. */
export interface Item {
  readonly holder: Holder
  readonly attribute: ComponentAttribute | ZoneAttribute
  readonly item: DesiredComponent
  readonly id: RowId
  readonly position: number
}

interface ItemRow extends Item {
  readonly owner: Owner
  /** The component itself, as the owner of what it holds. */
  readonly own: Owner
  readonly row: OwnerRow
  readonly found: CurrentRow | undefined
}

/** The row that a component has in one status: made, or changed where it is another. */
export function planComponentRow(planned: ItemRow, planning: Planning): void {
  const { item, position, own, row, found } = planned
  const table = planning.terms.storage.componentTable(item.component)
  const values = columnsOfValues(item.component, item.values, { owner: own, row }, planning)
  const { columns } = changesOf(values, found, table.name, new Map())
  const place: [string, RowValue][] =
    found?.get(table.position) === position ? [] : [[table.position, position]]
  const changed = new Map([...place, ...columns])
  if (found) planChange(planned, found, changed, planning)
  else
    planning.changes.inserts.push({
      table: table.name,
      columns: new Map([...identityOf(planned, planning), ...changed]),
    })
}

function identityOf(
  { holder, attribute, item, id, owner, own, row }: ItemRow,
  { terms }: Planning,
): readonly [string, RowValue][] {
  const table = terms.storage.componentTable(item.component)
  return [
    [table.id, id],
    [table.status, row.status],
    [table.owner, ownerName(holder, attribute.name)],
    [table.ownerKey, owner.key],
    [table.locale, own.locale],
  ]
}

/**
 * A value that must be unique may be another component's that takes another one in turn: without a locale, which
 * comes back with the change, both are out of the index's sight.
 */
function planChange(
  { item, row }: ItemRow,
  found: CurrentRow,
  columns: Columns,
  { terms, changes }: Planning,
): void {
  if (columns.size === 0) return
  const { name: table, locale } = terms.storage.componentTable(item.component)
  const key = componentKey(numberIn(found, 'id'), row.status)
  const held = found.get(locale) ?? null
  const claims = (attribute: Attribute) =>
    attribute.kind === 'scalar' &&
    attribute.unique &&
    columns.has(terms.storage.column(item.component, attribute.name))
  const hides =
    row.status === 'published' && held !== null && [...item.component.attributes.values()].some(claims)
  if (hides) changes.releases.push({ table, holding: key, columns: [locale] })
  changes.updates.push({ table, key, columns: hides ? new Map([...columns, [locale, held]]) : columns })
}

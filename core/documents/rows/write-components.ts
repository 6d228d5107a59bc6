import { memoize } from '../../base/memo.ts'
import { RequestFault } from '../../faults/fault.ts'
import type { Attribute, Component, ComponentAttribute, Holder, ZoneAttribute } from '../../model/model.ts'
import { ownerName } from '../../model/storage.ts'
import type { DesiredComponent, Slot, Values } from '../desired-state.ts'
import {
  type Columns,
  type CurrentRow,
  countChanges,
  GAP,
  newId,
  numberIn,
  type RowId,
  type RowValue,
} from '../sql/write-rows.ts'
import { foreignComponent } from '../values/value-fault.ts'
import type { Owner, OwnerRow, Planning } from './planning.ts'
import { componentKey, removeComponent } from './remove-versions.ts'
import { changesOf, columnsOfValues } from './write-columns.ts'
import { planList } from './write-list.ts'
import { type CurrentComponent, componentIdentity, isTableLinked } from './write-load.ts'

type Holding = ComponentAttribute | ZoneAttribute

/**
 * Plans the changes that make the components of an attribute equal to the whole list
 * (reference/rest.md#13-components-and-zones-in-bodies). A component keeps its id in all statuses. Components that are not
 * in the list are deleted, with all that is nested in them. Returns whether anything changes.
 */
function planComponents(
  holder: Holder,
  attribute: Holding,
  items: readonly DesiredComponent<Slot>[],
  owner: Owner,
  planning: Planning,
): boolean {
  const before = countChanges(planning.changes)
  const current = currentOf(holder, attribute, owner, planning)
  const ids = matched(attribute, items, current, planning)
  const rows = new Map(
    current.map(({ component, row }) => [rowKey(component, row.get('id'), row.get('status')), row]),
  )
  for (const [index, item] of items.entries()) {
    const id = ids[index] ?? newId(planning.options.storage.componentTable(item.component).name)
    planItem({ holder, attribute, item, id, position: (index + 1) * GAP }, rows, owner, planning)
  }
  const statuses = new Set<unknown>(owner.rows.map(({ status }) => status))
  const kept = new Set(items.map(({ component }, index) => componentIdentity(component, ids[index])))
  for (const each of current) {
    const isKept = kept.has(componentIdentity(each.component, each.row.get('id')))
    if (statuses.has(each.row.get('status')) && !isKept) removeComponent(each, planning)
  }
  return countChanges(planning.changes) > before
}

/** The current components in the owner's locale, in list order. */
function currentOf(
  holder: Holder,
  attribute: Holding,
  owner: Owner,
  { current }: Planning,
): readonly CurrentComponent[] {
  if (typeof owner.key !== 'number') return []
  const locale = holder.holder === 'component' ? undefined : localeOf(holder, attribute, owner)
  return current
    .components(holder, attribute.name, owner.key)
    .filter(({ row }) => locale === undefined || row.get('locale') === locale)
    .toSorted((a, b) => numberIn(a.row, 'position') - numberIn(b.row, 'position'))
}

/** null where all locales share it, and with it whatever is nested in it. */
const localeOf = (holder: Holder, attribute: Holding, { locale }: Owner): string | null =>
  holder.holder === 'component' || attribute.localized ? locale : null

/** The id that each item goes on with; undefined: a new one. */
function matched(
  attribute: Holding,
  items: readonly DesiredComponent<Slot>[],
  current: readonly CurrentComponent[],
  { options }: Planning,
): readonly (number | undefined)[] {
  if (options.componentMatch === 'by-position') {
    const places = new Map(current.map(each => [numberIn(each.row, 'position'), each]))
    return items.map((item, index) => {
      const there = places.get((index + 1) * GAP)
      return there?.component === item.component ? numberIn(there.row, 'id') : undefined
    })
  }
  const known = new Set(current.map(({ component, row }) => componentIdentity(component, row.get('id'))))
  return items.map(({ component, id }) => {
    if (id === null) return undefined
    if (known.has(componentIdentity(component, id))) return id
    throw new RequestFault(foreignComponent(attribute))
  })
}

const rowKey = (component: Component, id: unknown, status: unknown): string =>
  `${componentIdentity(component, id)} ${status}`

function planItem(
  planned: Item,
  rows: ReadonlyMap<string, CurrentRow>,
  owner: Owner,
  planning: Planning,
): void {
  const { holder, attribute, item, id } = planned
  const locale = localeOf(holder, attribute, owner)
  const own: Owner = {
    root: owner.root,
    locale,
    key: id,
    rows: owner.rows.map(({ status }) => ({ status, id })),
  }
  for (const row of own.rows) {
    const found = typeof id === 'number' ? rows.get(rowKey(item.component, id, row.status)) : undefined
    planComponentRow({ ...planned, owner, own, row, found }, planning)
  }
  planParts(item.component, item.values, own, planning)
}

/** Plans the values of a version or component that are not in its own columns. Returns the attributes that change. */
export function planParts(
  holder: Holder,
  values: Values<Slot>,
  owner: Owner,
  planning: Planning,
): readonly Attribute[] {
  return partsIn(holder).filter(attribute => {
    const value = values.get(attribute.name)
    if (value?.kind === 'components' && (attribute.kind === 'component' || attribute.kind === 'zone'))
      return planComponents(holder, attribute, value.items, owner, planning)
    if (value?.kind === 'links' && (attribute.kind === 'relation' || attribute.kind === 'media'))
      return planList(holder, attribute, value.targets, owner, planning)
    return false
  })
}

/** The attributes with rows of their own: components, and links in tables. */
const partsIn = memoize((holder: Holder): readonly Attribute[] =>
  [...holder.attributes.values()].filter(
    attribute => attribute.kind === 'component' || attribute.kind === 'zone' || isTableLinked(attribute),
  ),
)

/** A component in its place. */
interface Item {
  readonly holder: Holder
  readonly attribute: ComponentAttribute | ZoneAttribute
  readonly item: DesiredComponent<Slot>
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
function planComponentRow(planned: ItemRow, planning: Planning): void {
  const { item, position, own, row, found } = planned
  const table = planning.options.storage.componentTable(item.component)
  const values = columnsOfValues(item.component, item.values, { owner: own, row }, planning)
  const { columns } = changesOf(values, found, table.name, new Map())
  const changed = new Map<string, RowValue>(found ? [] : placeOf(planned, planning))
  if (found?.get(table.position) !== position) changed.set(table.position, position)
  for (const [column, value] of columns) changed.set(column, value)
  if (found) planChange(planned, found, changed, planning)
  else planning.changes.inserts.push({ table: table.name, columns: changed })
}

function placeOf(
  { holder, attribute, item, id, owner, own, row }: ItemRow,
  { options }: Planning,
): readonly [string, RowValue][] {
  const table = options.storage.componentTable(item.component)
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
 * comes back with the change, the unique index sees neither.
 */
function planChange(
  { item, row }: ItemRow,
  found: CurrentRow,
  columns: Columns,
  { options, changes }: Planning,
): void {
  if (columns.size === 0) return
  const { name: table, locale } = options.storage.componentTable(item.component)
  const key = componentKey(numberIn(found, 'id'), row.status)
  const held = found.get(locale) ?? null
  const claims = (attribute: Attribute) =>
    attribute.kind === 'scalar' &&
    attribute.unique &&
    columns.has(options.storage.column(item.component, attribute.name))
  const hides =
    row.status === 'published' && held !== null && [...item.component.attributes.values()].some(claims)
  if (hides) changes.releases.push({ table, holding: key, columns: [locale] })
  changes.updates.push({ table, key, columns: hides ? new Map([...columns, [locale, held]]) : columns })
}

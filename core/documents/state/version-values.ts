import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
} from '../../model/model.ts'
import type { ColumnLink, TableLink } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import type { DesiredComponent, DesiredValue, LinkTarget, Values } from '../desired-state.ts'
import { slotOf } from '../rows/write-links.ts'
import type { Current, CurrentComponent } from '../rows/write-load.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { type CurrentRow, numberIn } from '../sql/write-rows.ts'

/** A version that is read from what was loaded. */
export interface VersionPlace {
  readonly root: ContentType
  readonly status: Status
  readonly locale: string | null
  readonly current: Current
  readonly options: WriteOptions
  /** Links include their places in the lists of the other side. */
  readonly inverse?: true
}

/** The stored values of a version, or of a component in it, without inverse relations. */
export function valuesOf(
  holder: Holder,
  row: CurrentRow,
  attributes: Iterable<Attribute>,
  place: VersionPlace,
): Values {
  const values = new Map<string, DesiredValue>()
  for (const attribute of attributes) {
    const value = attributeValue(holder, row, attribute, place)
    if (value) values.set(attribute.name, value)
  }
  return values
}

function attributeValue(
  holder: Holder,
  row: CurrentRow,
  attribute: Attribute,
  place: VersionPlace,
): DesiredValue | undefined {
  if (attribute.system || attribute.kind === 'localizations' || attribute.kind === 'morph') return undefined
  if (attribute.kind === 'scalar')
    return { kind: 'scalar', value: row.get(place.options.storage.column(holder, attribute.name)) ?? null }
  if (attribute.kind === 'component' || attribute.kind === 'zone')
    return {
      kind: 'components',
      items: componentsIn(holder, row, attribute, place)
        .filter(each => each.row.get('status') === place.status)
        .map(each => itemOf(each, place)),
    }
  if (attribute.kind === 'relation' && attribute.side === 'inverse') return undefined
  const link = place.options.storage.link(holder, attribute.name)
  const targets =
    link.kind === 'column'
      ? columnTargets(link, row, attribute.target, place)
      : tableTargets(link, row, attribute.target, place)
  return { kind: 'links', targets }
}

/** The components of all statuses, in order. */
export function componentsIn(
  holder: Holder,
  row: CurrentRow,
  attribute: Attribute,
  { current, locale, options }: VersionPlace,
): readonly CurrentComponent[] {
  if (componentsOf(attribute).length === 0) return []
  const isNested = holder.holder === 'component'
  const key = numberIn(row, isNested ? 'id' : options.storage.table(holder).key)
  const own = attribute.localized ? locale : null
  return current
    .components(holder, attribute.name, key)
    .filter(each => isNested || each.row.get('locale') === own)
    .toSorted((a, b) => numberIn(a.row, 'position') - numberIn(b.row, 'position'))
}

export const itemOf = ({ component, row }: CurrentComponent, place: VersionPlace): DesiredComponent => ({
  component,
  id: numberIn(row, 'id'),
  values: componentValues(component, row, place),
})

/** Values of a component, for the status of its row. */
function componentValues(component: Component, row: CurrentRow, place: VersionPlace): Values {
  const status: Status = row.get('status') === 'draft' ? 'draft' : 'published'
  return valuesOf(component, row, component.attributes.values(), { ...place, status })
}

/** True if the link stores which version of the target it means. */
const namesStatus = (root: ContentType, target: ContentType): boolean =>
  !root.draftAndPublish && target.draftAndPublish
const namesLocale = (root: ContentType, target: ContentType): boolean => !root.localized && target.localized

function columnTargets(
  link: ColumnLink,
  row: CurrentRow,
  target: ContentType,
  { root, inverse }: VersionPlace,
): readonly LinkTarget[] {
  const place = inverse ? placeIn(row, link.inversePosition) : {}
  const statuses: readonly (Status | null)[] = namesStatus(root, target) ? ['published', 'draft'] : [null]
  return statuses.flatMap(status => {
    const slot = slotOf(link, status)
    const key = row.get(slot.key)
    if (typeof key !== 'number') return []
    const locale = namesLocale(root, target) && slot.locale !== null ? textIn(row, slot.locale) : null
    return [{ documentId: '', key, locale, status, ...place }]
  })
}

function tableTargets(
  link: TableLink,
  row: CurrentRow,
  target: ContentType,
  { root, current, inverse }: VersionPlace,
): readonly LinkTarget[] {
  const owner = link.owner.map(([, own]) => row.get(own) ?? null)
  return current
    .links(link, owner)
    .toSorted(
      (a, b) =>
        numberIn(a, link.position) - numberIn(b, link.position) || numberIn(a, 'id') - numberIn(b, 'id'),
    )
    .map(each => ({
      documentId: '',
      key: numberIn(each, link.targetKey),
      locale:
        namesLocale(root, target) && link.targetLocale !== null ? textIn(each, link.targetLocale) : null,
      status:
        namesStatus(root, target) && link.targetStatus !== null ? statusIn(each, link.targetStatus) : null,
      ...(inverse ? placeIn(each, link.inversePosition) : {}),
    }))
}

function placeIn(row: CurrentRow, column: string | null): Pick<LinkTarget, 'inversePlace'> {
  const place = column === null ? null : row.get(column)
  return typeof place === 'number' ? { inversePlace: place } : {}
}

function textIn(row: CurrentRow, column: string): string | null {
  const value = row.get(column)
  return typeof value === 'string' ? value : null
}

const statusIn = (row: CurrentRow, column: string): Status =>
  row.get(column) === 'draft' ? 'draft' : 'published'

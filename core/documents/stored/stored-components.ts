import {
  type Attribute,
  type Component,
  type ContentType,
  componentsOf,
  type Holder,
} from '../../model/model.ts'
import { ownerName, type Storage } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import type { DesiredComponent, DesiredVersion, Slot, Values } from '../desired-state.ts'
import { and, columnOf, type Parameters } from '../links/inverse-sql.ts'
import { printInserts } from '../rows/write-apply.ts'
import { planParts } from '../rows/write-components.ts'
import { NO_CURRENT_ROWS } from '../rows/write-load.ts'
import type { WritePlanOptions } from '../rows/write-options.ts'
import type { Sequences } from '../sql/known-sequences.ts'
import { SHORT_FORM_LIMIT } from '../sql/print-changes.ts'
import { newId, noChanges } from '../sql/write-rows.ts'

/** A named part of a WITH clause. */
export type NamedPart = readonly [name: string, text: string]

/** True if the items replace stored ones without reading them: all are new, and none has a value that must be unique. */
export const areNew = (items: readonly DesiredComponent[]): boolean =>
  items.every(
    ({ component, id, values }) =>
      id === null &&
      [...values].every(([name, value]) => {
        if (value.kind === 'components') return areNew(value.items)
        const attribute = component.attributes.get(name)
        return attribute?.kind !== 'scalar' || !attribute.unique
      }),
  )

/** The rows of one component that an attribute holds. */
export interface ComponentLevel {
  readonly component: Component
  readonly owner: string
  /** undefined: the document holds it. */
  readonly above: ComponentLevel | undefined
}

/** All components that an attribute may hold, outer ones first. */
export function* levelsOf(
  holder: Holder,
  attribute: Attribute,
  above?: ComponentLevel,
): Generator<ComponentLevel> {
  for (const component of componentsOf(attribute)) {
    const level = { component, owner: ownerName(holder, attribute.name), above }
    yield level
    for (const inner of component.attributes.values()) yield* levelsOf(component, inner, level)
  }
}

/** More ways over nested components than these would make a statement too large. */
const MOST_LEVELS = 24

/** True if statements can name all components that documents of the type may hold. */
export function hasFewComponents(type: ContentType): boolean {
  let count = 0
  for (const attribute of type.attributes.values())
    for (const _ of levelsOf(type, attribute)) if (++count > MOST_LEVELS) return false
  return true
}

/** Versions of a document in one locale; null: on types without locales. */
export interface OwnerVersions {
  readonly type: ContentType
  readonly locale: string | null
  readonly statuses: readonly Status[]
}

/** Removes the components of attributes that locales do not share. `from`: the part with a row of the document. */
export function printRemovedComponents(
  { type, locale, statuses }: OwnerVersions,
  attributes: readonly Attribute[],
  { from, storage }: { readonly from: string; readonly storage: Storage },
): readonly NamedPart[] {
  const levels = attributes.flatMap(each => [...levelsOf(type, each)])
  const names = new Map(levels.map((level, index) => [level, `parts${index}$`]))
  return levels.map(level => {
    const table = storage.componentTable(level.component)
    const column = (name: string) => columnOf('c', name)
    const own = level.above
      ? and(`${column(table.ownerKey)} = o.id`, `${column(table.status)} = o.status`)
      : and(
          `${column(table.ownerKey)} = ${columnOf('o', storage.table(type).key)}`,
          `${column(table.status)} IN (${statuses.map(quoteText).join(', ')})`,
          `${column(table.locale)} ${locale === null ? 'IS NULL' : `= ${quoteText(locale)}`}`,
        )
    const where = and(`${column(table.owner)} = ${quoteText(level.owner)}`, own)
    const above = (level.above && names.get(level.above)) ?? from
    return [
      names.get(level) ?? '',
      `DELETE FROM ${ident(table.name)} c USING ${above} o WHERE ${where} RETURNING ${column(table.id)} AS id, ${column(table.status)} AS status`,
    ]
  })
}

interface ComponentPrinting {
  readonly type: ContentType
  readonly version: DesiredVersion<Slot>
  readonly options: WritePlanOptions & { readonly sequences: Sequences }
  readonly parameters: Parameters
}

/** Replaces the components that are given, of the document in `stored$`. undefined: they are too many for one statement. */
export function printNewComponents({
  type,
  version,
  options,
  parameters,
}: ComponentPrinting): readonly NamedPart[] | undefined {
  const { locale, statuses } = version
  const values: Values<Slot> = new Map([...version.values].filter(([, { kind }]) => kind === 'components'))
  if (values.size === 0) return []
  const { storage } = options
  const { name, key: column } = storage.table(type)
  const attributes = [...type.attributes.values()].filter(each => values.has(each.name))
  const removed = printRemovedComponents({ type, locale, statuses }, attributes, { from: 'stored$', storage })
  const changes = noChanges()
  const key = newId(name)
  const owner = { root: type, key, locale, rows: statuses.map(status => ({ status, id: key })) }
  planParts(type, values, owner, { current: NO_CURRENT_ROWS, keys: () => undefined, options, changes })
  if (changes.inserts.length > statuses.length * SHORT_FORM_LIMIT) return undefined
  if (changes.inserts.length === 0) return removed
  const { ids, parts } = printInserts(changes, key, options, parameters.values)
  return [
    ...removed,
    ['allocated$', `SELECT ARRAY[${[...ids, columnOf('s', column)].join(', ')}] AS ids FROM stored$ s`],
    ...parts.map((text, index): NamedPart => [`components${index}$`, text]),
  ]
}

import { attributeColumns } from './attribute-columns.ts'
import { type Blueprint, formerTableName } from './blueprint.ts'
import { identity, optional, required, versionLocale } from './columns.ts'
import { index, oneOf, PUBLISHED, STATUSES, unique } from './constraints.ts'
import { isStoredLink } from './layout.ts'
import type { Attribute, Component } from './model.ts'
import { present } from './present.ts'
import { ownersOf, renamedOwners } from './renamed-owners.ts'
import { shapeOf } from './shape.ts'
import type { Column, ComponentTable, Index, Table } from './storage.ts'
import { valueChecks } from './value-checks.ts'
import { fitsIndex } from './value-columns.ts'

/** One row a component of a (document, status, locale), whoever owns it. */
export function buildComponentTable(component: Component, blueprint: Blueprint): Table {
  const { layout } = blueprint
  const table = layout.componentTable(component)
  const attributes = [...component.attributes.values()]
  return {
    name: table.name,
    serves: `component \`${component.uid}\``,
    columns: [...ownerColumns(component, blueprint), ...attributeColumns(component, blueprint)],
    primaryKey: [table.id, table.status],
    indexes: [ownerIndex(table), ...attributes.flatMap(each => attributeIndexes(component, each, blueprint))],
    checks: [oneOf(table.name, table.status, STATUSES), ...valueChecks(component, table.name, layout)],
    foreignKeys: [],
    versioned: true,
    shape: shapeOf(component, blueprint.model, layout),
    ...present({ renamedFrom: formerTableName(component) }),
  }
}

function ownerColumns(component: Component, { model, layout, renamedLocales }: Blueprint): readonly Column[] {
  const table = layout.componentTable(component)
  const owner = { ...required(table.owner, 'varchar(255)'), only: ownersOf(component, model) }
  const renamed = renamedOwners(component, model)
  return [
    identity(table.id),
    required(table.status, 'varchar(255)'),
    renamed.size === 0 ? owner : { ...owner, renamedValues: renamed },
    required(table.ownerKey, 'integer'),
    versionLocale(optional(table.locale, 'varchar(255)'), model, renamedLocales),
    required(table.position, 'double precision'),
  ]
}

const ownerIndex = ({ name, owner, ownerKey, status, locale }: ComponentTable): Index =>
  index(name, [owner, ownerKey, status, locale])

/** Components that all locales share have no locale, and nulls differ: there the check before the write stands alone. */
function attributeIndexes(
  component: Component,
  attribute: Attribute,
  { layout }: Blueprint,
): readonly Index[] {
  const { name, locale } = layout.componentTable(component)
  if (attribute.kind === 'scalar') {
    return attribute.unique && fitsIndex(attribute)
      ? [unique(name, [layout.column(component, attribute.name), locale], PUBLISHED)]
      : []
  }
  if (!isStoredLink(attribute)) return []
  const link = layout.link(component, attribute.name)
  if (link.kind === 'table') return []
  return [link.key, link.draftKey].flatMap(key =>
    key === null ? [] : [index(name, [key], { column: key, notNull: true })],
  )
}

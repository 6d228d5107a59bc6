import { formerTableName, type SchemaInput } from './blueprint.ts'
import {
  identityColumn,
  oneOfCheck,
  optionalColumn,
  ownerForeignKey,
  requiredColumn,
  STATUS_VALUES,
  toIndex,
  uniqueIndex,
  versionLocaleColumn,
} from './columns.ts'
import { linkTableName } from './identifiers.ts'
import { isStoredLink, type StoredLink } from './layout.ts'
import type { Holder } from './model.ts'
import { present } from './present.ts'
import { type Column, type ForeignKey, ownerName, type Table, type TableLink } from './storage.ts'

/** A table with one row for each link, for every to-many link that the holder stores. */
export function buildLinkTables(holder: Holder, blueprint: SchemaInput): readonly Table[] {
  return [...holder.attributes.values()].flatMap(attribute => {
    if (!isStoredLink(attribute)) return []
    const link = blueprint.layout.link(holder, attribute.name)
    return link.kind === 'table' ? [linkTable(holder, attribute, link, blueprint)] : []
  })
}

function linkTable(holder: Holder, attribute: StoredLink, link: TableLink, blueprint: SchemaInput): Table {
  const owner = link.owner.map(([column]) => column)
  const target = [link.targetKey, link.targetStatus, link.targetLocale].filter(name => name !== null)
  return {
    name: link.table,
    serves: `attribute \`${ownerName(holder, attribute.name)}\``,
    columns: linkColumns(holder, link, blueprint),
    primaryKey: ['id'],
    indexes: [
      uniqueIndex(link.table, [...owner, ...target]),
      toIndex(link.table, [...target, ...inverseOrder(link)]),
    ],
    checks: [...owner, ...target]
      .filter(isStatus)
      .map(column => oneOfCheck(link.table, column, STATUS_VALUES)),
    foreignKeys: ownerKeys(holder, link, blueprint),
    versioned: true,
    ...present({ renamedFrom: formerLinkTable(holder, attribute, link, blueprint) }),
  }
}

/** The index in the order of the inverse list: a page is read without reading the whole list. */
const inverseOrder = ({ inversePosition }: TableLink): readonly string[] =>
  inversePosition === null ? [] : [inversePosition]

const isStatus = (column: string): boolean => column.endsWith('_status')

function linkColumns(
  holder: Holder,
  link: TableLink,
  { model, renamedLocales }: SchemaInput,
): readonly Column[] {
  // A component's link may store a status or locale, depending on the owner.
  const coordinate = holder.holder === 'component' ? optionalColumn : requiredColumn
  return [
    identityColumn('id'),
    ...link.owner.map(([column]) => requiredColumn(column, isStatus(column) ? 'varchar(255)' : 'integer')),
    requiredColumn(link.targetKey, 'integer'),
    ...(link.targetStatus === null ? [] : [coordinate(link.targetStatus, 'varchar(255)')]),
    ...(link.targetLocale === null
      ? []
      : [versionLocaleColumn(coordinate(link.targetLocale, 'varchar(255)'), model, renamedLocales)]),
    requiredColumn(link.position, 'double precision'),
    ...(link.inversePosition === null ? [] : [optionalColumn(link.inversePosition, 'double precision')]),
  ]
}

/** A list that all locales share belongs to the document key, not to a single row. */
function ownerKeys(holder: Holder, link: TableLink, { layout }: SchemaInput): readonly ForeignKey[] {
  const columns = link.owner.map(([own]) => own)
  if (columns.includes('owner_key')) return []
  const table = holder.holder === 'component' ? layout.componentTable(holder) : layout.table(holder)
  return [
    ownerForeignKey(link.table, columns, {
      table: table.name,
      columns: link.owner.map(([, owner]) => owner),
    }),
  ]
}

function formerLinkTable(
  holder: Holder,
  attribute: StoredLink,
  link: TableLink,
  { layout }: SchemaInput,
): string | undefined {
  const table = holder.holder === 'component' ? layout.componentTable(holder) : layout.table(holder)
  const former = linkTableName(formerTableName(holder) ?? table.name, attribute.renamedFrom ?? attribute.name)
  return former === link.table ? undefined : former
}

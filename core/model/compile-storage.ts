import { deepFreeze, present } from '../base/plain-data.ts'
import {
  attributeColumns,
  identityColumn,
  oneOfCheck,
  optionalColumn,
  ownerForeignKey,
  requiredColumn,
  STATUS_VALUES,
  toIndex,
  uniqueIndex,
  valueChecks,
  versionLocaleColumn,
} from './columns.ts'
import { buildComponentTable, toSchemaShape } from './component-table.ts'
import { linkTableName } from './identifiers.ts'
import {
  type ExpectedLists,
  formerTableName,
  isStoredLink,
  type SchemaInput,
  type StoredLink,
  toLayout,
  toSchemaInput,
} from './layout.ts'
import type { ContentType, Holder, Model } from './model.ts'

import {
  type Column,
  type ForeignKey,
  ownerName,
  type Storage,
  type Table,
  type TableLink,
} from './storage.ts'
import { systemTables } from './system-tables.ts'
import { listIndexes, typeIndexes } from './type-indexes.ts'

/**
 * Compiles the tables of a model and their names. Deterministic. Link tables follow the tables of their owners.
 * Expected lists get their own indexes.
 */
export function compileStorage(model: Model, expected: ExpectedLists | null = null): Storage {
  const layout = toLayout(model)
  const blueprint = toSchemaInput(model, layout, expected)
  const types = [...model.contentTypes.values()]
  const components = [...model.components.values()]
  return deepFreeze({
    ...layout,
    tables: [
      ...systemTables(model),
      ...types.map(type => buildTypeTable(type, blueprint)),
      ...components.map(component => buildComponentTable(component, blueprint)),
      ...[...types, ...components].flatMap(holder => buildLinkTables(holder, blueprint)),
    ],
  })
}

/** One row for each version: (document, locale, status). */
function buildTypeTable(type: ContentType, blueprint: SchemaInput): Table {
  const { layout, expected } = blueprint
  const { name } = layout.table(type)
  const indexes = typeIndexes(type, layout)
  return {
    name,
    serves: `content-type \`${type.key}\``,
    columns: [
      ...versionColumns(type, blueprint),
      ...attributeColumns(type, blueprint),
      ...stampColumns(type),
    ],
    primaryKey: ['id'],
    indexes: expected ? [...indexes, ...listIndexes({ type, layout, expected, indexes })] : indexes,
    checks: [
      ...(type.draftAndPublish ? [oneOfCheck(name, 'status', STATUS_VALUES)] : []),
      ...valueChecks(type, name, layout),
    ],
    foreignKeys: [],
    versioned: true,
    shape: toSchemaShape(type, blueprint.model, layout),
    ...present({ renamedFrom: formerTableName(type) }),
  }
}

function versionColumns(
  type: ContentType,
  { model, layout, renamedLocales }: SchemaInput,
): readonly Column[] {
  const { id, documentId, key, status, locale } = layout.table(type)
  return [
    identityColumn(id),
    requiredColumn(documentId, 'varchar(255)'),
    ...(key === id ? [] : [requiredColumn(key, 'integer')]),
    ...(status === null ? [] : [requiredColumn(status, 'varchar(255)')]),
    ...(locale === null
      ? []
      : [versionLocaleColumn(requiredColumn(locale, 'varchar(255)'), model, renamedLocales)]),
  ]
}

/** `shared_updated_at`: reference/documents.md#4-time-stamps, the last change of attributes that all locales share. */
function stampColumns({ draftAndPublish, localized }: ContentType): readonly Column[] {
  return [
    requiredColumn('created_at', 'timestamptz(3)'),
    requiredColumn('updated_at', 'timestamptz(3)'),
    optionalColumn('published_at', 'timestamptz(3)'),
    ...(draftAndPublish && localized ? [optionalColumn('shared_updated_at', 'timestamptz(3)')] : []),
  ]
}

/** A table with one row for each link, for every to-many link that the holder stores. */
function buildLinkTables(holder: Holder, blueprint: SchemaInput): readonly Table[] {
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

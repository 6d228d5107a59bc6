import { deepFreeze } from '../base/plain-data.ts'
import { attributeColumns } from './attribute-columns.ts'
import { type ExpectedLists, formerTableName, type SchemaInput, toSchemaInput } from './blueprint.ts'
import {
  identityColumn,
  oneOfCheck,
  optionalColumn,
  requiredColumn,
  STATUS_VALUES,
  valueChecks,
  versionLocaleColumn,
} from './columns.ts'
import { buildComponentTable } from './component-table.ts'
import { toLayout } from './layout.ts'
import { buildLinkTables } from './link-table.ts'
import type { ContentType, Model } from './model.ts'
import { present } from './present.ts'
import { toSchemaShape } from './shape.ts'
import type { Column, Storage, Table } from './storage.ts'
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

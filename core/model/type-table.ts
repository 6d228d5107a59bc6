import { attributeColumns } from './attribute-columns.ts'
import { type Blueprint, formerTableName } from './blueprint.ts'
import { identity, optional, required, versionLocale } from './columns.ts'
import { oneOf, STATUSES } from './constraints.ts'
import { listIndexes } from './list-indexes.ts'
import type { ContentType } from './model.ts'
import { present } from './present.ts'
import { shapeOf } from './shape.ts'
import type { Column, Table } from './storage.ts'
import { typeIndexes } from './type-indexes.ts'
import { valueChecks } from './value-checks.ts'

/** One row a version: a (document, locale, status). */
export function buildTypeTable(type: ContentType, blueprint: Blueprint): Table {
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
      ...(type.draftAndPublish ? [oneOf(name, 'status', STATUSES)] : []),
      ...valueChecks(type, name, layout),
    ],
    foreignKeys: [],
    versioned: true,
    shape: shapeOf(type, blueprint.model, layout),
    ...present({ renamedFrom: formerTableName(type) }),
  }
}

function versionColumns(type: ContentType, { model, layout, renamedLocales }: Blueprint): readonly Column[] {
  const { id, documentId, key, status, locale } = layout.table(type)
  return [
    identity(id),
    required(documentId, 'varchar(255)'),
    ...(key === id ? [] : [required(key, 'integer')]),
    ...(status === null ? [] : [required(status, 'varchar(255)')]),
    ...(locale === null ? [] : [versionLocale(required(locale, 'varchar(255)'), model, renamedLocales)]),
  ]
}

/** `shared_updated_at`: documents.md 4, the attributes that all locales share change apart from a locale's own. */
function stampColumns({ draftAndPublish, localized }: ContentType): readonly Column[] {
  return [
    required('created_at', 'timestamptz(3)'),
    required('updated_at', 'timestamptz(3)'),
    optional('published_at', 'timestamptz(3)'),
    ...(draftAndPublish && localized ? [optional('shared_updated_at', 'timestamptz(3)')] : []),
  ]
}

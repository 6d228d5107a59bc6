import type { SchemaInput } from './blueprint.ts'
import { attributeColumn, columnsOfLink, linkColumns } from './column-names.ts'
import { COLUMN_TYPES, localeColumn, optionalColumn } from './columns.ts'
import { isStoredLink, type StoredLink, versionCoordinates } from './layout.ts'
import type { Holder, ScalarAttribute } from './model.ts'
import { present } from './present.ts'
import type { Column, ColumnLink, ColumnType } from './storage.ts'

/** The columns of a holder's declared attributes, in their order. */
export function attributeColumns(holder: Holder, blueprint: SchemaInput): readonly Column[] {
  return [...holder.attributes.values()].flatMap(attribute => {
    if (attribute.system) return []
    if (attribute.kind === 'scalar') return [scalarColumn(holder, attribute, blueprint)]
    return isStoredLink(attribute) ? linkColumnsOf(holder, attribute, blueprint) : []
  })
}

/** Only types without drafts have NOT NULL columns. With drafts a check requires the value in published rows only. */
function scalarColumn(
  holder: Holder,
  attribute: ScalarAttribute,
  { layout, renamedLocales }: SchemaInput,
): Column {
  const plain = holder.holder === 'content-type' && !holder.draftAndPublish
  const name = layout.column(holder, attribute.name)
  const isLocaleCode = holder.uid === 'plugin::i18n.locale' && attribute.name === 'code'
  const column: Column = {
    name,
    type: COLUMN_TYPES[attribute.type],
    nullable: !(plain && attribute.required),
    generated: null,
    attribute,
    ...present({
      backfill: backfillOf(attribute),
      renamedFrom: formerColumn(holder, attribute, name),
      renamedValues: attribute.renamedValues,
    }),
  }
  return isLocaleCode ? localeColumn(column, renamedLocales) : column
}

/** A renamed attribute can keep its column name: `fooBar` and `foo_bar` share one. */
function formerColumn(holder: Holder, { renamedFrom }: ScalarAttribute, name: string): string | undefined {
  const former = renamedFrom === undefined ? undefined : attributeColumn(holder.holder, renamedFrom)
  return former === name ? undefined : former
}

/** Existing rows get the default of a required attribute. Never for passwords: the default would be stored in plain text. */
function backfillOf(attribute: ScalarAttribute): string | number | boolean | undefined {
  const value = attribute.backfill ?? (attribute.required ? attribute.default : undefined)
  if (value === undefined || value === null || attribute.type === 'password') return undefined
  if (COLUMN_TYPES[attribute.type] === 'jsonb') return JSON.stringify(value)
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : undefined
}

function linkColumnsOf(
  holder: Holder,
  attribute: StoredLink,
  { layout, renamedLocales }: SchemaInput,
): readonly Column[] {
  const link = layout.link(holder, attribute.name)
  if (link.kind === 'table') return []
  const former = formerNames(holder, attribute, link)
  return columnsOfLink(link).map(name => {
    const column: Column = {
      ...optionalColumn(name, typeInLink(link, name)),
      attribute,
      ...present({ renamedFrom: former.get(name) }),
    }
    return name === link.locale || name === link.draftLocale ? localeColumn(column, renamedLocales) : column
  })
}

function formerNames(
  holder: Holder,
  attribute: StoredLink,
  link: ColumnLink,
): ReadonlyMap<string, string | undefined> {
  if (attribute.renamedFrom === undefined) return new Map()
  const former = columnsOfLink(
    linkColumns(holder.holder, attribute.renamedFrom, versionCoordinates(holder, attribute)),
  )
  return new Map(
    columnsOfLink(link).map((name, index) => [name, former[index] === name ? undefined : former[index]]),
  )
}

function typeInLink(link: ColumnLink, column: string): ColumnType {
  if (column === link.key || column === link.draftKey) return 'integer'
  return column === link.inversePosition ? 'double precision' : 'varchar(255)'
}

import { present } from '../base/plain-data.ts'
import { attributeColumn, columnsOfLink, constraintName, linkColumns } from './identifiers.ts'
import {
  isStoredLink,
  type SchemaInput,
  type StorageLayout,
  type StoredLink,
  versionCoordinates,
} from './layout.ts'
import type { Holder, Model, ScalarAttribute, ValueType } from './model.ts'
import type { Check, Column, ColumnLink, ColumnType, ForeignKey, Index } from './storage.ts'

/** Constructors of columns that belong to no attribute. */
export const identityColumn = (name: string): Column => ({
  name,
  type: 'integer',
  nullable: false,
  generated: 'identity',
})

export const requiredColumn = (name: string, type: ColumnType): Column => ({
  name,
  type,
  nullable: false,
  generated: null,
})

export const optionalColumn = (name: string, type: ColumnType): Column => ({
  name,
  type,
  nullable: true,
  generated: null,
})

/** A column of locale codes. Its values follow renamed locales. */
export function localeColumn(column: Column, renamed: ReadonlyMap<string, string>): Column {
  return renamed.size === 0 ? column : { ...column, renamedValues: renamed }
}

/** The locale of a version row. Rows of a removed locale are removed. */
export const versionLocaleColumn = (
  column: Column,
  { locales }: Pick<Model, 'locales'>,
  renamed: ReadonlyMap<string, string>,
): Column => ({ ...localeColumn(column, renamed), only: locales.map(({ code }) => code) })

/** The PostgreSQL type of each value type. */
export const COLUMN_TYPES: { readonly [Type in ValueType]: ColumnType } = {
  id: 'integer',
  documentId: 'varchar(255)',
  locale: 'varchar(255)',
  string: 'varchar(255)',
  email: 'varchar(255)',
  uid: 'varchar(255)',
  password: 'varchar(255)',
  enumeration: 'varchar(255)',
  text: 'text',
  richtext: 'text',
  blocks: 'jsonb',
  json: 'jsonb',
  array: 'jsonb',
  date: 'date',
  time: 'time(3)',
  datetime: 'timestamptz(3)',
  timestamp: 'timestamptz(3)',
  integer: 'integer',
  biginteger: 'bigint',
  float: 'double precision',
  decimal: 'numeric(10,2)',
  boolean: 'boolean',
}

/** Types whose values may exceed the size of an index entry. */
const isUnbounded = (type: ValueType): boolean =>
  COLUMN_TYPES[type] === 'text' || COLUMN_TYPES[type] === 'jsonb'

/** In characters. PostgreSQL limits index entries to 2,704 bytes, and a character may take four. */
const MAX_INDEXED_LENGTH = 600

/** True if every value fits into an index. If not, only the check before a write enforces `unique`. */
export const fitsIndex = ({ type, maxLength }: Pick<ScalarAttribute, 'type' | 'maxLength'>): boolean =>
  !isUnbounded(type) ||
  (COLUMN_TYPES[type] === 'text' && maxLength !== undefined && maxLength <= MAX_INDEXED_LENGTH)

/** The indexes that unique attributes would have if their values fitted; undefined: there are none. */
export function impossibleIndexes(
  { attributes }: Holder,
  toIndex: (attribute: ScalarAttribute) => Index,
): readonly Index[] | undefined {
  const found = [...attributes.values()].flatMap(each =>
    each.kind === 'scalar' && each.unique && !fitsIndex(each) ? [toIndex(each)] : [],
  )
  return found.length === 0 ? undefined : found
}

/** CHECK constraints: enumeration values in every row, required values in published rows. */
export function valueChecks(holder: Holder, table: string, layout: StorageLayout): readonly Check[] {
  const versioned = holder.holder === 'component' || holder.draftAndPublish
  return [...holder.attributes.values()].flatMap(attribute => {
    if (attribute.kind !== 'scalar' || attribute.system) return []
    const column = layout.column(holder, attribute.name)
    return [
      ...(attribute.values ? [oneOfCheck(table, column, attribute.values)] : []),
      ...(versioned && attribute.required ? [requiredWhenPublished(table, column)] : []),
    ]
  })
}

export const toIndex = (table: string, columns: readonly string[], where: Index['where'] = null): Index => ({
  name: constraintName(table, ...columns, 'index'),
  columns,
  unique: false,
  where,
})

export const uniqueIndex = (
  table: string,
  columns: readonly string[],
  where: Index['where'] = null,
): Index => ({
  name: constraintName(table, ...columns, 'unique'),
  columns,
  unique: true,
  where,
})

export const STATUS_VALUES = ['draft', 'published'] as const

export const PUBLISHED = { column: 'status', equals: 'published' } as const

export const oneOfCheck = (table: string, column: string, values: readonly string[]): Check => ({
  name: constraintName(table, column, 'check'),
  column,
  rule: { oneOf: values },
  onlyWhen: null,
})

const requiredWhenPublished = (table: string, column: string): Check => ({
  name: constraintName(table, column, 'required'),
  column,
  rule: { notNull: true },
  onlyWhen: PUBLISHED,
})

/** A foreign key that deletes rows together with their owner. */
export const ownerForeignKey = (
  table: string,
  columns: readonly string[],
  references: ForeignKey['references'],
): ForeignKey => ({
  name: constraintName(table, ...columns, 'foreign'),
  columns,
  references,
  onDelete: 'cascade',
})

/** Removes duplicates by name: a declared index may equal a derived one. */
export function distinctByName(indexes: readonly Index[]): readonly Index[] {
  return [...new Map(indexes.toReversed().map(each => [each.name, each])).values()].toReversed()
}

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
  // As in bodies, a text of type json is JSON text.
  if (attribute.type === 'json' && typeof value === 'string') return value
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

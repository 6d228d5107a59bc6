import { groupBy } from '../../../core/base/plain-data.ts'
import type { Json } from '../../../core/project/settings/settings.ts'
import { isRecord } from '../../../core/query/parse-place.ts'
import { knownCustomField, morphColumns } from '../field-mapping.ts'
import { namesOf, type StrapiNames, snakeCase } from '../strapi-names.ts'
import { EMPTY_MAPPING, fromJson, isMapping, type LiteralMapping } from './literal-value.ts'
import type { ArchiveLines, JsonObject } from './read-archive.ts'
import { openTables, type SourceColumn, type StrapiDatabase } from './source.ts'

/** A row by column name. */
type Row = Record<string, string | null>

interface ArchiveSchema {
  readonly uid: string
  readonly singularName: string
  readonly collectionName: string
  readonly attributes: Readonly<Record<string, JsonObject>>
}

interface Tables {
  readonly names: StrapiNames
  readonly version: 4 | 5
  readonly schemas: ReadonlyMap<string, ArchiveSchema>
  readonly rows: Map<string, Row[]>
  /** Rows by a column; all rows of entities are added before the first link. */
  readonly groups: GroupRows
}

/** The tables that Strapi would store the content of an archive in. */
export function archiveTables(lines: ArchiveLines, version: 4 | 5): StrapiDatabase {
  const schemas = new Map(lines.schemas.map(schema => [String(schema.uid), toSchema(schema)]))
  const rows = new Map<string, Row[]>()
  const tables: Tables = { names: namesOf(version), version, schemas, rows, groups: openGroups(rows) }
  for (const { type, id, data } of lines.entities) {
    const schema = schemas.get(String(type))
    if (schema && isRecord(data)) addHolder(tables, schema, { ...data, id })
  }
  for (const link of lines.links) addLink(tables, link)
  for (const { type, value } of lines.configuration)
    if (type === 'webhook' && isRecord(value)) addRow(tables, 'strapi_webhooks', { name: toText(value.name) })
    else if (type === 'core-store' && isRecord(value))
      addRow(tables, 'strapi_core_store_settings', {
        key: String(value.key),
        value: JSON.stringify(value.value),
      })
  const losses = lines.skipped.map(
    path => `archive entry \`${path}\`: no file of \`strapi export\`, so it was not read`,
  )
  const counts = new Map(
    [...groupBy(lines.entities, ({ type }) => String(type))].map(([uid, own]) => [uid, own.length]),
  )
  return { ...open(tables), losses, counts }
}

const toSchema = ({ uid, info, collectionName, attributes }: JsonObject): ArchiveSchema => ({
  uid: String(uid),
  singularName: isRecord(info) ? String(info.singularName) : '',
  collectionName: String(collectionName),
  attributes: Object.fromEntries(
    Object.entries(isRecord(attributes) ? attributes : {}).flatMap(([name, declared]) =>
      isRecord(declared) ? [[name, { ...declared, type: storedType(declared) }]] : [],
    ),
  ),
})

/** Strapi writes a custom field with the type of its column; other programs may leave the name. */
const storedType = ({ type, customField }: JsonObject): unknown =>
  type === 'customField' ? (knownCustomField(String(customField)) ?? 'json') : type

function addRow({ rows }: Tables, table: string, row: Row): void {
  const others = rows.get(table)
  if (others) others.push(row)
  else rows.set(table, [row])
}

/** Columns of each table that are not attributes, by the key in the entity's data. */
const SYSTEM_COLUMNS = {
  id: 'id',
  documentId: 'document_id',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  publishedAt: 'published_at',
  locale: 'locale',
} as const

/** Adds the row of a document or a component, with the components in it. */
function addHolder(
  tables: Tables,
  { uid, collectionName, attributes }: ArchiveSchema,
  data: JsonObject,
): void {
  const { names } = tables
  const row: Row = {}
  for (const [key, column] of Object.entries(SYSTEM_COLUMNS))
    if (data[key] !== undefined) row[column] = toText(data[key])
  for (const [name, { type, component }] of Object.entries(attributes)) {
    if (type === 'relation' || type === 'media') continue
    const value = data[name]
    if (type === 'component' || type === 'dynamiczone')
      addComponents(tables, { collectionName, id: row.id ?? null, field: name, component }, value)
    else row[names.column(name)] = isJson(type) ? toJson(value) : toText(value)
  }
  if (uid !== '') addRow(tables, names.table(collectionName), row)
}

interface ComponentField {
  readonly collectionName: string
  readonly id: string | null
  readonly field: string
  /** The uid of the component; undefined for a dynamic zone, whose entries name theirs. */
  readonly component: unknown
}

function addComponents(tables: Tables, field: ComponentField, value: unknown): void {
  const items = Array.isArray(value) ? value : [value]
  const table = tables.names.components(field.collectionName)
  for (const [index, item] of items.entries()) {
    if (!isRecord(item)) continue
    const uid = String(item.__component ?? field.component)
    const schema = tables.schemas.get(uid)
    // A place whose component is not there is reported when it is read.
    if (schema) addHolder(tables, schema, item)
    addRow(tables, table, {
      id: null,
      entity_id: field.id,
      [tables.names.componentId]: toText(item.id),
      component_type: uid,
      field: field.field,
      order: String(index + 1),
    })
  }
}

/** One side of a link. */
interface LinkEnd {
  readonly schema: ArchiveSchema
  readonly field: string
  /** The id of the row. */
  readonly id: string
  /** The place in the list of this side. */
  readonly place: string | null
}

function toEnd({ schemas }: Tables, side: unknown): LinkEnd | undefined {
  if (!isRecord(side)) return undefined
  const schema = schemas.get(String(side.type))
  if (!schema) return undefined
  return { schema, field: String(side.field ?? ''), id: String(side.ref), place: toText(side.pos) }
}

function addLink(tables: Tables, { left, right, kind }: JsonObject): void {
  const [owner, target] = [toEnd(tables, left), toEnd(tables, right)]
  if (!owner || !target) return
  if (kind === 'relation.morph') addMorph(tables, owner, target)
  else if (owner.field === 'localizations') addLocalization(tables, owner, target)
  else addRelation(tables, owner, target)
}

/** A link to a document of any content-type. Those of files are the media of the other side. */
function addMorph(tables: Tables, owner: LinkEnd, target: LinkEnd): void {
  const { names } = tables
  const { schema, field } = owner
  const table = names.table(schema.collectionName)
  const attribute = schema.attributes[field]
  if (schema.uid === 'plugin::upload.file' && field === 'related') addMedia(tables, owner, target)
  else if (attribute?.relation === 'morphToOne') {
    const { id, type } = morphColumns(attributeOf(attribute))
    setCells(tables, table, owner.id, { [id]: target.id, [type]: target.schema.uid })
  } else
    addRow(tables, names.morphs(table, field), {
      id: null,
      [idColumn(schema)]: owner.id,
      [`${snakeCase(field)}_id`]: target.id,
      [`${snakeCase(field)}_type`]: target.schema.uid,
      field: target.field,
      order: target.place,
    })
}

function attributeOf(declared: JsonObject): LiteralMapping {
  // Safe: lines of an archive are JSON.
  const mapping = fromJson(declared as Json)
  return isMapping(mapping) ? mapping : EMPTY_MAPPING
}

/** The column of a join table with the ids of a content-type or component. */
const idColumn = ({ singularName, uid }: ArchiveSchema): string => `${snakeCase(singularName || uid)}_id`

function setCells({ groups }: Tables, table: string, id: string, cells: Row): void {
  const row = groups(table, 'id').get(id)?.[0]
  if (row) Object.assign(row, cells)
}

function addMedia(tables: Tables, file: LinkEnd, owner: LinkEnd): void {
  addRow(tables, tables.names.media, {
    id: null,
    file_id: file.id,
    related_id: owner.id,
    related_type: owner.schema.uid,
    field: owner.field,
    order: owner.place,
  })
}

/** Strapi 5 stores none: translations share their documentId. */
function addLocalization(tables: Tables, owner: LinkEnd, target: LinkEnd): void {
  const { names, version } = tables
  if (version === 5) return
  const table = names.localizations(names.table(owner.schema.collectionName))
  addRow(tables, table, { id: null, entry_id: owner.id, inv_entry_id: target.id })
}

function addRelation(tables: Tables, owner: LinkEnd, target: LinkEnd): void {
  const { names } = tables
  const attribute = owner.schema.attributes[owner.field]
  const table = names.table(owner.schema.collectionName)
  if (attribute?.useJoinTable === false) {
    const column = isRecord(attribute.joinColumn) ? String(attribute.joinColumn.name) : undefined
    setCells(tables, table, owner.id, { [column ?? `${snakeCase(owner.field)}_id`]: target.id })
    return
  }
  const ownerColumn = idColumn(owner.schema)
  const targetColumn = idColumn(target.schema)
  addRow(tables, names.links(table, owner.field), {
    id: null,
    [ownerColumn]: owner.id,
    [targetColumn === ownerColumn ? `inv_${targetColumn}` : targetColumn]: target.id,
    ...(/Many$/.test(String(attribute?.relation)) && { own_ord: owner.place }),
    inverse_ord: target.place,
  })
}

const isJson = (type: unknown): boolean => type === 'json' || type === 'blocks'

const toJson = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value)

/** The text that PostgreSQL would give. */
function toText(value: unknown): string | null {
  if (value === undefined || value === null) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The types of Strapi's columns in PostgreSQL, by attribute type; others are texts. */
const COLUMN_TYPES: Readonly<Record<string, string>> = {
  json: 'jsonb',
  blocks: 'jsonb',
  string: 'character varying',
  integer: 'integer',
  biginteger: 'bigint',
  float: 'double precision',
  decimal: 'numeric',
  boolean: 'boolean',
  date: 'date',
  datetime: 'timestamp without time zone',
  time: 'time without time zone',
}

/** The column types of each table's attributes. */
function columnTypes({ schemas, names }: Tables): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const columns = ({ attributes }: ArchiveSchema) =>
    Object.entries(attributes).flatMap(([name, { type }]): readonly (readonly [string, string])[] => {
      const stored = COLUMN_TYPES[String(type)]
      return stored === undefined ? [] : [[names.column(name), stored]]
    })
  return new Map(
    [...schemas.values()].map(schema => [names.table(schema.collectionName), new Map(columns(schema))]),
  )
}

/** Rows without an id get one in their order. */
function open(content: Tables): StrapiDatabase {
  const { rows, groups } = content
  const types = columnTypes(content)
  const tables = new Map<string, readonly SourceColumn[]>()
  for (const [table, own] of rows) {
    for (const [index, row] of own.entries()) row.id ??= String(index + 1)
    const names = new Set(own.flatMap(row => Object.keys(row)))
    tables.set(
      table,
      [...names].map(name => ({ name, type: types.get(table)?.get(name) ?? 'text' })),
    )
  }
  return openTables(tables, async ({ table, columns, among, orderBy = [] }) => {
    const values = [...new Set(among?.values.map(String))]
    const found = among
      ? values.flatMap(value => groups(table, among.column).get(value) ?? [])
      : (rows.get(table) ?? [])
    return sorted(found, orderBy).map(row => columns.map(({ name }) => row[name] ?? null))
  })
}

type GroupRows = (table: string, column: string) => ReadonlyMap<string | null | undefined, readonly Row[]>

/** Groups a table by a column once: a search for each link or for each batch of documents would take quadratic time. */
function openGroups(rows: ReadonlyMap<string, readonly Row[]>): GroupRows {
  const groups = new Map<string, ReturnType<GroupRows>>()
  return (table, column) => {
    const key = JSON.stringify([table, column])
    const grouped = groups.get(key) ?? groupBy(rows.get(table) ?? [], row => row[column])
    groups.set(key, grouped)
    return grouped
  }
}

const sorted = (rows: readonly Row[], orderBy: readonly string[]): readonly Row[] =>
  orderBy.length === 0 ? rows : rows.toSorted((a, b) => compareRows(a, b, orderBy))

function compareRows(a: Row, b: Row, orderBy: readonly string[]): number {
  for (const column of orderBy) {
    const order = compareCells(a[column] ?? null, b[column] ?? null)
    if (order !== 0) return order
  }
  return 0
}

/** Sorts numbers and texts like PostgreSQL, nulls last. */
function compareCells(a: string | null, b: string | null): number {
  if (a === b) return 0
  if (a === null) return 1
  if (b === null) return -1
  const difference = Number(a) - Number(b)
  return Number.isNaN(difference) ? (a < b ? -1 : 1) : difference
}

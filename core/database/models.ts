import type {
  AssociationOptions,
  ModelAttributeColumnOptions,
  ModelAttributes,
  ModelOptions,
} from 'sequelize'
import {
  type Attribute,
  type Component,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type Model as ProjectModel,
} from '../model/model.ts'
import { toPascalCase } from '../model/names.ts'
import { modelAttribute, rowModelNames, rowNames } from '../model/row-names.ts'
import {
  type Column,
  type ColumnLink,
  type ColumnType,
  ownerName,
  type Storage,
  type Table,
  type TableLink,
  writtenColumns,
} from '../model/storage.ts'
import { quoteConstant } from '../sql/ddl.ts'
import { quoteIdentifier } from '../sql/identifier.ts'
import { loadSequelize, type Model, type ModelStatic, type Sequelize } from './sequelize.ts'

export interface ModelsInput {
  readonly sequelize: Sequelize
  readonly model: ProjectModel
  readonly storage: Storage
  /** The schema of the tables. */
  readonly schema: string
  newDocumentId(): string
}

export type RowModel = ModelStatic<Model>

/** The Sequelize models of a project: by the name of each content-type and component. */
export function defineModels(input: ModelsInput): Readonly<Record<string, RowModel>> {
  const { model, storage } = input
  const holders = [...model.contentTypes.values(), ...model.components.values()]
  const names = rowModelNames(holders)
  const tables = new Map(storage.tables.map(table => [table.name, table]))
  const rows = new Map(
    holders.map(holder => [holder, defineRows(input, holder, found(tables, tableName(storage, holder)))]),
  )
  const site: Site = { ...input, tables, rows, links: new Map() }
  for (const holder of holders) associate(site, holder)
  const models = holders.map(holder => [found(names, holder), found(rows, holder).model] as const)
  return Object.freeze(Object.fromEntries(models))
}

interface Site extends ModelsInput {
  readonly tables: ReadonlyMap<string, Table>
  readonly rows: ReadonlyMap<Holder, Rows>
  /** Of link tables that an association has needed. */
  readonly links: Map<string, Rows>
}

/** A model and the names of its attributes, by column. */
interface Rows {
  readonly model: RowModel
  readonly names: ReadonlyMap<string, string>
}

const tableName = (storage: Storage, holder: Holder): string =>
  (holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)).name

function found<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): Value {
  const value = map.get(key)
  if (value === undefined) throw new TypeError(`${String(key)} is not of this model`)
  return value
}

function defineRows(input: ModelsInput, holder: Holder, table: Table): Rows {
  const names = rowNames(table, holder, input.storage)
  const modelName = found(rowModelNames([holder]), holder)
  const isKnown = input.sequelize.isDefined(modelName)
  const model = define(input, table, {
    names,
    modelName: isKnown ? holder.uid : modelName,
    timestamps: holder.holder === 'content-type',
    scopes: scopesOf(holder, names),
  })
  hideSecrets(model, holder)
  return { model, names }
}

interface Definition {
  readonly names: ReadonlyMap<string, string>
  readonly modelName: string
  readonly timestamps: boolean
  readonly scopes: NonNullable<ModelOptions['scopes']>
}

function define(input: ModelsInput, table: Table, definition: Definition): RowModel {
  const { sequelize, schema } = input
  const { names, modelName, timestamps, scopes } = definition
  const attributes: ModelAttributes = Object.fromEntries(
    writtenColumns(table.columns).map(column => [
      found(names, column.name),
      toAttribute(input, table, column),
    ]),
  )
  return sequelize.define(modelName, attributes, {
    ...{ schema, tableName: table.name, freezeTableName: true, timestamps, scopes },
    indexes: table.indexes.filter(({ where, method }) => where === null && !method).map(toIndex),
  })
}

const toIndex = ({ name, columns, unique }: Table['indexes'][number]) => ({
  name,
  unique,
  fields: [...columns],
})

function toAttribute(
  input: ModelsInput,
  { name: table, primaryKey }: Table,
  column: Column,
): ModelAttributeColumnOptions {
  const { generated, name, nullable, type } = column
  const defaultValue = defaultOf(input, table, column)
  return {
    field: name,
    type: toDataType(type),
    allowNull: nullable,
    primaryKey: primaryKey.includes(name),
    // The column `id` of a component has the same value in each version.
    autoIncrement: generated === 'identity',
    autoIncrementIdentity: generated === 'identity',
    ...(defaultValue !== undefined && { defaultValue }),
  }
}

/** Values of a new row that the database does not fill. */
function defaultOf(input: ModelsInput, table: string, { name, attribute, default: value }: Column): unknown {
  const { sequelize, schema, model, newDocumentId } = input
  if (attribute !== undefined)
    return attribute.kind === 'scalar' ? plainDefault(attribute.default) : undefined
  if (name === 'document_id') return newDocumentId
  if (name === 'status') return 'draft'
  if (name === 'locale') return model.defaultLocale
  if (name !== 'document_key') return value
  const sequence = quoteConstant(`${quoteIdentifier(schema)}.${quoteIdentifier(table)}`)
  return sequelize.literal(`nextval(pg_get_serial_sequence(${sequence}, 'id'))`)
}

const plainDefault = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? structuredClone(value) : value

function toDataType(type: ColumnType) {
  const { DataTypes } = loadSequelize()
  switch (type) {
    case 'integer':
      return DataTypes.INTEGER
    case 'bigint':
      return DataTypes.BIGINT
    case 'double precision':
      return DataTypes.DOUBLE
    case 'numeric(10,2)':
      return DataTypes.DECIMAL(10, 2)
    case 'boolean':
      return DataTypes.BOOLEAN
    case 'tsvector':
      return DataTypes.TSVECTOR
    case 'varchar(255)':
      return DataTypes.STRING(255)
    case 'text':
      return DataTypes.TEXT
    case 'jsonb':
      return DataTypes.JSONB
    case 'date':
      return DataTypes.DATEONLY
    case 'time(3)':
      return DataTypes.TIME
    case 'timestamptz(3)':
      return DataTypes.DATE(3)
  }
}

/** `draft` and `published` select rows by status, `locale(code)` by locale. On types without them they select all rows. */
function scopesOf(holder: Holder, names: ReadonlyMap<string, string>): NonNullable<ModelOptions['scopes']> {
  const statusOf = holder.holder === 'component' || holder.draftAndPublish ? names.get('status') : undefined
  const localeOf = holder.holder === 'component' || holder.localized ? names.get('locale') : undefined
  const byStatus = (status: string) => (statusOf === undefined ? {} : { where: { [statusOf]: status } })
  return {
    draft: byStatus('draft'),
    published: byStatus('published'),
    locale: (code: string) => (localeOf === undefined ? {} : { where: { [localeOf]: code } }),
  }
}

/** JSON of an instance never contains password hashes, nor do the rows that it includes. */
function hideSecrets(model: RowModel, holder: Holder): void {
  const { Model: Row } = loadSequelize()
  const secrets = [...holder.attributes.values()].filter(
    attribute => attribute.kind === 'scalar' && attribute.type === 'password',
  )
  const hidden = new Set(secrets.map(({ name }) => modelAttribute(name)))
  // Sequelize converts included rows without their own toJSON.
  const shownOf = (value: unknown): unknown => {
    if (value instanceof Row) return value.toJSON()
    return Array.isArray(value) && value[0] instanceof Row ? value.map(shownOf) : undefined
  }
  model.prototype.toJSON = function toJSON() {
    const own: Readonly<Record<string, unknown>> = this.get()
    const values = Object.entries(Row.prototype.toJSON.call(this))
    const shown = values.filter(([name]) => !hidden.has(name))
    return Object.fromEntries(shown.map(([name, value]) => [name, shownOf(own[name]) ?? value]))
  }
}

/** Associations have the names of the attributes. */
function associate(site: Site, holder: Holder): void {
  for (const attribute of holder.attributes.values()) {
    if (attribute.kind === 'component') associateComponent(site, holder, attribute, attribute.component)
    else if (attribute.kind === 'zone')
      for (const component of attribute.components) associateComponent(site, holder, attribute, component)
    else if (isLink(attribute)) associateLink(site, holder, attribute)
  }
}

/** A dynamic zone has one association for each component: `bodyBlocksText`. */
function associateComponent(site: Site, holder: Holder, attribute: Attribute, component: Component): void {
  const own = found(site.rows, holder)
  const target = found(site.rows, component)
  const isZone = attribute.kind === 'zone'
  const options = {
    as: isZone ? `${attribute.name}${toPascalCase(component.uid)}` : modelAttribute(attribute.name),
    foreignKey: nameIn(target, 'owner_key'),
    sourceKey: keyIn(site, holder),
    scope: { [nameIn(target, 'owner')]: ownerName(holder, attribute.name) },
    constraints: false,
  }
  const isMany = isZone || (attribute.kind === 'component' && attribute.repeatable)
  if (isMany) own.model.hasMany(target.model, options)
  else own.model.hasOne(target.model, options)
}

const nameIn = ({ names }: Rows, column: string): string => found(names, column)

/** The attribute that links to a holder's rows refer to. */
const keyIn = (site: Site, holder: Holder): string =>
  nameIn(found(site.rows, holder), holder.holder === 'component' ? 'id' : site.storage.table(holder).key)

function associateLink(site: Site, holder: Holder, attribute: LinkAttribute): void {
  const { name, target } = attribute
  const as = modelAttribute(name)
  if (attribute.kind === 'localizations') {
    const { model } = found(site.rows, holder)
    const key = keyIn(site, holder)
    model.hasMany(model, { as, foreignKey: key, sourceKey: key, constraints: false })
  } else if (attribute.kind === 'relation' && attribute.side === 'inverse') {
    const counterpart = attribute.counterpart?.name
    if (counterpart !== undefined) associateInverse({ site, as, holder, target }, counterpart, attribute.many)
  } else {
    const link = site.storage.link(holder, name)
    const stored = { site, as, holder, target }
    if (link.kind === 'column') associateColumn(stored, link)
    else associateTable(stored, link)
  }
}

interface StoredLink {
  readonly site: Site
  readonly as: string
  readonly holder: Holder
  readonly target: ContentType
}

/** If only the target has drafts, its draft has another key. */
function associateColumn({ site, as, holder, target }: StoredLink, link: ColumnLink): void {
  const own = found(site.rows, holder)
  own.model.belongsTo(found(site.rows, target).model, {
    as,
    foreignKey: nameIn(own, link.key),
    targetKey: keyIn(site, target),
    constraints: false,
  })
}

function associateTable({ site, as, holder, target }: StoredLink, link: TableLink): void {
  const own = found(site.rows, holder)
  const through = linkRows(site, link)
  const [[ownerColumn, ownColumn] = ['', '']] = link.owner
  own.model.belongsToMany(found(site.rows, target).model, {
    as,
    through: { model: through.model, unique: false },
    foreignKey: nameIn(through, ownerColumn),
    sourceKey: nameIn(own, ownColumn),
    otherKey: nameIn(through, link.targetKey),
    targetKey: keyIn(site, target),
    constraints: false,
  })
}

function associateInverse(
  { site, as, holder, target }: StoredLink,
  counterpart: string,
  many: boolean,
): void {
  const own = found(site.rows, holder)
  const owner = found(site.rows, target)
  const link = site.storage.link(target, counterpart)
  const sourceKey = keyIn(site, holder)
  if (link.kind === 'column') {
    const options = { as, foreignKey: nameIn(owner, link.key), sourceKey, constraints: false }
    if (many) own.model.hasMany(owner.model, options)
    else own.model.hasOne(owner.model, options)
    return
  }
  const through = linkRows(site, link)
  const [[ownerColumn, ownColumn] = ['', '']] = link.owner
  own.model.belongsToMany(owner.model, {
    as,
    through: { model: through.model, unique: false },
    foreignKey: nameIn(through, link.targetKey),
    sourceKey,
    otherKey: nameIn(through, ownerColumn),
    targetKey: nameIn(owner, ownColumn),
    constraints: false,
  } satisfies AssociationOptions & Record<string, unknown>)
}

/** The model of a link table has the name of the table. Both sides of a relation share it. */
function linkRows(site: Site, link: TableLink): Rows {
  const known = site.links.get(link.table)
  if (known) return known
  const table = found(site.tables, link.table)
  const names = rowNames(table, null, site.storage)
  const model = define(site, table, { names, modelName: table.name, timestamps: false, scopes: {} })
  site.links.set(link.table, { model, names })
  return { model, names }
}

import { memoize } from '../base/memo.ts'
import { componentTableName } from './declarations.ts'
import { attributeColumn, identifier, linkColumns, linkCoordinates, linkTableName } from './identifiers.ts'
import {
  type Attribute,
  type Component,
  type ContentType,
  type Holder,
  isLink,
  type MediaAttribute,
  type Model,
  type RelationAttribute,
} from './model.ts'
import { toPlural, toSnakeCase } from './names.ts'
import { compileSearch, type SearchSets } from './search.ts'
import type { ComponentTable, LinkStorage, Storage, TableLink, TypeTable } from './storage.ts'

/** The names of tables and columns: used by plans and by the builders of the tables. */
export type StorageLayout = Omit<Storage, 'tables'>

/** A link that this side stores. Inverse relations and localizations are read from elsewhere. */
export type StoredLink = MediaAttribute | RelationAttribute

interface Named<Table> {
  readonly table: Table
  readonly columns: ReadonlyMap<string, string>
  readonly links: ReadonlyMap<string, LinkStorage>
}

export function toLayout(model: Model, searchSets: SearchSets = new Map()): StorageLayout {
  const types = new Map([...model.contentTypes.values()].map(type => [type, nameAll(type, typeTable(type))]))
  const components = new Map(
    [...model.components.values()].map(each => [each, nameAll(each, componentTable(each))]),
  )
  const named = (holder: Holder) =>
    found(
      holder.holder === 'component' ? components.get(holder) : types.get(holder),
      holder,
      'is not of this model',
    )
  const names = {
    table: (type: ContentType) => found(types.get(type), type, 'is not of this model').table,
    componentTable: (component: Component) =>
      found(components.get(component), component, 'is not of this model').table,
    column: (holder: Holder, attribute: string) =>
      found(named(holder).columns.get(attribute), holder, `has no column for ${attribute}`),
    link: (holder: Holder, attribute: string) =>
      found(named(holder).links.get(attribute), holder, `stores no link ${attribute}`),
  }
  const search = memoize((type: ContentType) => compileSearch(type, searchSets, { model, layout: names }))
  return { ...names, search }
}

export const isStoredLink = (attribute: Attribute): attribute is StoredLink =>
  isLink(attribute) &&
  attribute.kind !== 'localizations' &&
  !(attribute.kind === 'relation' && attribute.side === 'inverse')

const typeTable = (type: ContentType): TypeTable => ({
  name: identifier(type.tableName),
  id: 'id',
  key: type.draftAndPublish || type.localized ? 'document_key' : 'id',
  documentId: 'document_id',
  status: type.draftAndPublish ? 'status' : null,
  locale: type.localized ? 'locale' : null,
})

const componentTable = (component: Component): ComponentTable => ({
  name: identifier(component.tableName),
  id: 'id',
  status: 'status',
  owner: 'owner',
  ownerKey: 'owner_key',
  locale: 'locale',
  position: 'position',
})

function nameAll<Table extends TypeTable | ComponentTable>(holder: Holder, table: Table): Named<Table> {
  const columns = new Map<string, string>()
  const links = new Map<string, LinkStorage>()
  for (const attribute of holder.attributes.values()) {
    if (attribute.kind === 'scalar') columns.set(attribute.name, columnOf(holder, attribute))
    else if (isStoredLink(attribute))
      links.set(attribute.name, Object.freeze(linkOf(holder, table, attribute)))
  }
  return { table: Object.freeze(table), columns, links }
}

const columnOf = (holder: Holder, { name, system }: Attribute): string =>
  system ? toSnakeCase(name) : attributeColumn(holder.holder, name)

const linkOf = (holder: Holder, table: TypeTable | ComponentTable, attribute: StoredLink): LinkStorage =>
  attribute.many
    ? tableLink(holder, table, attribute)
    : linkColumns(holder.holder, attribute.name, versionCoordinates(holder, attribute))

const NO_VERSIONS = { draftAndPublish: false, localized: false }

export function versionCoordinates(holder: Holder, attribute: StoredLink) {
  const owner = holder.holder === 'component' ? NO_VERSIONS : holder
  const inverseOrder = attribute.kind === 'relation' && attribute.counterpart?.many === true
  return linkCoordinates(owner, attribute.target, inverseOrder)
}

function tableLink(holder: Holder, table: TypeTable | ComponentTable, attribute: StoredLink): TableLink {
  const { status, locale, inverseOrder } = versionCoordinates(holder, attribute)
  return {
    kind: 'table',
    table: linkTableName(table.name, attribute.name),
    owner: ownerPairs(holder, attribute),
    targetKey: 'target_key',
    targetStatus: status ? 'target_status' : null,
    targetLocale: locale ? 'target_locale' : null,
    position: 'position',
    inversePosition: inverseOrder ? 'inverse_position' : null,
  }
}

function ownerPairs(holder: Holder, attribute: StoredLink): TableLink['owner'] {
  if (holder.holder === 'component')
    return [
      ['owner_id', 'id'],
      ['owner_status', 'status'],
    ]
  if (!holder.localized || attribute.localized) return [['owner_id', 'id']]
  return holder.draftAndPublish
    ? [
        ['owner_key', 'document_key'],
        ['owner_status', 'status'],
      ]
    : [['owner_key', 'document_key']]
}

function found<Value>(value: Value | undefined, holder: Holder, why: string): Value {
  if (value === undefined) throw new TypeError(`${holder.uid} ${why}`)
  return value
}

/** The input of every table. */
export interface SchemaInput {
  readonly model: Model
  readonly layout: StorageLayout
  /** Renamed locales: old code → new code. */
  readonly renamedLocales: ReadonlyMap<string, string>
  readonly expected: ExpectedLists | null
}

/**
 * Attribute lists that queries are expected to filter each type by. If given, lists sorted by timestamps are expected,
 * too; null: no derived indexes.
 */
export type ExpectedLists = ReadonlyMap<ContentType, readonly (readonly string[])[]>

export const toSchemaInput = (
  model: Model,
  layout: StorageLayout,
  expected: ExpectedLists | null,
): SchemaInput => ({
  model,
  layout,
  expected,
  renamedLocales: renamedLocales(model),
})

export const renamedLocales = ({ locales }: Model): ReadonlyMap<string, string> =>
  new Map(
    locales.flatMap(({ code, renamedFrom }): [string, string][] =>
      renamedFrom === undefined ? [] : [[renamedFrom, code]],
    ),
  )

/** The former table name of a renamed type or component, unless `tableName` fixes it. */
export function formerTableName({ holder, renamedFrom, tableName }: Holder): string | undefined {
  if (renamedFrom === undefined) return undefined
  const former = holder === 'component' ? componentTableName(renamedFrom) : toSnakeCase(toPlural(renamedFrom))
  return former === tableName ? undefined : identifier(former)
}

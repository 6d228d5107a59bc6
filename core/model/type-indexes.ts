import { distinctByName, fitsIndex, PUBLISHED, toIndex, uniqueIndex } from './columns.ts'
import { constraintName } from './identifiers.ts'
import type { ExpectedLists } from './layout.ts'
import { isStoredLink, type StorageLayout } from './layout.ts'
import type { Attribute, ContentType, RelationAttribute, ScalarAttribute, ValueType } from './model.ts'
import type { ColumnLink, Index, TypeTable } from './storage.ts'

export function typeIndexes(type: ContentType, layout: StorageLayout): readonly Index[] {
  const table = layout.table(type)
  const attributes = [...type.attributes.values()]
  return distinctByName([
    ...versionIndexes(table),
    ...attributes.flatMap(attribute => attributeIndexes(type, attribute, layout)),
    ...codeIndexes(type, layout),
    ...type.indexes.map(names => declaredIndex(type, names, layout)),
    ...type.textIndexes.map(name => textIndex(type, name, layout)),
  ])
}

/** The columns that distinguish the versions of a document. */
export const coordinates = ({ locale, status }: TypeTable): readonly string[] =>
  [locale, status].filter(name => name !== null)

/** A document has one version for each locale and status. Joins find it by its key, requests by its documentId. */
const versionIndexes = (table: TypeTable): readonly Index[] => [
  uniqueIndex(table.name, [table.documentId, ...coordinates(table)]),
  ...(table.key === 'id' ? [] : [uniqueIndex(table.name, [table.key, ...coordinates(table)])]),
]

function attributeIndexes(type: ContentType, attribute: Attribute, layout: StorageLayout): readonly Index[] {
  const table = layout.table(type)
  if (attribute.kind === 'scalar') return uniqueIndexes(type, attribute, layout)
  if (!isStoredLink(attribute)) return []
  const link = layout.link(type, attribute.name)
  if (link.kind === 'table') return []
  return isExclusive(attribute) ? exclusiveIndexes(table, link) : linkIndexes(table, link)
}

/** reference/documents.md#5-uniqueness: unique among the published versions of a locale, or among all rows of types without drafts and locales. */
function uniqueIndexes(
  type: ContentType,
  attribute: ScalarAttribute,
  layout: StorageLayout,
): readonly Index[] {
  if (!attribute.unique || !fitsIndex(attribute)) return []
  const { name, status } = layout.table(type)
  const among = uniqueValues(type, attribute, layout)
  return attribute.type === 'uid' && status !== null
    ? [among, toIndex(name, among.columns, { column: status, equals: 'draft' })]
    : [among]
}

export function uniqueValues(type: ContentType, attribute: ScalarAttribute, layout: StorageLayout): Index {
  const { name, locale, status } = layout.table(type)
  const columns = [layout.column(type, attribute.name), ...(locale === null ? [] : [locale])]
  return uniqueIndex(name, columns, status === null ? null : PUBLISHED)
}

/** Unauthenticated requests look up users by an emailed code. Partial, because few users have one. */
function codeIndexes(type: ContentType, layout: StorageLayout): readonly Index[] {
  if (type.uid !== 'plugin::users-permissions.user') return []
  return ['resetPasswordToken', 'confirmationToken'].map(attribute => {
    const column = layout.column(type, attribute)
    return toIndex(layout.table(type).name, [column], { column, notNull: true })
  })
}

/** For inverse reads of a to-one link, in the order of the inverse list. */
function linkIndexes({ name }: TypeTable, link: ColumnLink): readonly Index[] {
  const order = link.inversePosition === null ? [] : [link.inversePosition]
  return [link.key, link.draftKey].flatMap(key =>
    key === null ? [] : [toIndex(name, [key, ...order], { column: key, notNull: true })],
  )
}

const isExclusive = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relation' && attribute.relation === 'oneToOne' && attribute.counterpart !== null

/** reference/documents.md#13-exclusive-relations: both sides of a two-way one-to-one relation have one partner for each status and locale. */
function exclusiveIndexes(table: TypeTable, link: ColumnLink): readonly Index[] {
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  return slots.flatMap(([key, locale]) => {
    if (key === null) return []
    const columns = [key, ...(locale === null ? [] : [locale]), ...coordinates(table)]
    return [uniqueIndex(table.name, columns, { column: key, notNull: true })]
  })
}

/** Status and locale come first, because reads select one status and usually one locale. */
export function declaredIndex(type: ContentType, names: readonly string[], layout: StorageLayout): Index {
  const table = layout.table(type)
  const columns = names.map(name => columnOf(type, name, layout))
  return toIndex(table.name, [...new Set([...coordinates(table).toReversed(), ...columns])])
}

/** For `LIKE` on a text and on its small letters, as core/plan/comparison.ts prints them. */
export function textIndex(type: ContentType, name: string, layout: StorageLayout): Index {
  const attribute = type.attributes.get(name)
  if (attribute?.kind !== 'scalar') throw new TypeError(`${type.uid}.${name} has no text`)
  const column = layout.column(type, name)
  return {
    name: constraintName(layout.table(type).name, column, 'text'),
    columns: [],
    unique: false,
    where: null,
    method: 'gin',
    trigrams: { column, isText: !NUMBERS.includes(attribute.type) },
  }
}

/** Types whose values are searched as texts. */
const NUMBERS: readonly ValueType[] = ['integer', 'biginteger', 'decimal', 'float']

function columnOf(type: ContentType, name: string, layout: StorageLayout): string {
  const attribute = type.attributes.get(name)
  if (attribute?.kind === 'scalar') return layout.column(type, name)
  const link = layout.link(type, name)
  if (link.kind === 'table') throw new TypeError(`${type.uid}.${name} is no column`)
  return link.key
}

interface ListIndexInput {
  readonly type: ContentType
  readonly layout: StorageLayout
  readonly expected: ExpectedLists
  /** The indexes that the type has anyway. */
  readonly indexes: readonly Index[]
}

/** Derived indexes for lists with conditions and for lists sorted by timestamps, without those that another index covers. */
export function listIndexes({ type, layout, expected, indexes }: ListIndexInput): readonly Index[] {
  const conditions = (expected.get(type) ?? []).map(names => declaredIndex(type, names, layout))
  const wanted = distinctByName([...conditions, ...stampIndexes(type, layout)])
  const longestFirst = wanted.toSorted((one, other) => other.columns.length - one.columns.length)
  return longestFirst.filter(
    (each, at) => ![...indexes, ...longestFirst.slice(0, at)].some(other => isIndexPrefix(other, each)),
  )
}

/**
 * For lists of the newest documents. Not by `updatedAt`: it changes with every write, which would then update every
 * index of the row.
 */
function stampIndexes(type: ContentType, layout: StorageLayout): readonly Index[] {
  if (type.builtIn || type.kind === 'single') return []
  const table = layout.table(type)
  const created = declaredIndex(type, ['createdAt'], layout)
  const isDeclared = type.indexes.some(([first]) => first === 'publishedAt')
  if (table.status === null || isDeclared) return [created]
  const locale = coordinates(table).filter(name => name !== table.status)
  return [created, toIndex(table.name, [...locale, 'published_at'], PUBLISHED)]
}

/** True if an index covers a list. Columns of equality conditions may come in any order. */
export const isIndexPrefix = (one: Index, other: Index): boolean =>
  one.name === other.name ||
  (one.where === null &&
    other.where === null &&
    one.columns.length >= other.columns.length &&
    one.columns.slice(0, other.columns.length).every(column => other.columns.includes(column)))

import { distinct, index, PUBLISHED, unique } from './constraints.ts'
import type { Layout } from './layout.ts'
import { isStoredLink } from './layout.ts'
import type { Attribute, ContentType, RelationAttribute, ScalarAttribute } from './model.ts'
import type { ColumnLink, Index, TypeTable } from './storage.ts'
import { fitsIndex } from './value-columns.ts'

export function typeIndexes(type: ContentType, layout: Layout): readonly Index[] {
  const table = layout.table(type)
  const attributes = [...type.attributes.values()]
  return distinct([
    ...versionIndexes(table),
    ...attributes.flatMap(attribute => attributeIndexes(type, attribute, layout)),
    ...codeIndexes(type, layout),
    ...type.indexes.map(names => declaredIndex(type, names, layout)),
  ])
}

/** What tells the versions of a document apart. */
export const coordinates = ({ locale, status }: TypeTable): readonly string[] =>
  [locale, status].filter(name => name !== null)

/** A document has one version a locale and status, found by its key inside and by its id from outside. */
const versionIndexes = (table: TypeTable): readonly Index[] => [
  unique(table.name, [table.documentId, ...coordinates(table)]),
  ...(table.key === 'id' ? [] : [unique(table.name, [table.key, ...coordinates(table)])]),
]

function attributeIndexes(type: ContentType, attribute: Attribute, layout: Layout): readonly Index[] {
  const table = layout.table(type)
  if (attribute.kind === 'scalar') return uniqueIndexes(type, attribute, layout)
  if (!isStoredLink(attribute)) return []
  const link = layout.link(type, attribute.name)
  if (link.kind === 'table') return []
  return isExclusive(attribute) ? exclusiveIndexes(table, link) : linkIndexes(table, link)
}

/** documents.md 5: unique among the published versions of a locale, or among all rows of a plain type. */
function uniqueIndexes(type: ContentType, attribute: ScalarAttribute, layout: Layout): readonly Index[] {
  if (!attribute.unique || !fitsIndex(attribute)) return []
  const { name, locale, status } = layout.table(type)
  const columns = [layout.column(type, attribute.name), ...(locale === null ? [] : [locale])]
  if (status === null) return [unique(name, columns)]
  const among = unique(name, columns, PUBLISHED)
  return attribute.type === 'uid'
    ? [among, index(name, columns, { column: status, equals: 'draft' })]
    : [among]
}

/** Anyone may ask for a user by a code of a mail; few users have one. */
function codeIndexes(type: ContentType, layout: Layout): readonly Index[] {
  if (type.uid !== 'plugin::users-permissions.user') return []
  return ['resetPasswordToken', 'confirmationToken'].map(attribute => {
    const column = layout.column(type, attribute)
    return index(layout.table(type).name, [column], { column, notNull: true })
  })
}

/** Backwards along a to-one link, in the order of the inverse list. */
function linkIndexes({ name }: TypeTable, link: ColumnLink): readonly Index[] {
  const order = link.inversePosition === null ? [] : [link.inversePosition]
  return [link.key, link.draftKey].flatMap(key =>
    key === null ? [] : [index(name, [key, ...order], { column: key, notNull: true })],
  )
}

const isExclusive = (attribute: Attribute): attribute is RelationAttribute =>
  attribute.kind === 'relation' && attribute.relation === 'oneToOne' && attribute.counterpart !== null

/** documents.md 13: both ends of a two-way one-to-one have one partner within a status and locale. */
function exclusiveIndexes(table: TypeTable, link: ColumnLink): readonly Index[] {
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  return slots.flatMap(([key, locale]) => {
    if (key === null) return []
    const columns = [key, ...(locale === null ? [] : [locale]), ...coordinates(table)]
    return [unique(table.name, columns, { column: key, notNull: true })]
  })
}

/** Reads ask for one status, and mostly one locale: these stand first. */
export function declaredIndex(type: ContentType, names: readonly string[], layout: Layout): Index {
  const table = layout.table(type)
  const columns = names.map(name => columnOf(type, name, layout))
  return index(table.name, [...new Set([...coordinates(table).toReversed(), ...columns])])
}

function columnOf(type: ContentType, name: string, layout: Layout): string {
  const attribute = type.attributes.get(name)
  if (attribute?.kind === 'scalar') return layout.column(type, name)
  const link = layout.link(type, name)
  if (link.kind === 'table') throw new TypeError(`${type.uid}.${name} is no column`)
  return link.key
}

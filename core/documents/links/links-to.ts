import type { ContentType, Holder, MediaAttribute, Model, RelationAttribute } from '../../model/model.ts'
import type { ColumnLink, Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'

/** Links to a document, or only those that name one of its locales. */
export interface LinkEnd {
  readonly type: ContentType
  readonly key: number
  /** null: whatever locale they name, or none. */
  readonly locale: string | null
}

type Stored = RelationAttribute | MediaAttribute

/** Statements that remove all links to a document: one for each table that stores such links. */
export function unlinkStatements(end: LinkEnd, model: Model, storage: Storage): readonly Statement[] {
  const holders: readonly Holder[] = [...model.contentTypes.values(), ...model.components.values()]
  return holders.flatMap(holder =>
    [...holder.attributes.values()].flatMap(attribute =>
      isStored(attribute) && attribute.target === end.type
        ? statementsFor(holder, attribute, end, storage)
        : [],
    ),
  )
}

const isStored = (attribute: { readonly kind: string }): attribute is Stored =>
  attribute.kind === 'media' ||
  (attribute.kind === 'relation' && (attribute as RelationAttribute).side === 'owner')

function statementsFor(
  holder: Holder,
  attribute: Stored,
  end: LinkEnd,
  storage: Storage,
): readonly Statement[] {
  const link = storage.link(holder, attribute.name)
  const called = `remove links of ${attribute.name}`
  if (link.kind === 'column') return columnStatements(tableOf(holder, storage), link, end)
  if (end.locale !== null && link.targetLocale === null) return []
  const text = `DELETE FROM ${ident(link.table)} WHERE ${ident(link.targetKey)} = $1`
  if (end.locale === null || link.targetLocale === null) return [{ name: called, text, values: [end.key] }]
  return [
    { name: called, text: `${text} AND ${ident(link.targetLocale)} = $2`, values: [end.key, end.locale] },
  ]
}

const tableOf = (holder: Holder, storage: Storage): string =>
  (holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)).name

/** A place in the other side's list goes with the last slot that needs it; one that is left over does no harm. */
function columnStatements(table: string, link: ColumnLink, end: LinkEnd): readonly Statement[] {
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  return slots.flatMap(([key, locale]) => {
    if (key === null || (end.locale !== null && locale === null)) return []
    const emptied = [key, locale].flatMap(column => (column === null ? [] : [`${ident(column)} = NULL`]))
    const text = `UPDATE ${ident(table)} SET ${emptied.join(', ')} WHERE ${ident(key)} = $1`
    const called = `empty ${key} of ${table}`
    return end.locale === null || locale === null
      ? [{ name: called, text, values: [end.key] }]
      : [{ name: called, text: `${text} AND ${ident(locale)} = $2`, values: [end.key, end.locale] }]
  })
}

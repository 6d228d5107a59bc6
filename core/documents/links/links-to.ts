import type { ContentType, Holder, MediaAttribute, Model, RelationAttribute } from '../../model/model.ts'
import type { ColumnLink, Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'

/** Links to a document, or only those that name one of its locales. */
export interface LinkEnd {
  readonly type: ContentType
  /** Its key, or its documentId while its rows are there. */
  readonly document: { readonly key: number } | { readonly documentId: string }
  /** null: whatever locale they name, or none. */
  readonly locale: string | null
}

type Stored = RelationAttribute | MediaAttribute

/** An end, and the expression of its key with the parameter `$1`. */
interface PrintedEnd extends LinkEnd {
  readonly key: string
  readonly value: number | string
}

function printEnd(end: LinkEnd, storage: Storage): PrintedEnd {
  const { document, type } = end
  if ('key' in document) return { ...end, key: '$1', value: document.key }
  const table = storage.table(type)
  const key = `(SELECT ${ident(table.key)} FROM ${ident(table.name)} WHERE ${ident(table.documentId)} = $1 LIMIT 1)`
  return { ...end, key, value: document.documentId }
}

/** Statements that remove all links to a document: one for each table that stores such links. */
export function unlinkStatements(linked: LinkEnd, model: Model, storage: Storage): readonly Statement[] {
  const end = printEnd(linked, storage)
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
  end: PrintedEnd,
  storage: Storage,
): readonly Statement[] {
  const link = storage.link(holder, attribute.name)
  const called = `remove links of ${attribute.name}`
  if (link.kind === 'column') return columnStatements(tableOf(holder, storage), link, end)
  if (end.locale !== null && link.targetLocale === null) return []
  const text = `DELETE FROM ${ident(link.table)} WHERE ${ident(link.targetKey)} = ${end.key}`
  if (end.locale === null || link.targetLocale === null)
    return [{ name: called, text, values: [end.value], keepsPlan: true }]
  return [
    { name: called, text: `${text} AND ${ident(link.targetLocale)} = $2`, values: [end.value, end.locale] },
  ]
}

const tableOf = (holder: Holder, storage: Storage): string =>
  (holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)).name

/** A place in the other side's list goes with the last slot that needs it; one that is left over does no harm. */
function columnStatements(table: string, link: ColumnLink, end: PrintedEnd): readonly Statement[] {
  const slots = [
    [link.key, link.locale],
    [link.draftKey, link.draftLocale],
  ] as const
  return slots.flatMap(([key, locale]) => {
    if (key === null || (end.locale !== null && locale === null)) return []
    const emptied = [key, locale].flatMap(column => (column === null ? [] : [`${ident(column)} = NULL`]))
    const text = `UPDATE ${ident(table)} SET ${emptied.join(', ')} WHERE ${ident(key)} = ${end.key}`
    const called = `empty ${key} of ${table}`
    return end.locale === null || locale === null
      ? [{ name: called, text, values: [end.value], keepsPlan: true }]
      : [{ name: called, text: `${text} AND ${ident(locale)} = $2`, values: [end.value, end.locale] }]
  })
}

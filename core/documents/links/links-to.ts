import type { Transaction } from '../../database/database.ts'
import {
  type ContentType,
  componentsOf,
  type Holder,
  type MediaAttribute,
  type Model,
  type RelationAttribute,
} from '../../model/model.ts'
import { type ColumnLink, ownerName, type Storage } from '../../model/storage.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import { hasSeveralRows } from '../rows/write-load.ts'
import { inValuesOf } from '../sql/look-ups.ts'

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

interface UnlinkOptions {
  readonly model: Model
  readonly storage: Storage
  readonly transaction: Pick<Transaction, 'send'>
}

/** Removes the links to a document whose rows are locked against new links, or gone. */
export function removeLinksTo(linked: LinkEnd, { model, storage, transaction }: UnlinkOptions): void {
  const statements = unlinkStatements(linked, model, storage)
  if (statements.length === 0) return
  for (const statement of lockStatements(linked, model, storage)) transaction.send(statement)
  for (const statement of statements) transaction.send(statement)
}

/**
 * Locks the documents with links to an end. A write that copies their links to another version of them (a publication) ends before, and
 * the statements that follow see the copies, or begins after and finds no link to copy.
 */
function lockStatements(linked: LinkEnd, model: Model, storage: Storage): readonly Statement[] {
  const end = printEnd(linked, storage)
  return [...model.contentTypes.values()].filter(hasSeveralRows).flatMap(type => {
    const { name, id, key } = storage.table(type)
    const own = linkingRows(type, end, storage)
    const keys = linkingParts(type, end, storage)
    const byKey = `SELECT ${ident(id)} FROM ${ident(name)} WHERE ${inValuesOf(ident(key), keys.join(' UNION '))}`
    const all = [...own, ...(keys.length === 0 ? [] : [byKey])]
    if (all.length === 0) return []
    return [
      {
        name: `lock ${name} that link`,
        text: `SELECT FROM ${ident(name)} WHERE ${inValuesOf(ident(id), all.join(' UNION '))} ORDER BY ${ident(id)} FOR NO KEY UPDATE`,
        values: [end.value],
        keepsPlan: true,
      },
    ]
  })
}

/** Queries for the ids of the holder's rows that have a link to the end. */
function linkingRows(holder: Holder, end: PrintedEnd, storage: Storage): readonly string[] {
  const { name, id, key } = rowsOf(holder, storage)
  return [...holder.attributes.values()].flatMap(attribute => {
    if (!isStored(attribute) || attribute.target !== end.type) return []
    const link = storage.link(holder, attribute.name)
    const rows = `SELECT ${ident(id)} FROM ${ident(name)} WHERE`
    if (link.kind === 'column')
      return [link.key, link.draftKey].flatMap(column =>
        column === null ? [] : [`${rows} ${ident(column)} = ${end.key}`],
      )
    const [[column, own] = ['owner_id', id]] = link.owner
    const owners = `SELECT ${ident(column)} FROM ${ident(link.table)} WHERE ${ident(link.targetKey)} = ${end.key}`
    return own === key && key !== id ? [`${rows} ${inValuesOf(ident(key), owners)}`] : [owners]
  })
}

/** Queries for the keys of the holder's rows whose components have a link to the end. */
function linkingParts(holder: Holder, end: PrintedEnd, storage: Storage): readonly string[] {
  return [...holder.attributes.values()].flatMap(attribute =>
    componentsOf(attribute).flatMap(component => {
      const rows = [...linkingRows(component, end, storage), ...linkingParts(component, end, storage)]
      if (rows.length === 0) return []
      const table = storage.componentTable(component)
      const owner = `${ident(table.owner)} = ${quoteText(ownerName(holder, attribute.name))}`
      return [
        `SELECT ${ident(table.ownerKey)} FROM ${ident(table.name)} WHERE ${owner} AND ${inValuesOf(ident(table.id), rows.join(' UNION '))}`,
      ]
    }),
  )
}

function rowsOf(holder: Holder, storage: Storage) {
  if (holder.holder !== 'component') return storage.table(holder)
  const { name, id } = storage.componentTable(holder)
  return { name, id, key: id }
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
  if (link.kind === 'column') return columnStatements(rowsOf(holder, storage).name, link, end)
  if (end.locale !== null && link.targetLocale === null) return []
  const text = `DELETE FROM ${ident(link.table)} WHERE ${ident(link.targetKey)} = ${end.key}`
  if (end.locale === null || link.targetLocale === null)
    return [{ name: called, text, values: [end.value], keepsPlan: true }]
  return [
    { name: called, text: `${text} AND ${ident(link.targetLocale)} = $2`, values: [end.value, end.locale] },
  ]
}

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

import { type Attribute, type ContentType, componentsOf } from '../../model/model.ts'
import type { TableLink } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Slot } from '../desired-state.ts'
import { and, columnOf, insertInto, Parameters } from '../links/inverse-sql.ts'
import { targetColumns } from '../links/own-list-sql.ts'
import { isShared } from '../rows/planning.ts'
import { columnsOfValues } from '../rows/write-columns.ts'
import { type Edge, edgeColumns, edgesOf, holdsLink, targetColumnsOf } from '../rows/write-links.ts'
import { resolve } from '../rows/write-list.ts'
import { NO_CURRENT_ROWS, tableLinkOf } from '../rows/write-load.ts'
import type { WritePlanOptions } from '../rows/write-options.ts'
import { nextId, sequenceOf } from '../sql/known-sequences.ts'
import { inValuesOf } from '../sql/look-ups.ts'
import { failUnless } from '../sql/print-changes.ts'
import { columnsOf, type TableColumns, typeOf, valueType } from '../sql/write-print.ts'
import { GAP, isNew, noChanges } from '../sql/write-rows.ts'
import {
  type LeftComponents,
  printComponentAssertions,
  printCopiedComponents,
} from './published-components.ts'
import { type NamedPart, printNewComponents } from './stored-components.ts'
import { columnsOfAttribute, isList, storedRule } from './stored-rules.ts'
import type { Printing, StoredUpdate, StoredUpdateOptions } from './stored-update.ts'

/**
 * `stored$`: the changed row, the draft of types with drafts. `published$`: the published row. `rows$`: both. undefined: one
 * statement would be too large.
 */
export function printStoredUpdate(update: StoredUpdate, options: StoredUpdateOptions): Statement | undefined {
  const { document, publication } = update
  const { type, versions } = document
  const [version] = versions
  if (!version) throw new TypeError('an update of no version')
  const { name } = options.storage.table(type)
  const types = columnsOf(options.storage, name)
  const parameters = new Parameters()
  const { returning } = options
  if (returning) parameters.values.push(...returning.values)
  const now = parameters.put(options.now, 'timestamptz(3)')
  const printing: Printing = { type, version, publication, options, types, parameters, now }
  const components = printNewComponents(printing)
  if (!components) return undefined
  const parts: readonly NamedPart[] = [
    ...printRows(document.documentId, printing),
    ...printLists(printing),
    ...components,
    ...(publication === 'begins' ? printCopiedComponents(leftComponents(printing), options.storage) : []),
    ['assertion$', `SELECT ${failUnless(printAssertions(update, printing))} AS holds`],
    ...(returning ? [[ident(returning.table), 'SELECT * FROM rows$'] as const] : []),
  ]
  const answer = returning ? `(${returning.text}), holds` : 'holds'
  return {
    name: `update ${name}`,
    text: `WITH ${parts.map(([part, text]) => `${part} AS (${text})`).join(', ')} SELECT ${answer} FROM assertion$`,
    values: parameters.values,
    keepsPlan: true,
  }
}

/** The changes of the document's rows. */
function printRows(documentId: string | Slot, printing: Printing): readonly NamedPart[] {
  const own = printOwnRows(documentId, printing)
  switch (printing.publication) {
    case 'none':
      return [
        ['stored$', own],
        ['rows$', 'SELECT * FROM stored$'],
      ]
    case 'both':
      return [
        ['rows$', own],
        ['stored$', `SELECT * FROM rows$ WHERE status = 'draft'`],
        ['published$', `SELECT * FROM rows$ WHERE status = 'published'`],
      ]
    default:
      return [
        ['stored$', own],
        ['published$', printPublished(printing)],
        ['rows$', 'SELECT * FROM stored$ UNION ALL SELECT * FROM published$'],
      ]
  }
}

/** The row that the write concerns, and, if one UPDATE changes both, the published one. */
function printOwnRows(documentId: string | Slot, printing: Printing): string {
  const { type, version, publication, options, parameters, now } = printing
  const table = options.storage.table(type)
  const id = parameters.put(documentId, 'text')
  const stamp = publicationStamp(printing)
  // The stamp of a draft is null.
  const ownStamp = {
    none: stamp,
    both: `CASE t.status WHEN 'published' THEN ${stamp} END`,
    copied: 'NULL',
    begins: 'NULL',
  }[publication]
  const sets = [
    ...givenColumns(printing),
    `updated_at = ${now}`,
    ...(stamp === null || !version.statuses.includes('published') ? [] : [`published_at = ${ownStamp}`]),
  ]
  const where = and(
    `t.${ident(table.documentId)} = ${id}`,
    table.status !== null && publication !== 'both' && `${columnOf('t', table.status)} = 'draft'`,
    table.locale !== null && `${columnOf('t', table.locale)} = ${parameters.put(version.locale, 'text')}`,
  )
  return `UPDATE ${ident(table.name)} AS t SET ${sets.join(', ')} WHERE ${where} RETURNING t.*`
}

/** null: the stored one does not change. */
function publicationStamp({
  version: { publishing },
  publication,
  parameters,
  now,
}: Printing): string | null {
  if (publishing?.at !== undefined) return parameters.put(publishing.at, 'timestamptz(3)')
  return publishing?.keeps && publication !== 'begins' ? null : now
}

/** Scalars and to-one links. A changed link gets a new place at the end of the other side's list. */
function givenColumns({ type, version, options, types, parameters }: Printing): readonly string[] {
  const planning = { current: NO_CURRENT_ROWS, keys: () => undefined, options, changes: noChanges() }
  const row = { id: 0, status: version.statuses[0] ?? 'published' } as const
  const owner = { root: type, key: 0, locale: null, rows: [row] }
  const { columns, links } = columnsOfValues(type, version.values, { owner, row }, planning)
  const placed = new Map<string, string>()
  for (const [column, value] of columns) {
    if (isNew(value)) throw new TypeError('an update names no new rows')
    placed.set(column, parameters.put(value, valueType(typeOf(types, column))))
  }
  const sets = Array.from(placed, ([column, value]) => `${ident(column)} = ${value}`)
  const places = links.flatMap(({ link }) => {
    if (link.inversePosition === null) return []
    const same = sameColumns('t', targetColumnsOf(link), column => placed.get(column) ?? 'NULL')
    const place = holdsLink(link, columns) ? nextPlace(options, options.storage.table(type).name) : 'NULL'
    return [
      `${ident(link.inversePosition)} = CASE WHEN ${same} THEN ${columnOf('t', link.inversePosition)} ELSE ${place} END`,
    ]
  })
  return [...sets, ...places]
}

const sameColumns = (alias: string, columns: readonly string[], other: (column: string) => string): string =>
  and(...columns.map(column => `${columnOf(alias, column)} IS NOT DISTINCT FROM ${other(column)}`))

const nextPlace = ({ sequences }: StoredUpdateOptions, table: string): string =>
  `${nextId(sequenceOf(sequences, table))} * ${GAP}`

/** The published row with all values of the draft. */
function printPublished(printing: Printing): string {
  const { type, publication, options, now } = printing
  const table = options.storage.table(type)
  const copied = [...type.attributes.values()].flatMap(
    each => columnsOfAttribute(type, each, options.storage) ?? [],
  )
  const stamp = publicationStamp(printing)
  if (publication === 'begins') {
    const own = copied.flatMap(({ values, inversePosition }) => [
      ...values,
      ...(inversePosition === null ? [] : [inversePosition]),
    ])
    const columns: readonly (readonly [string, string])[] = [
      [table.id, nextId(sequenceOf(options.sequences, table.name))],
      ...[table.documentId, table.key, 'created_at', ...localeColumns(type, printing), ...own].map(
        each => [each, columnOf('s', each)] as const,
      ),
      ['status', `'published'`],
      ['updated_at', now],
      ['published_at', stamp ?? now],
    ]
    return `${insertInto(table.name, columns)} FROM stored$ s RETURNING *`
  }
  const sets = copied.flatMap(({ values, inversePosition }) => [
    ...values.map(each => `${ident(each)} = ${copyOf(each, printing.types)}`),
    // An existing link keeps its position in the list of the inverse side.
    ...(inversePosition === null
      ? []
      : [
          `${ident(inversePosition)} = CASE WHEN ${sameColumns('t', values, each => columnOf('s', each))} THEN ${columnOf('t', inversePosition)} ELSE ${columnOf('s', inversePosition)} END`,
        ]),
  ])
  const stamps = [`updated_at = ${now}`, ...(stamp === null ? [] : [`published_at = ${stamp}`])]
  const where = and(
    ...[table.key, ...(table.locale === null ? [] : [table.locale])].map(
      each => `${columnOf('t', each)} = ${columnOf('s', each)}`,
    ),
    `t.status = 'published'`,
  )
  return `UPDATE ${ident(table.name)} AS t SET ${[...sets, ...stamps].join(', ')} FROM stored$ s WHERE ${where} RETURNING t.*`
}

const localeColumns = (type: ContentType, { options }: Pick<Printing, 'options'>): readonly string[] => {
  const { locale } = options.storage.table(type)
  return locale === null ? [] : [locale, 'shared_updated_at']
}

/** A long value that stays the same is not stored again. */
function copyOf(column: string, types: TableColumns): string {
  const [own, draft] = [columnOf('t', column), columnOf('s', column)]
  const isLong = ['text', 'jsonb'].includes(typeOf(types, column))
  return isLong ? `CASE WHEN ${own} IS NOT DISTINCT FROM ${draft} THEN ${own} ELSE ${draft} END` : draft
}

/** Whole lists that are given, and for a new published row the draft's other lists. */
function printLists(printing: Printing): readonly NamedPart[] {
  const { type, version, publication, options } = printing
  return [...type.attributes.values()].filter(isList).flatMap((attribute, index): readonly NamedPart[] => {
    const link = tableLinkOf(type, attribute.name, options)
    const value = version.values.get(attribute.name)
    if (value?.kind === 'links') {
      const owner = { root: type, status: version.statuses[0] ?? 'published' }
      const input = resolve(attribute, value.targets, { keys: () => undefined })
      const edges = edgesOf(input, { owner, target: attribute.target, defaultLocale: options.defaultLocale })
      return printList(link, edges, index, printing)
    }
    return publication === 'begins' ? [[`copied${index}$`, printCopy(link)]] : []
  })
}

function printList(
  link: TableLink,
  edges: readonly Edge[],
  index: number,
  printing: Printing,
): readonly NamedPart[] {
  const wanted = `wanted${index}$`
  const table = ident(link.table)
  const columns = targetColumns(link)
  const same = (alias: string) =>
    columns.map(each => `${columnOf(alias, each)} IS NOT DISTINCT FROM ${columnOf('w', each)}`)
  const gone = `DELETE FROM ${table} l WHERE ${inValuesOf('l.owner_id', 'SELECT id FROM rows$')}`
  if (edges.length === 0) return [[`gone${index}$`, gone]]
  const isThere = `EXISTS (SELECT FROM ${wanted} w WHERE ${and(...same('l'))})`
  // A link that the draft has already keeps its place in the list of the other side.
  const inverse = (column: string) =>
    `coalesce((SELECT ${columnOf('l', column)} FROM ${table} l, stored$ s WHERE ${and('l.owner_id = s.id', ...same('l'))}), w.fresh)`
  const inserted: readonly (readonly [string, string])[] = [
    ['owner_id', 'o.id'],
    ...columns.map(each => [each, columnOf('w', each)] as const),
    [link.position, 'w.place'],
    ...(link.inversePosition === null
      ? []
      : [[link.inversePosition, inverse(link.inversePosition)] as const]),
  ]
  const place = ident(link.position)
  const conflict = `ON CONFLICT (${['owner_id', ...columns].map(ident).join(', ')}) DO UPDATE SET ${place} = excluded.${place} WHERE ${table}.${place} IS DISTINCT FROM excluded.${place}`
  return [
    [wanted, printWanted(link, edges, printing)],
    [`gone${index}$`, `${gone} AND NOT ${isThere}`],
    [
      `list${index}$`,
      `${insertInto(link.table, inserted)} FROM rows$ o, ${wanted} w ORDER BY o.id, w.place ${conflict}`,
    ],
  ]
}

/** Ids and the places at the end come from one sequence: so many rows were never made that a later place were before these. */
function printWanted(
  link: TableLink,
  edges: readonly Edge[],
  { options, parameters }: Pick<Printing, 'options' | 'parameters'>,
): string {
  const types = columnsOf(options.storage, link.table)
  const rows = edges.map((edge, index) => {
    const cells = Array.from(edgeColumns(link, edge), ([column, value]) =>
      parameters.put(value, valueType(typeOf(types, column))),
    )
    return `(${[...cells, `${(index + 1) * GAP}::double precision`].join(', ')})`
  })
  const names = [...targetColumns(link), 'place'].map(ident).join(', ')
  const fresh = link.inversePosition === null ? '' : `, ${nextPlace(options, link.table)} AS fresh`
  return `SELECT v.*${fresh} FROM (VALUES ${rows.join(', ')}) AS v (${names})`
}

function printCopy(link: TableLink): string {
  const same = [
    ...targetColumns(link),
    link.position,
    ...(link.inversePosition === null ? [] : [link.inversePosition]),
  ]
  const columns = [['owner_id', 'p.id'] as const, ...same.map(each => [each, columnOf('l', each)] as const)]
  return `${insertInto(link.table, columns)} FROM published$ p, stored$ s, ${ident(link.table)} l WHERE l.owner_id = s.id ORDER BY ${columnOf('l', link.position)}, l.id`
}

/** A condition that is false if the stored rows are not what the statement was printed for. */
function printAssertions(
  { document, publication, isUnpublished, edited, ruled, filled }: StoredUpdate,
  { type, version, options, parameters }: Printing,
): string {
  const rules = ruled.map(each => storedRule(type, each, { alias: 's', storage: options.storage }))
  const where = and(...rules, ...filled.map(each => `${columnOf('s', each)} <> ''`))
  const isLeft = (each: Attribute) =>
    isList(each) && !isShared(type, each) && !version.values.has(each.name) && !edited.includes(each)
  const isPublished = publication === 'both' || publication === 'copied'
  const alike = isPublished
    ? [...type.attributes.values()]
        .filter(isLeft)
        .map(each => listsAreAlike(tableLinkOf(document.type, each.name, options)))
    : []
  return and(
    `(SELECT count(*) FROM stored$ s${where === '' ? '' : ` WHERE ${where}`}) = 1`,
    publication !== 'none' && publication !== 'both' && '(SELECT count(*) FROM published$) = 1',
    publication === 'both' && valuesAreAlike({ type, version }, options),
    isUnpublished && hasNoPublished(type, options),
    publication !== 'none' && type.localized && sharedAreAlike(type, options),
    ...alike,
    ...(publication === 'none'
      ? []
      : printComponentAssertions(leftComponents({ type, version }), {
          isPublished,
          storage: options.storage,
        })),
    options.assertion ? options.assertion.print(options.assertion.values, parameters.values) : false,
  )
}

/** The components that the update leaves as they are. */
const leftComponents = ({ type, version }: Pick<Printing, 'type' | 'version'>): LeftComponents => ({
  type,
  locale: version.locale,
  attributes: [...type.attributes.values()].filter(
    each => componentsOf(each).length > 0 && !version.values.has(each.name),
  ),
})

function hasNoPublished(type: ContentType, { storage }: StoredUpdateOptions): string {
  const { name, key, locale } = storage.table(type)
  const same = [key, ...(locale === null ? [] : [locale])].map(
    each => `${columnOf('o', each)} = ${columnOf('s', each)}`,
  )
  return `NOT EXISTS (SELECT FROM ${ident(name)} o, stored$ s WHERE ${and(...same, `o.status = 'published'`)})`
}

/** No status or locale has other shared values than the draft. */
function sharedAreAlike(type: ContentType, { storage }: StoredUpdateOptions): string {
  const { name, key } = storage.table(type)
  return `NOT EXISTS (SELECT FROM ${ident(name)} o, stored$ s WHERE ${columnOf('o', key)} = ${columnOf('s', key)} AND o.shared_updated_at IS DISTINCT FROM s.shared_updated_at)`
}

/** There is a published row with the values of the draft. Their bytes are compared, as `=` finds 1 and 1.0 alike. */
function valuesAreAlike(
  { type, version }: Pick<Printing, 'type' | 'version'>,
  { storage }: StoredUpdateOptions,
): string {
  const left = [...type.attributes.values()]
    .filter(each => !version.values.has(each.name))
    .flatMap(each => columnsOfAttribute(type, each, storage)?.values ?? [])
  const row = (alias: string) => `ROW(${left.map(each => columnOf(alias, each)).join(', ')})::record`
  return `(SELECT ${row('s')} *= ${row('p')} FROM stored$ s, published$ p)`
}

/** Draft and published row have the same links at the same places. */
function listsAreAlike(link: TableLink): string {
  const columns = [...targetColumns(link), link.position].map(each => columnOf('l', each)).join(', ')
  return `NOT EXISTS (SELECT FROM ${ident(link.table)} l WHERE ${inValuesOf('l.owner_id', 'SELECT id FROM rows$')} GROUP BY ${columns} HAVING count(*) <> 2)`
}

/** Locks the rows of a document: `FOR UPDATE` against new links to it, too. The statements that follow see its lists as they are under the lock. */
export function printDocumentLock(
  type: ContentType,
  documentId: string,
  { storage }: Pick<WritePlanOptions, 'storage'>,
  mode: 'FOR UPDATE' | 'FOR NO KEY UPDATE' = 'FOR NO KEY UPDATE',
): Statement {
  const { name, id, documentId: column } = storage.table(type)
  return {
    name: `lock ${name} to write`,
    text: `SELECT ${ident(id)} FROM ${ident(name)} WHERE ${ident(column)} = $1::text ORDER BY ${ident(id)} ${mode}`,
    values: [documentId],
    keepsPlan: true,
  }
}

import type { Column, ColumnLink, TableLink } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { printNewLocale, renamed, withNewValues } from '../schema/pair-tables.ts'
import { isComponent, type LinkMove, type StoredLinks, type TableState, versionKeyOf } from './reshape.ts'

/** The names that things have: before a plan's first step, or once its renames are done. */
export interface Naming {
  table(holding: TableState): string
  linkTable(name: string): string
  column(holding: TableState, name: string): string
  /** A locale's code; `stored`: SQL of one as it was stored. */
  locale(stored: string): string
}

export const namesBefore = (schema: string): Naming => ({
  table: ({ pair }) => qualified(schema, pair.actual.name),
  linkTable: table => qualified(schema, table),
  column: (_, column) => ident(column),
  locale: stored => stored,
})

/** `linkTables`: old name → new; `locales`: a column of locale codes. */
export const namesAfter = (
  schema: string,
  linkTables: ReadonlyMap<string, string>,
  locales: Pick<Column, 'renamedValues'>,
): Naming => ({
  table: ({ pair }) => qualified(schema, pair.desired.name),
  linkTable: table => qualified(schema, linkTables.get(table) ?? table),
  column: ({ pair }, column) => ident(renamed(pair, [column])[0] ?? column),
  // Columns that are about to be dropped still have the former codes.
  locale: stored => withNewValues(locales, stored),
})

/** Joins the component row `o` with what is known of the documents it is in (related-tables.ts); null: not asked. */
export const PARTS = 'pg_temp.plinth_shift_parts'

/** Both ends of a stored link: each a key and, if known, status and locale. */
interface Edges {
  readonly from: string
  readonly key: string
  readonly status: string
  readonly locale: string
  readonly targetKey: string
  readonly targetStatus: string
  readonly targetLocale: string
  readonly position: string
  readonly inversePosition: string
  /** Orders what has no position. */
  readonly turn: string
}

const SAME_ROOT = (uid: string): string =>
  `JOIN ${PARTS} AS r ON r.component = ${quoteConstant(uid)} AND r.id = o.id AND r.copy = r.id`

interface Reading {
  readonly naming: Naming
  /** True if `plinth_shift_parts` exists. */
  readonly withParts: boolean
}

/**
 * SELECT of the links as they are stored, whatever their form: owner_key, owner_status, owner_locale, target_key,
 * target_status, target_locale, position, inverse_position, turn. A status or locale is null where nothing says it: then
 * it holds for all.
 */
export function printComponentLinks(move: LinkMove, reading: Reading): string {
  const { source } = move
  const { naming } = reading
  const edges =
    source.link.link.kind === 'column'
      ? columnEdges(source, source.link.link, reading)
      : tableEdges(source, source.link.link, reading)
  const ends = source.swapped ? swapped(move, edges) : edges
  const leader = toLeader(move, reading)
  const columns = [
    `${ends.key}::integer AS owner_key`,
    `${ends.status}::text AS owner_status`,
    `${leader === null ? naming.locale(ends.locale) : 'NULL'}::text AS owner_locale`,
    `${ends.targetKey}::integer AS target_key`,
    `${ends.targetStatus}::text AS target_status`,
    `${naming.locale(ends.targetLocale)}::text AS target_locale`,
    `${ends.position}::double precision AS position`,
    `${ends.inversePosition}::double precision AS inverse_position`,
    `${ends.turn}::double precision AS turn`,
  ]
  const where = [`${edges.targetKey} IS NOT NULL`, ...(leader === null ? [] : [leader])]
  return `SELECT ${columns.join(', ')} FROM ${ends.from} WHERE ${where.join(' AND ')}`
}

/** Values that become shared by all locales are taken from the document's leading locale. */
function toLeader({ owner, link, source }: LinkMove, { naming }: Reading): string | null {
  const { before, after } = owner
  if (isComponent(owner) || source.swapped || before.locale === null || after.locale === null) return null
  if (!source.link.localized || link.localized) return null
  return `(o.document_key, o.locale) IN ${printLeadingLocales(naming.table(owner), owner)}`
}

/**
 * The locale of each document that counts where locales come to share what they had each: the default one, else the first by
 * their new codes, the same before and after codes are renamed.
 */
export function printLeadingLocales(table: string, { pair, after }: TableState): string {
  const code = printNewLocale(pair)
  return `(SELECT DISTINCT ON (document_key) document_key, locale FROM ${table} ORDER BY document_key, ${code} <> ${quoteConstant(after.locale ?? '')}, ${code})`
}

/**
 * The stored codes of the locales whose versions stay in a type that loses its locales, the first that a document has: the
 * project's default locale, which may be a new one, else the former one.
 */
export function keptLocales({ pair, before, after }: TableState): readonly string[] {
  const former = before.locale ?? ''
  const known = new Set(columnKinds(pair))
  return [...new Set([...(after.defaultLocale ?? []).filter(code => known.has(code)), former])]
}

/** The locales that the project had when it was last migrated. */
function columnKinds({ owned }: TableState['pair']): readonly string[] {
  const kind: unknown = JSON.parse(owned.kinds.get('locale') ?? '[]')
  return Array.isArray(kind) ? kind.map(String) : []
}

/** SQL that is true for rows of the versions that stay in a type that loses its locales. `table`: its rows. */
export function printKeptVersion(row: string, table: string, holding: TableState): string {
  const [first = '', ...others] = keptLocales(holding)
  if (others.length === 0) return `${row}.locale = ${quoteConstant(first)}`
  return `(${row}.document_key, ${row}.locale) IN ${printKeptVersions(table, holding)}`
}

/** SELECT of document_key and locale of the versions that stay, one for each document. */
export function printKeptVersions(table: string, holding: TableState): string {
  const codes = keptLocales(holding).map(quoteConstant)
  const place = `array_position(ARRAY[${codes.join(', ')}], locale::text)`
  return `(SELECT DISTINCT ON (document_key) document_key, locale FROM ${table} WHERE locale IN (${codes.join(', ')}) ORDER BY document_key, ${place})`
}

function tableEdges({ holding }: StoredLinks, link: TableLink, { naming, withParts }: Reading): Edges {
  const { before } = holding
  const table = naming.linkTable(link.table)
  const shared = link.owner.some(([column]) => column === 'owner_key')
  const statusOf = (column: string) => (before.drafts ? column : 'NULL')
  const ends = {
    targetKey: 'l.target_key',
    targetStatus: link.targetStatus === null ? 'NULL' : 'l.target_status',
    targetLocale: link.targetLocale === null ? 'NULL' : 'l.target_locale',
    position: 'l.position',
    inversePosition: link.inversePosition === null ? 'NULL' : 'l.inverse_position',
    turn: 'l.id',
  }
  if (shared) {
    return {
      ...ends,
      from: `${table} AS l`,
      key: 'l.owner_key',
      status: statusOf('l.owner_status'),
      locale: 'NULL',
    }
  }
  const on = link.owner.map(([column, own]) => `o.${ident(own)} = l.${ident(column)}`).join(' AND ')
  const from = `${table} AS l JOIN ${naming.table(holding)} AS o ON ${on}`
  if (!isComponent(holding)) {
    const locale = before.locale === null ? 'NULL' : 'o.locale'
    return { ...ends, from, key: `o.${versionKeyOf(before)}`, status: statusOf('o.status'), locale }
  }
  return { ...ends, ...componentEnds(holding, from, withParts) }
}

function componentEnds({ after }: TableState, from: string, withParts: boolean) {
  return withParts
    ? {
        from: `${from} ${SAME_ROOT(after.uid)}`,
        key: 'o.id',
        status: 'CASE WHEN r.drafts_before THEN o.status END',
        locale: 'NULL',
      }
    : { from, key: 'o.id', status: 'o.status', locale: 'NULL' }
}

function columnEdges({ holding }: StoredLinks, link: ColumnLink, { naming, withParts }: Reading): Edges {
  const { before } = holding
  const column = (own: string | null) => (own === null ? 'NULL' : `o.${naming.column(holding, own)}`)
  const named = isComponent(holding) && withParts ? 'NOT r.drafts_before' : String(!isComponent(holding))
  const status = (text: string) =>
    link.draftKey === null ? 'NULL' : `CASE WHEN ${named} THEN ${quoteConstant(text)} END`
  const slots = [
    `(${column(link.key)}, ${status('published')}, ${column(link.locale)})`,
    ...(link.draftKey === null
      ? []
      : [`(${column(link.draftKey)}, ${status('draft')}, ${column(link.draftLocale)})`]),
  ]
  const values = `CROSS JOIN LATERAL (VALUES ${slots.join(', ')}) AS l (target_key, target_status, target_locale)`
  const rows = `${naming.table(holding)} AS o`
  const owner = isComponent(holding)
    ? componentEnds(holding, rows, withParts)
    : {
        from: rows,
        key: `o.${versionKeyOf(before)}`,
        status: before.drafts ? 'o.status' : 'NULL',
        locale: before.locale === null ? 'NULL' : 'o.locale',
      }
  return {
    ...owner,
    from: `${owner.from} ${values}`,
    targetKey: 'l.target_key',
    targetStatus: 'l.target_status',
    targetLocale: 'l.target_locale',
    position: 'NULL',
    inversePosition: column(link.inversePosition),
    turn: 'o.id',
  }
}

/** The former target owns the link now, so the two ends swap their values (reference/documents.md#6-what-a-link-stores). */
function swapped({ owner, source: { holding } }: LinkMove, edges: Edges): Edges {
  const said = (has: boolean, own: string, other: string) => (has ? `coalesce(${own}, ${other})` : 'NULL')
  const { before } = owner
  return {
    ...edges,
    key: edges.targetKey,
    status: said(before.drafts, edges.targetStatus, edges.status),
    locale: said(before.locale !== null, edges.targetLocale, edges.locale),
    targetKey: edges.key,
    targetStatus: holding.before.drafts && !before.drafts ? edges.status : 'NULL',
    targetLocale: holding.before.locale !== null && before.locale === null ? edges.locale : 'NULL',
    position: edges.inversePosition,
    inversePosition: edges.position,
  }
}

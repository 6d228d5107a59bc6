import type { ColumnLink, TableLink } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import { type Naming, PARTS, printComponentLinks } from './component-links.ts'
import { isComponent, type LinkMove, losesDocuments, type TableState, versionKeyOf } from './reshape.ts'

/** The temporary table that keeps a move's links while rows change. */
const aside = (turn: number): string => `pg_temp.plinth_shift_links_${turn}`

/** Positions appended to a list are multiples of this (reference/documents.md#11-order). */
const GAP = 1024

export interface LinkReshape {
  readonly schema: string
  readonly naming: Naming
  /** The index of the move among all moves. */
  readonly turn: number
}

/** SQL that keeps a move's links, and empties the table that they stay in. */
export function printKeepLinks({ owner, source, link }: LinkMove, terms: LinkReshape): readonly string[] {
  const move = { owner, source, link }
  const keep = `CREATE TEMP TABLE ${aside(terms.turn).replace('pg_temp.', '')} ON COMMIT DROP AS ${printComponentLinks(
    { ...move, target: owner },
    { naming: terms.naming, withParts: true },
  )}`
  if (source.link.link.kind === 'column') return [keep]
  return [keep, `DELETE FROM ${terms.naming.linkTable(source.link.link.table)}`]
}

/** SQL that stores the links that were kept, for the rows that there are now. */
export function printWriteLinks(move: LinkMove, terms: LinkReshape): readonly string[] {
  return move.link.link.kind === 'table'
    ? writeTable(move, move.link.link, terms)
    : writeColumns(move, move.link.link, terms)
}

/** The owner's rows as SQL, and what is known of the documents that they belong to. */
interface Owner {
  readonly from: string
  readonly status: string
  readonly locale: string
  readonly hasDrafts: string
  readonly hasLocales: string
}

function ownerOf(owner: TableState, { turn, naming }: LinkReshape): Owner {
  const { after } = owner
  const table = naming.table(owner)
  const links = `${aside(turn)} AS l`
  if (isComponent(owner)) {
    const parts = `JOIN ${PARTS} AS r ON r.component = ${quoteConstant(after.uid)} AND r.id = l.owner_key AND r.kept`
    return {
      from: `${links} ${parts} JOIN ${table} AS o ON o.id = r.copy`,
      status: `CASE WHEN r.drafts_after THEN o.status ELSE 'published' END`,
      locale: 'l.owner_locale',
      hasDrafts: 'r.drafts_after',
      hasLocales: 'r.locales_after',
    }
  }
  return {
    from: `${links} JOIN ${table} AS o ON o.${versionKeyOf(after)} = l.owner_key`,
    status: after.drafts ? 'o.status' : `'published'`,
    locale: after.locale === null ? quoteConstant(owner.before.locale ?? '') : 'o.locale',
    hasDrafts: String(after.drafts),
    hasLocales: String(after.locale !== null),
  }
}

/** FROM and WHERE of the links as they are to be: `v.status` and `v.locale` are what a link has to say of its target. */
function printWanted({ owner, target }: LinkMove, terms: LinkReshape): string {
  const rows = ownerOf(owner, terms)
  const { drafts, locale } = target.after
  const statuses = drafts
    ? `CASE WHEN ${rows.hasDrafts} THEN ARRAY[NULL] ELSE ARRAY['published', 'draft'] END::text[]`
    : 'ARRAY[NULL]::text[]'
  const locales =
    locale === null
      ? 'NULL'
      : `CASE WHEN NOT ${rows.hasLocales} THEN coalesce(l.target_locale, l.owner_locale, ${quoteConstant(locale)}) END`
  const said = drafts ? `coalesce(v.status, ${rows.status})` : rows.status
  const exists = `EXISTS (SELECT FROM ${terms.naming.table(target)} AS t WHERE t.${versionKeyOf(target.after)} = l.target_key)`
  return [
    `FROM ${rows.from}`,
    `CROSS JOIN LATERAL unnest(${statuses}) AS s (status)`,
    `CROSS JOIN LATERAL (SELECT s.status, (${locales})::text AS locale) AS v`,
    `WHERE coalesce(l.owner_status = ${rows.status}, true)`,
    `AND coalesce(l.owner_locale = ${rows.locale}, true)`,
    `AND coalesce(l.target_status = ${said}, true)`,
    ...(losesDocuments(target) ? [`AND ${exists}`] : []),
  ].join(' ')
}

const PLACE = `coalesce(l.position, l.turn * ${GAP})`
const INVERSE_PLACE = `coalesce(l.inverse_position, l.turn * ${GAP})`

function writeTable(move: LinkMove, link: TableLink, terms: LinkReshape): readonly string[] {
  const columns = [
    ...link.owner.map(([column, own]) => [column, `o.${name(own)}`] as const),
    ['target_key', 'l.target_key'] as const,
    ...(link.targetStatus === null ? [] : [['target_status', 'v.status'] as const]),
    ...(link.targetLocale === null ? [] : [['target_locale', 'v.locale'] as const]),
  ]
  const places = [
    ['position', PLACE] as const,
    ...(link.inversePosition === null ? [] : [['inverse_position', INVERSE_PLACE] as const]),
  ]
  const table = qualified(terms.schema, link.table)
  const names = [...columns, ...places].map(([column]) => name(column)).join(', ')
  const once = columns.map(([, value]) => value).join(', ')
  const values = [...columns, ...places].map(([column, value]) => `${value} AS ${name(column)}`).join(', ')
  const wanted = `SELECT DISTINCT ON (${once}) ${values} ${printWanted(move, terms)} ORDER BY ${once}, ${PLACE}`
  return [
    `INSERT INTO ${table} (${names}) SELECT ${names} FROM (${wanted}) AS wanted ORDER BY position, target_key`,
    raiseSequence(table, ['id', ...places.map(([column]) => `${column} / ${GAP}`)]),
  ]
}

/** Later appended rows must come after all existing ones. */
const raiseSequence = (table: string, values: readonly string[]): string => {
  const sequence = `pg_get_serial_sequence(${quoteConstant(table)}, 'id')`
  const last = `greatest(1, ${values.map(value => `ceil(max(${value}))`).join(', ')})`
  return `SELECT setval(${sequence}, ${last}::bigint) FROM ${table}`
}

function writeColumns(move: LinkMove, link: ColumnLink, terms: LinkReshape): readonly string[] {
  const table = terms.naming.table(move.owner)
  const isPart = isComponent(move.owner)
  const row = ['id', ...(isPart ? ['status'] : [])]
  const own = row.map(column => `o.${column}`).join(', ')
  const first =
    `SELECT DISTINCT ON (${own}, v.status) ${own}, coalesce(v.status, 'published') AS slot, l.target_key, v.locale, ` +
    `${INVERSE_PLACE} AS place ${printWanted(move, terms)} ORDER BY ${own}, v.status, ${PLACE}, l.target_key`
  const columns = slotsOf(link)
  const values = columns.map(([, value], index) => `${value} AS value_${index}`)
  const each = `SELECT ${row.join(', ')}, ${values.join(', ')} FROM (${first}) AS first GROUP BY ${row.join(', ')}`
  const set = columns.map(([column], index) => `${name(column)} = each.value_${index}`).join(', ')
  const same = row.map(column => `held.${column} = each.${column}`).join(' AND ')
  const none = columns.map(([column]) => `${name(column)} = NULL`).join(', ')
  const any = columns.map(([column]) => `${name(column)} IS NOT NULL`).join(' OR ')
  return [
    `UPDATE ${table} SET ${none} WHERE ${any}`,
    `UPDATE ${table} AS held SET ${set} FROM (${each}) AS each WHERE ${same}`,
    ...(link.inversePosition === null
      ? []
      : [raiseSequence(table, ['id', `${name(link.inversePosition)} / ${GAP}`])]),
  ]
}

const slotsOf = (link: ColumnLink): readonly (readonly [string, string])[] => {
  const of = (value: string, slot: string) => `max(${value}) FILTER (WHERE slot = ${quoteConstant(slot)})`
  const all: readonly (readonly [string | null, string])[] = [
    [link.key, of('target_key', 'published')],
    [link.draftKey, of('target_key', 'draft')],
    [link.locale, of('locale', 'published')],
    [link.draftLocale, of('locale', 'draft')],
    [link.inversePosition, 'max(place)'],
  ]
  return all.flatMap(([column, value]) => (column === null ? [] : [[column, value] as const]))
}

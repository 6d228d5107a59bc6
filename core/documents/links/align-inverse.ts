import type { ColumnLink, TableLink } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Alignment } from '../desired-state.ts'
import { slotOf } from '../rows/write-links.ts'
import { filter, inOrder, inValuesOf } from '../sql/look-ups.ts'
import { emptied, onConflict } from './inverse-changes.ts'
import {
  and,
  columnOf,
  type EndOptions,
  endOf,
  type InverseEnd,
  type InverseRelation,
  inSlot,
  inTable,
  type LinkSlot,
  linkedRows,
  ownedTo,
  Parameters,
} from './inverse-sql.ts'

/**
 * Locks the owners whose links to a document differ between its draft and its published version, and answers their
 * keys. Publishing leaves out owners without a published version: their links show when they are published.
 */
export function printDiffering(relation: InverseRelation, end: InverseEnd, to: Status): Statement {
  const { table, link, attribute, sharesStatus } = relation
  const parameters = new Parameters()
  const d = endOf(end, parameters)
  const [key, id] = [columnOf('o', table.key), columnOf('o', table.id)]
  const differing =
    link.kind === 'column' && !sharesStatus
      ? differingSlots(relation, link, d)
      : differingRows(relation, link, d)
  const published =
    to === 'published' && sharesStatus && table.status
      ? ` AND EXISTS (SELECT FROM ${ident(table.name)} p WHERE ${and(`${columnOf('p', table.key)} = ${key}`, `${columnOf('p', table.status)} = 'published'`, ...inLocale(relation, 'p', d))} OFFSET 0)`
      : ''
  return {
    name: `lock owners to align ${attribute.name}`,
    text: `SELECT ${key} FROM ${ident(table.name)} o WHERE ${inValuesOf(key, differing)}${published} ORDER BY ${id} FOR NO KEY UPDATE`,
    values: parameters.values,
  }
}

/** Both slots of an owner's row. */
function differingSlots(relation: InverseRelation, link: ColumnLink, d: EndOptions): string {
  const { table } = relation
  const [draft, published] = (['draft', 'published'] as const).map(
    status => `(${inSlot(slotOf(link, status), 'x', d)})`,
  )
  const where = and(
    `(${draft} OR ${published})`,
    `(${draft} AND ${published}) IS NOT TRUE`,
    ...inLocale(relation, 'x', d),
  )
  return `SELECT x.${ident(table.key)} FROM ${ident(table.name)} x WHERE ${where}`
}

/** Rows of the owners, or of their link table: one for each status, and both in the same place unless they differ. */
function differingRows(relation: InverseRelation, link: ColumnLink | TableLink, d: EndOptions): string {
  const { table } = relation
  const x = (column: string) => columnOf('x', column)
  const place =
    link.inversePosition === null ? null : columnOf(link.kind === 'table' ? 'l' : 'x', link.inversePosition)
  const from =
    link.kind === 'table'
      ? linkedRows(relation, inTable({ ...relation, namesStatus: false }, 'l', { end: d, statuses: NEVER }))
      : `${ident(table.name)} x WHERE ${inSlot(slotOf(link, null), 'x', d)}`
  const begin = link.kind === 'table' ? 'WHERE' : 'AND'
  const [locale] = inLocale(relation, 'x', d)
  const where = locale ? ` ${begin} ${locale}` : ''
  const group = [x(table.key), ...(table.locale ? [x(table.locale)] : []), ...(place === null ? [] : [place])]
  return `SELECT ${x(table.key)} FROM ${from}${where} GROUP BY ${group.join(', ')} HAVING count(*) = 1`
}

const NEVER = (): string => {
  throw new TypeError('no status is asked for')
}

interface Aligning extends Alignment {
  readonly relation: InverseRelation
  readonly end: InverseEnd
  /** Locked. */
  readonly owners: readonly number[]
}

/** Takes away what only the status `to` has, then adds what only `from` has: with their rows locked. */
export const printAlign = (aligning: Aligning): readonly Statement[] => {
  const { link, attribute } = aligning.relation
  const statements = link.kind === 'table' ? alignTable(aligning, link) : alignColumns(aligning, link)
  return statements.map(statement => ({ ...statement, name: `align ${attribute.name}` }))
}

/** `p`: the rows that are changed, `f`: those they become like; the same row where it has a slot for each status. */
function alignColumns(aligning: Aligning, link: ColumnLink): readonly Statement[] {
  const { relation, from, to, end } = aligning
  const { table, sharesStatus } = relation
  const one = slotOf(link, sharesStatus ? null : from)
  const other = slotOf(link, sharesStatus ? null : to)
  const print = (clauses: (d: EndOptions) => string): Statement => {
    const parameters = new Parameters()
    const d = endOf(end, parameters)
    const own = ownRows(aligning, parameters, d)
    return {
      text: `UPDATE ${ident(table.name)} AS p SET ${clauses(d)} AND ${own}`,
      values: parameters.values,
    }
  }
  const leads = (d: EndOptions) => filter(inSlot(one, sharesStatus ? 'f' : 'p', d))
  const led = (d: EndOptions) => filter(inSlot(other, 'p', d))
  const release = (d: EndOptions) => {
    const kept = sharesStatus
      ? `NOT EXISTS (SELECT FROM ${ident(table.name)} f WHERE ${and(...pair(aligning), leads(d))})`
      : `NOT ${leads(d)}`
    return `${emptied(other)} WHERE ${led(d)} AND ${kept}`
  }
  const place = sharesStatus ? link.inversePosition : null
  const moved = place === null ? '' : ` OR ${columnOf('p', place)} IS DISTINCT FROM ${columnOf('f', place)}`
  const take = (d: EndOptions) => {
    const rows = sharesStatus ? ` FROM ${ident(table.name)} f` : ''
    const paired = sharesStatus ? pair(aligning) : []
    return `${filled(other, place, d)}${rows} WHERE ${and(...paired, leads(d), `(NOT ${led(d)}${moved})`)}`
  }
  return [print(release), print(take)]
}

const filled = ({ key, locale }: LinkSlot, place: string | null, d: EndOptions): string =>
  [
    `${ident(key)} = ${d.target}`,
    ...(locale === null ? [] : [`${ident(locale)} = ${d.locale}`]),
    ...(place === null ? [] : [`${ident(place)} = ${columnOf('f', place)}`]),
  ].join(', ')

/** `p` and `f` are rows of the same owner, one of each status. */
function pair({ relation, from }: Aligning): readonly string[] {
  const { table } = relation
  if (table.status === null) throw new TypeError(`${table.name} has no statuses`)
  return [
    ...inOrder([[columnOf('f', table.key), columnOf('p', table.key)]]),
    ...(table.locale ? [filter(`${columnOf('f', table.locale)} = ${columnOf('p', table.locale)}`)] : []),
    filter(`${columnOf('f', table.status)} = '${from}'`),
  ]
}

/** Condition: `p` is a row of the locked owners that changes. */
function ownRows({ relation, to, owners }: Aligning, parameters: Parameters, d: EndOptions): string {
  const { table, sharesStatus } = relation
  return and(
    `${columnOf('p', table.key)} = ANY (${parameters.put(owners, 'integer[]')})`,
    sharesStatus && table.status !== null && filter(`${columnOf('p', table.status)} = '${to}'`),
    ...inLocale(relation, 'p', d).map(filter),
  )
}

/** Rows of the owners in the locale of the document's version, where links are to the locale of their row. */
const inLocale = (
  { table, sharesLocale }: InverseRelation,
  alias: string,
  d: EndOptions,
): readonly string[] =>
  sharesLocale && table.locale ? [`${columnOf(alias, table.locale)} = ${d.locale}`] : []

function alignTable(aligning: Aligning, link: TableLink): readonly Statement[] {
  const { relation, from, to, end } = aligning
  const { table, sharesStatus } = relation
  const own = sharesStatus ? 'f' : 'p'
  const paired = sharesStatus ? pair(aligning) : []
  const links = ident(link.table)
  const print = (text: (d: EndOptions, rows: string) => string): Statement => {
    const parameters = new Parameters()
    const d = endOf(end, parameters)
    return { text: text(d, ownRows(aligning, parameters, d)), values: parameters.values }
  }
  const leads = (alias: string, owner: string, status: Status, end: EndOptions) =>
    ownedTo(relation, alias, owner, { end, statuses: () => `'${status}'` })
  const columns: readonly (readonly [string, string])[] = [
    ...link.owner.map(([column, owner]) => [column, columnOf('p', owner)] as const),
    [link.targetKey, columnOf('s', link.targetKey)],
    ...(link.targetStatus === null ? [] : [[link.targetStatus, `'${to}'`] as const]),
    ...[link.targetLocale, link.position, link.inversePosition].flatMap(column =>
      column === null ? [] : [[column, columnOf('s', column)] as const],
    ),
  ]
  // OFFSET 0: the owners are found by their keys before any link is.
  const owners = (rows: string) => `(SELECT * FROM ${ident(table.name)} p WHERE ${rows} OFFSET 0) p`
  const f = sharesStatus ? `${ident(table.name)} f, ` : ''
  const kept = (d: EndOptions) =>
    `SELECT FROM ${f}${links} s WHERE ${and(...paired, leads('s', own, from, d))}`
  return [
    print(
      (d, rows) =>
        `DELETE FROM ${links} l USING ${owners(rows)} WHERE ${leads('l', 'p', to, d)} AND NOT EXISTS (${kept(d)})`,
    ),
    print(
      (d, rows) =>
        `INSERT INTO ${links} (${columns.map(([column]) => ident(column)).join(', ')}) SELECT ${columns.map(([, value]) => value).join(', ')} FROM ${owners(rows)}, ${f}${links} s WHERE ${and(...paired, leads('s', own, from, d))} ${onConflict(link)}`,
    ),
  ]
}

import type { ColumnLink, TableLink } from '../model/storage.ts'
import type { Status } from '../query/query.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { emptied, onConflict } from './inverse-changes.ts'
import {
  and,
  columnOf,
  type EndTerms,
  endOf,
  type InverseEnd,
  type InverseRelation,
  inSlot,
  inTable,
  ownedBy,
  Parameters,
  type Slot,
} from './inverse-sql.ts'
import { slotOf } from './write-links.ts'
import type { Alignment } from './written.ts'

/**
 * Locks the owners whose links to a document are others in its draft than in its published version, and answers their
 * keys. Owners without a published version are none of them: their links show when they are published.
 */
export function printDiffering(relation: InverseRelation, end: InverseEnd): Statement {
  const { table, link, attribute, sharesStatus, sharesLocale } = relation
  const parameters = new Parameters()
  const d = endOf(end, parameters)
  const [key, id] = [columnOf('o', table.key), columnOf('o', table.id)]
  const differing =
    link.kind === 'column' && !sharesStatus
      ? differingSlots(relation, link, d)
      : differingRows(relation, link, d)
  const own = sharesLocale && table.locale ? [`${columnOf('p', table.locale)} = ${d.locale}`] : []
  const published =
    sharesStatus && table.status
      ? ` AND EXISTS (SELECT FROM ${name(table.name)} p WHERE ${and(`${columnOf('p', table.key)} = ${key}`, `${columnOf('p', table.status)} = 'published'`, ...own)})`
      : ''
  return {
    name: `lock owners to align ${attribute.name}`,
    text: `SELECT ${key} FROM ${name(table.name)} o WHERE ${key} IN (${differing})${published} ORDER BY ${id} FOR UPDATE`,
    values: parameters.values,
  }
}

/** Both slots of an owner's row. */
function differingSlots(relation: InverseRelation, link: ColumnLink, d: EndTerms): string {
  const { table } = relation
  const [draft, published] = (['draft', 'published'] as const).map(
    status => `(${inSlot(slotOf(link, status), 'x', d)})`,
  )
  return `SELECT x.${name(table.key)} FROM ${name(table.name)} x WHERE (${draft} OR ${published}) AND (${draft} AND ${published}) IS NOT TRUE`
}

/** Rows of the owners, or of their link table: one a status. */
function differingRows(relation: InverseRelation, link: ColumnLink | TableLink, d: EndTerms): string {
  const { table } = relation
  const x = (column: string) => columnOf('x', column)
  const place =
    link.inversePosition === null ? null : columnOf(link.kind === 'table' ? 'l' : 'x', link.inversePosition)
  // OFFSET 0: the plan begins with the links, however many the document is expected to have.
  const from =
    link.kind === 'table'
      ? `(SELECT * FROM ${name(link.table)} l WHERE ${inTable({ ...relation, namesStatus: false }, 'l', { end: d, statuses: NEVER })} OFFSET 0) l JOIN ${name(table.name)} x ON ${ownedBy(relation, 'l', 'x')}`
      : `${name(table.name)} x WHERE ${inSlot(slotOf(link, null), 'x', d)}`
  const begin = link.kind === 'table' ? 'WHERE' : 'AND'
  const where = relation.sharesLocale && table.locale ? ` ${begin} ${x(table.locale)} = ${d.locale}` : ''
  const group = [x(table.key), ...(table.locale ? [x(table.locale)] : [])]
  const moved = place === null ? '' : ` OR min(${place}) <> max(${place}) OR count(${place}) = 1`
  return `SELECT ${x(table.key)} FROM ${from}${where} GROUP BY ${group.join(', ')} HAVING count(*) = 1${moved}`
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
  const { relation, from, to, end, owners } = aligning
  const { table, sharesStatus } = relation
  const one = slotOf(link, sharesStatus ? null : from)
  const other = slotOf(link, sharesStatus ? null : to)
  const source = sharesStatus ? 'f' : 'p'
  const print = (sets: (end: EndTerms) => string, which: (end: EndTerms) => string): Statement => {
    const parameters = new Parameters()
    const d = endOf(end, parameters)
    const rows = sharesStatus ? ` FROM ${name(table.name)} f` : ''
    const among = `${columnOf('p', table.key)} IN (SELECT unnest(${parameters.put(owners, 'integer[]')}))`
    const where = and(among, ...(sharesStatus ? pair(aligning, d) : ownLocale(relation, d)), which(d))
    return {
      text: `UPDATE ${name(table.name)} AS p SET ${sets(d)}${rows} WHERE ${where}`,
      values: parameters.values,
    }
  }
  const leads = (d: EndTerms) => `(${inSlot(one, source, d)})`
  const led = (d: EndTerms) => `(${inSlot(other, 'p', d)})`
  const place = sharesStatus ? link.inversePosition : null
  const moved = place === null ? '' : ` OR ${columnOf('p', place)} IS DISTINCT FROM ${columnOf('f', place)}`
  return [
    print(
      () => emptied(other),
      d => `${led(d)} AND ${leads(d)} IS NOT TRUE`,
    ),
    print(
      d => filled(other, place, d),
      d => `${leads(d)} AND (${led(d)} IS NOT TRUE${moved})`,
    ),
  ]
}

const filled = ({ key, locale }: Slot, place: string | null, d: EndTerms): string =>
  [
    `${name(key)} = ${d.target}`,
    ...(locale === null ? [] : [`${name(locale)} = ${d.locale}`]),
    ...(place === null ? [] : [`${name(place)} = ${columnOf('f', place)}`]),
  ].join(', ')

/** Rows of the same owner, one of each status. */
function pair({ relation, from, to }: Aligning, d: EndTerms): readonly string[] {
  const { table } = relation
  if (table.status === null) throw new TypeError(`${table.name} has no statuses`)
  return [
    `${columnOf('f', table.key)} = ${columnOf('p', table.key)}`,
    ...(table.locale ? [`${columnOf('f', table.locale)} = ${columnOf('p', table.locale)}`] : []),
    `${columnOf('f', table.status)} = '${from}'`,
    `${columnOf('p', table.status)} = '${to}'`,
    ...ownLocale(relation, d),
  ]
}

const ownLocale = ({ table, sharesLocale }: InverseRelation, d: EndTerms): readonly string[] =>
  sharesLocale && table.locale ? [`${columnOf('p', table.locale)} = ${d.locale}`] : []

function alignTable(aligning: Aligning, link: TableLink): readonly Statement[] {
  const { relation, from, to, end, owners } = aligning
  const { table, sharesStatus } = relation
  const own = sharesStatus ? 'f' : 'p'
  const prepare = () => {
    const parameters = new Parameters()
    const d = endOf(end, parameters)
    const leads = (alias: string, status: Status) =>
      inTable(relation, alias, { end: d, statuses: () => `'${status}'` })
    const rows = sharesStatus ? `${name(table.name)} p, ${name(table.name)} f` : `${name(table.name)} p`
    const among = `${columnOf('p', table.key)} IN (SELECT unnest(${parameters.put(owners, 'integer[]')}))`
    return {
      parameters,
      leads,
      rows,
      where: and(among, ...(sharesStatus ? pair(aligning, d) : ownLocale(relation, d))),
    }
  }
  const removal = prepare()
  const addition = prepare()
  const columns: readonly (readonly [string, string])[] = [
    ...link.owner.map(([column, owner]) => [column, columnOf('p', owner)] as const),
    [link.targetKey, columnOf('s', link.targetKey)],
    ...(link.targetStatus === null ? [] : [[link.targetStatus, `'${to}'`] as const]),
    ...[link.targetLocale, link.position, link.inversePosition].flatMap(column =>
      column === null ? [] : [[column, columnOf('s', column)] as const],
    ),
  ]
  return [
    {
      text: `DELETE FROM ${name(link.table)} l USING ${removal.rows} WHERE ${removal.where} AND ${ownedBy(relation, 'l', 'p')} AND ${removal.leads('l', to)} AND NOT EXISTS (SELECT FROM ${name(link.table)} s WHERE ${ownedBy(relation, 's', own)} AND ${removal.leads('s', from)})`,
      values: removal.parameters.values,
    },
    {
      text: `INSERT INTO ${name(link.table)} (${columns.map(([column]) => name(column)).join(', ')}) SELECT ${columns.map(([, value]) => value).join(', ')} FROM ${addition.rows}, ${name(link.table)} s WHERE ${addition.where} AND ${ownedBy(relation, 's', own)} AND ${addition.leads('s', from)} ${onConflict(link)}`,
      values: addition.parameters.values,
    },
  ]
}

import type { Cell } from '../../database/database.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Placed } from '../desired-state.ts'
import { type Bounds, type ListView, type Neighbour, placesAmong } from '../rows/list-places.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { GAP } from '../sql/write-rows.ts'
import {
  and,
  columnOf,
  endOf,
  type InverseEnd,
  type InverseRelation,
  inSlot,
  inTable,
  named,
  ownedBy,
  Parameters,
  reached,
  slotsOf,
} from './inverse-sql.ts'
import { arrangeAmong, type LinkNeighbours, type LinkOperation } from './link-change.ts'

/** The links of one list, as statements find them. */
export interface ListRows {
  /** The attribute. */
  readonly called: string
  /** The table and column that hold the places, and its alias. */
  readonly table: string
  readonly alias: string
  readonly column: string
  /** An expression over the rows: the document that is linked, as seen from the side of the list. */
  readonly key: string
  /** `FROM … WHERE …`: what a reader of the list sees. */
  from(parameters: Parameters): string
  /** The same for all statuses of the list. */
  all(parameters: Parameters): string
  /** ` AND …`: which of the rows prove to a caller that a document is in the list. */
  seen(parameters: Parameters): string
  /** Conditions: the row is what an entry with the columns key, status and locale names. */
  named(entry: string): readonly string[]
}

/** The known positions of a list around these documents. null: a position is missing. */
export async function readBounds(
  list: ListRows,
  named: LinkNeighbours,
  { transaction }: Pick<WriteOptions, 'transaction'>,
): Promise<Bounds | null> {
  const [start, next] = await Promise.all([
    transaction.run(printStart(list)),
    named.size === 0 ? undefined : transaction.run(printNeighbours(list, named)),
  ])
  const neighbours = new Map<number, Neighbour>()
  for (const [key, before = null, first = null, last = null, after = null, missing] of next?.rows ?? []) {
    if (Number(missing) > 0 || first === null || last === null) return null
    neighbours.set(Number(key), {
      before: toPlace(before),
      first: Number(first),
      last: Number(last),
      after: toPlace(after),
    })
  }
  return { first: toPlace(start.rows[0]?.[0] ?? null), neighbours }
}

const toPlace = (cell: Cell): number | null => (cell === null ? null : Number(cell))

/** True if a list has other members. */
export async function hasOthers(
  list: ListRows,
  keys: readonly number[],
  { transaction }: Pick<WriteOptions, 'transaction'>,
): Promise<boolean> {
  const parameters = new Parameters()
  const from = list.from(parameters)
  const { rows } = await transaction.run({
    name: `ask whether ${list.called} is empty`,
    text: `SELECT EXISTS (SELECT ${from} AND NOT ${list.key} = ANY (${parameters.put(keys, 'integer[]')}))`,
    values: parameters.values,
  })
  return rows[0]?.[0] === true
}

function printStart(list: ListRows): Statement {
  const parameters = new Parameters()
  const place = columnOf(list.alias, list.column)
  return {
    name: `read the start of ${list.called}`,
    text: `SELECT ${place} ${list.from(parameters)} AND ${place} IS NOT NULL ORDER BY ${place} LIMIT 1`,
    values: parameters.values,
  }
}

/** Up to here a look at the list for each document takes less time than one that sorts it. */
const FEW = 16

const printNeighbours = (list: ListRows, named: LinkNeighbours): Statement =>
  named.size > FEW ? printManyNeighbours(list, named) : printFewNeighbours(list, named)

/** ` AND …`: without the links that are put next to other links to the same document. */
function printUnmoved(list: ListRows, named: LinkNeighbours, parameters: Parameters): string {
  const moved = [...named.values()].flat()
  if (moved.length === 0) return ''
  const columns = [
    parameters.put(
      moved.map(({ key }) => key ?? null),
      'integer[]',
    ),
    parameters.put(
      moved.map(({ status }) => status),
      'text[]',
    ),
    parameters.put(
      moved.map(({ locale }) => locale),
      'text[]',
    ),
  ]
  const entries = `unnest(${columns.join(', ')}) AS m (key, status, locale)`
  return ` AND NOT EXISTS (SELECT FROM ${entries} WHERE ${and(...list.named('m'))})`
}

function printFewNeighbours(list: ListRows, named: LinkNeighbours): Statement {
  const parameters = new Parameters()
  const place = columnOf(list.alias, list.column)
  const from = list.from(parameters)
  const near = (side: '<' | '>', of: string) =>
    `(SELECT ${place} ${from} AND ${place} ${side} n.${of} ORDER BY ${place} ${side === '<' ? 'DESC' : 'ASC'} LIMIT 1)`
  const own = `SELECT ${list.key} AS key, min(${place}) AS first, max(${place}) AS last, count(*) - count(${place}) AS missing ${from} AND ${list.key} = ANY (${parameters.put([...named.keys()], 'integer[]')})${list.seen(parameters)}${printUnmoved(list, named, parameters)} GROUP BY 1`
  return {
    name: `read places in ${list.called}`,
    text: `SELECT n.key, ${near('<', 'first')}, n.first, n.last, ${near('>', 'last')}, n.missing FROM (${own}) n`,
    values: parameters.values,
  }
}

/**
 * The same by one pass over the list. Every plan of it takes linear time: the keys are in a hashed subquery, since a join with them
 * or a comparison with an array could be one with each.
 */
function printManyNeighbours(list: ListRows, named: LinkNeighbours): Statement {
  const parameters = new Parameters()
  const place = columnOf(list.alias, list.column)
  const next = (side: 'PRECEDING' | 'FOLLOWING') =>
    `first_value(${place}) OVER (ORDER BY ${place} GROUPS BETWEEN 1 ${side} AND 1 ${side})`
  const from = list.from(parameters)
  const isNamed = `${list.key} IN (SELECT unnest(${parameters.put([...named.keys()], 'integer[]')}))${list.seen(parameters)}${printUnmoved(list, named, parameters)}`
  // Places that are missing come last, and are no neighbours of others.
  const all = `SELECT ${list.key} AS key, ${place} AS place, ${next('PRECEDING')} AS before, ${next('FOLLOWING')} AS after, ${isNamed} AS named ${from}`
  return {
    name: `read many places in ${list.called}`,
    text: `SELECT n.key, nullif(min(coalesce(n.before, '-infinity')), '-infinity'), min(n.place), max(n.place), nullif(max(coalesce(n.after, 'infinity')), 'infinity'), count(*) - count(n.place) FROM (${all}) n WHERE n.named GROUP BY 1`,
    values: parameters.values,
  }
}

/**
 * Gives all links of a list places with gaps between them, in their order. None gets a higher one than before: what
 * others append at the same moment still comes last.
 */
export function printRenumber(list: ListRows): Statement {
  const parameters = new Parameters()
  const place = columnOf(list.alias, list.column)
  const ranked = `SELECT ${columnOf(list.alias, 'id')} AS id, coalesce(max(${place}) OVER (), 0) AS top, dense_rank() OVER (ORDER BY ${place}, ${list.key}) AS rank ${list.all(parameters)}`
  const places = `SELECT r.id, r.top - (max(r.rank) OVER () - r.rank) * ${GAP}::double precision AS place FROM (${ranked}) r`
  return {
    name: `renumber ${list.called}`,
    text: `UPDATE ${ident(list.table)} AS t SET ${ident(list.column)} = q.place FROM (${places}) q WHERE t.id = q.id`,
    values: parameters.values,
  }
}

/** The owners that link to a document, as a list. */
export function inverseRows(relation: InverseRelation, end: InverseEnd, view: ListView): ListRows {
  const { table, link, attribute, choosesStatus, sharesStatus, namesStatus } = relation
  const isMixed = sharesStatus && view.status === 'draft' && view.drafted !== null
  const status = !isMixed && (sharesStatus || namesStatus) ? view.status : null
  const rows = (parameters: Parameters, of: Status | null) => {
    const options = { end: endOf(end, parameters), statuses: parameters.late(of, 'text') }
    const where = reached({ ...relation, sharesStatus: sharesStatus && of !== null }, 'o', options)
    if (link.kind === 'table') {
      const leads = inTable({ ...relation, namesStatus: namesStatus && of !== null }, 'l', options)
      return `FROM ${ident(link.table)} l JOIN ${ident(table.name)} o ON ${ownedBy(relation, 'l', 'o')} WHERE ${and(leads, ...where)}`
    }
    const slots = slotsOf(relation, link, of === null ? ['draft', 'published'] : [of])
    const leads = slots.map(slot => inSlot(slot, 'o', options.end)).join(' OR ')
    return `FROM ${ident(table.name)} o WHERE ${and(slots.length === 1 ? leads : `(${leads})`, ...where)}`
  }
  return {
    called: attribute.name,
    table: link.kind === 'table' ? link.table : table.name,
    alias: link.kind === 'table' ? 'l' : 'o',
    column: link.inversePosition ?? 'id',
    key: columnOf('o', table.key),
    from: parameters => rows(parameters, status),
    all: parameters => rows(parameters, null),
    seen(parameters) {
      if (table.status === null || view.drafted === null || !(isMixed || choosesStatus)) return ''
      const own = columnOf('o', table.status)
      const drafted = `${columnOf('o', table.key)} = ANY (${parameters.put(view.drafted, 'integer[]')})`
      return isMixed
        ? ` AND (CASE WHEN ${drafted} THEN ${own} = 'draft' ELSE ${own} = 'published' END)`
        : ` AND (${own} = 'published' OR ${drafted})`
    },
    named: entry => named(relation, 'o', entry),
  }
}

type Edit = Extract<LinkOperation, { readonly kind: 'edit' }>

/**
 * Positions of new links in a list that is not loaded: this reads only the documents that positions name, and their
 * neighbours. `list` is null if the list does not exist yet.
 */
export async function placeLinks(
  { connect, neighbours }: Edit,
  list: ListRows | null,
  options: Pick<WriteOptions, 'transaction'>,
): Promise<readonly Placed[]> {
  const isAtEnd = connect.every(({ place }) => place.at === 'end')
  if (isAtEnd || list === null) {
    const runs = arrangeAmong(connect, new Map())
    return placesAmong(runs, { first: null, neighbours: new Map() }) ?? []
  }
  const arranged = (bounds: Bounds) => {
    const found = [...neighbours].filter(([key]) => bounds.neighbours.has(key))
    return placesAmong(arrangeAmong(connect, new Map(found)), bounds)
  }
  const bounds = await readBounds(list, neighbours, options)
  const places = bounds && arranged(bounds)
  if (places) return places
  options.transaction.send(printRenumber(list))
  const wider = await readBounds(list, neighbours, options)
  const placed = wider && arranged(wider)
  if (!placed) throw new TypeError(`${list.called} has no room after it was renumbered`)
  return placed
}

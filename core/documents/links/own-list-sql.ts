import type { TableLink } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { LinkTarget, OwnEdit } from '../desired-state.ts'
import type { ListView } from '../rows/list-places.ts'
import { inOrder } from '../sql/look-ups.ts'
import { nextPlaces, PLACE_AT_END } from './inverse-changes.ts'
import { and, columnOf, insertInto, Parameters } from './inverse-sql.ts'
import type { ListRows } from './list-bounds.ts'

export interface OwnList {
  readonly link: TableLink
  /** Table, columns. */
  readonly owner: { readonly table: string; readonly status: string | null; readonly locale: string | null }
}

interface Entry {
  readonly target: LinkTarget
  readonly turn: number
  readonly place: number | null
}

/** The rows of the document's draft, or of a type without drafts its only one. `p`: its published row. */
function ownerRow(
  { owner }: OwnList,
  { documentId, locale }: OwnEdit,
  {
    alias,
    status,
    parameters,
  }: { readonly alias: string; readonly status: string; readonly parameters: Parameters },
): string {
  return and(
    `${alias}.document_id = ${parameters.put(documentId, 'text')}`,
    owner.status !== null && `${columnOf(alias, owner.status)} = '${status}'`,
    owner.locale !== null && `${columnOf(alias, owner.locale)} = ${parameters.put(locale, 'text')}`,
  )
}

/** The columns that identify a link among those of its owner. */
export const targetColumns = ({ targetKey, targetStatus, targetLocale }: TableLink): readonly string[] =>
  [targetKey, targetStatus, targetLocale].filter(column => column !== null)

function printEntries(entries: readonly Entry[], parameters: Parameters): string {
  const list = <Value>(of: (entry: Entry) => Value, type: string) => parameters.put(entries.map(of), type)
  const lists = [
    list(({ target }) => target.key ?? null, 'integer[]'),
    list(({ target }) => target.status, 'text[]'),
    list(({ target }) => target.locale, 'text[]'),
    list(({ turn }) => turn, 'integer[]'),
    list(({ place }) => place, 'double precision[]'),
  ]
  return `unnest(${lists.join(', ')}) AS v (target_key, target_status, target_locale, turn, place)`
}

/** `sequence`: that of the link table. */
export function printOwnEdit(list: OwnList, own: OwnEdit, sequence: string): readonly Statement[] {
  const { disconnect, connect } = own.edit
  const made = connect.flatMap(({ entries, place }, turn) => entries.map(target => ({ target, turn, place })))
  const gone = disconnect.map(target => ({ target, turn: 0, place: null }))
  return [
    ...(gone.length > 0 ? [printDisconnect(list, own, gone)] : []),
    ...(made.length > 0 ? [printConnect(list, own, { entries: made, sequence })] : []),
    ...(own.publishes ? [printCopy(list, own)] : []),
  ].map(statement => ({ ...statement, name: `edit ${own.attribute.name}` }))
}

function printDisconnect(list: OwnList, own: OwnEdit, gone: readonly Entry[]): Statement {
  const { link, owner } = list
  const parameters = new Parameters()
  const v = printEntries(gone, parameters)
  const row = ownerRow(list, own, { alias: 'o', status: 'draft', parameters })
  const target = targetColumns(link).map(column => [columnOf('l', column), columnOf('v', column)] as const)
  const same = inOrder([['l.owner_id', 'o.id'], ...target])
  return {
    text: `DELETE FROM ${ident(link.table)} l USING ${v}, ${ident(owner.table)} o WHERE ${and(row, ...same)}`,
    values: parameters.values,
  }
}

function printConnect(
  list: OwnList,
  own: OwnEdit,
  { entries, sequence }: { readonly entries: readonly Entry[]; readonly sequence: string },
): Statement {
  const { link, owner } = list
  const parameters = new Parameters()
  const v = printEntries(entries, parameters)
  const row = ownerRow(list, own, { alias: 'o', status: 'draft', parameters })
  const last = entries.at(-1)?.turn ?? 0
  const ends = nextPlaces(sequence, parameters.put(last, 'integer'))
  const place = `coalesce(v.place, ${PLACE_AT_END})`
  const columns: readonly (readonly [string, string])[] = [
    ['owner_id', 'o.id'],
    ...targetColumns(link).map(column => [column, columnOf('v', column)] as const),
    [link.position, place],
    ...(link.inversePosition === null ? [] : [[link.inversePosition, PLACE_AT_END] as const]),
  ]
  return {
    text: `WITH ${ends} ${insertInto(link.table, columns)} FROM ends$, ${v}, ${ident(owner.table)} o WHERE ${row} ORDER BY v.turn ${onConflict(link)}`,
    values: parameters.values,
  }
}

/** A link that is there already keeps its place in the list of the other side. */
function onConflict(link: TableLink): string {
  const place = ident(link.position)
  const key = ['owner_id', ...targetColumns(link)].map(ident).join(', ')
  return `ON CONFLICT (${key}) DO UPDATE SET ${place} = excluded.${place}`
}

/**
 * Takes away what only the published version has, and adds or moves what differs: both lists are read once, side by side. Links are
 * deleted by id: a kept plan of a join could compare each link of the table with each that differs.
 */
function printCopy(list: OwnList, own: OwnEdit): Statement {
  const { link, owner } = list
  const parameters = new Parameters()
  const rowOf = (status: string) =>
    `(SELECT o.id FROM ${ident(owner.table)} o WHERE ${ownerRow(list, own, { alias: 'o', status, parameters })})`
  const row = `pair$ AS MATERIALIZED (SELECT ${rowOf('draft')} AS draft, ${rowOf('published')} AS published)`
  const target = targetColumns(link).map(column => columnOf('l', column))
  const ofDraft = (column: string) =>
    `min(${columnOf('l', column)}) FILTER (WHERE l.owner_id = pair$.draft) AS ${ident(column)}`
  const places = [link.position, link.inversePosition].filter(column => column !== null)
  const [draft, published] = ['pair$.draft', 'pair$.published'].map(
    id => `min(${columnOf('l', link.position)}) FILTER (WHERE l.owner_id = ${id})`,
  )
  const differing = `differing$ AS MATERIALIZED (SELECT pair$.published, min(l.id) FILTER (WHERE l.owner_id = pair$.published) AS id, ${[...target, ...places.map(ofDraft)].join(', ')} FROM pair$ JOIN ${ident(link.table)} l ON l.owner_id = ANY (ARRAY[pair$.draft, pair$.published]) WHERE pair$.published IS NOT NULL GROUP BY pair$.published, ${target.join(', ')} HAVING ${draft} IS DISTINCT FROM ${published})`
  const gone = `ARRAY(SELECT s.id FROM differing$ s WHERE ${columnOf('s', link.position)} IS NULL)`
  const removal = `gone$ AS (DELETE FROM ${ident(link.table)} g WHERE g.id = ANY (${gone}))`
  const columns: readonly (readonly [string, string])[] = [
    ['owner_id', 's.published'],
    ...[...targetColumns(link), ...places].map(column => [column, columnOf('s', column)] as const),
  ]
  return {
    text: `WITH ${row}, ${differing}, ${removal} ${insertInto(link.table, columns)} FROM differing$ s WHERE ${columnOf('s', link.position)} IS NOT NULL ORDER BY ${columnOf('s', link.position)} ${onConflict(link)}`,
    values: parameters.values,
  }
}

/** The list of one row; the document's other rows have lists of their own. */
export function ownRows(
  { attribute }: Pick<OwnEdit, 'attribute'>,
  link: TableLink,
  { row, rows, view }: { readonly row: number; readonly rows: readonly number[]; readonly view: ListView },
): ListRows {
  return {
    called: attribute.name,
    table: link.table,
    alias: 'l',
    column: link.position,
    key: columnOf('l', link.targetKey),
    from: parameters => `FROM ${ident(link.table)} l WHERE l.owner_id = ${parameters.put(row, 'integer')}`,
    all: parameters =>
      `FROM ${ident(link.table)} l WHERE l.owner_id = ANY (${parameters.put(rows, 'integer[]')})`,
    seen(parameters) {
      if (link.targetStatus === null || view.drafted === null) return ''
      const drafted = `${columnOf('l', link.targetKey)} = ANY (${parameters.put(view.drafted, 'integer[]')})`
      return ` AND (${columnOf('l', link.targetStatus)} = 'published' OR ${drafted})`
    },
    named: entry =>
      [
        [link.targetKey, 'key'] as const,
        [link.targetStatus, 'status'] as const,
        [link.targetLocale, 'locale'] as const,
      ].flatMap(([column, of]) => (column === null ? [] : [`${columnOf('l', column)} = ${entry}.${of}`])),
  }
}

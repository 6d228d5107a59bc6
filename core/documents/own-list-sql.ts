import type { TableLink } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { nextPlaces, PLACE_AT_END } from './inverse-changes.ts'
import { and, columnOf, Parameters } from './inverse-sql.ts'
import type { ListRows } from './list-bounds.ts'
import type { ListView } from './list-view.ts'
import type { LinkTarget, OwnEdit } from './written.ts'

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

/** What tells a link from others of its owner. */
const targetColumns = ({ targetKey, targetStatus, targetLocale }: TableLink): readonly string[] =>
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
    ...(own.publishes ? printCopy(list, own) : []),
  ].map(statement => ({ ...statement, name: `edit ${own.attribute.name}` }))
}

function printDisconnect(list: OwnList, own: OwnEdit, gone: readonly Entry[]): Statement {
  const { link, owner } = list
  const parameters = new Parameters()
  const v = printEntries(gone, parameters)
  const row = ownerRow(list, own, { alias: 'o', status: 'draft', parameters })
  const same = targetColumns(link).map(column => `${columnOf('l', column)} = ${columnOf('v', column)}`)
  return {
    text: `DELETE FROM ${name(link.table)} l USING ${v}, ${name(owner.table)} o WHERE ${and(row, 'l.owner_id = o.id', ...same)}`,
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
    text: `WITH ${ends} ${insertInto(link, columns)} FROM ends, ${v}, ${name(owner.table)} o WHERE ${row} ORDER BY v.turn ${onConflict(link)}`,
    values: parameters.values,
  }
}

const insertInto = (link: TableLink, columns: readonly (readonly [string, string])[]): string =>
  `INSERT INTO ${name(link.table)} (${columns.map(([column]) => name(column)).join(', ')}) SELECT ${columns.map(([, value]) => value).join(', ')}`

/** A link that is there already keeps its place in the list of the other side. */
function onConflict(link: TableLink): string {
  const place = name(link.position)
  const key = ['owner_id', ...targetColumns(link)].map(name).join(', ')
  return `ON CONFLICT (${key}) DO UPDATE SET ${place} = excluded.${place}`
}

/** Takes away what only the published version has, then adds what is new or moved in the draft. */
function printCopy(list: OwnList, own: OwnEdit): readonly Statement[] {
  const { link, owner } = list
  const rows = (parameters: Parameters) =>
    and(
      ownerRow(list, own, { alias: 'd', status: 'draft', parameters }),
      ownerRow(list, own, { alias: 'p', status: 'published', parameters }),
    )
  const owners = `${name(owner.table)} d, ${name(owner.table)} p`
  const same = (one: string, other: string) =>
    targetColumns(link).map(column => `${columnOf(one, column)} = ${columnOf(other, column)}`)
  const removal = new Parameters()
  const addition = new Parameters()
  const columns: readonly (readonly [string, string])[] = [
    ['owner_id', 'p.id'],
    ...[...targetColumns(link), link.position, link.inversePosition].flatMap(column =>
      column === null ? [] : [[column, columnOf('s', column)] as const],
    ),
  ]
  const there = `SELECT FROM ${name(link.table)} e WHERE ${and('e.owner_id = p.id', ...same('e', 's'), `${columnOf('e', link.position)} = ${columnOf('s', link.position)}`)}`
  return [
    {
      text: `DELETE FROM ${name(link.table)} l USING ${owners} WHERE ${rows(removal)} AND l.owner_id = p.id AND NOT EXISTS (SELECT FROM ${name(link.table)} s WHERE ${and('s.owner_id = d.id', ...same('s', 'l'))})`,
      values: removal.values,
    },
    {
      text: `${insertInto(link, columns)} FROM ${owners}, ${name(link.table)} s WHERE ${rows(addition)} AND s.owner_id = d.id AND NOT EXISTS (${there}) ${onConflict(link)}`,
      values: addition.values,
    },
  ]
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
    from: parameters => `FROM ${name(link.table)} l WHERE l.owner_id = ${parameters.put(row, 'integer')}`,
    all: parameters =>
      `FROM ${name(link.table)} l WHERE l.owner_id = ANY (${parameters.put(rows, 'integer[]')})`,
    seen(parameters) {
      if (link.targetStatus === null || view.drafted === null) return ''
      const drafted = `${columnOf('l', link.targetKey)} = ANY (${parameters.put(view.drafted, 'integer[]')})`
      return ` AND (${columnOf('l', link.targetStatus)} = 'published' OR ${drafted})`
    },
  }
}

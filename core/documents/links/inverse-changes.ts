import type { ColumnLink, TableLink } from '../../model/storage.ts'
import type { Status } from '../../query/query.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import { nextId } from '../sql/known-sequences.ts'
import { filter, inValuesOf } from '../sql/look-ups.ts'
import { GAP } from '../sql/write-rows.ts'
import {
  and,
  columnOf,
  type EndOptions,
  endIn,
  type InverseEnd,
  type InverseRelation,
  inSlot,
  insertInto,
  inTable,
  type LinkSlot,
  linkedRows,
  named,
  ownedBy,
  ownedTo,
  Parameters,
  printEnds,
  reached,
  slotsOf,
} from './inverse-sql.ts'

const V = endIn('v')
const D = endIn('d')

/** Links to the documents `ends`, written in these statuses. */
export interface InverseChange {
  readonly relation: InverseRelation
  readonly statuses: readonly Status[]
}

/** A row of an owner that is to link, or not to link any more. */
export interface InverseEntry extends InverseEnd {
  readonly owner: number
  readonly ownerLocale: string | null
  readonly ownerStatus: Status | null
  /** Entries of one turn have the same place. */
  readonly turn: number
  /** null: the next at the end. */
  readonly place: number | null
}

/**
 * Locks the rows of owners before anything of their links is compared or changed: a statement reads what others
 * committed while it waited only in the rows that it locks, so what is written comes from a later statement.
 */
export function printLock({ table }: InverseRelation, keys: readonly number[]): Statement {
  const parameters = new Parameters()
  const [key, id] = [columnOf('o', table.key), columnOf('o', table.id)]
  return {
    name: `lock ${table.name} that link`,
    text: `SELECT ${key} FROM ${ident(table.name)} o WHERE ${key} = ANY (${parameters.put(keys, 'integer[]')}) ORDER BY ${id} FOR NO KEY UPDATE`,
    values: parameters.values,
  }
}

/** The same of those that link to the ends now, too; answers their keys. */
export function printLockLinked(
  { relation, statuses }: InverseChange,
  ends: readonly InverseEnd[],
  keys: readonly number[],
): Statement {
  const { table, link } = relation
  const parameters = new Parameters()
  const own = parameters.put(keys, 'integer[]')
  const targets = parameters.put([...new Set(ends.map(({ key }) => key))], 'integer[]')
  const [key, id] = [columnOf('o', table.key), columnOf('o', table.id)]
  const linked =
    link.kind === 'table'
      ? [
          `SELECT x.${ident(table.key)} FROM ${linkedRows(relation, `${columnOf('l', link.targetKey)} = ANY (${targets})`)}`,
        ]
      : slotsOf(relation, link, statuses).map(
          slot =>
            `SELECT x.${ident(table.key)} FROM ${ident(table.name)} x WHERE ${columnOf('x', slot.key)} = ANY (${targets})`,
        )
  const all = [`SELECT unnest(${own})`, ...linked].join(' UNION ')
  return {
    name: `lock ${table.name} that link`,
    text: `SELECT ${key} FROM ${ident(table.name)} o WHERE ${inValuesOf(key, all)} ORDER BY ${id} FOR NO KEY UPDATE`,
    values: parameters.values,
  }
}

/** The places that entries have in the lists now: rows of (turn, place). */
export function printPlaces(
  { relation, statuses }: InverseChange,
  entries: readonly InverseEntry[],
): Statement {
  const { table, link } = relation
  const parameters = new Parameters()
  const v = printEntries(entries, parameters)
  const status = parameters.anyOf(statuses)
  const place = link.inversePosition ?? 'id'
  const owners = ownersOf(relation, status)
  const [from, at] =
    link.kind === 'table'
      ? [
          `${ownersFirst(relation, v, owners)} JOIN ${ident(link.table)} l ON ${ownedTo(relation, 'l', 'v', { end: V, statuses: status })}`,
          columnOf('l', place),
        ]
      : [
          `${v} JOIN ${ident(table.name)} o ON ${owners} AND ${filter(
            slotsOf(relation, link, statuses)
              .map(slot => inSlot(slot, 'o', V))
              .join(' OR '),
          )}`,
          columnOf('o', place),
        ]
  return {
    name: `read places of ${relation.attribute.name}`,
    text: `SELECT v.turn, min(${at}) FROM ${from} GROUP BY v.turn`,
    values: parameters.values,
  }
}

// A kept plan does not know how many links lead to one document: rows are found by their own keys, then compared with it. Links to it
// that are read for each entry, or for each owner, would take quadratic time.

/** Condition: `o` is a row of an entry's owner, which is found by its key alone. */
function ownersOf(relation: InverseRelation, statuses: () => string): string {
  return and(...named(relation, 'o', 'v'), ...reached(relation, 'o', { end: V, statuses }))
}

/** The entries with their owners' rows, as `v`. PostgreSQL joins nothing else before OFFSET 0. */
function ownersFirst({ link, table }: InverseRelation, v: string, owners: string): string {
  if (link.kind !== 'table') throw new TypeError('the links lie in columns')
  const own = link.owner.map(([, column]) => columnOf('o', column))
  return `(SELECT v.target, v.target_locale, v.turn, ${own.join(', ')} FROM ${v} JOIN ${ident(table.name)} o ON ${owners} OFFSET 0) v`
}

/** Makes the entries' rows link, in their places. `sequence`: that of the table in which places are numbered. */
export function printConnect(
  { relation, statuses }: InverseChange,
  entries: readonly InverseEntry[],
  sequence: string,
): Statement {
  const parameters = new Parameters()
  const v = printEntries(entries, parameters)
  const status = parameters.anyOf(statuses)
  const last = entries.reduce((most, { turn }) => Math.max(most, turn), 0)
  const turns = parameters.put(last, 'integer')
  const ends = nextPlaces(sequence, turns)
  const owners = ownersOf(relation, status)
  const { link } = relation
  return {
    name: `connect ${relation.attribute.name}`,
    text: `WITH ${ends} ${
      link.kind === 'table'
        ? insertLinks(relation, link, { v, owners, list: parameters.late(statuses, 'text[]') })
        : setColumns(relation, link, { v, owners, slots: slotsOf(relation, link, statuses) })
    }`,
    values: parameters.values,
  }
}

/** The place at the end that an entry would have. */
export const PLACE_AT_END = 'ends$.places[v.turn + 1]'

/** The next places at the end, from turn 0 to the last: `ends$.places`. */
export function nextPlaces(sequence: string, last: string): string {
  const next = `${nextId(sequence)} * ${GAP}::double precision`
  return `ends$ AS MATERIALIZED (SELECT ARRAY(SELECT ${next} FROM generate_series(0, ${last})) AS places)`
}

interface ConnectParts {
  readonly v: string
  readonly owners: string
}

function setColumns(
  { table }: InverseRelation,
  link: ColumnLink,
  { v, owners, slots }: ConnectParts & { readonly slots: readonly LinkSlot[] },
): string {
  const place = `coalesce(v.place, ${PLACE_AT_END})`
  const sets = [
    ...slots.flatMap(({ key, locale }) => [
      `${ident(key)} = v.target`,
      ...(locale === null ? [] : [`${ident(locale)} = v.target_locale`]),
    ]),
    ...(link.inversePosition === null ? [] : [`${ident(link.inversePosition)} = ${place}`]),
  ]
  const others = [
    ...slots.map(slot => `(${inSlot(slot, 'o', V)}) IS NOT TRUE`),
    ...(link.inversePosition === null
      ? []
      : [`${columnOf('o', link.inversePosition)} IS DISTINCT FROM ${place}`]),
  ]
  return `UPDATE ${ident(table.name)} AS o SET ${sets.join(', ')} FROM ${v}, ends$ WHERE ${owners} AND (${others.join(' OR ')})`
}

function insertLinks(
  { table, namesStatus }: InverseRelation,
  link: TableLink,
  { v, owners, list }: ConnectParts & { readonly list: () => string },
): string {
  const columns: readonly (readonly [string, string])[] = [
    ...link.owner.map(([column, own]) => [column, columnOf('o', own)] as const),
    [link.targetKey, 'v.target'],
    ...(link.targetStatus === null ? [] : [[link.targetStatus, 's.status'] as const]),
    ...(link.targetLocale === null ? [] : [[link.targetLocale, 'v.target_locale'] as const]),
    [link.position, PLACE_AT_END],
    ...(link.inversePosition === null
      ? []
      : [[link.inversePosition, `coalesce(v.place, ${PLACE_AT_END})`] as const]),
  ]
  const status = namesStatus ? ` CROSS JOIN unnest(${list()}) AS s (status)` : ''
  return (
    `${insertInto(link.table, columns)} FROM ends$, ${v} ` +
    `JOIN ${ident(table.name)} o ON ${owners}${status} ORDER BY v.turn, o.id ${onConflict(link)}`
  )
}

/** A link that is there already keeps its place in the owner's list. */
export function onConflict(link: TableLink): string {
  const key = [...link.owner.map(([column]) => column), link.targetKey, link.targetStatus, link.targetLocale]
  const conflict = `ON CONFLICT (${key
    .filter(column => column !== null)
    .map(ident)
    .join(', ')})`
  if (link.inversePosition === null) return `${conflict} DO NOTHING`
  const place = ident(link.inversePosition)
  return `${conflict} DO UPDATE SET ${place} = excluded.${place} WHERE ${ident(link.table)}.${place} IS DISTINCT FROM excluded.${place}`
}

/** Takes the links of the entries' rows to their ends away. */
export function printDisconnect(
  { relation, statuses }: InverseChange,
  entries: readonly InverseEntry[],
): readonly Statement[] {
  const { link, attribute } = relation
  return removals(relation, statuses, (where, parameters) => {
    const v = printEntries(entries, parameters)
    const status = parameters.anyOf(statuses)
    const owners = ownersOf(relation, status)
    return link.kind === 'table'
      ? `USING ${ownersFirst(relation, v, owners)} WHERE ${ownedTo(relation, 'l', 'v', { end: V, statuses: status })}`
      : `FROM ${v} WHERE ${owners} AND ${filter(where(V, status))}`
  }).map(statement => ({ ...statement, name: `disconnect ${attribute.name}` }))
}

/** Takes all links to the ends away of these owners, but for those of the entries. */
export function printRelease(
  { relation, statuses }: InverseChange,
  ends: readonly InverseEnd[],
  { owners, kept }: { readonly owners: readonly number[]; readonly kept: readonly InverseEntry[] },
): readonly Statement[] {
  const { link, attribute, table, choosesLocale, choosesStatus, sharesLocale, namesLocale } = relation
  return removals(relation, statuses, (where, parameters) => {
    const d = printEnds(ends, parameters)
    const status = parameters.anyOf(statuses)
    const hasLocale = sharesLocale || namesLocale
    const columns = [
      ['d.target', 'v.target'],
      [columnOf('o', table.key), 'v.key'],
      ...(hasLocale ? [['d.target_locale', 'v.target_locale']] : []),
      ...(choosesLocale && table.locale ? [[columnOf('o', table.locale), 'v.locale']] : []),
      ...(choosesStatus && table.status ? [[columnOf('o', table.status), 'v.status']] : []),
    ]
    const isKept = `(${columns.map(([own]) => own).join(', ')}) IN (SELECT ${columns.map(([, entry]) => entry).join(', ')} FROM ${printEntries(kept, parameters)})`
    const among = filter(
      `${columnOf('o', table.key)} IN (SELECT unnest(${parameters.put(owners, 'integer[]')}))`,
    )
    const reach = and(...reached(relation, 'o', { end: D, statuses: status }), among, `NOT ${isKept}`)
    return link.kind === 'table'
      ? `USING ${d}, ${ident(table.name)} o WHERE ${ownedBy(relation, 'l', 'o')} AND ${where(D, status)} AND ${reach}`
      : `FROM ${d} WHERE ${where(D, status)} AND ${reach}`
  }).map(statement => ({ ...statement, name: `release ${attribute.name}` }))
}

/** A statement for each place in which such a link may lie. */
function removals(
  relation: InverseRelation,
  statuses: readonly Status[],
  print: (where: (end: EndOptions, statuses: () => string) => string, parameters: Parameters) => string,
): readonly Statement[] {
  const { link, table } = relation
  if (link.kind === 'table') {
    const parameters = new Parameters()
    const rest = print((end, status) => inTable(relation, 'l', { end, statuses: status }), parameters)
    return [{ text: `DELETE FROM ${ident(link.table)} l ${rest}`, values: parameters.values }]
  }
  return slotsOf(relation, link, statuses).map(slot => {
    const parameters = new Parameters()
    const rest = print(end => inSlot(slot, 'o', end), parameters)
    return {
      text: `UPDATE ${ident(table.name)} AS o SET ${emptied(slot)} ${rest}`,
      values: parameters.values,
    }
  })
}

export const emptied = ({ key, locale }: LinkSlot): string =>
  [key, ...(locale === null ? [] : [locale])].map(column => `${ident(column)} = NULL`).join(', ')

function printEntries(entries: readonly InverseEntry[], parameters: Parameters): string {
  const list = <Value>(of: (entry: InverseEntry) => Value, type: string) =>
    parameters.put(entries.map(of), type)
  const lists = [
    list(({ key }) => key, 'integer[]'),
    list(({ locale }) => locale, 'text[]'),
    list(({ owner }) => owner, 'integer[]'),
    list(({ ownerLocale }) => ownerLocale, 'text[]'),
    list(({ ownerStatus }) => ownerStatus, 'text[]'),
    list(({ turn }) => turn, 'integer[]'),
    list(({ place }) => place, 'double precision[]'),
  ]
  return `unnest(${lists.join(', ')}) AS v (target, target_locale, key, locale, status, turn, place)`
}

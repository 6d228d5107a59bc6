import type { TableLink } from '../model/storage.ts'
import type { Status } from '../query/query.ts'
import { groupBy } from './group.ts'
import {
  type Inverse,
  type InverseLinks,
  indexOfOwner,
  isReached,
  linkLocale,
  linkStatuses,
  readOwners,
} from './write-inverse-links.ts'
import { placesOf } from './write-links.ts'
import { readRows } from './write-load.ts'
import {
  type Changes,
  type CurrentRow,
  numberIn,
  type Place,
  placeAtEnd,
  type RowValue,
} from './write-rows.ts'

/** Inverse links that lie in a link table of the owners: rows are added and taken away, places in the list kept in order. */
export async function planInverseTable(inverse: Inverse, link: TableLink, changes: Changes): Promise<void> {
  const { owner, links, terms } = inverse
  const keys = [...new Set(links.map(({ key }) => key))]
  const rows = await readRows(
    { table: link.table, columns: [link.targetKey], rows: keys.map(key => [key]) },
    terms,
  )
  const linked = await readLinked(inverse, link, rows)
  const owners = new Map([...linked, ...(await readOwners(inverse))].map(row => [numberIn(row, 'id'), row]))
  const byTarget = groupBy(rows, row => numberIn(row, link.targetKey))
  for (const each of links) {
    const reached = [...owners.values()].filter(row => isReached(owner, row, each))
    planLinks({ inverse, link, links: each, owners: reached, rows: byTarget.get(each.key) ?? [] }, changes)
  }
}

/** The rows that own links now. */
function readLinked({ owner, terms }: Inverse, link: TableLink, rows: readonly CurrentRow[]) {
  const [[column, own] = ['owner_id', 'id']] = link.owner
  const ids = [...new Set(rows.map(row => numberIn(row, column)))]
  return readRows(
    { table: terms.storage.table(owner).name, columns: [own], rows: ids.map(id => [id]) },
    terms,
  )
}

interface Task {
  readonly inverse: Inverse
  readonly link: TableLink
  readonly links: InverseLinks
  /** Rows of owners that the write reaches, linked now or to be linked. */
  readonly owners: readonly CurrentRow[]
  /** Rows of the link table that lead to the document. */
  readonly rows: readonly CurrentRow[]
}

function planLinks(task: Task, changes: Changes): void {
  const { inverse, links, owners } = task
  const statuses = linkStatuses(inverse.owner, links)
  const places = inversePlaces(task, statuses)
  for (const owner of owners) {
    const index = indexOfOwner(inverse, owner, links)
    for (const status of statuses) planLink(task, { owner, status, place: places[index] }, changes)
  }
}

const find = (
  { link, links, rows, inverse }: Task,
  owner: CurrentRow,
  status: Status | null,
): CurrentRow | undefined => {
  const locale = linkLocale(inverse.owner, links)
  return rows.find(
    row =>
      link.owner.every(([column, own]) => row.get(column) === owner.get(own)) &&
      (link.targetStatus === null || row.get(link.targetStatus) === status) &&
      (link.targetLocale === null || row.get(link.targetLocale) === locale),
  )
}

/** The places of the owners in the list, the same in all their rows. */
function inversePlaces(task: Task, statuses: readonly (Status | null)[]): readonly (number | Place)[] {
  const { inverse, link, links, owners } = task
  const { inversePosition } = link
  if (inversePosition === null) return links.owners.map(() => 0)
  const current = links.owners.map((_, index) => {
    const rows = owners
      .filter(owner => indexOfOwner(inverse, owner, links) === index)
      .flatMap(owner => statuses.flatMap(status => find(task, owner, status) ?? []))
    const [first] = rows
    return first?.get(inversePosition) == null ? undefined : numberIn(first, inversePosition)
  })
  return placesOf(link.table, current)
}

interface Wanted {
  readonly owner: CurrentRow
  readonly status: Status | null
  /** undefined: there is to be no link. */
  readonly place: number | Place | undefined
}

function planLink(task: Task, { owner, status, place }: Wanted, changes: Changes): void {
  const { link, links, inverse } = task
  const { inversePosition } = link
  const row = find(task, owner, status)
  const key = row && new Map([['id', numberIn(row, 'id')]])
  if (place === undefined) {
    if (key) changes.removals.push({ table: link.table, key })
    return
  }
  if (row && key) {
    if (inversePosition !== null && row.get(inversePosition) !== place)
      changes.updates.push({ table: link.table, key, columns: new Map([[inversePosition, place]]) })
    return
  }
  const columns = new Map<string, RowValue>(
    link.owner.map(([column, own]) => [column, owner.get(own) ?? null]),
  )
  columns.set(link.targetKey, links.key)
  if (link.targetStatus !== null) columns.set(link.targetStatus, status)
  if (link.targetLocale !== null) columns.set(link.targetLocale, linkLocale(inverse.owner, links))
  columns.set(link.position, typeof place === 'number' ? placeAtEnd(link.table) : place)
  if (inversePosition !== null) columns.set(inversePosition, place)
  changes.inserts.push({ table: link.table, columns })
}

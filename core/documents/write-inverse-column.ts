import type { ColumnLink } from '../model/storage.ts'
import type { Status } from '../query/query.ts'
import {
  type Inverse,
  type InverseLinks,
  indexOfOwner,
  isReached,
  linkLocale,
  linkStatuses,
  readOwners,
} from './write-inverse-links.ts'
import { placesOf, slotOf } from './write-links.ts'
import { readRows } from './write-load.ts'
import { type Changes, type CurrentRow, numberIn, type Place, type RowValue } from './write-rows.ts'

/** Inverse links that lie in columns of the owners: who is no longer named is emptied first, who is named leads here. */
export async function planInverseColumn(inverse: Inverse, link: ColumnLink, changes: Changes): Promise<void> {
  const linked = await readLinked(inverse, link)
  const rows = [...linked, ...(await readOwners(inverse))]
  const owners = [...new Map(rows.map(row => [numberIn(row, 'id'), row])).values()]
  for (const links of inverse.links) {
    const reached = owners.filter(row => isReached(inverse.owner, row, links))
    planLinks({ inverse, link, links, owners: reached }, changes)
  }
}

/** The rows whose links lead to the documents now. */
async function readLinked(
  { owner, links, terms }: Inverse,
  link: ColumnLink,
): Promise<readonly CurrentRow[]> {
  const { name } = terms.storage.table(owner)
  const keys = [...new Set(links.map(({ key }) => key))].map(key => [key])
  const published = await readRows({ table: name, columns: [link.key], rows: keys }, terms)
  if (link.draftKey === null) return published
  return [...published, ...(await readRows({ table: name, columns: [link.draftKey], rows: keys }, terms))]
}

interface Task {
  readonly inverse: Inverse
  readonly link: ColumnLink
  readonly links: InverseLinks
  /** Rows of owners that the write reaches, linked now or to be linked. */
  readonly owners: readonly CurrentRow[]
}

function planLinks(task: Task, changes: Changes): void {
  const { inverse, links, owners } = task
  const { name } = inverse.terms.storage.table(inverse.owner)
  const places = inversePlaces(task, name)
  for (const row of owners) {
    const index = indexOfOwner(inverse, row, links)
    for (const status of linkStatuses(inverse.owner, links)) {
      if (index === -1) release(task, { table: name, row, status }, changes)
      else connect(task, { table: name, row, status, place: places[index] }, changes)
    }
  }
}

function leadsHere({ inverse, link, links }: Task, row: CurrentRow, status: Status | null): boolean {
  const slot = slotOf(link, status)
  return (
    row.get(slot.key) === links.key &&
    (slot.locale === null || row.get(slot.locale) === linkLocale(inverse.owner, links))
  )
}

interface Slot {
  readonly table: string
  readonly row: CurrentRow
  readonly status: Status | null
}

function release(task: Task, { table, row, status }: Slot, changes: Changes): void {
  if (!leadsHere(task, row, status)) return
  const { key, locale } = slotOf(task.link, status)
  changes.releases.push({ table, holding: idOf(row), columns: [key, ...(locale === null ? [] : [locale])] })
}

function connect(
  task: Task,
  { table, row, status, place }: Slot & { readonly place: number | Place | undefined },
  changes: Changes,
): void {
  const { inverse, link, links } = task
  const { key, locale } = slotOf(link, status)
  const columns = new Map<string, RowValue>()
  if (!leadsHere(task, row, status)) columns.set(key, links.key)
  if (columns.size > 0 && locale !== null) columns.set(locale, linkLocale(inverse.owner, links))
  const { inversePosition } = link
  if (inversePosition !== null && place !== undefined && row.get(inversePosition) !== place)
    columns.set(inversePosition, place)
  if (columns.size > 0) changes.updates.push({ table, key: idOf(row), columns })
}

const idOf = (row: CurrentRow): ReadonlyMap<string, number> => new Map([['id', numberIn(row, 'id')]])

/** The places of the owners in the list, the same in all their rows. */
function inversePlaces(task: Task, table: string): readonly (number | Place)[] {
  const { inverse, link, links, owners } = task
  const { inversePosition } = link
  if (inversePosition === null) return []
  const statuses = linkStatuses(inverse.owner, links)
  const current = links.owners.map((_, index) => {
    const linked = owners.find(
      row =>
        indexOfOwner(inverse, row, links) === index && statuses.some(status => leadsHere(task, row, status)),
    )
    const place = linked?.get(inversePosition)
    return typeof place === 'number' ? place : undefined
  })
  return placesOf(table, current)
}

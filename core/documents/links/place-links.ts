import type { Placed } from '../desired-state.ts'
import { placesAmong } from '../rows/list-places.ts'
import type { WriteTerms } from '../rows/write-terms.ts'
import { arrangeAmong, type LinkOperation } from './link-change.ts'
import { type ListRows, printRenumber, readBounds } from './list-bounds.ts'

type Edit = Extract<LinkOperation, { readonly kind: 'edit' }>

/**
 * The places of what is connected in a list that stays in the database: only the documents that positions name, and
 * what is next to them, are read. null as the list: there is none yet.
 */
export async function placeLinks(
  { connect, neighbours }: Edit,
  list: ListRows | null,
  terms: Pick<WriteTerms, 'transaction'>,
): Promise<readonly Placed[]> {
  const isAtEnd = connect.every(({ place }) => place.at === 'end')
  if (isAtEnd || list === null) {
    const runs = arrangeAmong(connect, [])
    return placesAmong(runs, { first: null, neighbours: new Map() }) ?? []
  }
  const keys = [...neighbours]
  const bounds = await readBounds(list, keys, terms)
  const places = bounds && placesAmong(arrangeAmong(connect, bounds.neighbours.keys()), bounds)
  if (places) return places
  terms.transaction.send(printRenumber(list))
  const wider = await readBounds(list, keys, terms)
  const placed = wider && placesAmong(arrangeAmong(connect, wider.neighbours.keys()), wider)
  if (!placed) throw new TypeError(`${list.called} has no room after it was renumbered`)
  return placed
}

import type { Placed } from '../desired-state.ts'
import { GAP } from '../sql/write-rows.ts'
import type { Run } from './link-order.ts'

/** Places of the links to one document in a list, and the next ones to either side; null: there is none. */
export interface Neighbour {
  readonly before: number | null
  readonly first: number
  readonly last: number
  readonly after: number | null
}

/** What is known of a list. */
export interface Bounds {
  /** null: it is empty. */
  readonly first: number | null
  readonly neighbours: ReadonlyMap<number, Neighbour>
}

/** Free places between two that are taken. */
interface Gap {
  readonly from: number | null
  readonly to: number | null
}

type Group = Run['groups'][number]

/** Finds places for links among those of a list, in linear time. null: there is no room, the list has to be renumbered. */
export function placesAmong(runs: readonly Run[], bounds: Bounds): readonly Placed[] | null {
  const placed: Placed[] = []
  const last: Placed[] = []
  for (const { gap, groups } of gapsOf(runs, bounds)) {
    const places = placesIn(gap, groups.length)
    if (!places) return null
    const here = groups.map((entries, index) => ({ entries, place: places[index] ?? null }))
    // What has no place yet gets the next ones at the end, in this order: those at the start of an empty list first.
    if (gap.to === null && gap.from !== null) last.push(...here)
    else placed.push(...here)
  }
  const end = runs.filter(({ from }) => from === 'end').flatMap(({ groups }) => groups)
  return [...placed, ...last, ...end.map(entries => ({ entries, place: null }))]
}

/** Runs in the same gap follow one another: the start of the list, what is after a link, what is before the next one. */
const ORDER: readonly Run['from'][] = ['start', 'after', 'before']

function gapsOf(
  runs: readonly Run[],
  bounds: Bounds,
): Iterable<{ readonly gap: Gap; readonly groups: Group[] }> {
  const gaps = new Map<string, { readonly gap: Gap; readonly groups: Group[] }>()
  for (const from of ORDER) {
    for (const run of runs) {
      if (run.from !== from) continue
      const gap = gapOf(run, bounds)
      const id = `${gap.from} ${gap.to}`
      const there = gaps.get(id) ?? { gap, groups: [] }
      for (const group of run.groups) there.groups.push(group)
      gaps.set(id, there)
    }
  }
  return gaps.values()
}

function gapOf({ from, key }: Run, { first, neighbours }: Bounds): Gap {
  if (from === 'start') return { from: null, to: first }
  const neighbour = key === null ? undefined : neighbours.get(key)
  if (!neighbour) throw new TypeError('a position next to a link that was not looked for')
  return from === 'before'
    ? { from: neighbour.before, to: neighbour.first }
    : { from: neighbour.last, to: neighbour.after }
}

/** undefined: at the end. null: there is no room. */
function placesIn({ from, to }: Gap, count: number): readonly (number | undefined)[] | null {
  if (to === null) return new Array<undefined>(count).fill(undefined)
  if (from === null) return Array.from({ length: count }, (_, index) => to - GAP * (count - index))
  const step = (to - from) / (count + 1)
  const places = Array.from({ length: count }, (_, index) => from + step * (index + 1))
  const isOrdered = places.every(
    (place, index) => place > (places[index - 1] ?? from) && place < (places[index + 1] ?? to),
  )
  return isOrdered ? places : null
}

/**
 * The places of a list in order, given those that its members have already (undefined: a new one). Members keep their
 * places where these ascend: new ones go between them, or to the end (null). A list that was reordered gets new places.
 */
export function placesOf(current: readonly (number | undefined)[]): readonly (number | null)[] {
  const kept = current.filter(place => place !== undefined)
  const ascending = kept.every((place, index) => index === 0 || (kept[index - 1] ?? place) < place)
  const between = ascending ? filledIn(current) : null
  return between ?? current.map(() => null)
}

/** null: there is no room for all. */
function filledIn(current: readonly (number | undefined)[]): readonly (number | null)[] | null {
  const places: (number | null)[] = []
  let from: number | null = null
  let open = 0
  for (const to of current) {
    if (to === undefined) {
      open++
      continue
    }
    const between = placesIn({ from, to }, open)
    if (!between) return null
    for (const place of between) places.push(place ?? null)
    places.push(to)
    from = to
    open = 0
  }
  for (; open > 0; open--) places.push(null)
  return places
}

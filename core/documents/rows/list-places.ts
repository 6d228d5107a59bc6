import { addAll } from '../../base/plain-data.ts'
import type { Status } from '../../query/query.ts'
import type { LinkTarget, Placed } from '../desired-state.ts'
import { GAP } from '../sql/write-rows.ts'

/** Places of the links to one document in a list, and the next ones to either side; null: there is none. */
export interface Neighbour {
  readonly before: number | null
  readonly first: number
  readonly last: number
  readonly after: number | null
}

/** The known positions of a list. */
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

/** Finds positions for links between those of a list, in linear time. null: no positions are free; the list must be renumbered. */
export function placesAmong(runs: readonly Run[], bounds: Bounds): readonly Placed[] | null {
  const placed: Placed[] = []
  const last: Placed[] = []
  for (const { gap, groups } of gapsOf(runs, bounds)) {
    const places = placesIn(gap, groups.length)
    if (!places) return null
    const here = groups.map((entries, index) => ({ entries, place: places[index] ?? null }))
    // Links without a position get the next ones at the end, in this order: first those at the start of an empty list.
    if (gap.to === null && gap.from !== null) addAll(last, here)
    else addAll(placed, here)
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

/** `count` positions in the gap; undefined: at the end of the list. null: no positions are free. */
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

/** Fills in the missing positions. null: not enough positions are free. */
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

/** How much of a list a caller sees: a position may name only what is in that, whatever drafts hold. */
export interface ListView {
  /** The version of the document whose links are visible. */
  readonly status: Status
  /** Documents whose drafts the caller sees; null: all. */
  readonly drafted: readonly number[] | null
}

/** The requested position of a link: an end of the list, or next to the links of a document. */
export type LinkPlace =
  | { readonly at: 'start' | 'end' }
  | { readonly at: 'before' | 'after'; readonly key: number }

/** Links that are put side by side, in order. */
interface Node {
  entries: readonly LinkTarget[]
  before: Node | null
  after: Node | null
}

/** Which links follow a known point of a list whose other links are unknown. */
export interface Run {
  /** `start`: before the whole list; `before`, `after`: next to the links of the document `key`. */
  readonly from: 'start' | 'before' | 'after' | 'end'
  readonly key: number | null
  readonly groups: readonly (readonly LinkTarget[])[]
}

export const entryKey = ({ key, documentId, locale, status }: LinkTarget): string =>
  `${key ?? documentId}\n${locale ?? ''}\n${status ?? ''}`

/**
 * A list of links that is rearranged, each step in constant time. The list is known as a whole (`ofWhole`), or only
 * the documents next to which something is put are known to be in it (`ofNeighbours`).
 */
export class LinkOrder {
  readonly #start = newNode([])
  readonly #end = newNode([])
  readonly #anchors: ReadonlyMap<number, Node>
  /** Anchors that have other links than the ones that are put next to them. */
  readonly #lasting: ReadonlySet<Node>
  /** By document: the nodes that hold links to it. */
  readonly #nodes = new Map<number | undefined, Node[]>()
  readonly #byEntry = new Map<string, Node>()

  private constructor(anchors: ReadonlyMap<number, Node>, lasting: ReadonlySet<Node>) {
    this.#anchors = anchors
    this.#lasting = lasting
    for (const [key, node] of anchors) this.#nodes.set(key, [node])
  }

  static ofWhole(entries: readonly LinkTarget[]): LinkOrder {
    const order = new LinkOrder(new Map(), new Set())
    order.#start.after = order.#end
    order.#end.before = order.#start
    for (const entry of entries) order.#insert([entry], order.#end, 'before')
    return order
  }

  /** By document: the links to it that are put next to others to it. */
  static ofNeighbours(neighbours: ReadonlyMap<number, readonly LinkTarget[]>): LinkOrder {
    const anchors = new Map<number, Node>()
    const lasting = new Set<Node>()
    for (const [key, moved] of neighbours) {
      const anchor = newNode([])
      anchors.set(key, anchor)
      if (moved.length > 0) lasting.add(anchor)
    }
    return new LinkOrder(anchors, lasting)
  }

  /** Puts links in, and takes them from where they were. false: the document that they are to be next to is not in the list. */
  put(entries: readonly LinkTarget[], place: LinkPlace): boolean {
    for (const entry of entries) this.#take(entry)
    if (!('key' in place)) {
      if (place.at === 'start') this.#insert(entries, this.#start, 'after')
      else this.#insert(entries, this.#end, 'before')
      return true
    }
    const nodes = this.#nodes.get(place.key)
    const next = place.at === 'before' ? nodes?.[0] : nodes?.at(-1)
    if (!next) return false
    this.#insert(entries, next, place.at)
    return true
  }

  /** The whole list. */
  entries(): readonly LinkTarget[] {
    return [...following(this.#start)].flat()
  }

  /** The inserted links, grouped by the known link or end that they are next to; in list order as far as it is known. */
  runs(): readonly Run[] {
    const anchored = [...this.#anchors].flatMap(([key, anchor]): readonly Run[] => [
      { from: 'before', key, groups: [...preceding(anchor)].reverse() },
      { from: 'after', key, groups: [...following(anchor)] },
    ])
    const ends: readonly Run[] = [
      { from: 'start', key: null, groups: [...following(this.#start)] },
      ...anchored,
      { from: 'end', key: null, groups: [...preceding(this.#end)].reverse() },
    ]
    return ends.filter(({ groups }) => groups.length > 0)
  }

  #insert(entries: readonly LinkTarget[], next: Node, side: 'before' | 'after'): void {
    const node = newNode(entries)
    const [before, after] = side === 'before' ? [next.before, next] : [next, next.after]
    join(before, node)
    join(node, after)
    for (const entry of entries) this.#byEntry.set(entryKey(entry), node)
    const [first] = entries
    if (!first) return
    const others = this.#nodes.get(first.key)
    if (others) others.push(node)
    else this.#nodes.set(first.key, [node])
  }

  #take(entry: LinkTarget): void {
    const id = entryKey(entry)
    const anchor = this.#leavingAnchor(entry)
    const node = this.#byEntry.get(id)
    this.#byEntry.delete(id)
    if (node) node.entries = node.entries.filter(each => entryKey(each) !== id)
    const emptied = node?.entries.length === 0 ? node : undefined
    if (emptied) join(emptied.before, emptied.after)
    const left = this.#nodes.get(entry.key)?.filter(each => each !== emptied && each !== anchor) ?? []
    if (left.length > 0) this.#nodes.set(entry.key, left)
    else this.#nodes.delete(entry.key)
  }

  /** The known links to a document are gone with one of them, unless there are others. */
  #leavingAnchor({ key }: LinkTarget): Node | undefined {
    const anchor = key === undefined ? undefined : this.#anchors.get(key)
    return anchor && !this.#lasting.has(anchor) ? anchor : undefined
  }
}

const newNode = (entries: readonly LinkTarget[]): Node => ({ entries, before: null, after: null })

function join(before: Node | null, after: Node | null): void {
  if (before) before.after = after
  if (after) after.before = before
}

function* following(node: Node): Generator<readonly LinkTarget[]> {
  for (let each = node.after; each; each = each.after) if (each.entries.length > 0) yield each.entries
}

function* preceding(node: Node): Generator<readonly LinkTarget[]> {
  for (let each = node.before; each; each = each.before) if (each.entries.length > 0) yield each.entries
}

import type { Status } from '../../query/query.ts'
import type { LinkTarget } from '../desired-state.ts'

/** How much of a list a caller sees: a position may name only what is in that, whatever drafts hold. */
export interface ListView {
  /** Whether the links of the document's draft, or those of its published version. */
  readonly status: Status
  /** Documents whose drafts the caller sees; null: all. */
  readonly drafted: readonly number[] | null
}

/** Where a link is put: at an end of the list, or next to the links of a document. */
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
  /** By document: the nodes that hold links to it. */
  readonly #nodes = new Map<number | undefined, Node[]>()
  readonly #byEntry = new Map<string, Node>()

  private constructor(anchors: ReadonlyMap<number, Node>) {
    this.#anchors = anchors
    for (const [key, node] of anchors) this.#nodes.set(key, [node])
  }

  static ofWhole(entries: readonly LinkTarget[]): LinkOrder {
    const order = new LinkOrder(new Map())
    order.#start.after = order.#end
    order.#end.before = order.#start
    for (const entry of entries) order.#insert([entry], order.#end, 'before')
    return order
  }

  static ofNeighbours(keys: Iterable<number>): LinkOrder {
    return new LinkOrder(new Map(Array.from(keys, key => [key, newNode([])])))
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

  /** What was put in, by the known point that it is next to; in the order of the list as far as that is known. */
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
    const anchor = entry.key === undefined ? undefined : this.#anchors.get(entry.key)
    const node = this.#byEntry.get(id)
    this.#byEntry.delete(id)
    if (node) node.entries = node.entries.filter(each => entryKey(each) !== id)
    const emptied = node?.entries.length === 0 ? node : undefined
    if (emptied) join(emptied.before, emptied.after)
    const left = this.#nodes.get(entry.key)?.filter(each => each !== emptied && each !== anchor) ?? []
    if (left.length > 0) this.#nodes.set(entry.key, left)
    else this.#nodes.delete(entry.key)
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

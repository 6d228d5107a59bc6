/** What a walk over declared references found. */
export interface GraphWalk<Node> {
  /** Each node after all that it leads to, but for those that lead back to it. */
  readonly order: readonly Node[]
  /** The ways from a node back to itself; the first node is not repeated at the end. */
  readonly cycles: readonly (readonly Node[])[]
}

interface Visit<Node> {
  readonly node: Node
  readonly next: Iterator<Node>
}

/** Walks along references that people declare, however long they are: neither recursive nor slower than linear. */
export function walkGraph<Node>(
  nodes: Iterable<Node>,
  nextOf: (node: Node) => Iterable<Node>,
): GraphWalk<Node> {
  const order: Node[] = []
  const cycles: Node[][] = []
  const done = new Set<Node>()
  for (const start of nodes) {
    if (done.has(start)) continue
    const way: Visit<Node>[] = []
    const places = new Map<Node, number>()
    const enter = (node: Node) => {
      places.set(node, way.length)
      way.push({ node, next: nextOf(node)[Symbol.iterator]() })
    }
    enter(start)
    for (let visit = way.at(-1); visit !== undefined; visit = way.at(-1)) {
      const { done: isLast, value } = visit.next.next()
      if (isLast) {
        way.pop()
        places.delete(visit.node)
        done.add(visit.node)
        order.push(visit.node)
        continue
      }
      const place = places.get(value)
      if (place !== undefined) cycles.push(way.slice(place).map(({ node }) => node))
      else if (!done.has(value)) enter(value)
    }
  }
  return { order, cycles }
}

/** The result of a depth-first walk. */
export interface GraphWalk<Node> {
  /** Topological order: each node comes after the nodes it references, except within cycles. */
  readonly order: readonly Node[]
  /** Each cycle as a list of nodes; the first node is not repeated at the end. */
  readonly cycles: readonly (readonly Node[])[]
}

interface OpenNode<Node> {
  readonly node: Node
  readonly next: Iterator<Node>
}

/** Depth-first walk in linear time. Iterative, so that long chains of references do not overflow the call stack. */
export function walkGraph<Node>(
  nodes: Iterable<Node>,
  nextOf: (node: Node) => Iterable<Node>,
): GraphWalk<Node> {
  const order: Node[] = []
  const cycles: Node[][] = []
  const done = new Set<Node>()
  for (const start of nodes) {
    if (done.has(start)) continue
    const path: OpenNode<Node>[] = []
    const depths = new Map<Node, number>()
    const enter = (node: Node) => {
      depths.set(node, path.length)
      path.push({ node, next: nextOf(node)[Symbol.iterator]() })
    }
    enter(start)
    for (let open = path.at(-1); open !== undefined; open = path.at(-1)) {
      const { done: isLast, value } = open.next.next()
      if (isLast) {
        path.pop()
        depths.delete(open.node)
        done.add(open.node)
        order.push(open.node)
        continue
      }
      const depth = depths.get(value)
      if (depth !== undefined) cycles.push(path.slice(depth).map(({ node }) => node))
      else if (!done.has(value)) enter(value)
    }
  }
  return { order, cycles }
}

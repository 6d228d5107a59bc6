import ELK, { type ElkNode } from 'elkjs/lib/elk.bundled.js'
import { HEADING_HEIGHT, PADDING, type PlacedGraph, ROW_HEIGHT } from './graph.ts'
import type { ModelEdge, ModelNode } from './model-data.ts'

/** Estimated pixels of a character of an attribute; the heading's font is larger. */
const CHARACTER_WIDTH = 7.2
const HEADING_SCALE = 1.2
const MIN_WIDTH = 120
const MAX_WIDTH = 320
const BOTTOM_PADDING = 8

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'RIGHT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.spacing.nodeNodeBetweenLayers': '60',
  'elk.spacing.nodeNode': '30',
  'elk.separateConnectedComponents': 'true',
}

const widthOf = ({ name, attributes }: ModelNode): number => {
  const longest = Math.max(
    name.length * HEADING_SCALE,
    ...attributes.map(attribute => attribute.name.length + attribute.type.length + 3),
  )
  return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, longest * CHARACTER_WIDTH + 2 * PADDING))
}

const heightOf = ({ attributes }: ModelNode): number =>
  HEADING_HEIGHT + attributes.length * ROW_HEIGHT + BOTTOM_PADDING

/** Positions of boxes and lines, computed by ELK. */
export async function layoutGraph(
  nodes: readonly ModelNode[],
  edges: readonly ModelEdge[],
): Promise<PlacedGraph> {
  const elk = new ELK()
  const model: ElkNode = {
    id: 'model',
    layoutOptions: OPTIONS,
    children: nodes.map(node => ({ id: node.uid, width: widthOf(node), height: heightOf(node) })),
    edges: edges.map(({ id, from, to }) => ({ id, sources: [from], targets: [to] })),
  }
  const graph = await elk.layout(model)
  const positions = new Map((graph.children ?? []).map(child => [child.id, child]))
  const routes = new Map((graph.edges ?? []).map(edge => [edge.id, edge.sections ?? []]))
  return {
    width: graph.width ?? 0,
    height: graph.height ?? 0,
    nodes: nodes.map(node => {
      const { x = 0, y = 0 } = positions.get(node.uid) ?? {}
      return { ...node, x, y, width: widthOf(node), height: heightOf(node) }
    }),
    edges: edges.map(edge => ({
      ...edge,
      points: (routes.get(edge.id) ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
        startPoint,
        ...bendPoints,
        endPoint,
      ]),
    })),
  }
}

import type { ModelEdge, ModelNode } from './model-data.ts'

/** Heights of an attribute and of the heading of a box. */
export const ROW = 18
export const HEAD = 30

export interface PlacedNode extends ModelNode {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

interface Point {
  readonly x: number
  readonly y: number
}

export interface PlacedEdge extends ModelEdge {
  readonly points: readonly Point[]
}

export interface PlacedGraph {
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
  readonly width: number
  readonly height: number
}

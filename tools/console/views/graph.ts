import type { ModelEdge, ModelNode } from './model-data.ts'

// All sizes are in pixels of the SVG; the texts are in the font of styles/views.css.

export const PADDING = 12
export const ROW_HEIGHT = 18
export const HEADING_HEIGHT = 30

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

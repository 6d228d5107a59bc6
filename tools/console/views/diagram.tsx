import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { useTranslate } from '../shell/i18n.tsx'
import {
  HEADING_HEIGHT,
  PADDING,
  type PlacedEdge,
  type PlacedGraph,
  type PlacedNode,
  ROW_HEIGHT,
} from './graph.ts'

interface DiagramProps {
  readonly graph: PlacedGraph
  /** The uids that a search found. */
  readonly matches: ReadonlySet<string>
}

interface Viewport {
  readonly x: number
  readonly y: number
  readonly scale: number
}

/** Factors of the original size. */
const ZOOM = { least: 0.1, most: 3, step: 1.25 }
/** Pixels around the diagram. */
const MARGIN = 20
/** Pixels that an arrow key moves the diagram. */
const PAN_STEP = 60

/** Dragging and the arrow keys pan, `+`, `-` and `0` zoom. The list below the diagram has the same content. */
export function Diagram({ graph, matches }: DiagramProps) {
  const translate = useTranslate()
  const frame = useRef<SVGSVGElement>(null)
  const { view, setView, zoom, fit } = useViewport(graph, frame)
  const [first] = matches
  useEffect(() => {
    const node = graph.nodes.find(({ uid }) => uid === first)
    const box = frame.current?.getBoundingClientRect()
    if (!node || !box) return
    const center = { x: node.x + node.width / 2, y: node.y + node.height / 2 }
    setView({ scale: 1, x: box.width / 2 - center.x, y: box.height / 2 - center.y })
  }, [first, graph, setView])
  const move = (x: number, y: number) => setView(now => ({ ...now, x: now.x + x, y: now.y + y }))
  const onKeyDown = (event: KeyboardEvent) => {
    const command = KEYS[event.key]
    if (!command) return
    event.preventDefault()
    command({ move, zoom, fit })
  }
  const drag = useDrag(move)
  return (
    <>
      <DiagramActions zoom={zoom} fit={fit} onSave={() => frame.current && exportSvg(frame.current, graph)} />
      <div
        className="diagram"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the diagram, as they scroll a page.
        tabIndex={0}
        role="application"
        aria-label={translate('diagramHelp')}
        onKeyDown={onKeyDown}
      >
        <svg
          ref={frame}
          role="img"
          aria-label={translate('diagramOf', { count: graph.nodes.length })}
          {...drag}
        >
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {graph.edges.map(edge => (
              <Edge key={edge.id} edge={edge} />
            ))}
            {graph.nodes.map(node => (
              <Box key={node.uid} node={node} isMatch={matches.has(node.uid)} />
            ))}
          </g>
        </svg>
      </div>
    </>
  )
}

/** Pointer event handlers; `move` gets the pixels since the last event. */
function useDrag(move: (x: number, y: number) => void) {
  const from = useRef<{ readonly x: number; readonly y: number } | null>(null)
  return {
    onPointerDown(event: PointerEvent) {
      from.current = { x: event.clientX, y: event.clientY }
      event.currentTarget.setPointerCapture(event.pointerId)
    },
    onPointerMove(event: PointerEvent) {
      if (!from.current) return
      move(event.clientX - from.current.x, event.clientY - from.current.y)
      from.current = { x: event.clientX, y: event.clientY }
    },
    onPointerUp() {
      from.current = null
    },
  }
}

interface ActionsProps {
  readonly zoom: (factor: number) => void
  readonly fit: () => void
  readonly onSave: () => void
}

function DiagramActions({ zoom, fit, onSave }: ActionsProps) {
  const translate = useTranslate()
  return (
    <div className="actions">
      <button type="button" onClick={() => zoom(ZOOM.step)}>
        {translate('zoomIn')}
      </button>
      <button type="button" onClick={() => zoom(1 / ZOOM.step)}>
        {translate('zoomOut')}
      </button>
      <button type="button" onClick={fit}>
        {translate('zoomFit')}
      </button>
      <button type="button" onClick={onSave}>
        {translate('exportSvg')}
      </button>
    </div>
  )
}

interface DiagramControls {
  readonly move: (x: number, y: number) => void
  readonly zoom: (factor: number) => void
  readonly fit: () => void
}

const KEYS: Readonly<Record<string, (controls: DiagramControls) => void>> = {
  ArrowLeft: ({ move }) => move(PAN_STEP, 0),
  ArrowRight: ({ move }) => move(-PAN_STEP, 0),
  ArrowUp: ({ move }) => move(0, PAN_STEP),
  ArrowDown: ({ move }) => move(0, -PAN_STEP),
  '+': ({ zoom }) => zoom(ZOOM.step),
  '=': ({ zoom }) => zoom(ZOOM.step),
  '-': ({ zoom }) => zoom(1 / ZOOM.step),
  '0': ({ fit }) => fit(),
}

function useViewport(graph: PlacedGraph, frame: { readonly current: SVGSVGElement | null }) {
  const [view, setView] = useState<Viewport>({ x: 0, y: 0, scale: 1 })
  const fit = () => {
    const box = frame.current?.getBoundingClientRect()
    if (!box || graph.width === 0) return
    const scale = Math.min(
      1,
      (box.width - 2 * MARGIN) / graph.width,
      (box.height - 2 * MARGIN) / graph.height,
    )
    setView({ scale, x: (box.width - graph.width * scale) / 2, y: (box.height - graph.height * scale) / 2 })
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new graph is shown as a whole.
  useEffect(fit, [graph])
  /** Keeps the middle of the frame in place. */
  const zoom = (factor: number) => {
    const box = frame.current?.getBoundingClientRect()
    const middle = { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) / 2 }
    setView(now => {
      const scale = Math.min(ZOOM.most, Math.max(ZOOM.least, now.scale * factor))
      const ratio = scale / now.scale
      return { scale, x: middle.x - (middle.x - now.x) * ratio, y: middle.y - (middle.y - now.y) * ratio }
    })
  }
  return { view, setView, zoom, fit }
}

function Edge({ edge: { points, label, from, to } }: { readonly edge: PlacedEdge }) {
  return (
    <polyline className="edge" points={points.map(({ x, y }) => `${x},${y}`).join(' ')}>
      <title>{`${from}.${label} → ${to}`}</title>
    </polyline>
  )
}

/** Average pixels of a character, bold at 14px and regular at 12px: SVG has no text overflow. */
const NAME_CHARACTER_WIDTH = 8.5
const ATTRIBUTE_CHARACTER_WIDTH = 6.4

function Box({ node, isMatch }: { readonly node: PlacedNode; readonly isMatch: boolean }) {
  const { x, y, width, height, name, kind, attributes } = node
  return (
    <g className={`box ${kind}${isMatch ? ' found' : ''}`} transform={`translate(${x} ${y})`}>
      <rect width={width} height={height} rx={6} />
      <text className="box-name" x={PADDING} y={20}>
        {shorten(name, (width - 2 * PADDING) / NAME_CHARACTER_WIDTH)}
      </text>
      {attributes.map((attribute, index) => (
        <text key={attribute.name} x={PADDING} y={HEADING_HEIGHT + ROW_HEIGHT * (index + 0.75)}>
          {shorten(`${attribute.name}  ${attribute.type}`, (width - 2 * PADDING) / ATTRIBUTE_CHARACTER_WIDTH)}
        </text>
      ))}
    </g>
  )
}

const shorten = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, Math.max(1, Math.floor(maxLength) - 1))}…` : text

const EXPORT_STYLE =
  'rect{fill:#fff;stroke:#545b68}text{font:12px system-ui,sans-serif;fill:#1b1e24}.box-name{font-weight:600;font-size:14px}.edge{fill:none;stroke:#545b68}'

/** Downloads the whole diagram as an SVG file, independent of zoom and position. */
function exportSvg(svg: SVGSVGElement, { width, height }: PlacedGraph): void {
  const content = svg.querySelector('g')?.innerHTML ?? ''
  const box = `${-MARGIN} ${-MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${box}"><style>${EXPORT_STYLE}</style>${content}</svg>`
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }))
  const link = document.createElement('a')
  link.href = address
  link.download = 'model.svg'
  link.click()
  URL.revokeObjectURL(address)
}

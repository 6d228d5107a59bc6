import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { useWords } from '../shell/i18n.tsx'
import { HEAD, type PlacedEdge, type PlacedGraph, type PlacedNode, ROW } from './graph.ts'

interface DiagramProps {
  readonly graph: PlacedGraph
  /** The uids that a search found. */
  readonly found: ReadonlySet<string>
}

interface Viewport {
  readonly x: number
  readonly y: number
  readonly scale: number
}

const SCALES = { least: 0.1, most: 3, step: 1.25 }
const MARGIN = 20
const PAN = 60

/** Boxes and lines. Dragging or the arrow keys move it, `+`, `-` and `0` zoom. The list below has the same content. */
export function Diagram({ graph, found }: DiagramProps) {
  const words = useWords()
  const frame = useRef<SVGSVGElement>(null)
  const { view, setView, zoom, fit } = useViewport(graph, frame)
  const [first] = found
  useEffect(() => {
    const node = graph.nodes.find(({ uid }) => uid === first)
    const box = frame.current?.getBoundingClientRect()
    if (!node || !box) return
    const center = { x: node.x + node.width / 2, y: node.y + node.height / 2 }
    setView({ scale: 1, x: box.width / 2 - center.x, y: box.height / 2 - center.y })
  }, [first, graph, setView])
  const move = (x: number, y: number) => setView(now => ({ ...now, x: now.x + x, y: now.y + y }))
  const pressed = (event: KeyboardEvent) => {
    const act = KEYS[event.key]
    if (!act) return
    event.preventDefault()
    act({ move, zoom, fit })
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
        aria-label={words('diagramHelp')}
        onKeyDown={pressed}
      >
        <svg ref={frame} role="img" aria-label={words('diagramOf', { count: graph.nodes.length })} {...drag}>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {graph.edges.map(edge => (
              <Edge key={edge.id} edge={edge} />
            ))}
            {graph.nodes.map(node => (
              <Box key={node.uid} node={node} found={found.has(node.uid)} />
            ))}
          </g>
        </svg>
      </div>
    </>
  )
}

/** The handlers of an element that is moved with the pointer. */
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
  const words = useWords()
  return (
    <div className="actions">
      <button type="button" onClick={() => zoom(SCALES.step)}>
        {words('zoomIn')}
      </button>
      <button type="button" onClick={() => zoom(1 / SCALES.step)}>
        {words('zoomOut')}
      </button>
      <button type="button" onClick={fit}>
        {words('zoomFit')}
      </button>
      <button type="button" onClick={onSave}>
        {words('exportSvg')}
      </button>
    </div>
  )
}

interface Movement {
  readonly move: (x: number, y: number) => void
  readonly zoom: (factor: number) => void
  readonly fit: () => void
}

const KEYS: Readonly<Record<string, (movement: Movement) => void>> = {
  ArrowLeft: ({ move }) => move(PAN, 0),
  ArrowRight: ({ move }) => move(-PAN, 0),
  ArrowUp: ({ move }) => move(0, PAN),
  ArrowDown: ({ move }) => move(0, -PAN),
  '+': ({ zoom }) => zoom(SCALES.step),
  '=': ({ zoom }) => zoom(SCALES.step),
  '-': ({ zoom }) => zoom(1 / SCALES.step),
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
  /** Around the middle of the frame. */
  const zoom = (factor: number) => {
    const box = frame.current?.getBoundingClientRect()
    const middle = { x: (box?.width ?? 0) / 2, y: (box?.height ?? 0) / 2 }
    setView(now => {
      const scale = Math.min(SCALES.most, Math.max(SCALES.least, now.scale * factor))
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

function Box({ node, found }: { readonly node: PlacedNode; readonly found: boolean }) {
  const { x, y, width, height, name, kind, attributes } = node
  return (
    <g className={`box ${kind}${found ? ' found' : ''}`} transform={`translate(${x} ${y})`}>
      <rect width={width} height={height} rx={6} />
      <text className="box-name" x={12} y={20}>
        {shorten(name, (width - 24) / 8.5)}
      </text>
      {attributes.map((attribute, at) => (
        <text key={attribute.name} x={12} y={HEAD + ROW * (at + 0.75)}>
          {shorten(`${attribute.name}  ${attribute.type}`, (width - 24) / 6.4)}
        </text>
      ))}
    </g>
  )
}

const shorten = (text: string, letters: number): string =>
  text.length > letters ? `${text.slice(0, Math.max(1, Math.floor(letters) - 1))}…` : text

const EXPORT_STYLE =
  'rect{fill:#fff;stroke:#545b68}text{font:12px system-ui,sans-serif;fill:#1b1e24}.box-name{font-weight:600;font-size:14px}.edge{fill:none;stroke:#545b68}'

/** The whole diagram as a file, whatever part of it is on screen. */
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

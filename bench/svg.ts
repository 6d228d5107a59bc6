/** A line of a chart. */
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

export interface Axis {
  readonly label: string
  readonly scale: 'linear' | 'log'
  /** What a mark says. */
  readonly mark: (value: number) => string
}

export interface LineChart {
  readonly title: string
  readonly x: Axis
  readonly y: Axis
  readonly series: readonly Series[]
}

/** Of the drawing without its margins. */
const WIDTH = 620
const HEIGHT = 340
const LEFT = 70
const TOP = 46
const LEGEND = 20

/** Lines are distinguished by colour and by dashes, on white and on black. */
const COLOURS = ['#2f81f7', '#d29922', '#3fb950', '#db61a2', '#a371f7', '#8b949e', '#f85149', '#1f9e9e']
const DASHES = ['', '7 3', '2 3', '9 3 2 3']

/** An SVG that follows the reader's light or dark colours. Linear axes begin at 0. */
export function drawLines({ title, x, y, series }: LineChart): string {
  const points = series.flatMap(each => each.points)
  const across = scaleOf(
    points.map(([at]) => at),
    { ...x, length: WIDTH },
  )
  const up = scaleOf(
    points.map(([, at]) => at),
    { ...y, length: HEIGHT },
  )
  const place = ([px, py]: readonly [number, number]) =>
    `${round(LEFT + across.at(px))},${round(TOP + HEIGHT - up.at(py))}`
  const height = TOP + HEIGHT + 56 + LEGEND * series.length
  const width = LEFT + WIDTH + 30
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${quoted(title)}</title>`,
    STYLE,
    `<rect class="ground" width="${width}" height="${height}"/>`,
    `<text class="head" x="${LEFT}" y="24">${quoted(title)}</text>`,
    ...across.marks.map(mark => markAcross(LEFT + across.at(mark), x.mark(mark))),
    ...up.marks.map(mark => markUp(TOP + HEIGHT - up.at(mark), y.mark(mark))),
    `<text x="${LEFT + WIDTH / 2}" y="${TOP + HEIGHT + 38}" text-anchor="middle">${quoted(x.label)}</text>`,
    `<text x="${LEFT}" y="${TOP - 8}">${quoted(y.label)}</text>`,
    ...series.map((each, at) => `<polyline ${strokeOf(at)} points="${each.points.map(place).join(' ')}"/>`),
    ...series.map((each, at) => legendLine(each.name, at, TOP + HEIGHT + 62 + LEGEND * at)),
    '</svg>',
    '',
  ].join('\n')
}

/** Text, ground and grid, light or dark as the reader has it. */
export const STYLE = `<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 } .head { font-weight: 600; font-size: 14px }
.ground { fill: #ffffff } .grid { stroke: #8b949e; stroke-opacity: 0.35 } polyline { fill: none; stroke-width: 2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ground { fill: #0d1117 } }
</style>`

const strokeOf = (at: number): string =>
  `stroke="${COLOURS[at % COLOURS.length]}" stroke-dasharray="${DASHES[Math.floor(at / COLOURS.length) % DASHES.length]}"`

const legendLine = (name: string, at: number, y: number): string =>
  `<polyline ${strokeOf(at)} points="${LEFT},${y} ${LEFT + 26},${y}"/><text x="${LEFT + 34}" y="${y + 4}">${quoted(name)}</text>`

const markAcross = (x: number, text: string): string =>
  `<line class="grid" x1="${round(x)}" x2="${round(x)}" y1="${TOP}" y2="${TOP + HEIGHT}"/><text x="${round(x)}" y="${TOP + HEIGHT + 18}" text-anchor="middle">${quoted(text)}</text>`

const markUp = (y: number, text: string): string =>
  `<line class="grid" x1="${LEFT}" x2="${LEFT + WIDTH}" y1="${round(y)}" y2="${round(y)}"/><text x="${LEFT - 8}" y="${round(y) + 4}" text-anchor="end">${quoted(text)}</text>`

interface Scale {
  /** How far from the beginning of the axis a value lies. */
  readonly at: (value: number) => number
  readonly marks: readonly number[]
}

const scaleOf = (values: readonly number[], axis: Axis & { readonly length: number }): Scale =>
  axis.scale === 'log' ? logScale(values, axis.length) : linearScale(values, axis.length)

/** Marks at the powers of ten. */
function logScale(values: readonly number[], length: number): Scale {
  const least = Math.floor(Math.log10(Math.min(...values)))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    at: value => ((Math.log10(value) - least) / (most - least)) * length,
    marks: Array.from({ length: most - least + 1 }, (_, step) => 10 ** (least + step)),
  }
}

/** Four to nine marks at round numbers. */
function linearScale(values: readonly number[], length: number): Scale {
  const most = Math.max(...values, Number.MIN_VALUE)
  const size = 10 ** Math.floor(Math.log10(most))
  const step = [0.2, 0.5, 1, 2].map(part => part * size).find(each => most / each <= 8) ?? size
  const count = Math.ceil(most / step)
  return {
    at: value => (value / (count * step)) * length,
    marks: Array.from({ length: count + 1 }, (_, at) => at * step),
  }
}

export const round = (value: number): number => Math.round(value * 10) / 10

export const quoted = (text: string): string =>
  text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)

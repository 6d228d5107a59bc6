import { quoted, round, STYLE } from './svg.ts'

export interface Bar {
  readonly name: string
  /** More than 0. */
  readonly value: number
  /** Ours stand out. */
  readonly isOurs: boolean
}

export interface BarChart {
  readonly title: string
  readonly groups: readonly { readonly title: string; readonly bars: readonly Bar[] }[]
}

const WIDTH = 820
const LEFT = 150
const RIGHT = 80
const TOP = 48
const BOTTOM = 36
const BAR = 17
const GROUP = 44

interface Axis {
  /** Where a value is. */
  readonly at: (value: number) => number
  readonly marks: readonly number[]
}

/** An SVG that follows the reader's light or dark colours: groups of bars, one below the other, on a scale of powers of ten. */
export function drawBars({ title, groups }: BarChart): string {
  const axis = axisOf(groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const parts: string[] = []
  let y = TOP
  for (const group of groups) {
    parts.push(
      `<text class="group" x="${LEFT}" y="${y + 12}">${quoted(group.title)}</text>`,
      ...group.bars.flatMap((bar, index) => barAt(bar, y + 20 + index * BAR, axis)),
    )
    y += GROUP + group.bars.length * BAR
  }
  const height = y + BOTTOM - 16
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">`,
    `<title>${quoted(title)}</title>`,
    STYLE,
    OWN,
    `<rect class="ground" width="${WIDTH}" height="${height}"/>`,
    `<text class="head" x="16" y="24">${quoted(title)}</text>`,
    ...axis.marks.flatMap(mark => markAt(mark, round(axis.at(mark)), height)),
    ...parts,
    '</svg>',
    '',
  ].join('\n')
}

/** From the power of ten below the least to that above the most. */
function axisOf(values: readonly number[]): Axis {
  const least = Math.floor(Math.log10(Math.min(...values)))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    at: value => LEFT + ((Math.log10(value) - least) / (most - least)) * (WIDTH - LEFT - RIGHT),
    marks: Array.from({ length: most - least + 1 }, (_, step) => 10 ** (least + step)),
  }
}

const markAt = (mark: number, x: number, height: number): readonly string[] => [
  `<line class="grid" x1="${x}" x2="${x}" y1="${TOP - 8}" y2="${height - 26}"/>`,
  `<text x="${x}" y="${height - 10}" text-anchor="middle">${mark.toLocaleString('en')}</text>`,
]

function barAt({ name, value, isOurs }: Bar, y: number, axis: Axis): readonly string[] {
  const end = axis.at(value)
  return [
    `<text x="${LEFT - 8}" y="${y + 11}" text-anchor="end">${quoted(name)}</text>`,
    `<rect class="${isOurs ? 'ours' : 'other'}" x="${LEFT}" y="${y}" width="${round(Math.max(end - LEFT, 1))}" height="${BAR - 4}"/>`,
    `<text x="${round(end + 6)}" y="${y + 11}">${Math.round(value).toLocaleString('en')}</text>`,
  ]
}

const OWN = '<style>.group { font-weight: 600 } .ours { fill: #2da44e } .other { fill: #8b949e }</style>'

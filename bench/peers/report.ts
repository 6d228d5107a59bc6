import { drawBars } from '../bars.ts'
import { median } from '../rounds.ts'
import type { AtRest } from './at-rest.ts'
import { type Compared, type Measured, typical } from './compare.ts'

const STARTS_FASTER = 3
const MOST_MEMORY = 115
const OURS = 'Plinth, cache off'

/** Names in the order of the columns. */
type Names = readonly string[]

export function speedTable(compared: readonly Compared[], names: Names): readonly string[] {
  const lines = compared.map(({ row: { title, goal, keptGoal }, measured }) => {
    const speeds = names.map(name =>
      cell(measured, name, rounds => `${Math.round(typical(rounds, 'perSecond'))}`),
    )
    const kept = [times(measured, 'Plinth'), keptGoal === undefined ? '' : `≥ ${keptGoal} ×`]
    return line([title, ...speeds, times(measured, OURS), `≥ ${goal} ×`, ...kept])
  })
  const head = [
    'requests a second',
    ...names,
    'cache off, of Strapi’s',
    'goal',
    'asked for again, of Strapi’s',
    'goal',
  ]
  return [...headOf(head), ...lines]
}

/** The median of the ratios of the turns. */
function times(measured: readonly Measured[], name: string): string {
  const [ours, theirs] = [roundsOf(measured, name), roundsOf(measured, 'Strapi')]
  if (!ours || !theirs) return ''
  const ratio = median(ours.map((round, turn) => round.perSecond / (theirs[turn]?.perSecond ?? Number.NaN)))
  return `${ratio.toFixed(1)} ×`
}

/** An SVG of what the table of speeds says. */
export const plot = (compared: readonly Compared[], title: string): string =>
  drawBars({
    title,
    groups: compared.map(({ row, measured }) => ({
      title: row.title,
      bars: measured.map(({ contender: { name }, rounds }) => ({
        name,
        value: typical(rounds, 'perSecond'),
        isOurs: name.startsWith('Plinth'),
      })),
    })),
  })

/** What a request takes of the server’s processor time and of PostgreSQL's, and how long the slowest hundredth waits. */
export function costTable(compared: readonly Compared[], names: Names): readonly string[] {
  const lines = compared.map(({ row: { title }, measured }) =>
    line([title, ...names.map(name => cell(measured, name, costs)), cheaper(measured)]),
  )
  return [
    ...headOf(['CPU: server + PostgreSQL; p99', ...names, 'Strapi’s CPU, of that with the cache off']),
    ...lines,
  ]
}

/** Other work on the machine changes this less than how many requests are answered. */
function cheaper(measured: readonly Measured[]): string {
  const [ours, theirs] = [roundsOf(measured, OURS), roundsOf(measured, 'Strapi')]
  return ours && theirs ? `${(spent(theirs) / spent(ours)).toFixed(1)} ×` : ''
}

const spent = (rounds: Measured['rounds']): number =>
  median(rounds.map(({ cpu, databaseCpu }) => cpu + databaseCpu))

const costs = (rounds: Measured['rounds']): string =>
  `${milliseconds(typical(rounds, 'cpu'))} + ${milliseconds(typical(rounds, 'databaseCpu'))} ms; ${Math.round(typical(rounds, 'p99'))} ms`

/** Of microseconds. */
const milliseconds = (micros: number): string => (micros / 1000).toFixed(micros < 10_000 ? 2 : 1)

export function restTable(looked: readonly AtRest[]): readonly string[] {
  const of = (show: (each: AtRest) => string) => looked.map(show)
  const strapi = looked.find(({ peer }) => peer.name === 'Strapi')
  const [plinth] = looked
  const faster = strapi && plinth ? `; ${(strapi.start / plinth.start).toFixed(1)} × faster than Strapi` : ''
  return [
    ...headOf(['', ...of(({ peer }) => peer.name.replace(/,.*/, '')), 'goal']),
    line([
      'start to the first answer',
      ...of(({ start }) => `${Math.round(start)} ms`),
      `≥ ${STARTS_FASTER} ×${faster}`,
    ]),
    line(['memory 10 s later', ...of(({ memory }) => `${Math.round(memory)} MB`), `≤ ${MOST_MEMORY} MB`]),
    line(['packages installed', ...of(({ peer }) => String(peer.installed.packages)), '']),
    line(['their size on the disk', ...of(({ peer }) => `${Math.round(peer.installed.megabytes)} MB`), '']),
  ]
}

const cell = (
  measured: readonly Measured[],
  name: string,
  show: (rounds: Measured['rounds']) => string,
): string => {
  const rounds = roundsOf(measured, name)
  return rounds ? show(rounds) : ''
}

const roundsOf = (measured: readonly Measured[], name: string): Measured['rounds'] | undefined =>
  measured.find(({ contender }) => contender.name === name)?.rounds

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const headOf = (cells: readonly string[]): readonly string[] => [
  line(cells),
  `|${'---|'.repeat(cells.length)}`,
]

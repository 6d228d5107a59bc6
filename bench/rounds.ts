import assert from 'node:assert/strict'
import { type Load, load } from './load.ts'
import type { Running } from './process.ts'
import type { ProcessorTime } from './processor-time.ts'
import type { PlanRequest } from './rows.ts'

export const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9)
export const SECONDS = Number(process.env.BENCH_SECONDS ?? 2)

/** Seconds before the first round: code that ran a few times is slower than it will be. */
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 5)

export interface Round extends Load {
  /** Microseconds of the server's processor time a request. */
  readonly cpu: number
  /** Processor time of PostgreSQL; 0 if it is not measured. */
  readonly databaseCpu: number
}

export interface Side {
  readonly server: Running
  readonly asked: readonly PlanRequest[]
  /** Requests a second; absent: as many as are answered. */
  readonly rate?: number
  readonly postgres?: ProcessorTime
}

/** One round of each side. */
export type Turn = readonly [Round, Round]

/** Short rounds, each side first in half of them, so that other load of the machine affects both alike. */
export async function takeTurns(sides: readonly [Side, Side]): Promise<readonly Turn[]> {
  const turns = await takeRounds(sides)
  return turns.map(([first, second]) => {
    assert(first && second)
    return [first, second]
  })
}

/** As many turns as ROUNDS says: one round of each side, in the order of the sides. Another begins each time. */
export async function takeRounds(sides: readonly Side[]): Promise<readonly (readonly Round[])[]> {
  for (const side of sides) await run(side, WARM_UP)
  const turns: Round[][] = []
  for (let turn = 0; turn < ROUNDS; turn++) {
    const first = turn % sides.length
    const begun: Round[] = []
    for (const side of [...sides.slice(first), ...sides.slice(0, first)]) begun.push(await answered(side))
    turns.push([...begun.slice(sides.length - first), ...begun.slice(0, sides.length - first)])
  }
  return turns
}

async function answered(side: Side): Promise<Round> {
  const round = await run(side)
  assert(round.total > 0, `Nothing was answered in ${SECONDS} s: BENCH_SECONDS has to be longer`)
  return round
}

async function run(
  { server, asked, rate, postgres = NOT_MEASURED }: Side,
  seconds = SECONDS,
): Promise<Round> {
  const before = [server.cpu(), postgres()] as const
  const round = await load(server.base, asked, { seconds, rate })
  assert.equal(round.failed, 0, `${round.failed} requests failed`)
  const micros = (now: number, then: number) => ((now - then) * 1000) / round.total
  return { ...round, cpu: micros(server.cpu(), before[0]), databaseCpu: micros(postgres(), before[1]) }
}

const NOT_MEASURED: ProcessorTime = () => 0

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const found = sorted[Math.floor(sorted.length / 2)]
  assert(found !== undefined)
  return found
}

/** Six cells of a line: requests a second, CPU and p99 of either side. */
export function measured(turns: readonly Turn[]): string {
  const of = (name: 'perSecond' | 'cpu' | 'p99', unit: string) =>
    [0, 1].map(side => `${Math.round(median(turns.map(turn => turn[side === 0 ? 0 : 1][name])))}${unit}`)
  const cells = [...of('perSecond', ''), ...of('cpu', ' µs'), ...of('p99', ' ms')]
  return `| ${cells.join(' | ')} |`
}

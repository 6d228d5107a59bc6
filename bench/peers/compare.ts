import { type ProcessorTime, timeOfPostgres } from '../processor-time.ts'
import { median, type Round, takeRounds } from '../rounds.ts'
import type { Contender } from './contender.ts'
import { PEER_ROWS } from './rows.ts'
import { assertSameDocuments, assertWritten, type Started } from './same-documents.ts'

/** How one of them did in one row. */
export interface Measured {
  readonly contender: Contender
  /** In the order of the turns. */
  readonly rounds: readonly Round[]
}

export interface Compared {
  readonly row: (typeof PEER_ROWS)[number]
  readonly measured: readonly Measured[]
}

/** All servers run all the while, and are asked in turn. `only`: part of the titles of rows to measure. */
export async function compare(contenders: readonly Contender[], only = ''): Promise<readonly Compared[]> {
  const started: Started[] = []
  try {
    for (const contender of contenders) started.push({ contender, server: await contender.start() })
    const postgres = await timeOfPostgres(contenders[0]?.url ?? '')
    const compared: Compared[] = []
    for (const row of PEER_ROWS.filter(({ title }) => title.includes(only)))
      compared.push(await compareRow(row, started, postgres))
    return compared
  } finally {
    for (const { server } of started) await server.stop()
  }
}

async function compareRow(
  row: Compared['row'],
  started: readonly Started[],
  postgres: ProcessorTime,
): Promise<Compared> {
  process.stderr.write(`${row.title}\n`)
  const taking = started.filter(({ contender }) => contender.requests[row.name])
  await (row.name === 'create' ? assertWritten(taking) : assertSameDocuments(row.name, taking))
  const sides = taking.map(({ contender, server }) => ({
    server,
    asked: contender.requests[row.name] ?? [],
    postgres,
  }))
  const turns = await takeRounds(sides)
  return {
    row,
    measured: taking.map(({ contender }, side) => ({
      contender,
      rounds: turns.flatMap(turn => turn[side] ?? []),
    })),
  }
}

/** The median of what was measured of one of them. */
export const typical = (
  rounds: readonly Round[],
  name: 'perSecond' | 'cpu' | 'databaseCpu' | 'p99',
): number => median(rounds.map(round => round[name]))

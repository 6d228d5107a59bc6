import { type Loop, runLoop } from '../closed-loop.ts'
import type { Running } from '../process.ts'
import { type ProcessorTime, timeOfTree } from '../processor-time.ts'

/** What a request took. */
export interface Taken extends Loop {
  /** Microseconds of processor time a request. */
  readonly server: number
  readonly postgres: number
}

const SECONDS = Number(process.env.GROWTH_SECONDS ?? 2)

interface MeasureOptions {
  readonly paths: readonly string[]
  readonly postgres: ProcessorTime
  /** Few, for the time of a request is measured, not how many a second are answered. */
  readonly clients?: number
}

/** Half as long beforehand, so that code and plans are as they will be. */
export async function measure(
  server: Running,
  { paths, postgres, clients = 2 }: MeasureOptions,
): Promise<Taken> {
  const asked = paths.map(path => ({ path }))
  await runLoop(server.base, asked, { clients, seconds: SECONDS / 2, least: 2 })
  const own = timeOfTree(server.pid)
  const before = [own(), postgres()] as const
  const loop = await runLoop(server.base, asked, { clients, seconds: SECONDS, least: 3 })
  const each = (after: number, start: number) => ((after - start) * 1000) / loop.total
  return { ...loop, server: each(own(), before[0]), postgres: each(postgres(), before[1]) }
}

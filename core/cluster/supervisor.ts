import { coalesceRuns } from '../base/serial-queue.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { mergeFamilies, printFamilies, type WorkerFamilies } from '../observe/metrics/print-families.ts'
import type { Observer } from '../observe/observation.ts'
import { openRollingReload } from './rolling-reload.ts'
import type { PrimaryMethods } from './rpc.ts'
import type { WorkerProcess } from './worker-process.ts'
import { openWorkerSlot, type WorkerSlot } from './worker-slot.ts'

export interface SupervisorOptions {
  readonly count: number
  /** Starts a worker process. */
  startWorker(worker: NewWorker): WorkerProcess
  readonly observer: Observer
}

export interface NewWorker {
  readonly number: number
  /** Other workers already serve on the same port: this one must not get requests before it can answer them. */
  readonly bindsLast: boolean
  readonly answers: Pick<PrimaryMethods, 'holdOthers' | 'allMetrics'>
}

/** All workers of a machine. */
export interface Supervisor {
  /**
   * Resolves to null when the first worker serves; only then the others start, so that one alone migrates the database.
   * Resolves to its exit code if it ends before; 0 if it was stopped.
   */
  readonly begun: Promise<number | null>
  /** Reloads the workers one after another. */
  reload(): Promise<boolean>
  /** The metrics of all workers, as text. */
  readMetrics(): Promise<string>
  /** Drains and ends all workers. */
  end(): Promise<void>
}

export function openSupervisor({ count, observer, startWorker }: SupervisorOptions): Supervisor {
  let restarts = false
  let isEnding = false
  const slots: WorkerSlot[] = []
  const rolling = openRollingReload(slots, observer)
  const reloads = coalesceRuns<'all'>(rolling.reload)
  const readAll = () => readWorkersMetrics(slots)
  const add = (number: number) => {
    const answers = { holdOthers: () => rolling.holdOthers(number), allMetrics: readAll }
    const start = () => {
      const bindsLast = slots.some(other => other.current()?.isServing())
      return startWorker({ number, bindsLast, answers })
    }
    const slot = openWorkerSlot({ number, observer, restarts: () => restarts, startProcess: start })
    slots.push(slot)
    return slot
  }
  const begin = async () => {
    const first = add(1).current()
    if (!(await first?.begun)) {
      const ended = await first?.ended
      return isEnding ? 0 : (ended?.code ?? 1)
    }
    restarts = true
    for (let number = 2; !isEnding && number <= count; number++) add(number)
    return null
  }
  return {
    begun: begin(),
    reload: () => reloads.request(['all']),
    readMetrics: readAll,
    async end() {
      isEnding = true
      await Promise.all([reloads.close(0), ...slots.map(slot => slot.end())])
    },
  }
}

/** Milliseconds that a worker gets to report its metrics; below the usual scrape timeout. */
const METRICS_TIMEOUT = 3_000

/** The metrics of all serving workers, as text. */
async function readWorkersMetrics(slots: readonly WorkerSlot[]): Promise<string> {
  const metrics = await Promise.all(slots.map(readWorkerMetrics))
  return printFamilies(mergeFamilies(metrics.filter(each => each !== null)))
}

async function readWorkerMetrics(slot: WorkerSlot): Promise<WorkerFamilies | null> {
  const process = slot.current()
  if (!process?.isServing()) return null
  const families = await withTimeout(METRICS_TIMEOUT, process.rpc.call('metrics'), null)
  return families && { worker: slot.number, families }
}

import type { Observer } from '../observe/observation.ts'
import type { Ending, WorkerProcess } from './worker-process.ts'

export interface WorkerSlotOptions {
  /** From 1 on; all processes of the slot have the same number. */
  readonly number: number
  /** Starts a worker process. */
  startProcess(): WorkerProcess
  /** True: an ended process is replaced. */
  restarts(): boolean
  readonly observer: Observer
}

/** One of the workers: an ended process is replaced by a new one. */
export interface WorkerSlot {
  readonly number: number
  /** The current process; null between two. */
  current(): WorkerProcess | null
  /** Drains the process and ends it; it is not replaced. */
  end(): Promise<void>
}

/** Milliseconds of service after which an end is not counted as a failed start. */
const STABLE_AFTER = 10_000

export function openWorkerSlot({ number, startProcess, restarts, observer }: WorkerSlotOptions): WorkerSlot {
  let failures = 0
  let current: WorkerProcess | null = null
  let isEnding = false
  let next: NodeJS.Timeout | undefined
  const start = () => {
    const started = startProcess()
    current = started
    void started.ended.then(ending => onEnded(started.pid, ending))
  }
  const onEnded = (pid: number, { served, why }: Ending) => {
    current = null
    if (isEnding || !restarts()) return
    failures = served >= STABLE_AFTER ? 0 : failures + 1
    const delay = restartDelay(failures)
    observer.emit({ kind: 'workerEnded', worker: number, pid, why, delay })
    next = setTimeout(start, delay)
  }
  start()
  return {
    number,
    current: () => current,
    async end() {
      isEnding = true
      clearTimeout(next)
      current?.kill('SIGTERM')
      await current?.ended
    },
  }
}

/** Milliseconds. */
const MIN_DELAY = 500
const MAX_DELAY = 30_000

/** Exponential backoff in milliseconds after consecutive failures: restarts must not exhaust the machine. */
const restartDelay = (failures: number): number =>
  failures === 0 ? 0 : Math.min(MAX_DELAY, MIN_DELAY * 2 ** (failures - 1))

import cluster from 'node:cluster'
import { coalesceRuns } from '../base/serial-queue.ts'
import { onTermination } from '../base/termination.ts'
import { withTimeout } from '../base/with-timeout.ts'
import { openLog } from '../observe/log.ts'
import { mergeFamilies, printFamilies, type WorkerFamilies } from '../observe/metrics/print-families.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import type { PrimaryMethods, ServingSettings } from './rpc.ts'
import { BINDS_LAST, WORKER_NUMBER } from './worker.ts'
import { type Ending, openWorkerProcess, type WorkerProcess } from './worker-process.ts'

export interface PrimaryOptions {
  /** The number of workers. */
  readonly count: number
  readonly production: boolean
  /** Writes one line of the log. */
  readonly write: (line: string) => void
  /** Sentences instead of JSON lines. */
  readonly pretty: boolean
}

/**
 * Runs the primary process: starts this command in `count` workers, and drains them at SIGTERM or SIGINT. In production
 * SIGHUP reloads them. Resolves to the exit code, when all workers have ended or the first one cannot start.
 */
export async function runPrimary({ count, production, ...log }: PrimaryOptions): Promise<number> {
  const observer = reloadableObserver(logOf('info', log))
  let serving: ServingSettings | null = null
  const supervisor = openSupervisor({
    count,
    observer,
    startWorker: ({ number, bindsLast, answers }) =>
      openWorkerProcess(
        cluster.fork({ [WORKER_NUMBER]: String(number), [BINDS_LAST]: bindsLast ? '1' : '' }),
        {
          ...answers,
          async serving(about) {
            serving = about
            observer.replace(logOf(about.logLevel, log))
          },
        },
        (pid, milliseconds) => observer.emit({ kind: 'workerStalled', worker: number, pid, milliseconds }),
      ),
  })
  const stopped = handleSignals(supervisor, production)
  const code = await Promise.race([supervisor.begun, stopped])
  if (code !== null) return code
  const exitCode = await serveClusterMetrics(supervisor, serving, observer)
  return exitCode ?? stopped
}

/** Serves the metrics of all workers on a separate port, if configured. Resolves to an exit code if the port cannot be bound. */
async function serveClusterMetrics(
  supervisor: Supervisor,
  serving: ServingSettings | null,
  observer: Observer,
): Promise<number | null> {
  if (!serving?.metrics.enabled) return null
  const { host, metrics } = serving
  const { path, port } = metrics
  if (port === null) return null
  const { serveMetrics } = await import('../http/metrics.ts')
  const server = await serveMetrics({ host, port, path, read: supervisor.readMetrics })
  if (server.ok) {
    observer.emit({ kind: 'prepared', what: `Numbers for Prometheus are at ${server.value.url}` })
    return null
  }
  process.stderr.write(`${server.reasons.join('\n')}\n`)
  await supervisor.end()
  return 1
}

/** The primary knows no secrets, so that there is nothing to redact. */
const logOf = (
  level: ServerSettings['logLevel'],
  { write, pretty }: Pick<PrimaryOptions, 'write' | 'pretty'>,
): Observer => openLog({ level, write, pretty, redact: text => text })

/** Resolves when a signal has ended all workers. */
function handleSignals(supervisor: Supervisor, production: boolean): Promise<number> {
  return new Promise(resolve => {
    onTermination(() => void supervisor.end().then(() => resolve(0)))
    // In development SIGHUP means that the terminal was closed.
    if (production) process.on('SIGHUP', () => void supervisor.reload())
  })
}

interface SupervisorOptions {
  readonly count: number
  /** Starts a worker process. */
  startWorker(worker: NewWorker): WorkerProcess
  readonly observer: Observer
}

interface NewWorker {
  readonly number: number
  /** Other workers already serve on the same port: this one must not get requests before it can answer them. */
  readonly bindsLast: boolean
  readonly answers: Pick<PrimaryMethods, 'holdOthers' | 'allMetrics'>
}

/** All workers of a machine. */
interface Supervisor {
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

function openSupervisor({ count, observer, startWorker }: SupervisorOptions): Supervisor {
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

/** Reloads the workers one after another. */
interface RollingReload {
  /** Reloads all workers. Resolves to false if the first one cannot serve the new files; the others then keep the old version. */
  reload(): Promise<boolean>
  /** Called by the worker that reloads first: makes the others hold new requests until they have reloaded. */
  holdOthers(number: number): Promise<void>
}

/** Milliseconds to wait until all workers hold requests; each of them limits its hold itself. */
const HOLD_TIMEOUT = 2_000

type Member = { readonly number: number; readonly process: WorkerProcess }

function openRollingReload(slots: readonly WorkerSlot[], observer: Observer): RollingReload {
  let leader: Member | undefined
  let held: readonly Member[] = []
  return {
    async holdOthers(number) {
      if (number !== leader?.number) return
      held = membersOf(slots).filter(other => other.number !== number && other.process.isServing())
      const holding = Promise.all(held.map(({ process }) => process.rpc.call('hold')))
      await withTimeout<unknown>(HOLD_TIMEOUT, holding, null)
    },
    async reload() {
      const [first, ...others] = membersOf(slots)
      leader = first
      const isServed = first !== undefined && (await reloadOne(first)) === true
      leader = undefined
      const holding = held
      held = []
      if (!isServed) await Promise.all(holding.map(({ process }) => process.rpc.call('release')))
      else await reloadRemaining({ others, isAtOnce: holding.length > 0, observer })
      return isServed
    },
  }
}

/** Serving workers first: the first one finds out whether the files can be served. */
function membersOf(slots: readonly WorkerSlot[]): readonly Member[] {
  const members = slots.flatMap(slot => {
    const process = slot.current()
    return process ? [{ number: slot.number, process }] : []
  })
  return members.toSorted((a, b) => Number(b.process.isServing()) - Number(a.process.isServing()))
}

/** A starting worker may have read the files before they changed, so it reloads when it serves. */
const reloadOne = async ({ process }: Member): Promise<boolean | null> =>
  (await process.begun) ? process.rpc.call('reload') : null

interface RemainingReload {
  readonly others: readonly Member[]
  /** All at once, because their requests are held. */
  readonly isAtOnce: boolean
  readonly observer: Observer
}

async function reloadRemaining({ others, isAtOnce, observer }: RemainingReload): Promise<void> {
  const reload = async (member: Member) => {
    const isServed = await reloadOne(member)
    if (isServed === false) observer.emit({ kind: 'workerBehind', worker: member.number })
  }
  if (isAtOnce) await Promise.all(others.map(reload))
  else for (const member of others) await reload(member)
}

interface WorkerSlotOptions {
  /** From 1 on; all processes of the slot have the same number. */
  readonly number: number
  /** Starts a worker process. */
  startProcess(): WorkerProcess
  /** True: an ended process is replaced. */
  restarts(): boolean
  readonly observer: Observer
}

/** One of the workers: an ended process is replaced by a new one. */
interface WorkerSlot {
  readonly number: number
  /** The current process; null between two. */
  current(): WorkerProcess | null
  /** Drains the process and ends it; it is not replaced. */
  end(): Promise<void>
}

/** Milliseconds of service after which an end is not counted as a failed start. */
const STABLE_AFTER = 10_000

function openWorkerSlot({ number, startProcess, restarts, observer }: WorkerSlotOptions): WorkerSlot {
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

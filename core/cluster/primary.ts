import cluster from 'node:cluster'
import { openLog } from '../observe/log.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import type { ServingSettings } from './rpc.ts'
import { openSupervisor, type Supervisor } from './supervisor.ts'
import { BINDS_LAST, WORKER_NUMBER } from './worker.ts'
import { openWorkerProcess } from './worker-process.ts'

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
    const stop = () => void supervisor.end().then(() => resolve(0))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
    // In development SIGHUP means that the terminal was closed.
    if (production) process.on('SIGHUP', () => void supervisor.reload())
  })
}

import cluster from 'node:cluster'
import { openLog } from '../observe/log.ts'
import { type Observer, reloadableObserver } from '../observe/observation.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import type { ServingTerms } from './rpc-methods.ts'
import { type Crew, openCrew } from './supervisor.ts'
import { BINDS_LAST, NUMBER } from './worker.ts'
import { openPost } from './worker-process.ts'

export interface LeadTerms {
  /** How many workers. */
  readonly count: number
  readonly production: boolean
  /** Where the log goes, a line at a time. */
  readonly write: (line: string) => void
  /** Sentences instead of JSON. */
  readonly pretty: boolean
}

/**
 * The primary process: has this same command run in workers, until SIGTERM or SIGINT, and then answers what is under
 * way in all of them. In production SIGHUP has them reload. Resolves to an exit code where the first cannot begin,
 * else when they have ended.
 */
export async function lead({ count, production, ...terms }: LeadTerms): Promise<number> {
  const observer = reloadableObserver(logOf('info', terms))
  let told: ServingTerms | null = null
  const crew = openCrew({
    count,
    observer,
    post: ({ number, bindsLast, answers }) =>
      openPost(
        cluster.fork({ [NUMBER]: String(number), [BINDS_LAST]: bindsLast ? '1' : '' }),
        {
          ...answers,
          async serving(about) {
            told = about
            observer.replace(logOf(about.logLevel, terms))
          },
        },
        (pid, milliseconds) => observer.emit({ kind: 'workerStalled', worker: number, pid, milliseconds }),
      ),
  })
  const stopped = heed(crew, production)
  const code = await Promise.race([crew.begun, stopped])
  if (code !== null) return code
  const trouble = await serveNumbers(crew, told, observer)
  return trouble ?? stopped
}

/** On a port of their own, where the project wants that. An exit code where it cannot be had. */
async function serveNumbers(
  crew: Crew,
  told: ServingTerms | null,
  observer: Observer,
): Promise<number | null> {
  if (!told?.metrics.enabled) return null
  const { host, metrics } = told
  const { path, port } = metrics
  if (port === null) return null
  const { serveMetrics } = await import('../http/metrics.ts')
  const server = await serveMetrics({ host, port, path, read: crew.readNumbers })
  if (server.ok) {
    observer.emit({ kind: 'prepared', what: `Numbers for Prometheus are at ${server.value.url}` })
    return null
  }
  process.stderr.write(`${server.reasons.join('\n')}\n`)
  await crew.end()
  return 1
}

/** The primary knows nothing that could show in a line of its own. */
const logOf = (
  level: ServerSettings['logLevel'],
  { write, pretty }: Pick<LeadTerms, 'write' | 'pretty'>,
): Observer => openLog({ level, write, pretty, redact: text => text })

/** Resolves once a signal has ended all of them. */
function heed(crew: Crew, production: boolean): Promise<number> {
  return new Promise(resolve => {
    const stop = () => void crew.end().then(() => resolve(0))
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
    // Outside of production it says that the terminal was closed.
    if (production) process.on('SIGHUP', () => void crew.reload())
  })
}

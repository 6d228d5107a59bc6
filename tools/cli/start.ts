import { resolve } from 'node:path'
import { compileApp } from '../../core/app/compile-app.ts'
import { type ServedApp, serveApp } from '../../core/app/serve-app.ts'
import { printStartFault, type StartFault } from '../../core/app/start-fault.ts'
import { failed, type Result } from '../../core/base/result.ts'
import type { Workplace } from '../../core/cluster/worker.ts'
import { terminalLog } from './terminal-log.ts'

export interface StartOptions {
  /** Outside of production a saved file takes effect at once. */
  readonly watch: boolean
  /** null: nobody serves beside this process. */
  readonly workplace: Workplace | null
  /** A migration may make processes of other versions outdated. */
  readonly replaceOthers: boolean
}

/**
 * `plinth start`: serves until SIGTERM or SIGINT, and answers what is under way before it ends. In production SIGHUP
 * has the files read again. Exit code 1 where it cannot start.
 */
export async function runStart(
  folder: string,
  { watch, workplace, replaceOthers }: StartOptions,
): Promise<void> {
  const production = process.env.NODE_ENV === 'production'
  const follow = watch && !production && !workplace ? await prepareToFollow(resolve(folder)) : null
  const signals = heedSignals(production)
  const served = await open(folder, { production, workplace, replaceOthers, signal: signals.aborted })
  if (signals.aborted.aborted) process.exit()
  if (!served.ok) {
    process.stderr.write(`${served.reasons.map(printStartFault).join('\n\n')}\n`)
    process.exitCode = 1
    workplace?.leave()
    return
  }
  heed(served.value, { workplace, signals })
  follow?.(served.value)
}

interface OpenTerms extends Pick<StartOptions, 'workplace' | 'replaceOthers'> {
  readonly production: boolean
  readonly signal: AbortSignal
}

async function open(
  folder: string,
  { production, workplace, replaceOthers, signal }: OpenTerms,
): Promise<Result<ServedApp, StartFault>> {
  const compiled = await compileApp(folder, process.env)
  if (!compiled.ok) return failed({ kind: 'files', diagnostics: compiled.reasons })
  const terms = { ...terminalLog(), production, replaceOthers, signal }
  if (!workplace) return serveApp(compiled.value, terms)
  if (compiled.value.project.settings.database.url === 'embedded') return failed(ONE_ALONE)
  const { number, bindsLast, holdOthers, readAll } = workplace
  return serveApp(compiled.value, { ...terms, worker: number, bindsLast, holdOthers, readAll })
}

const ONE_ALONE: StartFault = {
  kind: 'other',
  message:
    'The embedded database belongs to one process: set database.url (DATABASE_URL) to a PostgreSQL server, or start without --workers (WORKERS)',
}

/** The files as they are before they are read, so that none is missed that is saved meanwhile. */
async function prepareToFollow(root: string): Promise<(served: ServedApp) => void> {
  const [{ readStamps }, { watchProject }] = await Promise.all([
    import('../../core/app/file-stamps.ts'),
    import('../../core/app/watch-project.ts'),
  ])
  const since = await readStamps(root, [])
  return served =>
    void watchProject(since, {
      root,
      known: () => filesOf(served),
      changed: files => void served.reload(files),
      failed: message => served.observer.emit({ kind: 'watchFailed', message }),
    })
}

function filesOf(served: ServedApp): readonly string[] {
  const { project, plugins } = served.blueprint()
  return [...project.files, ...plugins.files]
}

interface HeedTerms extends Pick<OpenTerms, 'workplace'> {
  readonly signals: Signals
}

function heed(served: ServedApp, { signals, workplace }: HeedTerms): void {
  const stop = () => void served.close().then(() => process.exit())
  // One forgotten `await` of a plugin ends no request but its own.
  process.on('unhandledRejection', error => served.tellUnheard(error))
  // Workers reload in turn, when it is theirs.
  signals.started({ stop, reload: () => workplace === null && void served.reload() })
  workplace?.serve(served, stop)
}

/** What signals do to a server that is started. */
interface Signals {
  /** Is aborted where SIGTERM or SIGINT comes while the server starts. */
  readonly aborted: AbortSignal
  /** From now on they do this. A reload that was asked for before is done now. */
  started(actions: Actions): void
}

interface Actions {
  readonly stop: () => void
  readonly reload: () => void
}

/** Milliseconds that a start has to end itself. */
const PATIENCE = 10_000

/**
 * Begins before the port is bound: without a handler a signal would end the process in the middle of its work. Outside
 * of production SIGHUP says that the terminal was closed.
 */
function heedSignals(production: boolean): Signals {
  const starting = new AbortController()
  let isReloadAsked = false
  let actions: Actions = {
    stop() {
      starting.abort()
      setTimeout(() => process.exit(1), PATIENCE).unref()
    },
    reload() {
      isReloadAsked = true
    },
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => actions.stop())
  if (production) process.on('SIGHUP', () => actions.reload())
  return {
    aborted: starting.signal,
    started(next) {
      actions = next
      if (isReloadAsked) next.reload()
    },
  }
}

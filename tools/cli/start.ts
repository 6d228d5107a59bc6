import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compileApp } from '../../core/app/compile-app.ts'
import { type ServedApp, serveApp, UNHANDLED } from '../../core/app/serve-app.ts'
import {
  findUnnamedDatabase,
  printStartFault,
  type StartFault,
  withOpenPaths,
} from '../../core/app/start-fault.ts'
import { messageWithPlace, projectFrame } from '../../core/base/project-frame.ts'
import { failed, type Result } from '../../core/base/result.ts'
import { onTermination } from '../../core/base/termination.ts'
import { withNoun } from '../../core/base/text.ts'
import type { WorkerContext } from '../../core/cluster/worker.ts'
import { servesLandingPage } from '../../core/http/browser-pages.ts'
import { apiIdOf } from '../../core/model/model.ts'
import { servesOpenapi } from '../../core/openapi/open-openapi.ts'
import type { Project } from '../../core/project/project.ts'
import type { Paint } from './paint.ts'
import { describeDatabase, isNeverStarted, modeOf } from './project-database.ts'
import { type StartScreen, terminalLog } from './terminal.ts'

export interface StartOptions {
  /** Reload on file changes; never in production. */
  readonly watch: boolean
  /** null: this is the only process. */
  readonly workplace: WorkerContext | null
  /** Migrate even if running processes of other versions become incompatible. */
  readonly replaceOthers: boolean
  /** null: another process of this command writes to the terminal. */
  readonly screen: StartScreen | null
}

/**
 * `plinth start`: serves until SIGTERM or SIGINT, then drains requests in flight. In production SIGHUP reloads
 * the project. Exit code 1 if it cannot start.
 */
export async function runStart(
  folder: string,
  { watch, workplace, replaceOthers, screen }: StartOptions,
): Promise<void> {
  const production = process.env.NODE_ENV === 'production'
  const follow = watch && !production && !workplace ? await prepareWatch(resolve(folder)) : null
  const signals = handleSignals(production, screen)
  // A forgotten `await` in a plugin must not end the process.
  let served: Result<ServedApp, StartFault> | undefined
  process.on('unhandledRejection', error => {
    if (served?.ok) served.value.logUnhandled(error)
    else if (error instanceof Error && projectFrame(error, resolve(folder)) === null) throw error
    else process.stderr.write(`${UNHANDLED}: ${messageWithPlace(error, resolve(folder))}\n`)
  })
  served = await open(folder, { production, workplace, replaceOthers, screen, signal: signals.aborted })
  if (signals.aborted.aborted) process.exit()
  if (!served.ok) {
    screen?.say('')
    process.stderr.write(`${served.reasons.map(withOpenPaths(folder)).map(printStartFault).join('\n\n')}\n`)
    process.exitCode = 1
    workplace?.disconnect()
    return
  }
  connectSignals(served.value, { workplace, signals, screen })
  screen?.say(production ? '' : await printBanner(served.value, screen.paint))
  follow?.(served.value)
  setTimeout(collectGarbage, GARBAGE_AFTER).unref()
}

/** Milliseconds. V8 gives memory back only once little is allocated. */
const GARBAGE_AFTER = 5_000

/** A start leaves 7 MB of free memory that V8 would keep for load. It takes about 15 ms. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
  setFlagsFromString('--no-expose-gc')
}

interface OpenOptions extends Pick<StartOptions, 'workplace' | 'replaceOthers' | 'screen'> {
  readonly production: boolean
  readonly signal: AbortSignal
}

async function open(
  folder: string,
  { production, workplace, replaceOthers, screen, signal }: OpenOptions,
): Promise<Result<ServedApp, StartFault>> {
  const compiled = await compileApp(folder, process.env, message => {
    screen?.clear()
    process.stderr.write(`${message}\n`)
  })
  if (!compiled.ok) return failed({ kind: 'files', diagnostics: compiled.reasons })
  const unnamed = production ? await findUnnamedDatabase(compiled.value.project) : null
  if (unnamed) return failed(unnamed)
  await showDatabase(compiled.value.project, screen)
  const options = { ...terminalLog(screen ?? undefined), production, replaceOthers, signal }
  if (!workplace) return serveApp(compiled.value, options)
  if (compiled.value.project.settings.database.url === 'embedded') return failed(ONE_ALONE)
  const { number, bindsLast, holdOthers, readAllMetrics } = workplace
  return serveApp(compiled.value, {
    ...options,
    worker: number,
    bindsLast,
    holdOthers,
    readAllMetrics,
  })
}

async function showDatabase(project: Project, screen: StartScreen | null): Promise<void> {
  const database = await describeDatabase(project)
  screen?.say(`Database: ${database} (${modeOf(process.env)})\n`)
  screen?.step(isNeverStarted(project) ? 'Creating the database …' : 'Opening the database …')
}

const ONE_ALONE: StartFault = {
  kind: 'other',
  message:
    'The embedded database belongs to one process: set database.url (DATABASE_URL) to a PostgreSQL server, or start without --workers (WORKERS)',
}

/** Records the file stamps before the files are read, so that no change in between is missed. */
async function prepareWatch(root: string): Promise<(served: ServedApp) => void> {
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

interface HeedOptions extends Pick<OpenOptions, 'workplace' | 'screen'> {
  readonly signals: Signals
}

function connectSignals(served: ServedApp, { signals, workplace, screen }: HeedOptions): void {
  const stop = () => {
    const seconds = Math.ceil(served.blueprint().project.settings.server.requestTimeout / 1_000)
    screen?.say(
      `Stopping: requests in progress are answered, for at most ${seconds} s. A second Ctrl-C ends them at once.\n`,
    )
    void served.close().then(() => process.exit())
  }
  // Workers reload one after another, controlled by the supervisor.
  signals.started({ stop, reload: () => workplace === null && void served.reload() })
  workplace?.serve(served, stop)
}

/** Signal handling of a server. */
interface Signals {
  /** Aborted if SIGTERM or SIGINT arrives during the start. */
  readonly aborted: AbortSignal
  /** Sets the actions of a started server. Runs a reload that was requested during the start. */
  started(actions: Actions): void
}

interface Actions {
  readonly stop: () => void
  readonly reload: () => void
}

/** Milliseconds until an aborted start is killed. */
const ABORT_TIMEOUT = 10_000

/**
 * Called before the port is bound: without a handler a signal would kill the process in the middle of its work. Outside
 * of production SIGHUP means that the terminal was closed.
 */
function handleSignals(production: boolean, screen: StartScreen | null): Signals {
  const starting = new AbortController()
  let isReloadAsked = false
  let actions: Actions = {
    stop() {
      screen?.say(
        'Ending the start: a migration in progress is rolled back. A second Ctrl-C ends it at once.\n',
      )
      starting.abort()
      setTimeout(() => process.exit(1), ABORT_TIMEOUT).unref()
    },
    reload() {
      isReloadAsked = true
    },
  }
  onTermination(() => actions.stop())
  if (production) process.on('SIGHUP', () => actions.reload())
  return {
    aborted: starting.signal,
    started(next) {
      actions = next
      if (isReloadAsked) next.reload()
    },
  }
}

/** Summarises a started server, with URLs that open in a browser. */
async function printBanner(served: ServedApp, paint: Paint): Promise<string> {
  const { project, model, plugins, access } = served.blueprint()
  const { settings } = project
  const mode = modeOf(process.env)
  const types = [...model.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  const counts = [
    withNoun(types.length, 'content-type'),
    withNoun(model.components.size, 'component'),
    withNoun(Object.keys(settings.roles).length, 'role'),
    withNoun(plugins.files.length, 'plugin'),
  ]
  const url = browsable(served.url)
  const readable = types.filter(type => access.publicCaller.grants.allows(type.key, 'find'))
  const rest = [...readable, ...types]
    .slice(0, 1)
    .map(type => `${url}${settings.rest.prefix}/${apiIdOf(type)}`)
  const hasPlayground = mode === 'development' || settings.graphql.config.playgroundAlways
  const { enabled, endpoints: paths } = settings.graphql
  const endpoints = enabled ? Object.keys(paths).map(path => url + path) : []
  const production = mode === 'production'
  const pages = [
    ...(servesLandingPage(settings.server, production) ? [['Start', `${url}/`]] : []),
    ...(servesOpenapi(settings.rest.openapi, production)
      ? [['Reference', `${url}${settings.rest.prefix}/reference`]]
      : []),
  ]
  const rows = [
    ['Mode', mode],
    ['Database', await describeDatabase(project)],
    ['Project', counts.join(', ')],
    ...pages.map(([name, address = '']) => [name, link(paint, address)]),
    ...rest.map(address => ['REST', link(paint, address)]),
    ...endpoints.map(address => ['GraphQL', hasPlayground ? link(paint, address) : address]),
  ]
  const lines = rows.map(([name = '', value = '']) => `  ${paint('dim', name.padEnd(9))} ${value}\n`)
  return `\n  ${paint('bold', settings.name)}\n${lines.join('')}\n`
}

const link = (paint: Paint, address: string): string => paint('green', address)

/** 0.0.0.0 and :: are all addresses of the machine; a browser opens one. */
const browsable = (url: string): string =>
  url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//localhost:')

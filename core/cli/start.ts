import { resolve } from 'node:path'
import { compileApp } from '../app/compile-app.ts'
import { type ServedApp, serveApp } from '../app/serve-app.ts'
import { printStartFault, type StartFault } from '../app/start-fault.ts'

export interface StartOptions {
  /** Outside of production a saved file takes effect at once. */
  readonly watch: boolean
}

/**
 * `plinth start`: serves until SIGTERM or SIGINT, and answers what is under way before it ends. In production SIGHUP
 * has the files read again. Exit code 1 where it cannot start.
 */
export async function runStart(folder: string, { watch }: StartOptions): Promise<void> {
  const production = process.env.NODE_ENV === 'production'
  const follow = watch && !production ? await prepareToFollow(resolve(folder)) : null
  const compiled = await compileApp(folder, process.env)
  if (!compiled.ok) return giveUp([{ kind: 'files', diagnostics: compiled.reasons }])
  const write = (line: string) => void process.stdout.write(line)
  const served = await serveApp(compiled.value, { write, pretty: process.stdout.isTTY === true, production })
  if (!served.ok) return giveUp(served.reasons)
  heed(served.value, production)
  follow?.(served.value)
}

/** The files as they are before they are read, so that none is missed that is saved meanwhile. */
async function prepareToFollow(root: string): Promise<(served: ServedApp) => void> {
  const [{ readStamps }, { watchProject }] = await Promise.all([
    import('../app/file-stamps.ts'),
    import('../app/watch-project.ts'),
  ])
  const since = await readStamps(root, [])
  return served =>
    void watchProject(since, {
      root,
      known: () => filesOf(served),
      changed: files => void served.reload(files),
      failed: message => served.observer.tell({ kind: 'watchFailed', message }),
    })
}

function filesOf(served: ServedApp): readonly string[] {
  const { project, plugins } = served.blueprint()
  return [...project.files, ...plugins.files]
}

function heed(served: ServedApp, production: boolean): void {
  // One forgotten `await` of a plugin ends no request but its own.
  process.on('unhandledRejection', error => served.tellUnheard(error))
  // Outside of production it says that the terminal was closed.
  if (production) process.on('SIGHUP', () => void served.reload())
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void stop(served.close()))
}

async function stop(closing: Promise<void>): Promise<void> {
  await closing
  process.exit()
}

function giveUp(faults: readonly StartFault[]): void {
  process.stderr.write(`${faults.map(printStartFault).join('\n\n')}\n`)
  process.exitCode = 1
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import { PRODUCT_VERSION } from '../../core/base/product.ts'
import type { WorkerContext } from '../../core/cluster/worker.ts'
import { addOverrides, commandContext } from './command-options.ts'
import type { InitOptions } from './init.ts'

/** The folders of templates/. */
const TEMPLATES = ['blank', 'blog', 'shop', 'example'] as const

interface StartArguments {
  readonly watch: boolean
  readonly workers: number
  readonly replaceOthers: boolean
}

/** `plinth start`. */
export function addStart(program: Command): void {
  addOverrides(program.command('start'), ['--port', '--host', '--database'])
    .description('start the API of a project; creates what the database lacks and loads content/')
    .argument('[folder]', 'the folder of project.yaml', '.')
    .option('--no-watch', 'do not reload when files change (the default in production)')
    .addOption(
      new Option(
        '--workers <n>',
        'number of processes; changed files then take effect by SIGHUP or a restart',
      )
        .env('WORKERS')
        .argParser(parseWorkers)
        .default(1),
    )
    .option(
      '--replace-others',
      'migrate although processes of another version are serving; they answer 503 from then on',
      false,
    )
    .action(async (folder: string, { watch, workers, replaceOthers }: StartArguments) => {
      const workplace = workers === 1 ? null : await findWorkplace()
      if (!workplace) stopWithScript(process.env)
      if (workers > 1 && !workplace) return leadWorkers(workers)
      const { openStartScreen } = await import('./terminal.ts')
      // The first worker starts before the others.
      const isFirst = !workplace || (workplace.number === 1 && !workplace.bindsLast)
      const screen = isFirst ? openStartScreen(process.stderr, process.env) : null
      const { runStart } = await import('./start.ts')
      await runStart(folder, { watch, workplace, replaceOthers, screen })
    })
}

/** Milliseconds between two looks at the parent process. */
const PARENT_INTERVAL = 250

/**
 * Package managers run a script in a shell. A signal to `npm start` ends this shell, and most shells do not pass it on:
 * the server would go on without its script. `exec plinth start` would help, but cmd of Windows does not know it.
 */
function stopWithScript({ npm_lifecycle_script: script = '' }: NodeJS.ProcessEnv): void {
  // A script that leaves the server in the background ends before it.
  if (!/^plinth start\b[^&;|]*$/.test(script)) return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    process.kill(process.pid, 'SIGTERM')
  }, PARENT_INTERVAL)
  timer.unref()
}

/** `plinth init`; create-plinth calls it. */
export function addInit(program: Command): void {
  program
    .command('init')
    .description('create a project in a new or empty folder')
    .argument('[folder]', 'the folder of the new project', '.')
    .addOption(
      new Option('--template <template>', 'the project to begin with').choices(TEMPLATES).default('blank'),
    )
    .option('--name <name>', "the name in package.json, instead of the folder's name")
    .option('--no-install', 'do not install packages')
    .action(async (folder: string, options: InitOptions) => {
      const { runInit } = await import('./init.ts')
      process.exitCode = await runInit(await commandContext(folder), options)
    })
}

async function findWorkplace(): Promise<WorkerContext | null> {
  const { openWorkerContext } = await import('../../core/cluster/worker.ts')
  return openWorkerContext()
}

/** This process only supervises workers, so it does not load the server's code. */
async function leadWorkers(count: number): Promise<void> {
  process.stderr.write(`Plinth ${PRODUCT_VERSION}: starting ${count} workers …\n`)
  const [{ runPrimary }, { terminalLog }] = await Promise.all([
    import('../../core/cluster/primary.ts'),
    import('./terminal.ts'),
  ])
  const production = process.env.NODE_ENV === 'production'
  process.exit(await runPrimary({ ...terminalLog(), production, count }))
}

/** More workers would be a typo: each one uses a core. */
const MAX_WORKERS = 256

function parseWorkers(written: string): number {
  // The environment variable is set but empty.
  if (written === '') return 1
  const count = Number(written)
  if (/^\d+$/.test(written) && count >= 1 && count <= MAX_WORKERS) return count
  throw new InvalidArgumentError(
    `It has to be a number from 1 to ${MAX_WORKERS}, such as the machine's cores.`,
  )
}

import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Workplace } from '../../core/cluster/worker.ts'

interface StartArguments {
  readonly watch: boolean
  readonly workers: number
  readonly replaceOthers: boolean
}

/** `plinth start`. */
export function addStart(program: Command): void {
  program
    .command('start')
    .description('start the API of a project; creates what the database lacks and loads content/')
    .argument('[folder]', 'the folder of project.yaml', '.')
    .option('--no-watch', 'outside of production, too: what is saved takes effect at the next start')
    .addOption(
      new Option(
        '--workers <n>',
        'serve by so many processes; saved files then take effect by SIGHUP or a start',
      )
        .env('WORKERS')
        .argParser(parseWorkers)
        .default(1),
    )
    .option(
      '--replace-others',
      'migrate although processes of another version serve: those answer 503 from then on',
      false,
    )
    .action(async (folder: string, { watch, workers, replaceOthers }: StartArguments) => {
      const workplace = workers === 1 ? null : await findWorkplace()
      if (workers > 1 && !workplace) return leadWorkers(workers)
      const { runStart } = await import('./start.ts')
      await runStart(folder, { watch, workplace, replaceOthers })
    })
}

async function findWorkplace(): Promise<Workplace | null> {
  const { openWorkplace } = await import('../../core/cluster/worker.ts')
  return openWorkplace()
}

/** This process has others run the same command, and loads nothing of what they do. */
async function leadWorkers(count: number): Promise<void> {
  const [{ lead }, { terminalLog }] = await Promise.all([
    import('../../core/cluster/lead-workers.ts'),
    import('./terminal-log.ts'),
  ])
  const production = process.env.NODE_ENV === 'production'
  process.exit(await lead({ ...terminalLog(), production, count }))
}

/** More would be a slip of the hand: a process takes a core. */
const MOST = 256

function parseWorkers(written: string): number {
  // A variable of the environment that is there and says nothing.
  if (written === '') return 1
  const count = Number(written)
  if (/^\d+$/.test(written) && count >= 1 && count <= MOST) return count
  throw new InvalidArgumentError(`It has to be a number from 1 to ${MOST}, such as the machine's cores.`)
}

import { Command, Option } from 'commander'
import { PRODUCT_VERSION } from '../../core/base/product.ts'
import { addDoctor } from './doctor-commands.ts'
import { addRoles } from './roles/roles-commands.ts'
import { addSchema } from './schema-commands.ts'
import { addStart } from './start-commands.ts'
import type { TokenTerms } from './token.ts'
import { addImportStrapi, addTransfer } from './transfer-commands.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** The commands. Each loads what it needs when it runs: `plinth check` opens no database, nor loads what would. */
const program = new Command('plinth')
  .description('The content API that you declare: project.yaml becomes REST and GraphQL over PostgreSQL.')
  .version(PRODUCT_VERSION)

program
  .command('check')
  .description('tell everything that is wrong with a project, without opening a database')
  .argument(...folderArgument)
  .option('--json', 'one line of JSON for programs', false)
  .action(async (folder: string, { json }: { json: boolean }) => {
    const { runCheck } = await import('./check.ts')
    const { checkApp } = await import('../../core/app/check-app.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runCheck({
      folder,
      json,
      env: process.env,
      write,
      checkers: [checkApp(process.env)],
    })
  })

program
  .command('types')
  .description('write .plinth/types.d.ts: what TypeScript can know of the content-types of a project')
  .argument(...folderArgument)
  .option('--out <file>', 'another file')
  .option('--check', 'write nothing; exit code 1 where the file is not up to date', false)
  .action(async (folder: string, options: { out?: string; check: boolean }) => {
    const { runTypes } = await import('./types/types.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runTypes({ folder, env: process.env, write, ...options })
  })

program
  .command('token')
  .description(
    'make an API token: prints it, this once, and the lines of project.yaml that know it by its hash',
  )
  .argument('<name>', 'what project.yaml calls it')
  .addOption(
    new Option('--type <type>', 'what it may do')
      .choices(['read-only', 'full-access', 'custom'])
      .default('read-only'),
  )
  .option('--expires <time>', 'how long it lives, such as 90d; without, for ever')
  .option('--json', 'one line of JSON for programs', false)
  .action(async (name: string, options: Pick<TokenTerms, 'type' | 'expires' | 'json'>) => {
    const { runToken } = await import('./token.ts')
    const write = (text: string) => void process.stdout.write(text)
    const complain = (text: string) => void process.stderr.write(text)
    process.exitCode = runToken({ name, now: Date.now(), write, complain, ...options })
  })

addStart(program)
addSchema(program)
addDoctor(program)
addImportStrapi(addTransfer(program))
addRoles(program)

// Where nobody reads the output any more, a server goes on, and a command ends with its exit code.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

await program.parseAsync()

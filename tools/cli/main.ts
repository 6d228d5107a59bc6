import { Command, Option } from 'commander'
import { PRODUCT_VERSION } from '../../core/base/product.ts'
import { addOverrides } from './command-terms.ts'
import { addDoctor } from './doctor-commands.ts'
import { addRoles } from './roles/roles-commands.ts'
import { addSchema } from './schema-commands.ts'
import { addInit, addStart } from './start-commands.ts'
import type { TokenTerms } from './token.ts'
import { addImportStrapi, addTransfer } from './transfer-commands.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** Each command loads its code lazily: `plinth check` does not load the database code, for example. */
const program = new Command('plinth')
  .description('The content API that you declare: project.yaml becomes REST and GraphQL over PostgreSQL.')
  .version(PRODUCT_VERSION)

addOverrides(program.command('check'), ['--port', '--host', '--database'])
  .description('validate a project without connecting to the database')
  .argument(...folderArgument)
  .option(
    '--print',
    'print each setting with its origin: a file, an option, the environment, or the default',
    false,
  )
  .option('--json', 'one line of JSON for programs', false)
  .action(async (folder: string, { json, print }: { json: boolean; print: boolean }) => {
    const { runCheck } = await import('./check.ts')
    const { checkApp } = await import('../../core/app/check-app.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runCheck({
      folder,
      json,
      print,
      env: process.env,
      write,
      checkers: [checkApp(process.env)],
    })
  })

program
  .command('types')
  .description("write .plinth/types.d.ts: TypeScript types of the project's content-types")
  .argument(...folderArgument)
  .option('--out <file>', 'the output file, instead of .plinth/types.d.ts')
  .option('--check', 'write nothing; exit code 1 if the file is not up to date', false)
  .action(async (folder: string, options: { out?: string; check: boolean }) => {
    const { runTypes } = await import('./types/types.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runTypes({ folder, env: process.env, write, ...options })
  })

program
  .command('token')
  .description('generate an API token: prints it once, with the lines for project.yaml that contain its hash')
  .argument('<name>', 'its name in project.yaml')
  .addOption(
    new Option('--type <type>', 'the type of the token')
      .choices(['read-only', 'full-access', 'custom'])
      .default('read-only'),
  )
  .option('--expires <time>', 'its time to live, such as 90d; by default it does not expire')
  .option('--json', 'one line of JSON for programs', false)
  .action(async (name: string, options: Pick<TokenTerms, 'type' | 'expires' | 'json'>) => {
    const { runToken } = await import('./token.ts')
    const write = (text: string) => void process.stdout.write(text)
    const complain = (text: string) => void process.stderr.write(text)
    process.exitCode = runToken({ name, now: Date.now(), write, complain, ...options })
  })

addInit(program)
addStart(program)
addSchema(program)
addDoctor(program)
addImportStrapi(addTransfer(program))
addRoles(program)

// If the output is closed (EPIPE), a server keeps running and a command still returns its exit code.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

await program.parseAsync()

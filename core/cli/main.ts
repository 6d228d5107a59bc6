import { Command } from 'commander'
import { PRODUCT_VERSION } from '../base/product.ts'
import { addRoles } from './roles-commands.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** The commands. Each loads what it needs when it runs: `plinth check` opens no database, nor loads what would. */
const program = new Command('plinth')
  .description('The content API that you declare: project.yaml becomes REST and GraphQL over PostgreSQL.')
  .version(PRODUCT_VERSION)

program
  .command('start')
  .description('start the API of a project; creates what the database lacks and loads content/')
  .argument(...folderArgument)
  .action(async (folder: string) => {
    const { runStart } = await import('./start.ts')
    await runStart(folder)
  })

program
  .command('check')
  .description('tell everything that is wrong with a project, without opening a database')
  .argument(...folderArgument)
  .option('--json', 'one line of JSON for programs', false)
  .action(async (folder: string, { json }: { json: boolean }) => {
    const { runCheck } = await import('./check.ts')
    const { checkApp } = await import('../app/compile-app.ts')
    const write = (text: string) => void process.stdout.write(text)
    process.exitCode = await runCheck({
      folder,
      json,
      env: process.env,
      write,
      checkers: [checkApp(process.env)],
    })
  })

addRoles(program)

await program.parseAsync()

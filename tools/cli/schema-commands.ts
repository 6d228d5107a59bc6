import type { Command } from 'commander'
import { termsOf } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** `plinth plan` and `plinth migrate`. */
export function addSchema(program: Command): void {
  addPlan(program)
  addMigrate(program)
}

function addPlan(program: Command): void {
  program
    .command('plan')
    .description(
      'tell what the database needs to be as the project wants it; exit code 2 where it needs something',
    )
    .argument(...folderArgument)
    .option('--json', 'one line of JSON for programs', false)
    .option('--sql', 'the statements', false)
    .action(async (folder: string, { json, sql }: { json: boolean; sql: boolean }) => {
      const { runPlan } = await import('./plan.ts')
      const form = json ? 'json' : sql ? 'sql' : 'text'
      process.exitCode = await runPlan({ ...(await termsOf(folder)), form })
    })
}

interface MigrateOptions {
  readonly json: boolean
  readonly allowDestructive: boolean
  readonly expand: boolean
  readonly dryRun: boolean
  readonly status: boolean
}

function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'bring the database to what the project wants, in one transaction; what a start finds slow, too',
    )
    .argument(...folderArgument)
    .option('--allow-destructive', 'drop what the project no longer has, too', false)
    .option('--expand', 'do what the version that is running goes on beside, and leave the rest', false)
    .option('--dry-run', 'tell the plan, and by the exit code whether it would be done', false)
    .option('--status', 'tell what was done to the database, and when', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { dryRun, status, ...options }: MigrateOptions) => {
      const { runMigrate, runRehearsal, runStatus } = await import('./migrate.ts')
      const run = status ? runStatus : dryRun ? runRehearsal : runMigrate
      process.exitCode = await run({ ...(await termsOf(folder)), ...options })
    })
}

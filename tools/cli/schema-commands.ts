import type { Command } from 'commander'
import { addOverrides, commandContext } from './command-terms.ts'

const folderArgument = ['[folder]', 'the folder of project.yaml', '.'] as const

/** `plinth plan` and `plinth migrate`. */
export function addSchema(program: Command): void {
  addPlan(program)
  addMigrate(program)
}

function addPlan(program: Command): void {
  addOverrides(program.command('plan'), ['--database'])
    .description('show the migration steps that the database needs; exit code 2 if there are any')
    .argument(...folderArgument)
    .option('--json', 'one line of JSON for programs', false)
    .option('--sql', 'print SQL statements', false)
    .action(async (folder: string, { json, sql }: { json: boolean; sql: boolean }) => {
      const { runPlan } = await import('./plan.ts')
      const form = json ? 'json' : sql ? 'sql' : 'text'
      process.exitCode = await runPlan({ ...(await commandContext(folder)), form })
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
  addOverrides(program.command('migrate'), ['--database'])
    .description('apply all migration steps in one transaction, including slow ones, which a start refuses')
    .argument(...folderArgument)
    .option('--allow-destructive', 'also drop tables and columns that the project no longer declares', false)
    .option('--expand', 'apply only backward-compatible (expand) steps', false)
    .option('--dry-run', 'print the plan; the exit code says whether it would be applied', false)
    .option('--status', 'show the migration history', false)
    .option('--json', 'one line of JSON for programs', false)
    .action(async (folder: string, { dryRun, status, ...options }: MigrateOptions) => {
      const { runMigrate, runRehearsal, runStatus } = await import('./migrate.ts')
      const run = status ? runStatus : dryRun ? runRehearsal : runMigrate
      process.exitCode = await run({ ...(await commandContext(folder)), ...options })
    })
}

import { describeLeftover } from '../../core/app/start-fault.ts'
import { printServing } from '../../core/database/generations/processes.ts'
import {
  type CustomMigrationStatus,
  readCustomMigrationStatus,
} from '../../core/migrate/custom-migrations/migration-record.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { type MigrationPlan, planMigration } from '../../core/migrate/plan-migration.ts'
import { type PastMigration, readHistory } from '../../core/migrate/recorded-schema.ts'
import { permits, type Risk } from '../../core/migrate/schema/finding.ts'
import type { CommandContext } from './command-terms.ts'
import { printPlan, weightOf } from './plan-print.ts'
import { printReasons, withSchema, withSchemaReadOnly } from './schema-project.ts'

export interface MigrateTerms extends CommandContext {
  readonly json: boolean
  readonly allowDestructive: boolean
  /** Apply only steps that are compatible with the running version. */
  readonly expand?: boolean
}

/** `plinth migrate`: applies the migration plan in one transaction. Returns the exit code: 0, or 1 with the reasons if it was refused. */
export async function runMigrate(terms: MigrateTerms): Promise<0 | 1> {
  const done = await withSchema(terms, (database, { tables, files }) =>
    migrate(database, tables, { allowing: allowedBy(terms), files, stage: terms.expand ? 'expand' : 'all' }),
  )
  if (!done.ok) return printReasons(terms, done.reasons)
  const migrated = done.value
  if (!migrated.ok) {
    const against = migrated.reasons.map(({ message }) => `  - ${message}`)
    const head = migrated.reasons.some(({ partly }) => partly) ? PARTLY : 'Nothing was changed:'
    return printReasons(terms, [`${head}\n${against.join('\n')}\n\n\`plinth plan\` shows it all.`])
  }
  const { steps, left, outdated } = migrated.value
  if (outdated.length > 0) terms.complain(`${REPLACED} ${printServing(outdated)}\n`)
  if (terms.json) {
    const stays = left.map(({ table, column }) => ({ table, column }))
    terms.write(`${JSON.stringify({ steps, left: stays })}\n`)
  } else terms.write(printDone(steps, left.map(describeLeftover)))
  return 0
}

const REPLACED =
  'Processes of another version of the project served from this database; they answer 503 from now on:'

const PARTLY =
  'A part was applied and committed; the next `plinth migrate` continues from it. The rest was refused:'

/** `plinth migrate --dry-run`: prints the plan and returns the exit code that applying it would have. */
export async function runRehearsal(terms: MigrateTerms): Promise<0 | 1> {
  const planned = await withSchemaReadOnly(terms, (database, { tables, files }) =>
    planMigration(database, tables, { allowing: allowedBy(terms), files }),
  )
  if (!planned.ok) return printReasons(terms, planned.reasons)
  const plan = planned.value
  terms.write(printPlan(plan, { form: terms.json ? 'json' : 'text', paint: terms.paint }))
  return plan.refusals.length === 0 && isAllowed(plan, terms) ? 0 : 1
}

function isAllowed(plan: MigrationPlan, terms: MigrateTerms): boolean {
  const done = terms.expand ? plan.steps.filter(({ window }) => window === 'expand') : plan.steps
  if (terms.expand && plan.steps.some(({ window }) => window === 'stop')) return false
  return permits(allowedBy(terms), weightOf({ ...plan, steps: done }) ?? 'safe')
}

/** `plinth migrate --status`: the migration history, newest first. */
export async function runStatus(terms: MigrateTerms): Promise<0 | 1> {
  const read = await withSchemaReadOnly(terms, async (database, { files }) => ({
    done: await readHistory(database),
    files: await readCustomMigrationStatus(database, files),
  }))
  if (!read.ok) return printReasons(terms, read.reasons)
  const { done, files } = read.value
  terms.write(terms.json ? `${JSON.stringify(read.value)}\n` : `${printHistory(done)}${printFiles(files)}`)
  return 0
}

const allowedBy = ({ allowDestructive }: MigrateTerms): Risk => (allowDestructive ? 'destructive' : 'slow')

function printDone(steps: readonly string[], left: readonly string[]): string {
  const done = steps.length === 0 ? ['The database was as the project wants it: nothing to do.'] : steps
  return [...done, ...left].map(line => `${line}\n`).join('')
}

function printFiles(files: readonly CustomMigrationStatus[]): string {
  if (files.length === 0) return ''
  const lines = files.map(({ name, state, appliedAt }) => `    ${STATES[state](appliedAt ?? '')}  ${name}\n`)
  return `\nmigrations/\n${lines.join('')}`
}

const STATES: Readonly<Record<CustomMigrationStatus['state'], (appliedAt: string) => string>> = {
  applied: at => at,
  skipped: at => `${at}  (not needed: the database was new)`,
  pending: () => 'to be applied           ',
  changed: at => `${at}  CHANGED SINCE`,
  missing: at => `${at}  MISSING`,
}

function printHistory(history: readonly PastMigration[]): string {
  if (history.length === 0) return 'Nothing was done to this database yet.\n'
  return history
    .map(({ id, appliedAt, product, steps }) => {
      const head = `${id}  ${appliedAt}  plinth ${product}`
      return [head, ...steps.map(step => `    ${step}`)].map(line => `${line}\n`).join('')
    })
    .join('\n')
}

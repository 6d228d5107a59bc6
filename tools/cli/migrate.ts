import { describeLeftover } from '../../core/app/start-fault.ts'
import { withNoun } from '../../core/base/text.ts'
import { printServing } from '../../core/database/generations/processes.ts'
import {
  type CustomMigrationStatus,
  readCustomMigrationStatus,
} from '../../core/migrate/custom-migrations/migration-record.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { type MigrationPlan, type PlannedStep, planMigration } from '../../core/migrate/plan-migration.ts'
import { type PastMigration, readHistory } from '../../core/migrate/recorded-schema.ts'
import { permits, RISKS, type Risk } from '../../core/migrate/schema/finding.ts'
import type { CommandContext } from './command-options.ts'
import type { Colour, Paint } from './paint.ts'
import { printReasons, withSchema, withSchemaReadOnly, withSchemaToPlan } from './schema-project.ts'

export interface MigrateOptions extends CommandContext {
  readonly json: boolean
  readonly allowDestructive: boolean
  /** Apply only steps that are compatible with the running version. */
  readonly expand?: boolean
}

/** `plinth migrate`: applies the migration plan in one transaction. Returns the exit code: 0, or 1 with the reasons if it was refused. */
export async function runMigrate(options: MigrateOptions): Promise<0 | 1> {
  const choices = { allowing: allowedBy(options), stage: stageOf(options) } as const
  const done = await withSchema(options, (database, { tables, files, checkRows, checkResult }) =>
    migrate(database, tables, { ...choices, files, checkRows, checkResult }),
  )
  if (!done.ok) return printReasons(options, done.reasons)
  const migrated = done.value
  if (!migrated.ok) {
    const against = migrated.reasons.map(({ message }) => `  - ${message}`)
    const head = migrated.reasons.some(({ partly }) => partly) ? PARTLY : 'Nothing was changed:'
    return printReasons(options, [`${head}\n${against.join('\n')}\n\n\`plinth plan\` shows it all.`])
  }
  const { steps, left, outdated } = migrated.value
  if (outdated.length > 0) options.writeError(`${REPLACED} ${printServing(outdated)}\n`)
  if (options.json) {
    const stays = left.map(({ table, column }) => ({ table, column }))
    options.write(`${JSON.stringify({ steps, left: stays })}\n`)
  } else options.write(printDone(steps, left.map(describeLeftover)))
  return 0
}

const REPLACED =
  'Processes of another version of the project served from this database; they answer 503 from now on:'

const PARTLY =
  'A part was applied and committed; the next `plinth migrate` continues from it. The rest was refused:'

/** `plinth migrate --dry-run`: prints the plan and returns the exit code that applying it would have. */
export async function runRehearsal(options: MigrateOptions): Promise<0 | 1> {
  const planned = await withSchemaToPlan(options, (database, { tables, files, checkRows, checkResult }) =>
    planMigration(database, tables, {
      allowing: allowedBy(options),
      files,
      checkRows,
      checkResult,
      stage: stageOf(options),
    }),
  )
  if (!planned.ok) return printReasons(options, planned.reasons)
  const plan = planned.value
  const form = options.json ? 'json' : 'text'
  options.write(printPlan(plan, { form, paint: options.paint, stage: stageOf(options) }))
  const isAllowed = permits(allowedBy(options), weightOf(plan) ?? 'safe')
  return plan.refusals.length === 0 && isAllowed ? 0 : 1
}

const stageOf = ({ expand }: MigrateOptions) => (expand ? 'expand' : 'all')

/** `plinth migrate --status`: the migration history, newest first. */
export async function runStatus(options: MigrateOptions): Promise<0 | 1> {
  const read = await withSchemaReadOnly(options, async (database, { files }) => ({
    done: await readHistory(database),
    files: await readCustomMigrationStatus(database, files),
  }))
  if (!read.ok) return printReasons(options, read.reasons)
  const { done, files } = read.value
  options.write(
    options.json ? `${JSON.stringify(read.value)}\n` : `${printHistory(done)}${printFiles(files)}`,
  )
  return 0
}

const allowedBy = ({ allowDestructive }: MigrateOptions): Risk => (allowDestructive ? 'destructive' : 'slow')

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

interface PlanCommandContext extends CommandContext {
  readonly form: 'text' | 'json' | 'sql'
}

/**
 * `plinth plan`: prints the migration plan without applying it. Returns the exit code: 0
 * if there is nothing to do, 2 if there is, 1 if the plan is refused or fails.
 */
export async function runPlan(options: PlanCommandContext): Promise<0 | 1 | 2> {
  const planned = await withSchemaToPlan(options, (database, { tables, files, checkRows, checkResult }) =>
    planMigration(database, tables, { files, checkRows, checkResult }),
  )
  if (!planned.ok) return printReasons(options, planned.reasons)
  const plan = planned.value
  options.write(printPlan(plan, options))
  if (plan.refusals.length > 0) return 1
  return plan.steps.length > 0 ? 2 : 0
}

interface PrintOptions {
  readonly form: 'text' | 'json' | 'sql'
  readonly paint: Paint
  /** The part of the migration that the plan is of. Default: all. */
  readonly stage?: 'expand' | 'all'
}

/** Prints a plan as text, as JSON, or as SQL statements. */
export function printPlan(plan: MigrationPlan, { form, paint, stage = 'all' }: PrintOptions): string {
  if (form === 'json') return printJson(plan)
  return form === 'sql' ? printSql(plan) : printText(plan, paint, stage)
}

/** The highest risk of the steps; null: there are none. */
function weightOf({ steps }: MigrationPlan): Risk | null {
  return RISKS.findLast(weight => steps.some(step => step.weight === weight)) ?? null
}

/** `{ weight, steps: [{ weight, window, summary, notes, statements }], refusals: [{ code, table, message }], left: [{ table, column }] }` */
function printJson(plan: MigrationPlan): string {
  const report = {
    weight: weightOf(plan),
    steps: plan.steps.map(({ weight, window, summary, notes, statements }) => ({
      weight,
      window,
      summary,
      notes,
      statements,
    })),
    refusals: plan.refusals.map(({ code, table, message }) => ({ code, table, message })),
    left: plan.left.map(({ table, column }) => ({ table, column })),
  }
  return `${JSON.stringify(report)}\n`
}

function printSql({ steps, refusals }: MigrationPlan): string {
  const against = refusals.map(({ message }) => `-- refused: ${inOneLine(message)}\n`)
  const parts = steps.map(
    step =>
      `-- ${step.weight}: ${inOneLine(toLine(step))}\n${step.statements.map(text => `${text};\n`).join('')}`,
  )
  return [...against, ...parts].join('\n')
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

const toLine = ({ summary, notes }: PlannedStep): string => [summary, ...notes].join(': ')

const COLOURS: Readonly<Record<Risk, Colour>> = { safe: 'green', slow: 'yellow', destructive: 'red' }

function printText(plan: MigrationPlan, paint: Paint, stage: 'expand' | 'all'): string {
  const { steps, refusals, left } = plan
  const width = Math.max(0, ...steps.map(({ weight }) => weight.length))
  const windows = Math.max(0, ...steps.map(({ window }) => window.length))
  const lines = steps.map(step => {
    const window = paint('dim', step.window.padEnd(windows))
    return `  ${paint(COLOURS[step.weight], step.weight.padEnd(width))}  ${window}  ${toLine(step)}`
  })
  const against = refusals.map(({ message }) => `  ${paint('red', 'refused')}  ${message}`)
  const stays = left.map(one => `  ${paint('dim', describeLeftover(one))}`)
  const sections = [lines, against, stays].filter(section => section.length > 0)
  return [
    ...sections.map(section => `${section.join('\n')}\n`),
    `${stage === 'expand' ? toExpandVerdict(plan) : toVerdict(plan)}\n${toWindow(plan)}`,
  ].join('\n')
}

function toVerdict(plan: MigrationPlan): string {
  const weight = weightOf(plan)
  if (plan.refusals.length > 0)
    return 'This cannot be done: change the project or the rows as it is said above.'
  if (weight === null) return 'The database is as the project wants it: nothing to do.'
  const steps = withNoun(plan.steps.length, 'step')
  if (weight === 'safe') return `${steps}, all safe: \`plinth start\` and \`plinth migrate\` do this.`
  if (weight === 'slow') return `${steps}, some slow: \`plinth migrate\` does this, a start refuses it.`
  return `${steps}, some destructive: \`plinth migrate --allow-destructive\` does this, a start refuses it.`
}

/** Of the steps that `plinth migrate --expand` applies. */
function toExpandVerdict(plan: MigrationPlan): string {
  const weight = weightOf(plan)
  if (plan.refusals.length > 0)
    return 'This cannot be done: change the project or the rows as it is said above.'
  if (weight === null) return 'No step can be applied before the running version has ended.'
  const steps = withNoun(plan.steps.length, 'step')
  const flags = weight === 'destructive' ? ' --allow-destructive' : ''
  return `${steps}: \`plinth migrate --expand${flags}\` does this.`
}

/** States whether the running version stays compatible. */
function toWindow({ steps, refusals }: MigrationPlan): string {
  if (refusals.length > 0 || steps.length === 0) return ''
  const running = 'The version that is running'
  if (steps.some(({ window }) => window === 'stop'))
    return `${running} is not compatible with the steps marked \`stop\`: stop it first.\n`
  if (steps.every(({ window }) => window === 'expand')) return `${running} may keep serving during this.\n`
  return `${running} may keep serving during \`plinth migrate --expand\`; run the contract steps after it has ended.\n`
}

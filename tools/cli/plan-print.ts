import { describeLeftover } from '../../core/app/start-fault.ts'
import type { MigrationPlan, PlannedStep } from '../../core/migrate/plan-migration.ts'
import { RISKS, type Risk } from '../../core/migrate/schema/finding.ts'
import type { Colour, Paint } from './paint.ts'

interface PrintTerms {
  readonly form: 'text' | 'json' | 'sql'
  readonly paint: Paint
}

/** Prints a plan as text, as JSON, or as SQL statements. */
export function printPlan(plan: MigrationPlan, { form, paint }: PrintTerms): string {
  if (form === 'json') return printJson(plan)
  return form === 'sql' ? printSql(plan) : printText(plan, paint)
}

/** The highest risk of the steps; null: there are none. */
export function weightOf({ steps }: MigrationPlan): Risk | null {
  return RISKS.findLast(weight => steps.some(step => step.weight === weight)) ?? null
}

/** `{ weight, steps: [{ weight, window, summary, notes, statements }], refusals: [{ code, table, message }], left: [{ table, column }] }` */
function printJson(plan: MigrationPlan): string {
  const told = {
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
  return `${JSON.stringify(told)}\n`
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

function printText(plan: MigrationPlan, paint: Paint): string {
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
    `${toVerdict(plan)}\n${toWindow(plan)}`,
  ].join('\n')
}

function toVerdict(plan: MigrationPlan): string {
  const weight = weightOf(plan)
  if (plan.refusals.length > 0)
    return 'This cannot be done: change the project or the rows as it is said above.'
  if (weight === null) return 'The database is as the project wants it: nothing to do.'
  const steps = plan.steps.length === 1 ? '1 step' : `${plan.steps.length} steps`
  if (weight === 'safe') return `${steps}, all safe: \`plinth start\` and \`plinth migrate\` do this.`
  if (weight === 'slow') return `${steps}, some slow: \`plinth migrate\` does this, a start refuses it.`
  return `${steps}, some destructive: \`plinth migrate --allow-destructive\` does this, a start refuses it.`
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

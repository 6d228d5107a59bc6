import type { Transaction } from '../database/database.ts'
import type { Stage } from './migration-options.ts'
import type { SchemaPlan } from './plan-steps.ts'
import {
  type Leftover,
  type OverrideCost,
  type RefusalCode,
  type RowCountQuery,
  refusal,
  rolloutPhaseOf,
  type SchemaPrecondition,
  type SchemaRefusal,
  type Step,
} from './schema/finding.ts'

/** The objections to a plan. */
export interface Evaluation {
  /** Refused whatever is allowed. */
  readonly refusals: readonly SchemaRefusal[]
  readonly costs: readonly Cost[]
  /** The objects without rows or values that the project no longer declares. */
  readonly empty: readonly Leftover[]
}

/** A cost of a plan, refused unless it is allowed. */
export interface Cost {
  /** Its note has the number of rows. */
  readonly price: OverrideCost
  readonly refusal: SchemaRefusal
}

/**
 * Checks the plan's preconditions against the rows. Returns all refusals, the known ones first. For the stage `expand`
 * only the costs of its steps count, and steps that no running version tolerates are refused.
 */
export async function evaluatePlan(
  transaction: Transaction,
  plan: SchemaPlan,
  stage: Stage,
): Promise<Evaluation> {
  const { refusals, costs } = await evaluateRows(transaction, plan)
  const lossy = new Set(costs.flatMap(({ price }) => price.steps))
  const empty = plan.left.filter(({ drop }) => !drop.some(step => lossy.has(step)))
  if (stage !== 'expand') return { refusals, costs, empty }
  const stops = stopsOf(await neededSteps(transaction, plan.steps))
  const paid = costs.flatMap(({ price, refusal }) => {
    const steps = price.steps.filter(step => rolloutPhaseOf(step) === 'expand')
    return steps.length > 0 ? [{ price: { ...price, steps }, refusal }] : []
  })
  return { refusals: [...refusals, ...stops], costs: paid, empty }
}

/** Steps that neither the running nor the next version tolerates. */
function stopsOf(steps: readonly Step[]): readonly SchemaRefusal[] {
  const stops = steps.filter(step => rolloutPhaseOf(step) === 'stop').map(({ summary }) => summary)
  if (stops.length === 0) return []
  const what = `this cannot be done while another version is serving: ${stops.join('; ')}`
  return [refusal('needs-stop', null, `${what}: end that one, and run \`plinth migrate\``)]
}

async function evaluateRows(transaction: Transaction, plan: SchemaPlan): Promise<Omit<Evaluation, 'empty'>> {
  const refusals = [...plan.refusals]
  const costs: Cost[] = []
  for (const precondition of plan.preconditions) {
    const found = await ask(transaction, precondition.countQuery)
    if (found.rows === 0) continue
    const against = toRefusal(precondition, found)
    if (precondition.price === undefined) refusals.push(against)
    else {
      const note = withFound(precondition.price.note, found)
      costs.push({ price: { ...precondition.price, note }, refusal: against })
    }
  }
  return { refusals, costs }
}

/** Objections to dropping what the plan leaves in place. */
const DROPS: ReadonlySet<RefusalCode> = new Set<RefusalCode>(['vanished-table', 'vanished-column'])

/** What rows may object to, and the values that may be lost: for a plan without the rows. Locks of large tables do not count. */
export const possibleObjections = ({ preconditions }: SchemaPlan): readonly SchemaRefusal[] =>
  preconditions
    .filter(({ code, price }) => price?.weight !== 'slow' && !DROPS.has(code))
    .map(({ code, table, message }) =>
      refusal(code, table, message.replace(': {values}', '').replaceAll('{rows}', 'some rows')),
    )

/** The plan's steps without those that would change nothing. */
export async function neededSteps(
  transaction: Transaction,
  steps: readonly Step[],
): Promise<readonly Step[]> {
  const kept: Step[] = []
  for (const step of steps) {
    if (step.onlyIf === null || (await ask(transaction, step.onlyIf)).rows > 0) kept.push(step)
  }
  return kept
}

interface Answer {
  readonly rows: number
  readonly values: readonly string[]
}

async function ask(transaction: Transaction, countQuery: RowCountQuery): Promise<Answer> {
  const { rows } = await transaction.run({
    text: countQuery,
    values: [],
    name: 'check a precondition of a migration',
  })
  const [count, values] = rows[0] ?? []
  const found: unknown = JSON.parse(String(values ?? '[]'))
  return { rows: Number(count ?? 0), values: Array.isArray(found) ? found.map(String) : [] }
}

const toRefusal = ({ code, table, message }: SchemaPrecondition, found: Answer): SchemaRefusal =>
  refusal(code, table, withFound(message, found))

function withFound(text: string, { rows, values }: Answer): string {
  const words: Readonly<Record<string, string>> = {
    rows: rows === 1 ? '1 row' : `${rows.toLocaleString('en')} rows`,
    values: values.map(value => JSON.stringify(value)).join(', '),
  }
  return text.replace(/\{(rows|values)\}/g, (_, word: string) => words[word] ?? '')
}

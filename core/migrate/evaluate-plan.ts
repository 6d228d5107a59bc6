import type { Transaction } from '../database/database.ts'
import type { SchemaPlan } from './plan-steps.ts'
import {
  type OverrideCost,
  type Precondition,
  type RowCountQuery,
  refusal,
  type SchemaRefusal,
  type Step,
} from './schema/finding.ts'

/** The objections to a plan. */
export interface Evaluation {
  /** Refused whatever is allowed. */
  readonly refusals: readonly SchemaRefusal[]
  readonly costs: readonly Cost[]
}

/** A cost of a plan, refused unless it is allowed. */
export interface Cost {
  /** Its note has the number of rows. */
  readonly price: OverrideCost
  readonly refusal: SchemaRefusal
}

/** Checks the plan's preconditions against the rows. Returns all refusals, the known ones first. */
export async function evaluatePlan(transaction: Transaction, plan: SchemaPlan): Promise<Evaluation> {
  const refusals = [...plan.refusals]
  const costs: Cost[] = []
  for (const proviso of plan.provisos) {
    const found = await ask(transaction, proviso.question)
    if (found.rows === 0) continue
    const against = toRefusal(proviso, found)
    if (proviso.price === undefined) refusals.push(against)
    else {
      const note = withFound(proviso.price.note, found)
      costs.push({ price: { ...proviso.price, note }, refusal: against })
    }
  }
  return { refusals, costs }
}

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

async function ask(transaction: Transaction, question: RowCountQuery): Promise<Answer> {
  const { rows } = await transaction.run({ text: question, values: [], name: 'ask before a migration' })
  const [count, values] = rows[0] ?? []
  const found: unknown = JSON.parse(String(values ?? '[]'))
  return { rows: Number(count ?? 0), values: Array.isArray(found) ? found.map(String) : [] }
}

const toRefusal = ({ code, table, message }: Precondition, found: Answer): SchemaRefusal =>
  refusal(code, table, withFound(message, found))

function withFound(text: string, { rows, values }: Answer): string {
  const words: Readonly<Record<string, string>> = {
    rows: rows === 1 ? '1 row' : `${rows.toLocaleString('en')} rows`,
    values: values.map(value => JSON.stringify(value)).join(', '),
  }
  return text.replace(/\{(rows|values)\}/g, (_, word: string) => words[word] ?? '')
}

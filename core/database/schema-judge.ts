import type { Transaction } from './database.ts'
import { type Proviso, type Question, refusal, type SchemaRefusal, type Step } from './schema-finding.ts'
import type { SchemaPlan } from './schema-plan.ts'

/** Asks the rows whether the plan's provisos hold. Answers every one that does not, after those known before. */
export async function judge(transaction: Transaction, plan: SchemaPlan): Promise<readonly SchemaRefusal[]> {
  const refusals = [...plan.refusals]
  for (const proviso of plan.provisos) {
    const { rows, values } = await ask(transaction, proviso.question)
    if (rows > 0) refusals.push(toRefusal(proviso, rows, values))
  }
  return refusals
}

/** The plan's steps, without those that have nothing to do. */
export async function needed(transaction: Transaction, steps: readonly Step[]): Promise<readonly Step[]> {
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

async function ask(transaction: Transaction, question: Question): Promise<Answer> {
  const { rows } = await transaction.run({ text: question, values: [], name: 'ask before a migration' })
  const [count, values] = rows[0] ?? []
  const found: unknown = JSON.parse(String(values ?? '[]'))
  return { rows: Number(count ?? 0), values: Array.isArray(found) ? found.map(String) : [] }
}

function toRefusal(
  { code, table, message }: Proviso,
  rows: number,
  values: readonly string[],
): SchemaRefusal {
  const words: Readonly<Record<string, string>> = {
    rows: rows === 1 ? '1 row' : `${rows.toLocaleString('en')} rows`,
    values: values.map(value => JSON.stringify(value)).join(', '),
  }
  return refusal(
    code,
    table,
    message.replace(/\{(rows|values)\}/g, (_, word: string) => words[word] ?? ''),
  )
}

import { printTemplate } from '../../sql/print.ts'
import { bind, type Statement, toKeep } from '../../sql/statement.ts'
import { makeOf, planOnce, sizeOfTemplate } from './plan-once.ts'

const plan = planOnce(answer => toKeep(printTemplate(answer)), sizeOfTemplate)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = makeOf(plan, ({ template, values }) => bind(template, values))

/** A statement that looks at one table, at one place alone. */
export interface LoneStatement extends Statement {
  readonly table: string
}

/** The same where it is one of a single table; null: it is not. */
export const toLoneStatement = makeOf(plan, ({ template, values }): LoneStatement | null => {
  const { table } = template
  return table === undefined ? null : { ...bind(template, values), table }
})

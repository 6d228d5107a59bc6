import { printTemplate } from '../sql/print.ts'
import type { Statement } from '../sql/statement.ts'
import { bind } from '../sql/template.ts'
import { planOnce, rememberByQuery } from './plan-once.ts'

const plan = planOnce(printTemplate, ({ text }) => text.length)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = rememberByQuery<Statement>((query, terms) => {
  const { template, values } = plan(query, terms)
  return bind(template, values)
})

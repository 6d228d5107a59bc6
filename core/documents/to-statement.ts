import { printTemplate } from '../sql/print.ts'
import { bind } from '../sql/template.ts'
import { makeOf, planOnce } from './plan-once.ts'

const plan = planOnce(printTemplate, ({ text }) => text.length)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = makeOf(plan, ({ template, values }) => bind(template, values))

import { printTemplate } from '../sql/print.ts'
import { bind, toKeep } from '../sql/template.ts'
import { makeOf, planOnce, sizeOfTemplate } from './plan-once.ts'

const plan = planOnce(answer => toKeep(printTemplate(answer)), sizeOfTemplate)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = makeOf(plan, ({ template, values }) => bind(template, values))

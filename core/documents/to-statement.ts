import type { RestrictedQuery } from '../query/query.ts'
import { printTemplate } from '../sql/print.ts'
import type { Statement } from '../sql/statement.ts'
import { bind } from '../sql/template.ts'
import { planOnce, type QueryTerms, rememberByQuery } from './plan-once.ts'

const plan = planOnce(printTemplate, ({ text }) => text.length)

/** The one statement of a query. It is planned and printed once for all queries that differ in values alone. */
export const toStatement = rememberByQuery<Statement>((query, terms) => bound(query, null, terms))

/** That of a query, put to this document. */
export const toStatementOf = (query: RestrictedQuery, documentId: string, terms: QueryTerms): Statement =>
  bound(query, documentId, terms)

function bound(query: RestrictedQuery, documentId: string | null, terms: QueryTerms): Statement {
  const { template, values } = plan(query, documentId, terms)
  return bind(template, values)
}

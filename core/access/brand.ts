import type { Query, RestrictedQuery } from '../query/query.ts'

/** The only place where a query becomes a restricted one. The brand is a type's alone, so there is nothing to construct. */
export const brand = (query: Query): RestrictedQuery => query as RestrictedQuery

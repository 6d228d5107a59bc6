import type { Caller } from '../access/caller.ts'
import type { Documents } from '../documents/documents.ts'
import type { HttpRequest } from '../faults/exchange.ts'
import type { Identify } from '../identity/identify.ts'
import type { RouteGuards } from '../plugins/guards.ts'
import type { QueryTerms } from './parse-query.ts'
import type { Route } from './routes.ts'

/** What REST needs of the rest of the server. */
export interface RestTerms extends QueryTerms {
  readonly documents: Documents
  readonly identify: Identify
  /** Absent: no route has any. */
  readonly guards?: RouteGuards | undefined
}

/** One request of a known route by a known caller, who may do what it asks. */
export interface Visit {
  readonly request: HttpRequest
  readonly route: Route
  readonly caller: Caller
}

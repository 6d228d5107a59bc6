import type { Caller } from '../access/caller.ts'
import type { Result } from '../base/result.ts'
import type { Ahead } from '../cache/version-prefetch.ts'
import type { Documents } from '../documents/documents.ts'
import type { HttpRequest } from '../faults/exchange.ts'
import type { Fault } from '../faults/fault.ts'
import type { Identify } from '../identity/identify.ts'
import type { RouteGuards } from '../plugins/guards.ts'
import type { AroundDocuments } from '../plugins/services/documents-api.ts'
import type { QueryTerms } from './parameters/parse-query.ts'
import type { Parameters } from './parse-query-string.ts'
import type { Route } from './routes.ts'

/** What REST needs of the rest of the server. */
export interface RestTerms extends QueryTerms {
  readonly documents: Documents
  readonly identify: Identify
  /** Absent: no route has any. */
  readonly guards?: RouteGuards | undefined
  /** Document middlewares; absent or null: there are none, and JSON text goes out as it comes. */
  readonly around?: AroundDocuments | null
}

/** One request of a known route by a known caller, who may do what it asks. */
export interface Visit {
  readonly request: HttpRequest
  readonly route: Route
  readonly caller: Caller
  /** Parsed, or made by document middlewares; absent: as the request says. */
  readonly given?: Given
  /** What it asks for; absent: code of the project has a say in it, or nobody is signed in. */
  readonly ahead?: Ahead | undefined
}

/** What a request asks for, apart from its text. */
export interface Given {
  readonly parameters: Parameters
  data(): Promise<Result<Data, Fault>>
  /** What the caller himself gave, where document middlewares changed anything; null: they did not. */
  readonly before: { readonly data: Data } | null
}

type Data = Readonly<Record<string, unknown>>

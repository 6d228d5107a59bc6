import type { Action } from '../access/actions.ts'
import type { Caller } from '../access/caller.ts'
import { permitModified, restrictModified } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import { ok, type Result } from '../base/result.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import type { Documents } from '../documents/documents.ts'
import type { Fault } from '../faults/fault.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'
import type { RouteGuards } from '../plugins/register.ts'
import type { RunDocumentMiddlewares } from '../plugins/services/documents-api.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import type { QueryParseTerms } from './parameters/parse-query.ts'
import { readData } from './parse-body.ts'
import { parseQueryString, type QueryParameters } from './parse-query-string.ts'
import type { Route } from './routes.ts'

/** Services and settings that the REST handlers use. */
export interface RestTerms extends QueryParseTerms {
  readonly documents: Documents
  readonly identify: Identify
  /** Absent: no route has a guard. */
  readonly guards?: RouteGuards | undefined
  /** Document middlewares; absent or null: there are none, and the database's JSON text is sent unparsed. */
  readonly around?: RunDocumentMiddlewares | null
}

/** One request of a known route by an identified caller who has the permission for its action. */
export interface RestCall {
  readonly request: HttpRequest
  readonly route: Route
  readonly caller: Caller
  /** Input that was parsed already or changed by document middlewares; absent: it is read from the request. */
  readonly input?: RestInput
  /** Prefetched version check; absent for anonymous requests and where project code takes part. */
  readonly prefetch?: VersionPrefetch | undefined
}

/** The input of an action: query parameters and the body's data. */
export interface RestInput {
  readonly parameters: QueryParameters
  data(): Promise<Result<Data, Fault>>
  /** The caller's own input, if document middlewares changed it; null: unchanged. */
  readonly original: { readonly data: Data } | null
}

export type Data = Readonly<Record<string, unknown>>

export const inputParameters = ({ input, request }: RestCall): Result<QueryParameters, Fault> =>
  input ? ok(input.parameters) : parseQueryString(request.search)

export const inputData = ({ input, request }: RestCall): Promise<Result<Data, Fault>> =>
  input ? input.data() : readData(request)

/** Restricts a query to what the caller may read. Changes made by middlewares are not checked against the caller. */
export const restrictQuery = (
  query: Query,
  { caller, input }: RestCall,
  action?: Action,
): Result<RestrictedQuery, Fault> =>
  input?.original ? restrictModified(query, caller, action) : restrict(query, caller, action)

/** Checks a command against the caller's permissions. Values changed by middlewares are not checked. */
export function permitCommand<Kind extends CreateCommand | UpdateCommand>(
  command: Kind,
  { caller, input }: RestCall,
): Result<PermittedCommand<Kind>, Fault> {
  if (!input?.original) return permit(command, caller)
  const values = parseGivenValues(command.type, input.original.data)
  if (!values.ok) return values
  const before = { ...command, values: values.value }
  const permitted = permit(before, caller)
  return permitted.ok ? ok(permitModified(command, before, permitted.value)) : permitted
}

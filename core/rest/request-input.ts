import type { Action } from '../access/actions.ts'
import { amendCommand, restrictAmended } from '../access/restrict/modified-by-middleware.ts'
import { permit } from '../access/restrict/permit.ts'
import { restrict } from '../access/restrict/restrict.ts'
import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { CreateCommand, PermittedCommand, UpdateCommand } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { readData } from './parse-body.ts'
import { type Parameters, parseQueryString } from './parse-query-string.ts'
import type { Visit } from './request-visit.ts'

type Data = Readonly<Record<string, unknown>>

export const parametersOf = ({ given, request }: Visit): Result<Parameters, Fault> =>
  given ? ok(given.parameters) : parseQueryString(request.search)

export const dataOf = ({ given, request }: Visit): Promise<Result<Data, Fault>> =>
  given ? given.data() : readData(request)

/** What of a query is for the caller. What middlewares asked for was not his to choose. */
export const see = (
  query: Query,
  { caller, given }: Visit,
  action?: Action,
): Result<RestrictedQuery, Fault> =>
  given?.before ? restrictAmended(query, caller, action) : restrict(query, caller, action)

/** The command as the caller may give it; values that middlewares changed are not his choice either. */
export function allow<Kind extends CreateCommand | UpdateCommand>(
  command: Kind,
  { caller, given }: Visit,
): Result<PermittedCommand<Kind>, Fault> {
  if (!given?.before) return permit(command, caller)
  const values = parseGivenValues(command.type, given.before.data)
  if (!values.ok) return values
  const before = { ...command, values: values.value }
  const permitted = permit(before, caller)
  return permitted.ok ? ok(amendCommand(command, before, permitted.value)) : permitted
}

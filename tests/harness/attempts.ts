import type { Caller } from '../../core/access/caller.ts'
import * as permitting from '../../core/access/restrict/permit.ts'
import * as restricting from '../../core/access/restrict/restrict.ts'
import * as queries from '../../core/actions/parameters/parse-query.ts'
import type { Result } from '../../core/base/result.ts'
import { attempt, type Fault } from '../../core/faults/fault.ts'
import type { Command, PermittedCommand } from '../../core/query/command.ts'
import * as filters from '../../core/query/parse-filter.ts'
import * as givenValues from '../../core/query/parse-given-values.ts'
import * as queryString from '../../core/rest/parse-query-string.ts'

/** Parsers and gates that throw a RequestFault, here with its fault as a result: tests compare faults. */
const returning =
  <Args extends readonly unknown[], Value>(work: (...args: Args) => Value) =>
  (...args: Args): Result<Value, Fault> =>
    attempt(() => work(...args))

export const restrict = returning(restricting.restrict)
export const parseFilter = returning(filters.parseFilter)
export const parseGivenValues = returning(givenValues.parseGivenValues)
export const parseListQuery = returning(queries.parseListQuery)
export const parseOneQuery = returning(queries.parseOneQuery)
export const parseQueryString = returning(queryString.parseQueryString)

export const permit = <Kind extends Command>(
  command: Kind,
  caller: Caller,
): Result<PermittedCommand<Kind>, Fault> => attempt(() => permitting.permit(command, caller))

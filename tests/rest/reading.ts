import type { ExecutionContext } from 'ava'
import type { PaginationParams } from '../../core/actions/parameters/parse-pagination.ts'
import type { Result } from '../../core/base/result.ts'
import type { Fault } from '../../core/faults/fault.ts'
import type { Model } from '../../core/model/model.ts'
import type { RestSettings } from '../../core/project/settings/settings.ts'
import type { Query } from '../../core/query/query.ts'
import { parseListQuery, parseOneQuery, parseQueryString } from '../harness/attempts.ts'
import { faultText, library, typeOf } from '../query/library.ts'

export const SETTINGS: RestSettings = {
  ...{ prefix: '/api', defaultLimit: 25, maxLimit: 100, withCount: true },
  responseFormat: 'v5',
}

const model: Model = await library()

/** A list read: the query that its query string means, and its pagination. */
export function readList(
  search: string,
  key = 'book',
): Result<{ query: Query; pagination: PaginationParams }, Fault> {
  const parameters = parseQueryString(search)
  if (!parameters.ok) return parameters
  return parseListQuery(typeOf(model, key), parameters.value, { model, settings: SETTINGS })
}

export function readOne(search: string, key = 'book'): Result<Query, Fault> {
  const parameters = parseQueryString(search)
  if (!parameters.ok) return parameters
  return parseOneQuery(typeOf(model, key), 'x', parameters.value, { model, settings: SETTINGS })
}

/** Query string → what it means, or why it is refused. */
export type Table = readonly (readonly [search: string, expected: string])[]

/** Checks every row of a table; `print` shows the part of the query that the table is about. */
export function check(
  t: ExecutionContext,
  table: Table,
  print: (query: Query) => string,
  key = 'book',
): void {
  for (const [search, expected] of table) {
    const read = readList(search, key)
    t.is(read.ok ? print(read.value.query) : faultText(read), expected, search)
  }
}

export const must = <Value>(result: Result<Value, Fault>): Value => {
  if (result.ok) return result.value
  throw new Error(faultText(result))
}

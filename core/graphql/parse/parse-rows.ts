import { ok, type Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import type { Holder } from '../../model/model.ts'
import { parseFilter } from '../../query/parse-filter.ts'
import { parseSort } from '../../query/parse-sort.ts'
import type { Filter, Sort } from '../../query/query.ts'
import { toDollarFilter } from '../sdl/to-dollar-filter.ts'

/** The arguments `filters` and `sort` of a list. */
export function parseRows(
  holder: Holder,
  given: Readonly<Record<string, unknown>>,
): Result<{ readonly filter: Filter | null; readonly sort: readonly Sort[] }, Fault> {
  const filter = given.filters == null ? ok(null) : parseFilter(toDollarFilter(given.filters, holder), holder)
  if (!filter.ok) return filter
  const sort = parseSort(given.sort ?? [], holder)
  return sort.ok ? ok({ filter: filter.value, sort: sort.value }) : sort
}

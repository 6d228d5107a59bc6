import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Filter } from './query.ts'

/** Parses each item, up to the first fault; one filter alone needs nothing around it. */
export function parseAll<Item>(
  items: readonly Item[],
  parse: (item: Item) => Result<Filter, Fault>,
  kind: 'and' | 'or' = 'and',
): Result<Filter, Fault> {
  const filters: Filter[] = []
  for (const item of items) {
    const parsed = parse(item)
    if (!parsed.ok) return parsed
    filters.push(parsed.value)
  }
  const [only] = filters
  return ok(only && filters.length === 1 ? only : { kind, filters })
}

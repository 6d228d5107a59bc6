import { fitsIndex } from '../../model/columns.ts'
import type { ContentType, ScalarAttribute } from '../../model/model.ts'
import type { Planning } from '../rows/write-owner.ts'
import { columnsOf, hasSpare } from '../sql/write-print.ts'

/**
 * Documents that are written together may swap values that must be unique: where several get others, all are emptied
 * first. Values that are required hold something else meanwhile that nobody has; where their type has no such value
 * (enumerations, booleans, times), the database refuses a swap.
 */
export function releaseSwapped(types: Iterable<ContentType>, { changes, terms }: Planning): void {
  for (const type of types) {
    const { name: table } = terms.storage.table(type)
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique || !fitsIndex(attribute)) continue
      const column = terms.storage.column(type, attribute.name)
      if (attribute.required && !isFillable(attribute, columnsOf(terms.storage, table).get(column))) continue
      const moved = changes.updates.filter(each => each.table === table && each.columns.has(column))
      if (moved.length < 2) continue
      const how = { columns: [column], ...(attribute.required ? ({ filled: true } as const) : {}) }
      changes.releases.push(...moved.map(({ key }) => ({ table, holding: key, ...how })))
    }
  }
}

const isFillable = ({ values }: ScalarAttribute, type: Parameters<typeof hasSpare>[0]): boolean =>
  !values && hasSpare(type)

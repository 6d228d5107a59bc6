import { oneOf, requiredWhenPublished } from './constraints.ts'
import type { Layout } from './layout.ts'
import type { Holder } from './model.ts'
import type { Check } from './storage.ts'

/** What the database holds values to: enumerations in every row, required ones in published rows. */
export function valueChecks(holder: Holder, table: string, layout: Layout): readonly Check[] {
  const versioned = holder.holder === 'component' || holder.draftAndPublish
  return [...holder.attributes.values()].flatMap(attribute => {
    if (attribute.kind !== 'scalar' || attribute.system) return []
    const column = layout.column(holder, attribute.name)
    return [
      ...(attribute.values ? [oneOf(table, column, attribute.values)] : []),
      ...(versioned && attribute.required ? [requiredWhenPublished(table, column)] : []),
    ]
  })
}

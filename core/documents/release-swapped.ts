import type { ContentType } from '../model/model.ts'
import type { Planning } from './write-owner.ts'

/**
 * Documents that are written together may swap values that must be unique: where several get others, all are emptied
 * first. Values that are required cannot be: there the database refuses a swap.
 */
export function releaseSwapped(types: Iterable<ContentType>, { changes, terms }: Planning): void {
  for (const type of types) {
    const { name: table } = terms.storage.table(type)
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique || attribute.required) continue
      const column = terms.storage.column(type, attribute.name)
      const moved = changes.updates.filter(each => each.table === table && each.columns.has(column))
      if (moved.length > 1)
        changes.releases.push(...moved.map(({ key }) => ({ table, holding: key, columns: [column] })))
    }
  }
}

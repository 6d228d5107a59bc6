import type { Stored } from '../desired-state.ts'
import { numberIn } from '../sql/write-rows.ts'
import { type CurrentComponent, componentsOf } from './write-load.ts'
import type { Planning } from './write-owner.ts'

/** The database takes the links of a component along, but knows nothing of what is nested in it. */
export function removeComponent(
  { component, row }: CurrentComponent,
  planning: Pick<Planning, 'terms' | 'current' | 'changes'>,
): void {
  const table = planning.terms.storage.componentTable(component)
  const id = numberIn(row, 'id')
  const status = row.get('status') ?? null
  planning.changes.removals.push({ table: table.name, key: componentKey(id, status) })
  for (const attribute of component.attributes.values()) {
    if (componentsOf(attribute).length === 0) continue
    for (const nested of planning.current.components(component, attribute.name, id))
      if (nested.row.get('status') === status) removeComponent(nested, planning)
  }
}

/** The key of a component's row. */
export const componentKey = (id: number, status: Stored): ReadonlyMap<string, Stored> =>
  new Map<string, Stored>([
    ['id', id],
    ['status', status],
  ])

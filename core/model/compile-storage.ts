import { deepFreeze } from '../base/plain-data.ts'
import { type ExpectedLists, toBlueprint } from './blueprint.ts'
import { buildComponentTable } from './component-table.ts'
import { toLayout } from './layout.ts'
import { buildLinkTables } from './link-table.ts'
import type { Model } from './model.ts'
import type { Storage } from './storage.ts'
import { systemTables } from './system-tables.ts'
import { buildTypeTable } from './type-table.ts'

/**
 * The tables of a model and the names in them; the same for the same model, always. Link tables come after what owns
 * them. Lists that are expected get indexes of their own.
 */
export function compileStorage(model: Model, expected: ExpectedLists | null = null): Storage {
  const layout = toLayout(model)
  const blueprint = toBlueprint(model, layout, expected)
  const types = [...model.contentTypes.values()]
  const components = [...model.components.values()]
  return deepFreeze({
    ...layout,
    tables: [
      ...systemTables(model),
      ...types.map(type => buildTypeTable(type, blueprint)),
      ...components.map(component => buildComponentTable(component, blueprint)),
      ...[...types, ...components].flatMap(holder => buildLinkTables(holder, blueprint)),
    ],
  })
}

import type { Attribute, Component, Holder, Model } from './model.ts'
import { ownerName } from './storage.ts'

/** Old owner name → new, for the rows of a component whose owners or their attributes were renamed. */
export function renamedOwners(component: Component, model: Model): ReadonlyMap<string, string> {
  const renamed = new Map<string, string>()
  for (const holder of [...model.contentTypes.values(), ...model.components.values()]) {
    for (const attribute of holder.attributes.values()) {
      if (!uses(attribute, component)) continue
      for (const former of formerNames(holder, attribute))
        renamed.set(former, ownerName(holder, attribute.name))
    }
  }
  return renamed
}

/** What the component's rows may call their owner. */
export const ownersOf = (component: Component, model: Model): readonly string[] =>
  [...model.contentTypes.values(), ...model.components.values()].flatMap(holder =>
    [...holder.attributes.values()]
      .filter(attribute => uses(attribute, component))
      .map(attribute => ownerName(holder, attribute.name)),
  )

const uses = (attribute: Attribute, component: Component): boolean =>
  attribute.kind === 'component'
    ? attribute.component === component
    : attribute.kind === 'zone' && attribute.components.includes(component)

/** Owner and attribute may have been renamed at once or one after the other. */
function formerNames(holder: Holder, attribute: Attribute): readonly string[] {
  const current = holder.holder === 'component' ? holder.uid : holder.key
  const holders = [current, ...(holder.renamedFrom === undefined ? [] : [holder.renamedFrom])]
  const attributes = [attribute.name, ...(attribute.renamedFrom === undefined ? [] : [attribute.renamedFrom])]
  return holders.flatMap(owner => attributes.map(name => `${owner}.${name}`)).slice(1)
}

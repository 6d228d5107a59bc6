import { RequestFault } from '../../faults/fault.ts'
import type { Attribute, Holder } from '../../model/model.ts'
import type { Values, DesiredComponent, DesiredValue } from '../desired-state.ts'
import { type ChangeTerms, changeLinks } from '../links/link-change.ts'
import { foreignComponent } from '../values/value-fault.ts'

export interface MergeTerms extends ChangeTerms {
  /** A component of the attribute, of any status, by the id that a body names. */
  /** Lists of the holder that stay in the database, by attribute. */
  readonly edits?: ReadonlyMap<string, DesiredValue>
  readonly componentBy: (attribute: Attribute, item: DesiredComponent) => DesiredComponent | undefined
}

/** The values that are there with those given put in: lists of links changed, components that are named changed in part. */
export function mergeValues(holder: Holder, before: Values, given: Values, terms: MergeTerms): Values {
  const values = new Map(before)
  for (const [name, value] of terms.edits ?? []) values.set(name, value)
  for (const [name, value] of given) {
    const attribute = terms.edits?.has(name) ? undefined : holder.attributes.get(name)
    if (attribute) values.set(name, mergeValue(attribute, before.get(name), value, terms))
  }
  return values
}

function mergeValue(
  attribute: Attribute,
  before: DesiredValue | undefined,
  given: DesiredValue,
  terms: MergeTerms,
): DesiredValue {
  if (given.kind === 'components')
    return { kind: 'components', items: mergeItems(attribute, given.items, terms) }
  if (given.kind !== 'links' || !given.change) return given
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') return given
  const current = before?.kind === 'links' ? before.targets : []
  return { kind: 'links', targets: changeLinks(attribute, given.change, current, terms) }
}

function mergeItems(
  attribute: Attribute,
  items: readonly DesiredComponent[],
  terms: MergeTerms,
): readonly DesiredComponent[] {
  const seen = new Set<string>()
  return items.map(item => {
    const { edits: _, ...within } = terms
    if (item.id === null)
      return { ...item, values: mergeValues(item.component, NOTHING, item.values, within) }
    const there = terms.componentBy(attribute, item)
    const identity = JSON.stringify([item.component.uid, item.id])
    if (!there || seen.has(identity)) throw new RequestFault(foreignComponent(attribute))
    seen.add(identity)
    const nested: MergeTerms = { ...within, componentBy: (inner, each) => nestedIn(there, inner, each) }
    return { ...item, values: mergeValues(item.component, there.values, item.values, nested) }
  })
}

const NOTHING: Values = new Map()

function nestedIn(
  { values }: DesiredComponent,
  attribute: Attribute,
  { component, id }: DesiredComponent,
): DesiredComponent | undefined {
  const value = values.get(attribute.name)
  if (value?.kind !== 'components') return undefined
  return value.items.find(each => each.component === component && each.id === id)
}

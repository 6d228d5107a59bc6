import type { Attribute, ComponentAttribute, Holder, LinkAttribute, ZoneAttribute } from '../model/model.ts'
import { everyField } from './every-field.ts'
import { holderBehind } from './parse-place.ts'
import type { Asked, Populate, Selection, ZonePopulate } from './query.ts'

/** What a populate says of the rows at the other end, parsed. */
export interface Rows {
  readonly selection: Selection
  readonly filter: Extract<Populate, { kind: 'link' }>['filter']
  readonly sort: Extract<Populate, { kind: 'link' }>['sort']
  readonly count: boolean
}

export const selectionOf = (holder: Holder, populate: readonly Populate[] = []): Selection => ({
  ...everyField(holder),
  populate,
})

export const allRows = (holder: Holder, populate: readonly Populate[] = []): Rows => ({
  selection: selectionOf(holder, populate),
  filter: null,
  sort: [],
  count: false,
})

export function populateRows(
  attribute: LinkAttribute | ComponentAttribute,
  asked: Asked,
  rows: Rows,
): Populate {
  const base = { as: attribute.name, asked, page: null, ...rows }
  return attribute.kind === 'component'
    ? { kind: 'component', attribute, ...base }
    : { kind: 'link', attribute, scope: null, ...base }
}

export const populateZone = (
  attribute: ZoneAttribute,
  asked: Asked,
  components: ZonePopulate['components'],
): ZonePopulate => ({ kind: 'zone', attribute, as: attribute.name, asked, components, count: false })

/** Every component of the zone, with the same things inside. */
export const wholeZone = (
  { components }: ZoneAttribute,
  inside: (holder: Holder) => readonly Populate[] = () => [],
): ZonePopulate['components'] =>
  components.map(component => ({ component, selection: selectionOf(component, inside(component)) }))

/** `*`: one level of everything that is not a field. */
export const populateAll = (holder: Holder): readonly Populate[] =>
  [...holder.attributes.values()].flatMap(attribute => {
    const populate = populateWhole(attribute, 'all')
    return populate ? [populate] : []
  })

/** null: a field. */
export function populateWhole(attribute: Attribute, asked: Asked): Populate | null {
  if (attribute.kind === 'scalar') return null
  if (attribute.kind === 'zone') return populateZone(attribute, asked, wholeZone(attribute))
  const holder = holderBehind(attribute)
  return holder && populateRows(attribute, asked, allRows(holder))
}

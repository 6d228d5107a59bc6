import { memoize } from '../base/memo.ts'
import type { Attribute, ComponentAttribute, Holder, LinkAttribute, ZoneAttribute } from '../model/model.ts'
import { targetHolder } from './parse-place.ts'
import type { Populate, PopulateOrigin, Selection, ZonePopulate } from './query.ts'

/** The part of the target rows that a populate selects. */
export interface PopulatedRows {
  readonly selection: Selection
  readonly filter: Extract<Populate, { kind: 'link' }>['filter']
  readonly sort: Extract<Populate, { kind: 'link' }>['sort']
  readonly count: boolean
}

export const selectionOf = (holder: Holder, populate: readonly Populate[] = []): Selection => ({
  ...everyField(holder),
  populate,
})

export const allRows = (holder: Holder, populate: readonly Populate[] = []): PopulatedRows => ({
  selection: selectionOf(holder, populate),
  filter: null,
  sort: [],
  count: false,
})

export function populateRows(
  attribute: LinkAttribute | ComponentAttribute,
  origin: PopulateOrigin,
  rows: PopulatedRows,
): Populate {
  const base = { as: attribute.name, origin, page: null, ...rows }
  return attribute.kind === 'component'
    ? { kind: 'component', attribute, ...base }
    : { kind: 'link', attribute, scope: null, ...base }
}

export const populateZone = (
  attribute: ZoneAttribute,
  origin: PopulateOrigin,
  components: ZonePopulate['components'],
): ZonePopulate => ({ kind: 'zone', attribute, as: attribute.name, origin, components, count: false })

/** Every component of the zone, each with the same populates. */
export const allZoneComponents = (
  { components }: ZoneAttribute,
  inside: (holder: Holder) => readonly Populate[] = () => [],
): ZonePopulate['components'] =>
  components.map(component => ({ component, selection: selectionOf(component, inside(component)) }))

/** `*`: one level of every attribute that is not a scalar. */
export const populateAll = (holder: Holder): readonly Populate[] =>
  [...holder.attributes.values()].flatMap(attribute => {
    const populate = populateWhole(attribute, 'all')
    return populate ? [populate] : []
  })

/** null: a scalar, which is a field. */
export function populateWhole(attribute: Attribute, origin: PopulateOrigin): Populate | null {
  if (attribute.kind === 'scalar') return null
  if (attribute.kind === 'zone') return populateZone(attribute, origin, allZoneComponents(attribute))
  const holder = targetHolder(attribute)
  return holder && populateRows(attribute, origin, allRows(holder))
}

export type SelectedFields = Pick<Selection, 'fields' | 'named'>

/** Every scalar attribute of a holder. */
export const everyField = memoize((holder: Holder): SelectedFields => {
  const fields = [...holder.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  return { fields, named: false }
})

/** The number of populates in a selection, including nested ones. */
export const countPopulates = ({ populate }: Selection): number =>
  populate.reduce((sum, each) => sum + 1 + countBelow(each), 0)

const countBelow = (populate: Populate): number =>
  populate.kind === 'zone'
    ? populate.components.reduce((sum, { selection }) => sum + countPopulates(selection), 0)
    : countPopulates(populate.selection)

import { memoize } from '../base/memo.ts'
import { countMediaSources } from '../model/media-sources.ts'
import type {
  Attribute,
  ComponentAttribute,
  Holder,
  LinkAttribute,
  MorphAttribute,
  ZoneAttribute,
} from '../model/model.ts'
import { targetHolder } from './parse-place.ts'
import type { MorphPopulate, Populate, PopulateOrigin, Selection, ShapePart, ZonePopulate } from './query.ts'

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

/** An attribute whose list has entries of several shapes: components, or for `related` of files documents, too. */
export type MixedAttribute = ZoneAttribute | MorphAttribute

export type MixedPopulate = ZonePopulate | MorphPopulate

/** `parts`: of the shapes that the attribute can have. */
export function populateMixed(
  attribute: MixedAttribute,
  origin: PopulateOrigin,
  parts: readonly ShapePart[],
): MixedPopulate {
  const base = { as: attribute.name, origin, count: false }
  return attribute.kind === 'morph'
    ? { kind: 'morph', attribute, ...base, parts, page: null }
    : { kind: 'zone', attribute, ...base, parts: parts.flatMap(componentPart) }
}

const componentPart = ({ holder, ...part }: ShapePart): ZonePopulate['parts'] =>
  holder.holder === 'component' ? [{ ...part, holder }] : []

/** The shapes that entries of the attribute can have. */
export const allShapes = (attribute: MixedAttribute): readonly Holder[] =>
  attribute.kind === 'morph' ? [...countMediaSources(attribute).keys()] : attribute.components

/** The shapes that a request gets without naming them. As in Strapi, `related` has documents then, no components. */
export const defaultShapes = (attribute: MixedAttribute): readonly Holder[] =>
  attribute.kind === 'morph'
    ? allShapes(attribute).filter(({ holder }) => holder === 'content-type')
    : attribute.components

/** All default shapes, each with the same populates. */
export const wholeParts = (
  attribute: MixedAttribute,
  inside: (holder: Holder) => readonly Populate[] = () => [],
): readonly ShapePart[] =>
  defaultShapes(attribute).map(holder => ({ holder, selection: selectionOf(holder, inside(holder)) }))

/** `*`: one level of every attribute that is not a scalar. */
export const populateAll = (holder: Holder): readonly Populate[] =>
  [...holder.attributes.values()].flatMap(attribute => {
    const populate = populateWhole(attribute, 'all')
    return populate ? [populate] : []
  })

/** null: a scalar, which is a field. */
export function populateWhole(attribute: Attribute, origin: PopulateOrigin): Populate | null {
  if (attribute.kind === 'scalar') return null
  if (attribute.kind === 'zone' || attribute.kind === 'morph')
    return populateMixed(attribute, origin, wholeParts(attribute))
  const holder = targetHolder(attribute)
  return holder && populateRows(attribute, origin, allRows(holder))
}

export type SelectedFields = Pick<Selection, 'fields' | 'named'>

/** Every scalar attribute of a holder. */
export const everyField = memoize((holder: Holder): SelectedFields => {
  const fields = [...holder.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  return { fields, named: false }
})

/**
 * The number of populates in a selection, including nested ones. `related` of a file is one for each way to the file,
 * with all that is populated in it.
 */
export const countPopulates = ({ populate }: Selection): number =>
  populate.reduce((sum, each) => sum + 1 + countBelow(each), 0)

function countBelow(populate: Populate): number {
  switch (populate.kind) {
    case 'morph':
      return countRelated(populate)
    case 'zone':
      return populate.parts.reduce((sum, { selection }) => sum + countPopulates(selection), 0)
    default:
      return countPopulates(populate.selection)
  }
}

/** The number of subqueries of `related` of a file. */
export const countRelated = (populate: MorphPopulate): number =>
  populate.parts.reduce(
    (sum, part) => sum + countWays(part, populate) * (1 + countPopulates(part.selection)),
    0,
  )

/** The number of ways from documents to a file, each of which repeats the part. Access leaves one in each part. */
export const countWays = (
  { holder, source }: MorphPopulate['parts'][number],
  { attribute }: MorphPopulate,
): number => (source ? 1 : (countMediaSources(attribute).get(holder) ?? 0))

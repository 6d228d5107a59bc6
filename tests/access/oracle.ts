import {
  type Attribute,
  type ComponentAttribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
} from '../../core/model/model.ts'
import { OPERATOR_NAMES, type Operator, operatorTraits } from '../../core/query/operators.ts'
import type { Filter, Populate, Query, Selection, Sort } from '../../core/query/query.ts'
import { everything, listOf, scalarOf } from './project.ts'

/** A way from a content-type over links and components. */
export interface Way {
  readonly steps: readonly (LinkAttribute | ComponentAttribute)[]
  readonly end: Holder
}

/** Every way of at most so many steps. */
export function waysFrom(start: Holder, most: number): readonly Way[] {
  const here: Way = { steps: [], end: start }
  if (most === 0) return [here]
  const longer = [...start.attributes.values()].flatMap(attribute => {
    if (attribute.kind === 'scalar' || attribute.kind === 'zone' || attribute.kind === 'morph') return []
    return waysFrom(behind(attribute), most - 1).map(way => ({ ...way, steps: [attribute, ...way.steps] }))
  })
  return [here, ...longer]
}

const behind = (attribute: LinkAttribute | ComponentAttribute): Holder =>
  isLink(attribute) ? attribute.target : attribute.component

/** A question about an attribute at the end of a path, asked through one query parameter. */
export interface Probe {
  readonly by: string
  readonly query: Query
}

/** Every path by which a request could ask for, filter by or sort by an attribute at the end of a way. */
export function* probes(start: ContentType, way: Way, attribute: Attribute): Generator<Probe> {
  for (const filter of filtersOn(attribute)) {
    yield { by: 'filters', query: listOf(start, { filter: filterAlong(way.steps, filter) }) }
    const not: Filter = { kind: 'not', filter: { kind: 'or', filters: [filterAlong(way.steps, filter)] } }
    yield { by: 'filters inside $not and $or', query: listOf(start, { filter: not }) }
    for (const populate of populatesAlong(way, inner => ({ ...inner, filter }))) {
      yield { by: `${populate.kind}.filters`, query: withPopulate(start, populate) }
    }
  }
  for (const sort of sortsOn(way.steps, attribute)) {
    yield { by: 'sort', query: listOf(start, { sort: [sort] }) }
  }
  for (const sort of sortsOn([], attribute)) {
    for (const populate of populatesAlong(way, inner => ({ ...inner, sort: [sort] }))) {
      yield { by: `${populate.kind}.sort`, query: withPopulate(start, populate) }
    }
  }
  yield* asked(start, way, attribute)
}

function* asked(start: ContentType, way: Way, attribute: Attribute): Generator<Probe> {
  const selection = askingFor(way.end, attribute)
  if (way.steps.length === 0) yield { by: 'fields or populate', query: listOf(start, { selection }) }
  for (const populate of populatesAlong(way, inner => ({ ...inner, selection }))) {
    yield { by: `${populate.kind} with fields or populate`, query: withPopulate(start, populate) }
  }
}

const askingFor = (holder: Holder, attribute: Attribute): Selection =>
  attribute.kind === 'scalar'
    ? { fields: [attribute], named: true, populate: [] }
    : { ...everything(holder), populate: [populate(attribute)] }

const withPopulate = (start: ContentType, inner: Populate): Query =>
  listOf(start, { selection: { ...everything(start), populate: [inner] } })

function filtersOn(attribute: Attribute): readonly Filter[] {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return []
  if (attribute.kind === 'scalar') {
    return OPERATOR_NAMES.map(operator => ({
      kind: 'comparison',
      attribute,
      operator,
      values: valuesFor(operator),
    }))
  }
  const id = scalarOf(behind(attribute), 'id')
  const filter: Filter = { kind: 'comparison', attribute: id, operator: '$null', values: [true] }
  return [{ kind: 'related', attribute, scope: null, filter }]
}

const valuesFor = (operator: Operator) =>
  operatorTraits(operator).arity === 'flag'
    ? [true]
    : operatorTraits(operator).arity === 'two'
      ? ['a', 'b']
      : ['a']

const filterAlong = (steps: Way['steps'], filter: Filter): Filter =>
  steps.reduceRight<Filter>(
    (inner, attribute) => ({ kind: 'related', attribute, scope: null, filter: inner }),
    filter,
  )

function sortsOn(steps: Way['steps'], attribute: Attribute): readonly Sort[] {
  const path = steps.map(step => ({ attribute: step, scope: null }))
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return []
  if (attribute.kind === 'scalar') return [{ path, attribute, direction: 'asc' }]
  const id = scalarOf(behind(attribute), 'id')
  return [{ path: [...path, { attribute, scope: null }], attribute: id, direction: 'desc' }]
}

/** The innermost populate of a way, changed; none for a way without steps. */
function populatesAlong({ steps }: Way, change: (inner: Populate) => Populate): readonly Populate[] {
  const last = steps.at(-1)
  if (!last) return []
  return [
    steps.slice(0, -1).reduceRight<Populate>((inner, step) => within(step, inner), change(populate(last))),
  ]
}

function within(step: LinkAttribute | ComponentAttribute, inner: Populate): Populate {
  const outer = populate(step)
  return 'parts' in outer ? outer : { ...outer, selection: { ...outer.selection, populate: [inner] } }
}

/** The attribute in the form in which a query names it. */
export function populate(
  attribute: Exclude<Attribute, { kind: 'scalar' }>,
  asked: Populate['origin'] = 'named',
): Populate {
  const base = { as: attribute.name, origin: asked, count: false } as const
  const rows = { filter: null, sort: [], page: null }
  switch (attribute.kind) {
    case 'zone':
      return {
        ...base,
        kind: 'zone',
        attribute,
        parts: attribute.components.map(holder => ({ holder, selection: everything(holder) })),
      }
    case 'morph':
      return {
        ...base,
        kind: 'morph',
        attribute,
        parts: attribute.types.map(holder => ({ holder, selection: everything(holder) })),
        page: null,
      }
    case 'component':
      return { ...base, ...rows, kind: 'component', attribute, selection: everything(attribute.component) }
    default:
      return {
        ...base,
        ...rows,
        kind: 'link',
        attribute,
        scope: null,
        selection: everything(attribute.target),
      }
  }
}

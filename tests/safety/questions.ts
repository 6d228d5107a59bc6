import { OPERATOR_NAMES, type Operator, operatorTraits } from '../../core/query/operators.ts'
import type { HiddenWay, Step } from './hidden.ts'

/** One way to put a hidden attribute into a query string. */
export interface Question {
  /** `filters`, `populate.sort`, … */
  readonly by: string
  readonly query: string
  /** It names the attribute among those of the list itself, so that nothing but a refusal will do. */
  readonly direct: boolean
}

/** Every operator, `sort`, `fields` and `populate`, at the top and inside each populate on the way. */
export function* questionsOn(way: HiddenWay, guess: string): Generator<Question> {
  const { steps, attribute } = way
  const on: Subject = { steps, attribute, guess: encodeURIComponent(guess) }
  for (const query of filtersOn('filters', on)) yield { by: 'filters', query, direct: true }
  for (const query of sortsOn('sort', on)) yield { by: 'sort', query, direct: true }
  for (let split = 1; split <= steps.length; split++) yield* insidePopulate(on, split)
  if (steps.length === 0) yield* atTheTop(attribute.name)
  const dotted = namesOf(on).join('.')
  yield { by: 'populate', query: `populate=${dotted}`, direct: false }
  yield { by: 'populate', query: `populate[0]=${dotted}&populate[1]=*`, direct: false }
}

interface Subject extends Pick<HiddenWay, 'steps' | 'attribute'> {
  readonly guess: string
}

function* atTheTop(name: string): Generator<Question> {
  yield { by: 'fields', query: `fields=${name}`, direct: true }
  yield { by: 'fields', query: `fields[0]=id&fields[1]=${name}`, direct: true }
  yield { by: 'fields', query: `fields=id,${name}`, direct: true }
  yield { by: 'populate', query: `populate[${name}]=true`, direct: false }
  yield { by: 'populate', query: `populate[${name}][fields]=id`, direct: false }
  yield { by: 'populate', query: `populate[${name}][count]=true`, direct: false }
}

/** The first steps as populates, the rest inside the innermost of them. */
function* insidePopulate({ steps, attribute, guess }: Subject, split: number): Generator<Question> {
  const way = populateOf(steps.slice(0, split))
  const on: Subject = { steps: steps.slice(split), attribute, guess }
  for (const query of filtersOn(`${way}[filters]`, on)) yield { by: 'populate.filters', query, direct: false }
  for (const query of sortsOn(`${way}[sort]`, on)) yield { by: 'populate.sort', query, direct: false }
  if (on.steps.length > 0) return
  const { name } = attribute
  yield { by: 'populate.fields', query: `${way}[fields]=${name}`, direct: false }
  yield { by: 'populate.fields', query: `${way}[fields][0]=id&${way}[fields][1]=${name}`, direct: false }
  yield { by: 'populate.populate', query: `${way}[populate]=${name}`, direct: false }
  yield { by: 'populate.populate', query: `${way}[populate][${name}]=true`, direct: false }
}

const namesOf = ({ steps, attribute }: Subject): readonly string[] => [
  ...steps.map(({ name }) => name),
  attribute.name,
]

function populateOf(steps: readonly Step[]): string {
  const keys = steps.map(({ name, via, end }) => (via === 'zone' ? `[${name}][on][${end.uid}]` : `[${name}]`))
  return `populate${keys.join('[populate]')}`
}

/** On a link also its id and whether there is one. */
function filtersOn(filters: string, on: Subject): readonly string[] {
  const way = namesOf(on)
    .map(name => `[${name}]`)
    .join('')
  const places = on.attribute.kind === 'scalar' ? [way] : [way, `${way}[id]`, `${way}[documentId]`]
  return [
    ...places.flatMap(place =>
      OPERATOR_NAMES.map(operator => condition(filters + place, operator, on.guess)),
    ),
    `${filters}${way}=${on.guess}`,
    `${filters}${way}[$not][$eq]=${on.guess}`,
    `${filters}[$or][0]${way}[$eq]=${on.guess}`,
    `${filters}[$and][0][$not]${way}[$contains]=${on.guess}`,
    `${filters}[$not]${way}[$null]=true`,
  ]
}

function condition(place: string, operator: Operator, guess: string): string {
  const { arity } = operatorTraits(operator)
  if (arity === 'flag') return `${place}[${operator}]=true`
  const once = `${place}[${operator}]=${guess}`
  return arity === 'two' ? `${once}&${once}` : once
}

function sortsOn(sort: string, on: Subject): readonly string[] {
  const names = namesOf(on)
  const ends = on.attribute.kind === 'scalar' ? [names] : [names, [...names, 'id']]
  return ends.flatMap(end => [
    `${sort}=${end.join('.')}`,
    `${sort}=${end.join('.')}:desc`,
    `${sort}[0]=id&${sort}[1]=${end.join('.')}:asc`,
    `${sort}[${end.join('][')}]=desc`,
  ])
}

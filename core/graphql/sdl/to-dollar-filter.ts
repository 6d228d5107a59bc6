import { type Holder, isLink } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { toDollarOperators } from './to-dollar-operators.ts'

const LOGIC: ReadonlyMap<string, string> = new Map([
  ['and', '$and'],
  ['or', '$or'],
  ['not', '$not'],
])

type Filter = Readonly<Record<string, unknown>>

/**
 * A GraphQL filter (contract/graphql.md 4) in the words of the one filter grammar: `{ title: { eq: 1 }, or: [] }`
 * becomes `{ title: { $eq: 1 }, $or: [] }`, and `id`, which names a document, `documentId`.
 */
export function toDollarFilter(raw: unknown, holder: Holder): unknown {
  if (Array.isArray(raw)) return raw.map(item => toDollarFilter(item, holder))
  if (!isRecord(raw)) return raw
  return Object.fromEntries(said(raw, holder).map(([key, value]) => toTerm(key, value, holder)))
}

function toTerm(key: string, value: unknown, holder: Holder): readonly [string, unknown] {
  const logic = LOGIC.get(key)
  if (logic !== undefined) return [logic, asList(logic, toDollarFilter(value, holder))]
  const name = nameOf(key, holder)
  const inner = holderBehind(holder, name)
  if (inner) return [name, toDollarFilter(value, inner)]
  return [name, toDollarOperators(value, holder.attributes.get(name))]
}

const nameOf = (key: string, holder: Holder): string =>
  key === 'id' && holder.holder === 'content-type' ? 'documentId' : key

/** What is no condition is left out: groups that hold none (contract/graphql.md 4), and relations and components that were not given. */
const said = (filter: Filter, holder: Holder): readonly (readonly [string, unknown])[] =>
  Object.entries(filter).flatMap(([key, value]) => {
    if (!LOGIC.has(key)) return value === null && holderBehind(holder, key) ? [] : [[key, value] as const]
    const group = Array.isArray(value) ? value.filter(item => !saysNothing(item)) : value
    return saysNothing(group) ? [] : [[key, group] as const]
  })

const saysNothing = (group: unknown): boolean =>
  group === null || (typeof group === 'object' && Object.keys(group).length === 0)

/** Lists take a single value too, as everywhere in GraphQL. */
const asList = (logic: string, value: unknown): unknown =>
  logic === '$not' || Array.isArray(value) ? value : [value]

function holderBehind(holder: Holder, name: string): Holder | null {
  const attribute = holder.attributes.get(name)
  if (!attribute) return null
  if (isLink(attribute)) return attribute.target
  return attribute.kind === 'component' ? attribute.component : null
}

import { type Holder, isLink } from '../model/model.ts'
import { isRecord } from '../query/parse-place.ts'

const LOGIC: ReadonlyMap<string, string> = new Map([
  ['and', '$and'],
  ['or', '$or'],
  ['not', '$not'],
])

/**
 * A GraphQL filter (contract/graphql.md 4) in the words of the one filter grammar: `{ title: { eq: 1 }, or: [] }`
 * becomes `{ title: { $eq: 1 }, $or: [] }`, and `id`, which names a document, `documentId`.
 */
export function toDollarFilter(raw: unknown, holder: Holder): unknown {
  if (Array.isArray(raw)) return raw.map(item => toDollarFilter(item, holder))
  return rename(withoutEmpty(raw), (key, value) => {
    const logic = LOGIC.get(key)
    if (logic !== undefined) return [logic, asList(logic, toDollarFilter(value, holder))]
    const name = key === 'id' && holder.holder === 'content-type' ? 'documentId' : key
    const inner = holderBehind(holder, name)
    return [name, inner ? toDollarFilter(value, inner) : toOperators(value)]
  })
}

/** An empty list of alternatives is no condition (contract/graphql.md 4); elsewhere nothing meets it. */
function withoutEmpty(raw: unknown): unknown {
  if (!isRecord(raw) || !Array.isArray(raw.or) || raw.or.length > 0) return raw
  const { or: _, ...rest } = raw
  return rest
}

/** Lists take a single value too, as everywhere in GraphQL. */
const asList = (logic: string, value: unknown): unknown =>
  logic === '$not' || Array.isArray(value) ? value : [value]

const toOperators = (raw: unknown): unknown =>
  rename(raw, (key, value) => [`$${key}`, key === 'not' ? toOperators(value) : value])

function rename(raw: unknown, change: (key: string, value: unknown) => readonly [string, unknown]): unknown {
  if (raw === null || typeof raw !== 'object') return raw
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => change(key, value)))
}

function holderBehind(holder: Holder, name: string): Holder | null {
  const attribute = holder.attributes.get(name)
  if (!attribute) return null
  if (isLink(attribute)) return attribute.target
  return attribute.kind === 'component' ? attribute.component : null
}

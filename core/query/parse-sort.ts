import { fault, invalidKey, type QueryParam, RequestFault } from '../faults/fault.ts'
import type { Holder } from '../model/model.ts'
import { isRecord, type ParsePlace, pathWithin, targetHolder, unknownKey } from './parse-place.ts'
import type { Sort, SortStep } from './query.ts'

/**
 * Parses every form of a sort (reference/rest.md#6-sort): `a`, `a:desc,b.c`, lists of these, objects `{ b: { c: 'asc' } }`,
 * lists of objects. Unknown names are reported before invalid directions.
 */
export function parseSort(raw: unknown, holder: Holder, param: QueryParam = 'sort'): readonly Sort[] {
  const keys = toKeys(raw, [])
  if (!keys) throw new RequestFault(fault('validation', 'Invalid sort query'))
  const sorts = new Map<string, Sort>()
  for (const key of keys) {
    const resolved = resolve(key, { holder, param, path: null })
    const term = `${key.names.join('.')}:${resolved.direction}`
    // Rows that a term does not order are not ordered by its repetition either.
    if (!sorts.has(term)) sorts.set(term, resolved)
  }
  if (keys.every(({ order }) => isOrder(order))) return [...sorts.values()]
  throw new RequestFault(fault('validation', 'Invalid order. order can only be one of asc|desc|ASC|DESC'))
}

interface SortText {
  readonly names: readonly string[]
  readonly order: string
}

/** null: not a valid sort. */
function toKeys(raw: unknown, above: readonly string[]): readonly SortText[] | null {
  if (above.length > 0 && (raw === null || typeof raw === 'string'))
    return [{ names: above, order: raw?.trim() ?? '' }]
  if (raw === undefined || raw === null) return []
  if (typeof raw === 'string') return fromText(raw)
  const parts = Array.isArray(raw)
    ? raw.map(item => toKeys(item, above))
    : isRecord(raw)
      ? Object.entries(raw).map(([name, value]) => toKeys(value, [...above, name]))
      : [null]
  const known = parts.filter(part => part !== null)
  return known.length === parts.length ? known.flat() : null
}

/** A third part (`a:asc:desc`) is ignored. */
function fromText(text: string): readonly SortText[] | null {
  const terms = text.split(',').map(term => term.trim())
  const keys = terms.filter(Boolean).map(term => {
    const [path = '', order = 'asc'] = term.split(':')
    return { names: path.split('.').filter(isNamed), order: order.trim() }
  })
  return keys.some(({ names }) => names.some(name => Object.hasOwn(Object.prototype, name))) ? null : keys
}

/** Empty names between dots are skipped. A leading empty name is kept and reported as unknown. */
const isNamed = (name: string, index: number): boolean => name !== '' || index === 0

const isOrder = (word: string): boolean => /^(?:asc|desc)$/i.test(word)

function resolve({ names, order }: SortText, start: ParsePlace): Sort {
  const direction = order.toLowerCase() === 'desc' ? 'desc' : 'asc'
  const path: SortStep[] = []
  let place = start
  for (const [index, name] of names.entries()) {
    const attribute = place.holder.attributes.get(name)
    if (!attribute) throw new RequestFault(unknownKey(place, name))
    if (attribute.kind === 'scalar') {
      const rest = names[index + 1]
      if (rest !== undefined) throw new RequestFault(invalidKey(rest, pathWithin(place, name), place.param))
      return { path, attribute, direction }
    }
    const next = targetHolder(attribute)
    if (!next || attribute.kind === 'zone' || attribute.kind === 'morph' || index === names.length - 1)
      throw new RequestFault(unknownKey(place, name))
    path.push({ attribute, scope: null })
    place = { ...place, holder: next, path: pathWithin(place, name) }
  }
  throw new RequestFault(unknownKey(start, ''))
}

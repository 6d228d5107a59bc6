import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { ContentType, ScalarAttribute, ValueType } from '../../model/model.ts'
import type { Search } from '../../query/query.ts'

const SEARCHED: ReadonlySet<ValueType> = new Set<ValueType>([
  'documentId',
  'string',
  'text',
  'richtext',
  'enumeration',
  'email',
  'uid',
  'integer',
  'biginteger',
  'float',
  'decimal',
])

/** `_q`, contract/rest.md 7: in all text, number and uid attributes and the documentId. */
export function parseSearch(type: ContentType, raw: unknown): Result<Search | null, Fault> {
  if (raw === undefined || raw === '') return ok(null)
  if (typeof raw !== 'string' || raw.includes('\0'))
    return failed(fault('validation', 'Invalid value for _q: expected a text', { key: '_q' }))
  return ok({ text: raw, attributes: searchedAttributes(type) })
}

const known = new WeakMap<ContentType, readonly ScalarAttribute[]>()

function searchedAttributes(type: ContentType): readonly ScalarAttribute[] {
  const before = known.get(type)
  if (before) return before
  const attributes = [...type.attributes.values()].filter(attribute => attribute.kind === 'scalar')
  const searched = attributes.filter(attribute => SEARCHED.has(attribute.type))
  known.set(type, searched)
  return searched
}

import { failed, ok, type Result } from '../../base/result.ts'
import { type Fault, fault, type QueryParam } from '../../faults/fault.ts'
import type { Holder, ScalarAttribute } from '../../model/model.ts'
import { everyField, type Fields } from '../../query/every-field.ts'
import { unknownKey } from '../../query/parse-place.ts'

/** contract/rest.md 4: one text with commas, or a list of names; `*` and nothing at all are every field. */
export function parseFields(
  raw: unknown,
  holder: Holder,
  param: QueryParam = 'fields',
): Result<Fields, Fault> {
  if (raw === undefined) return ok(everyField(holder))
  const names = toNames(raw)
  if (!names)
    return failed(fault('validation', 'Invalid fields parameter. Expected a string or an array of strings'))
  const fields = new Set<ScalarAttribute>()
  for (const name of names) {
    const attribute = holder.attributes.get(name)
    if (attribute?.kind === 'scalar') fields.add(attribute)
    else if (name !== '*') return failed(unknownKey({ holder, param, path: null }, name))
  }
  return ok(names.includes('*') ? everyField(holder) : { fields: [...fields], named: true })
}

/** null: neither text nor a list of single names. */
function toNames(raw: unknown): readonly string[] | null {
  if (typeof raw === 'string') return raw.split(',').map(name => name.trim())
  if (!Array.isArray(raw)) return null
  const names = raw.filter(item => typeof item === 'string' && !item.includes(','))
  return names.length === raw.length ? names.map(name => String(name).trim()) : null
}

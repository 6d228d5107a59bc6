import { didYouMean } from '../base/nearest.ts'
import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Holder } from '../model/model.ts'
import { OPERATOR_NAMES } from '../query/operators.ts'
import { holderBehind } from '../query/parse-place.ts'
import { given } from './unwrap-result.ts'

/** What a parser of REST makes of parameters; its refusal of a name gets the nearest name that it would have taken. */
export function parseWith<Value>(holder: Holder, parse: () => Result<Value, Fault>): Value {
  const parsed = parse()
  return given(parsed.ok ? parsed : { ok: false, reasons: parsed.reasons.map(each => nearer(each, holder)) })
}

function nearer(fault: Fault, holder: Holder): Fault {
  const { key, path, expected } = fault.details
  if (typeof key !== 'string' || key === '' || expected !== undefined) return fault
  const place = typeof path === 'string' ? placeAt(path.split('.'), key, holder) : holder
  const near = didYouMean(key, key.startsWith('$') ? WORDS : (place?.attributes.keys() ?? []))
  return near === '' ? fault : { ...fault, message: `${fault.message}${near}` }
}

const WORDS = [...OPERATOR_NAMES, '$and', '$or', '$not']

/** What a dotted way leads to, its last name aside where that is the key itself; null where it leads nowhere. */
function placeAt(path: readonly string[], key: string, start: Holder): Holder | null {
  const names = path.at(-1) === key ? path.slice(0, -1) : path
  return names.reduce<Holder | null>((holder, name) => {
    const attribute = holder?.attributes.get(name)
    return attribute ? holderBehind(attribute) : null
  }, start)
}

import { fault, type QueryParam, RequestFault } from '../faults/fault.ts'
import type { Attribute, Holder, ScalarAttribute } from '../model/model.ts'
import { isOperator } from './operators.ts'
import { parseAll, parseConditions } from './parse-conditions.ts'
import {
  isRecord,
  type ParsePlace,
  pathWithin,
  refuseKey,
  refuseValue,
  targetHolder,
  unknownKey,
} from './parse-place.ts'
import type { Filter } from './query.ts'

export interface FilterOptions {
  /** The part of the request that faults name. */
  readonly param?: QueryParam
}

/**
 * Parses REST `filters` and permissions' `where` (reference/rest.md#7-filters): objects of attributes, operators and
 * groups, from a query string or a file. Fails with the first fault. Attributes are resolved without permissions;
 * access/ checks whether the caller may use them.
 */
export function parseFilter(raw: unknown, holder: Holder, { param = 'filters' }: FilterOptions = {}): Filter {
  if (raw === null || typeof raw !== 'object')
    throw new RequestFault(fault('validation', 'The filters parameter must be an object or an array'))
  return parseGroup(raw, { holder, param, path: null, id: null })
}

interface FilterPlace extends ParsePlace {
  /** The id attribute behind a link, which operators without an attribute compare; null at the top. */
  readonly id: ScalarAttribute | null
}

/** All terms of an object must hold. */
function parseGroup(raw: unknown, place: FilterPlace): Filter {
  if (!isRecord(raw)) return Array.isArray(raw) ? refuseKey(place, '0') : refuseGroup(place, 'filters')
  return parseAll(Object.entries(raw), ([key, value]) => parseTerm(key, value, place))
}

const refuseGroup = (place: FilterPlace, key: string) =>
  refuseValue(place, key, place.path ?? key, 'an object of conditions')

function parseTerm(key: string, value: unknown, place: FilterPlace): Filter {
  if (key === '$and' || key === '$or') return parseList(key, value, place)
  if (key === '$not') return { kind: 'not', filter: parseNegated(value, place) }
  if (isOperator(key))
    return place.id ? parseConditions({ [key]: value }, place.id, onId(place)) : refuseKey(place, key)
  const attribute = place.holder.attributes.get(key)
  return attribute ? parseAttribute(attribute, value, place) : refuseKey(place, key)
}

function parseList(key: '$and' | '$or', value: unknown, place: FilterPlace): Filter {
  if (!Array.isArray(value))
    return refuseValue(place, key, pathWithin(place, key), 'a list of objects of conditions')
  const kind = key === '$and' ? 'and' : 'or'
  return parseAll(value, item => (isRecord(item) ? parseGroup(item, place) : refuseGroup(place, key)), kind)
}

/** A list is negated as a whole. */
function parseNegated(value: unknown, place: FilterPlace): Filter {
  if (place.id && !isRecord(value)) return parseConditions(value, place.id, onId(place))
  if (!Array.isArray(value)) return isRecord(value) ? parseGroup(value, place) : refuseGroup(place, '$not')
  return parseAll(value, item => (isRecord(item) ? parseGroup(item, place) : refuseGroup(place, '$not')))
}

function parseAttribute(attribute: Attribute, value: unknown, place: FilterPlace): Filter {
  if (attribute.kind === 'scalar')
    return parseConditions(value, attribute, { param: place.param, path: pathWithin(place, attribute.name) })
  // reference/rest.md#7-filters: filtering on dynamic zones and media is not possible.
  if (attribute.kind === 'zone' || attribute.kind === 'media')
    throw new RequestFault(unknownKey(place, attribute.name))
  const holder = targetHolder(attribute)
  const id = holder?.attributes.get('id')
  if (!holder || id?.kind !== 'scalar') throw new RequestFault(unknownKey(place, attribute.name))
  const there: FilterPlace = { holder, id, param: place.param, path: pathWithin(place, attribute.name) }
  const filter = isRecord(value) ? parseGroup(value, there) : parseConditions(value, id, onId(there))
  return { kind: 'related', attribute, scope: null, filter }
}

/** Faults of a condition on the id behind a link report the place of the link. */
const onId = ({ param, path }: FilterPlace) => ({ param, path: path ?? 'id' })

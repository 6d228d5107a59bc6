import { type Fault, fault, invalidKey, type QueryParam, RequestFault } from '../faults/fault.ts'
import type { Attribute, Holder } from '../model/model.ts'

/** The place of a parser in a part of a query: the available attributes, and the path for faults. */
export interface ParsePlace {
  readonly holder: Holder
  readonly param: QueryParam
  /** The dotted path of attributes to here; null at the top. */
  readonly path: string | null
}

export const pathWithin = (place: ParsePlace, name: string): string =>
  place.path === null ? name : `${place.path}.${name}`

/** Strapi's author attributes. No caller may use them, but faults report them as if they existed. */
const HIDDEN_ATTRIBUTES: ReadonlySet<string> = new Set(['createdBy', 'updatedBy'])

/** reference/rest.md#2-errors: the path of a known attribute includes its name; of an unknown key it is the path of what contains it. */
export function unknownKey(place: ParsePlace, key: string): Fault {
  const hidden = place.holder.holder === 'content-type' && HIDDEN_ATTRIBUTES.has(key)
  const known = hidden || place.holder.attributes.has(key)
  return invalidKey(key, known ? pathWithin(place, key) : place.path, place.param)
}

/** Throws the fault of an unknown key. */
export function refuseKey(place: ParsePlace, key: string): never {
  throw new RequestFault(unknownKey(place, key))
}

/** Throws the fault of an invalid value, with what was expected. */
export function refuseValue(place: ParsePlace, key: string, path: string, expected: string): never {
  const at = path === key ? '' : ` at ${path}`
  throw new RequestFault(
    fault('validation', `Invalid value for ${key}${at}: expected ${expected}`, {
      key,
      path,
      source: 'query',
      param: place.param,
      expected,
    }),
  )
}

/** The content-type or component that an attribute leads to; null: none. */
export function targetHolder(attribute: Attribute): Holder | null {
  switch (attribute.kind) {
    case 'relation':
    case 'media':
    case 'localizations':
      return attribute.target
    case 'component':
      return attribute.component
    default:
      return null
  }
}

export { isRecord } from '../base/plain-data.ts'

import { failed } from '../base/result.ts'
import { type Fault, fault, invalidKey, type QueryParam } from '../faults/fault.ts'
import type { Attribute, Holder } from '../model/model.ts'

/** Where a parser stands in a part of a query: what attributes there are, and how faults tell the place. */
export interface ParsePlace {
  readonly holder: Holder
  readonly param: QueryParam
  /** The dotted way over attributes to here; null at the top. */
  readonly path: string | null
}

export const pathWithin = (place: ParsePlace, name: string): string =>
  place.path === null ? name : `${place.path}.${name}`

/** Attributes of the reference that no caller of the content API may use: told as if they were there. */
const HIDDEN_ATTRIBUTES: ReadonlySet<string> = new Set(['createdBy', 'updatedBy'])

/** Contract 2: the place of a key is that of the attribute, or of what lies around a key that is none. */
export function unknownKey(place: ParsePlace, key: string): Fault {
  const hidden = place.holder.holder === 'content-type' && HIDDEN_ATTRIBUTES.has(key)
  const known = hidden || place.holder.attributes.has(key)
  return invalidKey(key, known ? pathWithin(place, key) : place.path, place.param)
}

export const refuseKey = (place: ParsePlace, key: string) => failed(unknownKey(place, key))

/** A value that makes no sense where it stands, with what would have. */
export function refuseValue(place: ParsePlace, key: string, path: string, expected: string) {
  const at = path === key ? '' : ` at ${path}`
  return failed(
    fault('validation', `Invalid value for ${key}${at}: expected ${expected}`, {
      key,
      path,
      source: 'query',
      param: place.param,
      expected,
    }),
  )
}

/** What lies at the other end of an attribute; null where nothing does. */
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

export const isRecord = (raw: unknown): raw is Readonly<Record<string, unknown>> =>
  raw !== null && typeof raw === 'object' && !Array.isArray(raw)

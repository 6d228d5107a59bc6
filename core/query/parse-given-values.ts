import { type Fault, invalidBodyKey, RequestFault } from '../faults/fault.ts'
import type { Attribute, Component, ContentType } from '../model/model.ts'
import type { GivenValues } from './command.ts'
import { parseLinkChange } from './parse-link-change.ts'
import { isRecord } from './parse-place.ts'

type BodyObject = Readonly<Record<string, unknown>>

export interface GivenValuesOptions {
  /** For code that may also set `writable: false` attributes, which no request may. */
  readonly sealed?: boolean
}

/**
 * Parses the `data` of a body to the values of a command. Fails with the first key, including keys of components, that
 * is not a writable attribute (reference/rest.md#2-errors, "bad key in a body").
 */
export function parseGivenValues(
  type: ContentType,
  data: BodyObject,
  { sealed = false }: GivenValuesOptions = {},
): GivenValues {
  const values: [string, unknown][] = []
  for (const [key, value] of Object.entries(data)) {
    if (IGNORED.has(key)) continue
    const wrong = findInDocument(type, key, value, sealed)
    if (wrong) throw new RequestFault(wrong)
    values.push([key, value])
  }
  return Object.fromEntries(values)
}

/** Ignored silently, because clients send back the documents that they received. */
const IGNORED: ReadonlySet<string> = new Set(['publishedAt', 'locale'])
const IDS: ReadonlySet<string> = new Set(['id', 'documentId'])
/** Strapi's author attributes. Plinth does not have them, but faults report them as if it did. */
const AUTHORS: ReadonlySet<string> = new Set(['createdBy', 'updatedBy'])

function findInDocument(type: ContentType, key: string, value: unknown, sealed: boolean): Fault | null {
  if (IDS.has(key)) return invalidBodyKey(key)
  const attribute = type.attributes.get(key)
  if (!attribute) return invalidBodyKey(key, AUTHORS.has(key) ? key : null)
  if (attribute.system || !(attribute.writable || sealed)) return invalidBodyKey(key, key)
  return findBelow(attribute, value, key)
}

/** `path`: the dotted path to the attribute, including its name, without list indexes. */
function findBelow(attribute: Attribute, value: unknown, path: string): Fault | null {
  switch (attribute.kind) {
    case 'relation':
    case 'media':
      return findInLinks(attribute, value, path)
    case 'component':
      return findInItems(value, item => findInComponent(attribute.component, item, path, COMPONENT_KEYS))
    case 'zone':
      return findInItems(value, item => {
        const component = attribute.components.find(({ uid }) => uid === item.__component)
        return component ? findInComponent(component, item, path, ZONE_KEYS) : null
      })
    default:
      return null
  }
}

function findInLinks(
  attribute: Extract<Attribute, { kind: 'relation' | 'media' }>,
  value: unknown,
  path: string,
): Fault | null {
  const parsed = parseLinkChange(attribute, value, path.split('.'))
  const wrong = parsed.ok ? undefined : parsed.reasons.find(({ kind }) => kind === 'key')
  return wrong ? invalidBodyKey(String(wrong.path.at(-1)), path) : null
}

/** Values that are not objects are refused later, by validation. */
function findInItems(value: unknown, find: (item: BodyObject) => Fault | null): Fault | null {
  for (const item of Array.isArray(value) ? value : [value]) {
    const wrong = isRecord(item) ? find(item) : null
    if (wrong) return wrong
  }
  return null
}

const COMPONENT_KEYS: ReadonlySet<string> = new Set(['id'])
const ZONE_KEYS: ReadonlySet<string> = new Set(['id', '__component'])

function findInComponent(
  component: Component,
  item: BodyObject,
  path: string,
  own: ReadonlySet<string>,
): Fault | null {
  for (const [key, value] of Object.entries(item)) {
    if (own.has(key)) continue
    const attribute = component.attributes.get(key)
    if (!attribute || attribute.system) return invalidBodyKey(key, path)
    const wrong = findBelow(attribute, value, `${path}.${key}`)
    if (wrong) return wrong
  }
  return null
}

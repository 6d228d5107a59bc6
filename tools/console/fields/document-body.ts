import { asList, digitsOf, equalJson, isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'
import type { ApiSchema, AttributeInfo } from '../api/schema.ts'

/**
 * The body of a write: what differs between the document that the server answered and the form. Components that the
 * server has are updated in part by their id, lists of them are sent whole (docs/rest.md, "Components and dynamic zones").
 */
export function bodyOf(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  before: JsonRecord,
  after: JsonRecord,
): Record<string, JsonValue> {
  const body: Record<string, JsonValue> = {}
  for (const attribute of attributes) {
    const was = before[attribute.name]
    const is = after[attribute.name]
    if (!attribute.writable || is === undefined || equalJson(was, is)) continue
    body[attribute.name] = writtenValue(schema, attribute, was ?? null, is)
  }
  return body
}

function writtenValue(schema: ApiSchema, attribute: AttributeInfo, was: JsonValue, is: JsonValue): JsonValue {
  switch (attribute.type) {
    case 'relation':
      return relationChanges(linksOf(was), linksOf(is))
    case 'media':
      return attribute.multiple ? asList(is).map(fileId) : fileId(is)
    case 'component':
      return attribute.repeatable ? itemsOf(schema, attribute, was, is) : itemOf(schema, attribute, [was], is)
    case 'dynamiczone':
      return itemsOf(schema, attribute, was, is)
    case 'decimal':
    case 'biginteger':
    case 'float':
      return is === null ? null : digitsOf(is)
    default:
      return is
  }
}

const fileId = (file: JsonValue): JsonValue => (isJsonObject(file) ? (file.id ?? null) : file)

const itemsOf = (schema: ApiSchema, attribute: AttributeInfo, was: JsonValue, is: JsonValue): JsonValue =>
  asList(is).map(item => itemOf(schema, attribute, asList(was), item))

function itemOf(
  schema: ApiSchema,
  attribute: AttributeInfo,
  was: readonly JsonValue[],
  is: JsonValue,
): JsonValue {
  if (!isJsonObject(is)) return null
  const name = attribute.component ?? String(is.__component)
  const before = was.filter(isJsonObject).find(item => item.id !== undefined && isSame(item, is)) ?? {}
  const kind = attribute.type === 'dynamiczone' ? { __component: name } : {}
  const id = before.id === undefined ? {} : { id: before.id }
  return { ...kind, ...id, ...bodyOf(schema, schema.components.get(name) ?? [], before, is) }
}

const isSame = (one: JsonRecord, other: JsonRecord): boolean =>
  one.id === other.id && one.__component === other.__component

/** A to-one relation is a document or null, a to-many relation a list. */
export const linksOf = (value: JsonValue): readonly string[] =>
  (Array.isArray(value) ? asList(value) : [value]).filter(isJsonObject).map(link => String(link.documentId))

/**
 * What turns one order of links into another: `connect` with positions moves as few links as possible, and links that
 * others add meanwhile stay (docs/rest.md, "Relations"). Never `set`.
 */
export function relationChanges(before: readonly string[], after: readonly string[]): JsonValue {
  const kept = new Set(after)
  const disconnect = before.filter(id => !kept.has(id))
  const staying = longestRun(before, after)
  const connect: JsonValue[] = []
  after.forEach((id, index) => {
    if (staying.has(id)) return
    const previous = after[index - 1]
    connect.push({
      documentId: id,
      position: previous === undefined ? { start: true } : { after: previous },
    })
  })
  return { ...(disconnect.length > 0 && { disconnect }), ...(connect.length > 0 && { connect }) }
}

/** The longest increasing subsequence: the links whose order is the same before and after. O(n log n). */
function longestRun(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const places = new Map(before.map((id, index) => [id, index]))
  const tails: { readonly id: string; readonly place: number; readonly previous: number }[] = []
  const ends: number[] = []
  for (const id of after) {
    const place = places.get(id)
    if (place === undefined) continue
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((tails[ends[middle] ?? 0]?.place ?? 0) < place) low = middle + 1
      else high = middle
    }
    tails.push({ id, place, previous: ends[low - 1] ?? -1 })
    ends[low] = tails.length - 1
  }
  const run = new Set<string>()
  for (let at = ends.at(-1) ?? -1; at >= 0; ) {
    const tail = tails[at]
    if (!tail) break
    run.add(tail.id)
    at = tail.previous
  }
  return run
}

/** A copy that the server creates as new components: components without their ids. Links and files stay. */
export function withoutIds(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  value: JsonRecord,
): JsonRecord {
  const { id: _id, ...rest } = value
  const copies = attributes
    .filter(attribute => holdsComponents(attribute) && rest[attribute.name])
    .map(attribute => {
      const copy = (item: JsonValue): JsonValue =>
        isJsonObject(item) ? withoutIds(schema, attributesOfItem(schema, attribute, item), item) : item
      const inner = rest[attribute.name] ?? null
      return [attribute.name, Array.isArray(inner) ? asList(inner).map(copy) : copy(inner)] as const
    })
  return { ...rest, ...Object.fromEntries(copies) }
}

/** What the page may keep in the browser: everything but passwords, at any depth. */
export const withoutPasswords = (
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  values: JsonRecord,
): JsonRecord =>
  mapValues(schema, attributes, values, ({ type }, value) => (type === 'password' ? undefined : value))

/** Changes the values of attributes at any depth; `change` gets no components, and undefined removes a value. */
export function mapValues(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  values: JsonRecord,
  change: (attribute: AttributeInfo, value: JsonValue) => JsonValue | undefined,
): JsonRecord {
  const changed = { ...values } as Record<string, JsonValue>
  for (const attribute of attributes) {
    const inner = values[attribute.name]
    if (inner === undefined) continue
    const item = (each: JsonValue): JsonValue =>
      isJsonObject(each) ? mapValues(schema, attributesOfItem(schema, attribute, each), each, change) : each
    const value = !holdsComponents(attribute)
      ? change(attribute, inner)
      : Array.isArray(inner)
        ? asList(inner).map(item)
        : item(inner)
    if (value === undefined) delete changed[attribute.name]
    else changed[attribute.name] = value
  }
  return changed
}

export const holdsComponents = ({ type }: AttributeInfo): boolean =>
  type === 'component' || type === 'dynamiczone'

/** The attributes of a component, or of an entry of a dynamic zone. */
export const attributesOfItem = (
  schema: ApiSchema,
  { component }: AttributeInfo,
  item: JsonRecord,
): readonly AttributeInfo[] => schema.components.get(component ?? String(item.__component)) ?? []

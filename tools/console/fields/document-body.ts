import {
  asList,
  digitsOf,
  equalJson,
  isJsonObject,
  type JsonRecord,
  type JsonValue,
  objectsOf,
} from '../api/json.ts'
import type { ApiSchema, AttributeInfo } from '../api/schema.ts'

/**
 * The body of a write: the attributes that differ between the server's document and the form. Components that the
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
    const previous = before[attribute.name]
    const next = after[attribute.name]
    if (!attribute.writable || next === undefined || equalJson(previous, next)) continue
    body[attribute.name] = valueToWrite(schema, attribute, previous ?? null, next)
  }
  return body
}

function valueToWrite(
  schema: ApiSchema,
  attribute: AttributeInfo,
  previous: JsonValue,
  next: JsonValue,
): JsonValue {
  switch (attribute.type) {
    case 'relation':
      return relationChanges(linkedIds(previous), linkedIds(next))
    case 'media':
      return attribute.multiple ? asList(next).map(fileId) : fileId(next)
    case 'component':
      return attribute.repeatable
        ? itemsOf(schema, attribute, previous, next)
        : itemOf(schema, attribute, [previous], next)
    case 'dynamiczone':
      return itemsOf(schema, attribute, previous, next)
    case 'decimal':
    case 'biginteger':
    case 'float':
      return next === null ? null : digitsOf(next)
    default:
      return next
  }
}

const fileId = (file: JsonValue): JsonValue => (isJsonObject(file) ? (file.id ?? null) : file)

const itemsOf = (
  schema: ApiSchema,
  attribute: AttributeInfo,
  previous: JsonValue,
  next: JsonValue,
): JsonValue => asList(next).map(item => itemOf(schema, attribute, asList(previous), item))

function itemOf(
  schema: ApiSchema,
  attribute: AttributeInfo,
  previous: readonly JsonValue[],
  next: JsonValue,
): JsonValue {
  if (!isJsonObject(next)) return null
  const name = attribute.component ?? String(next.__component)
  const previousItem =
    previous.filter(isJsonObject).find(item => item.id !== undefined && isSame(item, next)) ?? {}
  const kind = attribute.type === 'dynamiczone' ? { __component: name } : {}
  const id = previousItem.id === undefined ? {} : { id: previousItem.id }
  return { ...kind, ...id, ...bodyOf(schema, schema.components.get(name) ?? [], previousItem, next) }
}

const isSame = (one: JsonRecord, other: JsonRecord): boolean =>
  one.id === other.id && one.__component === other.__component

/** The documentIds of a to-one (object or null) or to-many (list) relation. */
export const linkedIds = (value: JsonValue): readonly string[] =>
  objectsOf(value).map(link => String(link.documentId))

/**
 * The relation input that turns one order of links into another: `connect` with positions moves as few links as possible, and
 * links that other users add meanwhile stay (docs/rest.md, "Relations"). Never `set`.
 */
export function relationChanges(before: readonly string[], after: readonly string[]): JsonValue {
  const remaining = new Set(after)
  const disconnect = before.filter(id => !remaining.has(id))
  const unmoved = longestIncreasingSubsequence(before, after)
  const connect: JsonValue[] = []
  after.forEach((id, index) => {
    if (unmoved.has(id)) return
    const previous = after[index - 1]
    connect.push({
      documentId: id,
      position: previous === undefined ? { start: true } : { after: previous },
    })
  })
  return { ...(disconnect.length > 0 && { disconnect }), ...(connect.length > 0 && { connect }) }
}

/** The links that keep their relative order. O(n log n). */
function longestIncreasingSubsequence(
  before: readonly string[],
  after: readonly string[],
): ReadonlySet<string> {
  const indexes = new Map(before.map((id, index) => [id, index]))
  const tails: { readonly id: string; readonly index: number; readonly previous: number }[] = []
  const ends: number[] = []
  for (const id of after) {
    const index = indexes.get(id)
    if (index === undefined) continue
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((tails[ends[middle] ?? 0]?.index ?? 0) < index) low = middle + 1
      else high = middle
    }
    tails.push({ id, index, previous: ends[low - 1] ?? -1 })
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

/** Removes the ids of components, so that the server creates new ones. Links and files keep theirs. */
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

/** Removes passwords at any depth: the browser must not store them. */
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

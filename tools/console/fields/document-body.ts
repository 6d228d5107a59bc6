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
    .filter(({ type, name }) => (type === 'component' || type === 'dynamiczone') && rest[name])
    .map(attribute => {
      const copy = (item: JsonValue): JsonValue =>
        isJsonObject(item)
          ? withoutIds(
              schema,
              schema.components.get(attribute.component ?? String(item.__component)) ?? [],
              item,
            )
          : item
      const inner = rest[attribute.name] ?? null
      return [attribute.name, Array.isArray(inner) ? asList(inner).map(copy) : copy(inner)] as const
    })
  return { ...rest, ...Object.fromEntries(copies) }
}

/** What the page may keep in the browser: everything but passwords, at any depth. */
export function withoutPasswords(
  schema: ApiSchema,
  attributes: readonly AttributeInfo[],
  value: JsonRecord,
): JsonRecord {
  const clean = (attribute: AttributeInfo, inner: JsonValue): JsonValue => {
    if (attribute.type !== 'component' && attribute.type !== 'dynamiczone') return inner
    const each = (item: JsonValue): JsonValue =>
      isJsonObject(item)
        ? withoutPasswords(
            schema,
            schema.components.get(attribute.component ?? String(item.__component)) ?? [],
            item,
          )
        : item
    return Array.isArray(inner) ? asList(inner).map(each) : each(inner)
  }
  const rest = { ...value } as Record<string, JsonValue>
  for (const attribute of attributes) {
    const inner = rest[attribute.name]
    if (attribute.type === 'password') delete rest[attribute.name]
    else if (inner !== undefined) rest[attribute.name] = clean(attribute, inner)
  }
  return rest
}

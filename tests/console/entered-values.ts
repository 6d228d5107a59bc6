import { isDeepStrictEqual } from 'node:util'
import type { Attribute, ContentType, Holder, ScalarAttribute } from '../../core/model/model.ts'

/** What a user types and chooses in a form, by attribute: scalars as they are stored, links as `Target`s, files as `StoredFile`s. */
export type Values = Readonly<Record<string, unknown>>

/** A document that a relation may lead to, with the text that names it in the console. */
export interface Target {
  readonly documentId: string
  readonly label: string
}

/** Where values come from: no two are equal. */
export interface Supply {
  number(): number
  /** Undefined: the type has no documents left. */
  target(type: ContentType): Target | undefined
  /** Uploaded files of the library. */
  readonly files: readonly StoredFile[]
}

export interface StoredFile {
  readonly id: number
  readonly name: string
}

/** Components within components within the document: each has values, and none of a deeper level. */
const DEEPEST = 4

/** The attributes that a form may write. */
export const editable = (holder: Holder): readonly Attribute[] =>
  [...holder.attributes.values()].filter(
    ({ system, writable, private: isPrivate }) => !system && writable && !isPrivate,
  )

/** A value for each attribute that a form may write. */
export function valuesFor(holder: Holder, supply: Supply, depth = 0): Values {
  const entries = editable(holder).map(
    attribute => [attribute.name, valueFor(attribute, supply, depth)] as const,
  )
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function valueFor(attribute: Attribute, supply: Supply, depth: number): unknown {
  const inner = (holder: Holder) => valuesFor(holder, supply, depth + 1)
  switch (attribute.kind) {
    case 'scalar':
      return scalarFor(attribute, supply.number())
    case 'relation': {
      const found = attribute.many
        ? [supply.target(attribute.target), supply.target(attribute.target)]
        : [supply.target(attribute.target)]
      const targets = found.filter(target => target !== undefined)
      if (targets.length === 0) return undefined
      return attribute.many ? targets : targets[0]
    }
    case 'media': {
      if (!attribute.allowedTypes.includes('images')) return undefined
      const files = attribute.many
        ? supply.files.slice(0, 2)
        : supply.files[supply.number() % supply.files.length]
      return files
    }
    case 'component': {
      if (depth >= DEEPEST) return undefined
      if (!attribute.repeatable) return inner(attribute.component)
      const count = Math.max(attribute.min ?? 0, Math.min(2, attribute.max ?? 2))
      return Array.from({ length: count }, () => inner(attribute.component))
    }
    case 'zone':
      return attribute.components
        .slice(0, attribute.max ?? attribute.components.length)
        .map(component => ({ __component: component.uid, ...inner(component) }))
    default:
      return undefined
  }
}

/** Undefined: only a text that matches a pattern would do. */
export function scalarFor(attribute: ScalarAttribute, number: number): unknown {
  const { name, type, values, min = 0, max = 1000, minLength = 0, maxLength = 200, regex } = attribute
  const text = `${name} ${number}`.padEnd(minLength, ' and more').slice(-maxLength)
  const between = Number(min) + (number % (Number(max) - Number(min) + 1))
  const day = `2024-02-${String(1 + (number % 28)).padStart(2, '0')}`
  switch (type) {
    case 'string':
    case 'text':
    case 'richtext':
      return regex && !regex.test(text) ? undefined : text
    case 'uid':
      return text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
    case 'email':
      return `one${number}@example.org`
    case 'password':
      return `Secret-of-${number}`
    case 'integer':
    case 'biginteger':
      return between
    case 'float':
    case 'decimal':
      return Math.min(between + 0.25, Number(max))
    case 'boolean':
      return number % 2 === 0
    case 'date':
      return day
    case 'datetime':
    case 'timestamp':
      return `${day}T10:30:00.000Z`
    case 'time':
      return `10:${String(number % 60).padStart(2, '0')}:00`
    case 'enumeration':
      return values?.[number % values.length]
    case 'json':
      return { number }
    case 'array':
      return [String(number)]
    case 'blocks':
      return [{ type: 'paragraph', children: [{ type: 'text', text }] }]
    default:
      return undefined
  }
}

/** What a request writes to store these values. */
export function dataOf(holder: Holder, values: Values): Values {
  const entries = editable(holder).flatMap(attribute => {
    const value = values[attribute.name]
    return value === undefined ? [] : [[attribute.name, writtenValue(attribute, value)] as const]
  })
  return Object.fromEntries(entries)
}

function writtenValue(attribute: Attribute, value: unknown): unknown {
  const each = (write: (item: Values) => unknown) =>
    Array.isArray(value) ? (value as readonly Values[]).map(write) : write(value as Values)
  if (attribute.kind === 'relation') return each(({ documentId }) => documentId)
  if (attribute.kind === 'media') return each(({ id }) => id)
  if (attribute.kind === 'component') return each(item => dataOf(attribute.component, item))
  if (attribute.kind !== 'zone') return value
  return each(item => {
    const component = attribute.components.find(({ uid }) => uid === item.__component)
    return component && { __component: component.uid, ...dataOf(component, item) }
  })
}

/** The attribute that names a document in the console. */
export function nameOf(type: ContentType): string | null {
  const texts = [...type.attributes.values()].filter(
    attribute =>
      attribute.kind === 'scalar' && !attribute.private && !attribute.system && TEXTUAL.has(attribute.type),
  )
  const named = ['title', 'name', 'label', 'headline'].find(name => texts.some(each => each.name === name))
  return named ?? texts[0]?.name ?? null
}

const TEXTUAL: ReadonlySet<string> = new Set(['string', 'text', 'uid', 'email', 'enumeration'])

/** A stored document, and what was entered, in one form: links and files by their ids, numbers and times in one notation. */
export function comparable(holder: Holder, values: Values): Values {
  const entries = editable(holder)
    .filter(attribute => !(attribute.kind === 'scalar' && attribute.type === 'password'))
    .map(attribute => [attribute.name, comparableValue(attribute, values[attribute.name])] as const)
  return Object.fromEntries(entries)
}

function comparableValue(attribute: Attribute, value: unknown): unknown {
  const list = (each: (item: Values) => unknown) =>
    ((value ?? []) as readonly unknown[]).map(item => each(item as Values))
  if (attribute.kind === 'zone')
    return list(item => {
      const component = attribute.components.find(({ uid }) => uid === item.__component)
      return component && { __component: component.uid, ...comparable(component, item) }
    })
  if (attribute.kind === 'component' && attribute.repeatable)
    return list(item => comparable(attribute.component, item))
  if (attribute.kind === 'relation' && attribute.many) return list(({ documentId }) => documentId)
  if (attribute.kind === 'media' && attribute.many) return list(({ id }) => id)
  if (value === null || value === undefined) return null
  if (attribute.kind === 'component') return comparable(attribute.component, value as Values)
  if (attribute.kind === 'relation') return (value as Values).documentId
  if (attribute.kind === 'media') return (value as Values).id
  return attribute.kind === 'scalar' ? comparableScalar(attribute, value) : value
}

function comparableScalar({ type }: ScalarAttribute, value: unknown): unknown {
  if (type === 'integer' || type === 'biginteger' || type === 'float' || type === 'decimal')
    return Number(value)
  if (type === 'datetime' || type === 'timestamp') return new Date(String(value)).toISOString()
  return type === 'time' ? String(value).slice(0, 8) : value
}

/** The places where two comparable documents differ. */
export function differences(one: unknown, other: unknown, path = ''): readonly string[] {
  if (isDeepStrictEqual(one, other)) return []
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return [`${path}: ${JSON.stringify(one)} is not ${JSON.stringify(other)}`]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap(name =>
    differences((one as Values)[name], (other as Values)[name], path === '' ? name : `${path}.${name}`),
  )
}

/** `populate` that reads everything a form may write. */
export function populateAll(holder: Holder): Record<string, unknown> {
  const inner = (component: Holder) => {
    const populate = populateAll(component)
    return Object.keys(populate).length === 0 ? true : { populate }
  }
  const entries = editable(holder).flatMap((attribute): readonly (readonly [string, unknown])[] => {
    if (attribute.kind === 'relation' || attribute.kind === 'media') return [[attribute.name, true]]
    if (attribute.kind === 'component') return [[attribute.name, inner(attribute.component)]]
    if (attribute.kind !== 'zone') return []
    const on = Object.fromEntries(attribute.components.map(component => [component.uid, inner(component)]))
    return [[attribute.name, { on }]]
  })
  return Object.fromEntries(entries)
}

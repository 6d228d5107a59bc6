import type { Attribute, Component, ContentType, Holder } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { JSON_TYPES, toJsonText } from '../sdl/json-value.ts'

type Data = Readonly<Record<string, unknown>>

/** What an input says of a document: its values as REST has them, and when it was published. */
export interface GivenInput {
  readonly data: Data
  /** null: not at all; undefined: the input does not say. */
  readonly publishedAt: string | null | undefined
}

/** Coerced input → `data`. The other stamps are taken and do nothing (contract/graphql.md 0). */
export function readInput(type: ContentType, given: unknown): GivenInput {
  const { createdAt: _created, updatedAt: _updated, publishedAt, ...rest } = isRecord(given) ? given : {}
  const data = toData(type, rest)
  if (publishedAt === undefined || publishedAt === null) return { data, publishedAt }
  return { data, publishedAt: String(publishedAt) }
}

const toData = (holder: Holder, given: Data): Data =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const attribute = holder.attributes.get(name)
      return [name, attribute ? toValue(attribute, value) : value]
    }),
  )

/** A text is JSON already for the scalar JSON; REST reads it as the text of some. */
function toValue(attribute: Attribute, value: unknown): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return JSON_TYPES.has(attribute.type) && typeof value === 'string' ? toJsonText(value) : value
    case 'component':
      return toItems(value, () => attribute.component)
    case 'zone':
      return toItems(value, item => attribute.components.find(({ uid }) => uid === item.__component))
    default:
      return toLinks(value)
  }
}

/** Over REST null in a list counts for none; here it is no document, as an empty id is none. */
const toLinks = (value: unknown): unknown => (Array.isArray(value) ? value.map(item => item ?? '') : value)

function toItems(value: unknown, componentOf: (item: Data) => Component | undefined): unknown {
  if (Array.isArray(value)) return value.map(each => toItems(each, componentOf))
  const component = isRecord(value) ? componentOf(value) : undefined
  if (!isRecord(value) || !component) return value
  return { ...toData(component, value), ...(value.id == null ? {} : { id: numberOf(value.id) }) }
}

/** Components go by numbers; what is none is the id of no component, and not that of a new one. */
const numberOf = (id: unknown): number =>
  (typeof id === 'string' || typeof id === 'number') && /^\d+$/.test(String(id)) ? Number(id) : NO_COMPONENT

const NO_COMPONENT = 0

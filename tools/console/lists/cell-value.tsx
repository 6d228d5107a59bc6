import {
  asList,
  asText,
  digitsOf,
  isJsonObject,
  type JsonRecord,
  type JsonValue,
  objectsOf,
  printExact,
} from '../api/json.ts'
import { type ApiSchema, type AttributeInfo, toLabel } from '../api/schema.ts'

interface CellValueProps {
  readonly attribute: AttributeInfo
  readonly value: JsonValue
  /** Shown for an empty value. */
  readonly fallback: string
}

const LENGTH = 80

/** A value as one line of text, never as markup: content is untrusted. */
export function CellValue({ attribute, value, fallback }: CellValueProps) {
  if (attribute.type === 'media') return <FileCell value={value} />
  if (attribute.type === 'boolean') return <>{value === null ? fallback : value ? '✓' : '✗'}</>
  const text = describeValue(value)
  if (attribute.type === 'datetime' && text !== '')
    return <time dateTime={text}>{new Date(text).toLocaleString(document.documentElement.lang)}</time>
  return <bdi title={text.length > LENGTH ? text : undefined}>{shorten(text) || fallback}</bdi>
}

const shorten = (text: string): string => (text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text)

function FileCell({ value }: { readonly value: JsonValue }) {
  const [first] = objectsOf(value)
  if (!first) return null
  if (!asText(first.mime).startsWith('image/')) return <bdi>{asText(first.name)}</bdi>
  return (
    <img className="thumbnail" src={asText(first.url)} alt={asText(first.alternativeText)} loading="lazy" />
  )
}

/** Documents as their label, lists as their members, other objects as JSON. */
export function describeValue(value: JsonValue): string {
  if (value === null) return ''
  if (Array.isArray(value)) return asList(value).map(describeValue).join(', ')
  if (!isJsonObject(value)) return digitsOf(value)
  if (value.documentId === undefined) return printExact(value)
  const { id: _id, documentId, ...rest } = value
  return (
    Object.values(rest)
      .filter(each => typeof each === 'string')[0]
      ?.toString() ?? String(documentId)
  )
}

/** Text for a comparison: components as their values, blocks as text, files as names. */
export function describeAttribute(schema: ApiSchema, attribute: AttributeInfo, value: JsonValue): string {
  const items = objectsOf(value)
  switch (attribute.type) {
    case 'media':
      return items.map(({ name }) => asText(name)).join(', ')
    case 'blocks':
      return asList(value).map(textOfBlock).join(' ')
    case 'component':
    case 'dynamiczone':
      return items.map(item => describeItem(schema, attribute, item)).join(' / ')
    default:
      return describeValue(value)
  }
}

function describeItem(schema: ApiSchema, { component }: AttributeInfo, item: JsonRecord): string {
  const attributes = schema.components.get(component ?? asText(item.__component)) ?? []
  const values = attributes
    .filter(({ name }) => name !== 'id')
    .map(inner => describeAttribute(schema, inner, item[inner.name] ?? null))
    .filter(text => text !== '')
    .join(' · ')
  return component === null ? `${toLabel(asText(item.__component))}: ${values}` : values
}

const textOfBlock = (block: JsonValue): string =>
  isJsonObject(block) ? asText(block.text) + asList(block.children).map(textOfBlock).join('') : ''

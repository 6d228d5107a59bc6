import { asList, asText, digitsOf, isJsonObject, type JsonValue, printExact } from '../api/json.ts'
import type { AttributeInfo } from '../api/schema.ts'

interface CellValueProps {
  readonly attribute: AttributeInfo
  readonly value: JsonValue
  /** Instead of nothing. */
  readonly fallback: string
}

const LENGTH = 80

/** A value as one line of text. Never as markup: it may come from anybody. */
export function CellValue({ attribute, value, fallback }: CellValueProps) {
  if (attribute.type === 'media') return <FileCell value={value} />
  if (attribute.type === 'boolean') return <>{value === null ? fallback : value ? '✓' : '✗'}</>
  const text = describeValue(value)
  if (attribute.type === 'datetime' && text !== '')
    return <time dateTime={text}>{new Date(text).toLocaleString(document.documentElement.lang)}</time>
  return <span title={text.length > LENGTH ? text : undefined}>{shorten(text) || fallback}</span>
}

const shorten = (text: string): string => (text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text)

function FileCell({ value }: { readonly value: JsonValue }) {
  const files = Array.isArray(value) ? asList(value) : [value]
  const first = files.filter(isJsonObject)[0]
  if (!first) return null
  if (!asText(first.mime).startsWith('image/')) return <>{asText(first.name)}</>
  return (
    <img className="thumbnail" src={asText(first.url)} alt={asText(first.alternativeText)} loading="lazy" />
  )
}

/** Documents by the attribute that names them, lists by their members, other objects as JSON. */
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

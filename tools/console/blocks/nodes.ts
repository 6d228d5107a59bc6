import { isJsonObject, type JsonRecord, type JsonValue } from '../api/json.ts'

/** A text node of the format `blocks`; unknown properties are kept. */
export interface BlockText {
  readonly text: string
  readonly [property: string]: unknown
}

/** A block, list item, link or unknown content. */
export interface BlockElement {
  readonly type: string
  readonly children: BlockNode[]
  readonly [property: string]: unknown
}

export type BlockNode = BlockText | BlockElement

/** Unknown content, read-only in the editor; `source` is the stored value. */
export const OPAQUE_BLOCK = 'plinth-opaque-block'
export const OPAQUE_INLINE = 'plinth-opaque-inline'

const WITH_TEXT: ReadonlySet<unknown> = new Set(['paragraph', 'heading', 'quote', 'code'])

/** The stored value of each unedited node. Slate replaces the objects of edited nodes only. */
const sources = new WeakMap<object, JsonValue>()

const remember = <Node extends BlockNode>(node: Node, source: JsonValue): Node => {
  sources.set(node, source)
  return node
}

/** Stored blocks to Slate nodes. Unknown content becomes opaque nodes. */
export function toNodes(value: JsonValue): BlockElement[] {
  const blocks = Array.isArray(value) ? (value as readonly JsonValue[]) : []
  return blocks.length === 0 ? [blankParagraph()] : blocks.map(toBlock)
}

export const blankParagraph = (): BlockElement => ({
  type: 'paragraph',
  children: [{ type: 'text', text: '' }],
})

/** Slate nodes to stored blocks. Unedited nodes return the value that they were read from. */
export function fromNodes(nodes: readonly BlockNode[]): JsonValue {
  const blocks = nodes.map(node => fromNode(node))
  return blocks.length === 1 && isBlank(nodes[0]) ? null : blocks
}

const isBlank = (node: BlockNode | undefined): boolean =>
  node !== undefined &&
  isElement(node) &&
  node.type === 'paragraph' &&
  node.children.every(child => child.text === '')

export const isElement = (node: BlockNode): node is BlockElement => Array.isArray(node.children)

/** Also accepts clipboard data of other pages, which may be any JSON. */
export function fromNode(node: BlockNode | JsonValue): JsonValue {
  if (typeof node !== 'object' || node === null) return node
  const source = sources.get(node)
  if (source !== undefined) return source
  if (Array.isArray(node)) return (node as readonly JsonValue[]).map(fromNode)
  const value = node as JsonRecord
  if (value.type === OPAQUE_BLOCK || value.type === OPAQUE_INLINE) return value.source ?? null
  if (Array.isArray(value.children)) return { ...value, children: fromNode(value.children) }
  return typeof value.text === 'string' && !Object.hasOwn(value, 'type') ? { type: 'text', ...value } : value
}

function toBlock(value: JsonValue): BlockElement {
  const node = nodeOf(value)
  if (node?.type === 'list') return toList(node) ?? opaque(OPAQUE_BLOCK, value)
  // Slate requires a text child in void elements: the stored children of a picture are not shown.
  if (node?.type === 'image' && isJsonObject(node.image))
    return remember({ ...node, type: 'image', children: [{ type: 'text', text: '' }] }, value)
  if (node && WITH_TEXT.has(node.type)) return toElement(node, toInline) ?? opaque(OPAQUE_BLOCK, value)
  return opaque(OPAQUE_BLOCK, value)
}

const toList = (node: JsonRecord): BlockElement | null => toElement(node, toListChild)

function toListChild(value: JsonValue): BlockNode {
  const node = nodeOf(value)
  const known = node?.type === 'list-item' ? toElement(node, toInline) : null
  const nested = node?.type === 'list' ? toList(node) : null
  return known ?? nested ?? opaque(OPAQUE_BLOCK, value)
}

function toInline(value: JsonValue): BlockNode {
  const text = toText(value)
  if (text) return text
  const node = nodeOf(value)
  const link = node?.type === 'link' && typeof node.url === 'string' ? toElement(node, toLinkText) : null
  return link ?? opaque(OPAQUE_INLINE, value)
}

const toLinkText = (value: JsonValue): BlockNode | null => toText(value)

function toText(value: JsonValue): BlockText | null {
  if (!isJsonObject(value) || typeof value.text !== 'string' || Object.hasOwn(value, 'children')) return null
  return value.type === undefined || value.type === 'text'
    ? remember(value as JsonRecord & BlockText, value)
    : null
}

/** null: without children, or with a child that is not allowed. */
function toElement(source: JsonRecord, read: (child: JsonValue) => BlockNode | null): BlockElement | null {
  const children = source.children as readonly JsonValue[]
  const nodes = children.map(read)
  const known = nodes.filter(node => node !== null)
  if (known.length === 0 || known.length < nodes.length) return null
  return remember({ ...source, type: String(source.type), children: known }, source)
}

/** null: not an element. An object with both text and children is invalid. */
const nodeOf = (value: JsonValue): JsonRecord | null =>
  isJsonObject(value) && Array.isArray(value.children) && !Object.hasOwn(value, 'text') ? value : null

const opaque = (type: string, source: JsonValue): BlockElement =>
  remember({ type, source, children: [{ text: '' }] }, source)

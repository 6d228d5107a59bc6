import { Editor, Element, type Node, Path, Range, Transforms } from 'slate'
import { isJsonObject, type JsonRecord } from '../api/json.ts'
import { blankParagraph } from './nodes.ts'
import {
  type BlockEntry,
  currentBlock,
  insertParagraph,
  leaveLists,
  textBlock,
  toParagraph,
} from './with-blocks.ts'

export const MARKS = ['bold', 'italic', 'underline', 'strikethrough', 'code'] as const
export type TextMark = (typeof MARKS)[number]

export const hasMark = (editor: Editor, mark: TextMark): boolean =>
  Boolean((Editor.marks(editor) as Readonly<Record<string, unknown>> | null)?.[mark])

export function toggleMark(editor: Editor, mark: TextMark): void {
  if (hasMark(editor, mark)) Editor.removeMark(editor, mark)
  else Editor.addMark(editor, mark, true)
}

const LEVELS = [1, 2, 3, 4, 5, 6] as const

/** The block styles of the toolbar. */
export const STYLES = [
  'paragraph',
  ...LEVELS.map(level => `heading-${level}` as const),
  'quote',
  'code',
  'unordered',
  'ordered',
] as const
export type BlockStyle = (typeof STYLES)[number]

const isItem = (node: Node): boolean => Element.isElement(node) && node.type === 'list-item'
const isList = (node: Node): boolean => Element.isElement(node) && node.type === 'list'

/** null: a picture, or content that the editor does not know. */
export function styleOf(editor: Editor): BlockStyle | null {
  const block = textBlock(editor)
  if (!block) return null
  const [{ type, level }, path] = block
  if (type === 'heading') return `heading-${LEVELS.find(each => each === level) ?? 6}`
  if (type !== 'list-item') return STYLES.find(style => style === type) ?? null
  const [list] = Editor.parent(editor, path)
  return Element.isElement(list) && list.format === 'ordered' ? 'ordered' : 'unordered'
}

export function setStyle(editor: Editor, style: BlockStyle): void {
  if (!editor.selection) return
  Editor.withoutNormalizing(editor, () => {
    const list = style === 'ordered' || style === 'unordered'
    if (list && changeFormat(editor, style)) return
    leaveLists(editor)
    applyStyle(editor, list ? 'paragraph' : style)
    if (list) wrapInList(editor, style)
  })
}

const isTextBlock = (editor: Editor) => (node: Node) =>
  Element.isElement(node) && Editor.isBlock(editor, node) && !editor.isVoid(node) && !isList(node)

const textBlocks = (editor: Editor): BlockEntry[] =>
  [...Editor.nodes(editor, { match: isTextBlock(editor), mode: 'lowest' })] as BlockEntry[]

function applyStyle(editor: Editor, style: BlockStyle): void {
  for (const [block, path] of textBlocks(editor)) {
    const [type = '', level] = style.split('-')
    if (block.type === type && level === undefined) continue
    toParagraph(editor, path)
    if (type === 'code') Transforms.unwrapNodes(editor, { at: path, match: isLink })
    if (type !== 'paragraph')
      Transforms.setNodes(
        editor,
        { type, ...(level !== undefined && { level: Number(level) }) },
        { at: path },
      )
  }
}

/** Changes the innermost lists if all selected blocks are list items, and keeps their levels. False: nothing changed. */
function changeFormat(editor: Editor, format: 'ordered' | 'unordered'): boolean {
  const blocks = textBlocks(editor)
  if (blocks.length === 0 || !blocks.every(([block]) => isItem(block))) return false
  const lists = new Set(blocks.map(([, path]) => JSON.stringify(Path.parent(path))))
  for (const at of lists) Transforms.setNodes(editor, { format }, { at: JSON.parse(at) as Path })
  return true
}

/** Each run of adjacent blocks becomes one list; pictures separate runs. */
function wrapInList(editor: Editor, format: 'ordered' | 'unordered'): void {
  const runs: Path[][] = []
  for (const [block, path] of textBlocks(editor)) {
    if (isItem(block)) continue
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run && last && Path.equals(Path.next(last), path)) run.push(path)
    else runs.push([path])
  }
  for (const run of runs.reverse()) {
    for (const path of run) Transforms.setNodes(editor, { type: 'list-item' }, { at: path })
    const [first] = run
    if (!first) continue
    Transforms.wrapNodes(editor, { type: 'list', format, children: [] }, { at: first })
    for (let count = 1; count < run.length; count++)
      Transforms.moveNodes(editor, { at: Path.next(first), to: [...first, count] })
  }
}

const isLink = (node: Node): boolean => Element.isElement(node) && node.type === 'link'

/** The URL of the link at the cursor; null outside of links. */
export function linkAt(editor: Editor): string | null {
  const [link] = editor.selection ? (Editor.above(editor, { match: isLink }) ?? []) : []
  return Element.isElement(link) ? String(link.url) : null
}

/** Changes the link at the cursor, or wraps the selection. Without a selection it inserts the URL as text. */
export function setLink(editor: Editor, url: string): void {
  const { selection } = editor
  if (!selection) return
  const existing = Editor.above(editor, { match: isLink })
  if (existing) {
    Transforms.setNodes(editor, { url } as never, { at: existing[1] })
    return
  }
  const link = { type: 'link', url, children: [] }
  if (Range.isCollapsed(selection)) {
    Transforms.insertNodes(editor, { ...link, children: [{ type: 'text', text: url }] })
    Transforms.move(editor, { unit: 'offset' })
    return
  }
  Editor.withoutNormalizing(editor, () => {
    Transforms.unwrapNodes(editor, { match: isLink, split: true })
    Transforms.wrapNodes(editor, link, { split: true })
  })
}

export function removeLink(editor: Editor): void {
  Transforms.unwrapNodes(editor, { match: isLink })
}

/** Moves the top-level block at the cursor up (-1) or down (1). */
export function moveBlock(editor: Editor, step: -1 | 1): void {
  const from = topBlock(editor)
  if (from === null) return
  const to = from + step
  if (to >= 0 && to < editor.children.length) Transforms.moveNodes(editor, { at: [from], to: [to] })
}

export function removeBlock(editor: Editor): void {
  const place = topBlock(editor)
  if (place === null) return
  Editor.withoutNormalizing(editor, () => {
    Transforms.removeNodes(editor, { at: [place], voids: true })
    if (editor.children.length === 0)
      Transforms.insertNodes(editor, blankParagraph(), { at: [0], select: true })
  })
}

export const topBlock = (editor: Editor): number | null => editor.selection?.focus.path[0] ?? null

/** The properties of a media file that an image block stores (reference/rest.md#3-attribute-values). */
const FILE_PROPERTIES = [
  'name',
  'alternativeText',
  'url',
  'caption',
  'width',
  'height',
  'formats',
  'hash',
  'ext',
  'mime',
  'size',
  'previewUrl',
  'provider',
  'createdAt',
  'updatedAt',
]

/** Inserts below the block at the cursor, or at the end, and moves the cursor after the picture. */
export function insertPicture(editor: Editor, file: JsonRecord): void {
  const image = Object.fromEntries(
    FILE_PROPERTIES.filter(name => file[name] !== undefined).map(name => [name, file[name]]),
  )
  const place = (topBlock(editor) ?? editor.children.length - 1) + 1
  const node = { type: 'image', image, children: [{ type: 'text', text: '' }] }
  Transforms.insertNodes(editor, node, { at: [place], select: true })
  if (place === editor.children.length - 1) insertParagraph(editor, [place + 1])
}

/** The image at the cursor; null: none. */
export function pictureAt(editor: Editor): JsonRecord | null {
  const block = currentBlock(editor)
  return block?.[0].type === 'image' && isJsonObject(block[0].image) ? block[0].image : null
}

export function setPicture(editor: Editor, part: JsonRecord): void {
  const block = currentBlock(editor)
  if (block)
    Transforms.setNodes(editor, { image: { ...pictureAt(editor), ...part } } as never, { at: block[1] })
}

/** null: the cursor is not in code. */
export function languageAt(editor: Editor): string | null {
  const block = textBlock(editor)
  return block?.[0].type === 'code' ? String(block[0].language ?? '') : null
}

export function setLanguage(editor: Editor, language: string): void {
  const block = textBlock(editor)
  if (!block) return
  if (language === '') Transforms.unsetNodes(editor, 'language' as never, { at: block[1] })
  else Transforms.setNodes(editor, { language } as never, { at: block[1] })
}

import { type BaseEditor, Editor, Element, Node, Path, Range, Transforms } from 'slate'
import type { HistoryEditor } from 'slate-history'
import type { ReactEditor } from 'slate-react'
import { type JsonValue, parseExact } from '../api/json.ts'
import {
  type BlockElement,
  type BlockText,
  blankParagraph,
  fromNode,
  fromNodes,
  OPAQUE_BLOCK,
  OPAQUE_INLINE,
  toNodes,
} from './nodes.ts'

declare module 'slate' {
  interface CustomTypes {
    Editor: BaseEditor & ReactEditor & HistoryEditor
    Element: BlockElement
    Text: BlockText
  }
}

const VOIDS: ReadonlySet<string> = new Set(['image', OPAQUE_BLOCK, OPAQUE_INLINE])
const INLINES: ReadonlySet<string> = new Set(['link', OPAQUE_INLINE])
const WITH_LINES: ReadonlySet<string> = new Set(['code', 'quote'])

/** A Slate plugin: normalization, clipboard and line breaks of the format `blocks`. */
export function withBlocks<Edited extends Editor>(editor: Edited): Edited {
  const { isVoid, isInline, normalizeNode, insertBreak, deleteBackward, insertTextData } = editor
  editor.isVoid = element => VOIDS.has(element.type) || isVoid(element)
  editor.isInline = element => INLINES.has(element.type) || isInline(element)
  editor.normalizeNode = (entry, options) => {
    if (!normalizeList(editor, entry)) normalizeNode(entry, options)
  }
  editor.insertSoftBreak = () => editor.insertText('\n')
  editor.insertBreak = () => {
    const block = textBlock(editor)
    if (block?.[0].type === 'list-item' && Node.string(block[0]) === '') outdent(editor)
    else if (block && WITH_LINES.has(block[0].type)) breakLine(editor, block)
    else if (block) {
      insertBreak()
      continueAsParagraph(editor)
    } else insertAfterVoid(editor)
  }
  editor.deleteBackward = unit => {
    const block = textBlock(editor)
    const { selection } = editor
    const atStart =
      block && selection && Range.isCollapsed(selection) && Editor.isStart(editor, selection.anchor, block[1])
    if (!atStart || block[0].type === 'paragraph') deleteBackward(unit)
    else if (block[0].type === 'list-item') outdent(editor)
    else toParagraph(editor, block[1])
  }
  editor.insertFragmentData = data => {
    const fragment = clipboardText(data, 'application/x-slate-fragment')
    const nodes = fragment === '' ? null : readFragment(fragment)
    if (!nodes) return false
    Transforms.insertFragment(editor, nodes)
    return true
  }
  editor.insertTextData = data => {
    const block = textBlock(editor)
    if (!block || !WITH_LINES.has(block[0].type)) return insertTextData(data)
    const text = clipboardText(data, 'text/plain')
    if (text !== '') editor.insertText(text.replaceAll(/\r\n?/g, '\n'))
    return text !== ''
  }
  return editor
}

/** `object`, because tests run without the DOM types. */
const clipboardText = (data: object, type: string): string =>
  'getData' in data && typeof data.getData === 'function' ? String(data.getData(type)) : ''

/** Clipboard data may come from other pages: it is parsed like a stored document. null: not blocks. */
function readFragment(encoded: string): BlockElement[] | null {
  try {
    const value = parseExact(decodeURIComponent(atob(encoded)))
    return Array.isArray(value) ? toNodes(fromNode(value)) : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof URIError || error instanceof DOMException)
      return null
    throw error
  }
}

/** True if it changed something. */
function normalizeList(editor: Editor, [node, path]: [Node, Path]): boolean {
  if (!Element.isElement(node) || path.length === 0 || node.type !== 'list') return false
  if (node.children.length === 0) {
    Transforms.removeNodes(editor, { at: path })
    return true
  }
  for (const [child, childPath] of Node.children(editor, path)) {
    if (!Element.isElement(child)) {
      Transforms.wrapNodes(editor, { type: 'list-item', children: [] }, { at: childPath })
      return true
    }
    if (child.type === 'image') {
      Transforms.liftNodes(editor, { at: childPath, voids: true })
      return true
    }
    if (child.type !== 'list' && child.type !== 'list-item' && child.type !== OPAQUE_BLOCK) {
      Transforms.setNodes(editor, { type: 'list-item' }, { at: childPath })
      return true
    }
  }
  return false
}

export type BlockEntry = readonly [BlockElement, Path]

/** The text block at the cursor; undefined in a picture or without a cursor. */
export function textBlock(editor: Editor): BlockEntry | undefined {
  const entry = currentBlock(editor)
  return entry && !editor.isVoid(entry[0]) ? entry : undefined
}

export function currentBlock(editor: Editor): BlockEntry | undefined {
  if (!editor.selection) return undefined
  const entry = Editor.above(editor, {
    match: node => Element.isElement(node) && Editor.isBlock(editor, node),
    mode: 'lowest',
    voids: true,
  })
  return entry as BlockEntry | undefined
}

/** Inserts a line break; a second one at the end leaves the block. */
function breakLine(editor: Editor, [block, path]: BlockEntry): void {
  const { selection } = editor
  const atEnd = selection && Range.isCollapsed(selection) && Editor.isEnd(editor, selection.anchor, path)
  if (!atEnd || !Node.string(block).endsWith('\n')) {
    editor.insertText('\n')
    return
  }
  Transforms.delete(editor, { unit: 'character', reverse: true })
  insertParagraph(editor, Path.next(path))
}

/** Splits the block; the second part becomes a paragraph. */
function continueAsParagraph(editor: Editor): void {
  const block = textBlock(editor)
  if (block?.[0].type === 'heading' && Node.string(block[0]) === '') toParagraph(editor, block[1])
}

function insertAfterVoid(editor: Editor): void {
  const block = currentBlock(editor)
  if (block) insertParagraph(editor, Path.next([block[1][0] ?? 0]))
}

export function insertParagraph(editor: Editor, at: Path): void {
  Transforms.insertNodes(editor, blankParagraph(), { at, select: true })
}

const OF_STYLES = ['level', 'language', 'format', 'indentLevel']

export function toParagraph(editor: Editor, at: Path): void {
  Transforms.setNodes(editor, { type: 'paragraph' }, { at })
  Transforms.unsetNodes(editor, OF_STYLES as never, { at })
}

/** The paths of the selected list items, as refs that follow changes of the document. */
function selectedItems(editor: Editor): (() => Path | null)[] {
  const entries = Editor.nodes(editor, {
    match: node => Element.isElement(node) && node.type === 'list-item',
    mode: 'lowest',
  })
  return [...entries].map(([, path]) => {
    const ref = Editor.pathRef(editor, path)
    return () => ref.unref()
  })
}

/** Lifts list items by one level; items of the outermost list become paragraphs. */
export function outdent(editor: Editor): void {
  Editor.withoutNormalizing(editor, () => {
    for (const place of selectedItems(editor)) {
      const path = place()
      if (path) outdentItem(editor, path)
    }
  })
}

function outdentItem(editor: Editor, path: Path): void {
  const ref = Editor.pathRef(editor, path)
  Transforms.liftNodes(editor, { at: path })
  const lifted = ref.unref()
  if (lifted?.length === 1) toParagraph(editor, lifted)
}

/** Lifts the selection out of all lists. */
export function leaveLists(editor: Editor): void {
  for (const place of selectedItems(editor)) {
    let path = place()
    while (path && path.length > 1) {
      const ref = Editor.pathRef(editor, path)
      outdentItem(editor, path)
      path = ref.unref()
    }
  }
}

/** Moves each list item to the end of a nested list of the previous item. */
export function indent(editor: Editor): void {
  Editor.withoutNormalizing(editor, () => {
    for (const place of selectedItems(editor)) {
      const path = place()
      if (path && (path.at(-1) ?? 0) > 0) indentItem(editor, path)
    }
  })
}

function indentItem(editor: Editor, path: Path): void {
  const [list] = Editor.parent(editor, path)
  const previous = Path.previous(path)
  const before = Node.get(editor, previous)
  if (Element.isElement(before) && before.type === 'list') {
    Transforms.moveNodes(editor, { at: path, to: [...previous, before.children.length] })
    return
  }
  const { format = 'unordered', indentLevel = 0 } = list as BlockElement
  const nested = { type: 'list', format, indentLevel: Number(indentLevel) + 1, children: [] }
  Transforms.wrapNodes(editor, nested, { at: path })
}

export const editorDocument = (editor: Editor): JsonValue => fromNodes(editor.children as BlockElement[])

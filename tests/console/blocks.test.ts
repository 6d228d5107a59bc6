import test from 'ava'
import { createEditor, Editor, Element, Node, Text, Transforms } from 'slate'
import { withHistory } from 'slate-history'
import type { JsonRecord, JsonValue } from '../../tools/console/api/json.ts'
import { completeAddress, safeAddress } from '../../tools/console/blocks/addresses.ts'
import { insertPicture, setLink, setStyle, styleOf, toggleMark } from '../../tools/console/blocks/commands.ts'
import { toNodes } from '../../tools/console/blocks/nodes.ts'
import { editorDocument, indent, outdent, withBlocks } from '../../tools/console/blocks/with-blocks.ts'
import { randomBlocks, randomNumbers } from './random-blocks.ts'

const open = (value: JsonValue): Editor => {
  const editor = withBlocks(withHistory(createEditor() as Editor))
  editor.children = toNodes(value)
  return editor
}

const text = (value: string, more: JsonRecord = {}): JsonRecord => ({ type: 'text', text: value, ...more })
const paragraph = (...children: JsonValue[]): JsonRecord => ({ type: 'paragraph', children })
const item = (value: string): JsonRecord => ({ type: 'list-item', children: [text(value)] })
const list = (format: string, children: readonly JsonValue[], more: JsonRecord = {}): JsonRecord => ({
  type: 'list',
  format,
  ...more,
  children,
})

/** The place of a text that can be edited, in one of the blocks. */
function editableText(editor: Editor, block: number): number[] | null {
  const texts = [...Node.texts(editor)].filter(([, path]) => path[0] === block)
  const found = texts.find(([, path]) => {
    const holders = [...Node.ancestors(editor, path)].map(([node]) => node)
    return !holders.some(node => Element.isElement(node) && editor.isVoid(node))
  })
  return found?.[1] ?? null
}

test('1,000 random documents are the same bytes after they were opened, and after an edit was taken back', t => {
  const random = randomNumbers(11)
  let edited = 0
  for (let round = 0; round < 1000; round++) {
    const value = JSON.parse(JSON.stringify(randomBlocks(random))) as readonly JsonValue[]
    const before = JSON.stringify(value)
    const editor = open(value)
    t.is(JSON.stringify(editorDocument(editor)), before)
    const block = random(value.length)
    const path = editableText(editor, block)
    if (!path) continue
    edited++
    Transforms.insertText(editor, 'é', { at: { path, offset: 0 } })
    const after = editorDocument(editor) as readonly JsonValue[]
    t.notDeepEqual(after[block], value[block])
    for (const [index, each] of value.entries()) if (index !== block) t.is(after[index], each)
  }
  t.true(edited > 500)
})

test('an edit keeps unknown properties, unknown nodes and the order of keys of its own block', t => {
  const value = [
    {
      anchor: 'a',
      type: 'paragraph',
      children: [
        text('one ', { lang: 'la', bold: true }),
        { type: 'mention', user: 7, children: [] },
        text(' '),
        { url: '/x', rel: 'me', type: 'link', children: [text('two')] },
        text(' three'),
      ],
      ['__proto__' as string]: { polluted: true },
      constructor: 'c',
    },
  ] as unknown as JsonValue
  const editor = open(JSON.parse(JSON.stringify(value)) as JsonValue)
  Transforms.insertText(editor, 'X', { at: { path: [0, 3, 0], offset: 0 } })
  t.is(JSON.stringify(editorDocument(editor)), JSON.stringify(value).replace('"two"', '"Xtwo"'))
  Transforms.insertText(editor, 'Y', { at: { path: [0, 4], offset: 6 } })
  const [block] = editorDocument(editor) as readonly JsonRecord[]
  t.is(
    JSON.stringify(block),
    JSON.stringify(value).slice(1, -1).replace('two', 'Xtwo').replace('three', 'threeY'),
  )
})

test('values of any form are opened, shown as they are, and kept', t => {
  const odd: JsonValue = [
    null,
    7,
    'text',
    [],
    {},
    { type: 'paragraph' },
    { type: 'paragraph', children: [] },
    { type: 'paragraph', children: [null, 3, { text: 4 }, { text: 'a', children: [] }] },
    { type: 'list', format: 'ordered', children: [{ type: 'paragraph', children: [text('a')] }, null] },
    { type: 'image' },
    { type: 'image', image: {}, children: [] },
    { type: 'link', url: 'javascript:alert(1)', children: [text('a')] },
    { type: 'paragraph', children: [{ type: 'link', url: 'javascript:alert(1)', children: [text('a')] }] },
    { type: 'table', rows: [[1]], children: [text('a')] },
    { text: 'top' },
  ]
  const editor = open(odd)
  Editor.normalize(editor)
  t.is(JSON.stringify(editorDocument(editor)), JSON.stringify(odd))
  Transforms.insertNodes(editor, toNodes([paragraph(text('new'))]), { at: [0] })
  t.is(JSON.stringify((editorDocument(editor) as readonly JsonValue[]).slice(1)), JSON.stringify(odd))
  for (const nothing of [null, [], 'text', { a: 1 }] as JsonValue[]) t.is(editorDocument(open(nothing)), null)
})

const at = (editor: Editor, path: number[], offset: number) => Transforms.select(editor, { path, offset })

test('styles, lists and levels are those of the format', t => {
  const editor = open([paragraph(text('one')), paragraph(text('two')), paragraph(text('three'))])
  Transforms.select(editor, { anchor: { path: [0, 0], offset: 0 }, focus: { path: [1, 0], offset: 1 } })
  setStyle(editor, 'unordered')
  t.deepEqual(editorDocument(editor), [
    list('unordered', [item('one'), item('two')]),
    paragraph(text('three')),
  ])
  at(editor, [0, 1, 0], 0)
  indent(editor)
  const nested = list('unordered', [item('two')], { indentLevel: 1 })
  t.deepEqual(editorDocument(editor), [list('unordered', [item('one'), nested]), paragraph(text('three'))])
  setStyle(editor, 'ordered')
  t.is(styleOf(editor), 'ordered')
  at(editor, [0, 1, 0, 0], 3)
  editor.insertBreak()
  editor.insertText('more')
  editor.insertBreak()
  editor.insertBreak()
  editor.insertText('out')
  t.deepEqual(editorDocument(editor), [
    list('unordered', [
      item('one'),
      list('ordered', [item('two'), item('more')], { indentLevel: 1 }),
      item('out'),
    ]),
    paragraph(text('three')),
  ])
  outdent(editor)
  t.deepEqual((editorDocument(editor) as readonly JsonValue[])[1], paragraph(text('out')))
  setStyle(editor, 'heading-3')
  t.deepEqual((editorDocument(editor) as readonly JsonValue[])[1], {
    type: 'heading',
    level: 3,
    children: [text('out')],
  })
  at(editor, [1, 0], 3)
  editor.insertBreak()
  editor.insertText('below')
  t.deepEqual((editorDocument(editor) as readonly JsonValue[])[2], paragraph(text('below')))
  at(editor, [1, 0], 0)
  editor.deleteBackward('character')
  t.deepEqual((editorDocument(editor) as readonly JsonValue[])[1], paragraph(text('out')))
})

test('code and quotes have lines, marks are properties of texts, and links surround them', t => {
  const editor = open([paragraph(text('a b c'))])
  at(editor, [0, 0], 5)
  setStyle(editor, 'code')
  editor.insertBreak()
  editor.insertText('d')
  editor.insertBreak()
  editor.insertBreak()
  editor.insertText('after')
  t.deepEqual(editorDocument(editor), [
    { type: 'code', children: [text('a b c\nd')] },
    paragraph(text('after')),
  ])
  Transforms.select(editor, { anchor: { path: [1, 0], offset: 0 }, focus: { path: [1, 0], offset: 2 } })
  toggleMark(editor, 'bold')
  setLink(editor, 'https://example.org/')
  t.deepEqual((editorDocument(editor) as readonly JsonValue[])[1], {
    type: 'paragraph',
    children: [
      text(''),
      { type: 'link', url: 'https://example.org/', children: [text('af', { bold: true })] },
      text('ter'),
    ],
  })
  insertPicture(editor, { id: 4, name: 'a.png', url: '/a.png', folder: null, width: 1 })
  const blocks = editorDocument(editor) as readonly JsonRecord[]
  t.deepEqual(blocks[2], {
    type: 'image',
    image: { name: 'a.png', url: '/a.png', width: 1 },
    children: [text('')],
  })
  t.true([...Node.texts(editor)].every(([node]) => Text.isText(node)))
})

test('the clipboard of another page is read like a stored document', t => {
  const paste = (value: unknown, encode = (json: string) => btoa(encodeURIComponent(json))) => {
    const editor = open([paragraph(text('here'))])
    at(editor, [0, 0], 4)
    const data = encode(JSON.stringify(value))
    editor.insertFragmentData({ getData: () => data } as unknown as DataTransfer)
    return editorDocument(editor)
  }
  t.deepEqual(paste([paragraph(text(' and there', { bold: true }))]), [
    paragraph(text('here'), text(' and there', { bold: true })),
  ])
  t.true(Array.isArray(paste([null, 7, { type: 'paragraph', children: [null] }, { children: 3 }])))
  t.deepEqual(
    paste([], () => '%%%'),
    [paragraph(text('here'))],
  )
})

test('links lead to http, https, mail, telephones and the site itself, and run nothing', t => {
  for (const address of [
    'http://a.b',
    'https://a.b/c?d#e',
    'mailto:a@b.c',
    'tel:+1',
    '/a',
    'a/b',
    '#c',
    '//a.b',
  ])
    t.is(safeAddress(address), address)
  for (const address of [
    'javascript:alert(1)',
    ' JAVA\tSCRIPT\n:alert(1)',
    '\u0001javascript:alert(1)',
    'vbscript:a',
    'data:text/html,<script>alert(1)</script>',
    'blob:https://a.b/c',
    'file:///etc/passwd',
    '',
    null,
    {},
  ])
    t.is(safeAddress(address), null)
  t.is(completeAddress('example.org/a'), 'https://example.org/a')
  t.is(completeAddress('a@example.org'), 'mailto:a@example.org')
  t.is(completeAddress(' /a '), '/a')
  t.is(completeAddress('javascript:alert(1)'), null)
})

import test from 'ava'
import type { Model } from '../../core/model/model.ts'
import { parseLinkChange } from '../../core/query/parse-given-values.ts'
import { attributeOf } from '../model/compiled.ts'
import { library } from './library.ts'
import { printChange } from './print-change.ts'

let model: Model
test.before(async () => {
  model = await library()
})

/** The meaning of a value of `book.author` (of people), `book.sequels` (of books) or `book.cover`. */
function read(name: string, raw: unknown): string {
  const attribute = attributeOf(model, 'book', name)
  if (attribute.kind !== 'relation' && attribute.kind !== 'media') throw new Error(`${name} is no link`)
  const parsed = parseLinkChange(attribute, raw, [name])
  if (parsed.ok) return printChange(parsed.value)
  return parsed.reasons.map(({ kind, message }) => `${kind}: ${message}`).join('; ')
}

const WRONG = 'format: Invalid position of a relation at sequels:'
const ONE = 'expected exactly one of `before`, `after`, `start` and `end`'

const TABLE: Readonly<Record<string, readonly (readonly [raw: unknown, meaning: string])[]>> = {
  'a list, one id or an object of it is the whole new list': [
    [['a', 'b'], 'set a b'],
    ['a', 'set a'],
    [7, 'set #7'],
    ['7', 'set #7'],
    [['7', 8, 'a'], 'set #7 #8 a'],
    [{ documentId: 'a' }, 'set a'],
    [{ id: 7 }, 'set #7'],
    [{ id: '7' }, 'set #7'],
    [[{ documentId: '7' }, { id: 8 }], 'set 7 #8'],
    [{ documentId: 'a', id: 7, title: 'as it was answered', position: { start: true } }, 'set a'],
    [{ set: ['a', { id: 7 }] }, 'set a #7'],
    [{ set: 'a' }, 'set a'],
  ],
  'null and empty lists clear; nothing to connect changes nothing': [
    [null, 'set'],
    [[], 'set'],
    [[null], 'set'],
    [{ set: [] }, 'set'],
    [{ set: null }, 'set'],
    [{ connect: null }, 'set'],
    [{}, 'nothing'],
    [{ connect: [] }, 'nothing'],
    [{ disconnect: [] }, 'nothing'],
    [{ disconnect: null }, 'nothing'],
  ],
  'connect and disconnect take one or a list, short or long': [
    [{ connect: 'a' }, 'connect a@end'],
    [{ connect: ['a', 7] }, 'connect a@end #7@end'],
    [{ connect: { documentId: 'a' } }, 'connect a@end'],
    [{ disconnect: ['a', { id: 7 }] }, 'disconnect a #7'],
    [{ connect: ['a'], disconnect: 'b' }, 'connect a@end disconnect b'],
  ],
  'a position has exactly one key; an entry without one comes last': [
    [{ connect: [{ documentId: 'a', position: { start: true } }] }, 'connect a@start'],
    [{ connect: [{ documentId: 'a', position: { end: true } }] }, 'connect a@end'],
    [{ connect: [{ documentId: 'a', position: null }] }, 'connect a@end'],
    [{ connect: [{ documentId: 'a', position: { before: 'b' } }] }, 'connect a@before:b'],
    [{ connect: [{ documentId: 'a', position: { after: 'b' } }] }, 'connect a@after:b'],
    [{ connect: [{ documentId: 'a', position: { before: 7 } }] }, 'connect a@before:7'],
    [{ connect: [{ documentId: 'a', position: { before: { id: 7 } } }] }, 'connect a@before:#7'],
    [{ connect: [{ id: 3, position: { after: { documentId: 'b' } } }] }, 'connect #3@after:b'],
    [{ connect: [{ id: 3, position: { after: { id: 'x' } } }] }, `${WRONG} \`after\` takes a documentId`],
    [
      { connect: [{ documentId: 'a', position: { after: 'b', end: true } }] },
      `${WRONG} after and end; ${ONE}`,
    ],
    [
      { connect: [{ documentId: 'a', position: { before: 'c', after: 'b' } }] },
      `${WRONG} before and after; ${ONE}`,
    ],
    [{ connect: [{ documentId: 'a', position: {} }] }, `${WRONG} no key; ${ONE}`],
    [
      { connect: [{ documentId: 'a', position: { befor: 'b' } }] },
      `${WRONG} unknown key \`befor\`: did you mean \`before\`?; ${ONE}`,
    ],
    [
      { connect: [{ documentId: 'a', position: { start: true, middle: 1 } }] },
      `${WRONG} unknown key \`middle\`; ${ONE}`,
    ],
    [{ connect: [{ documentId: 'a', position: { start: false } }] }, `${WRONG} \`start\` takes true`],
    [{ connect: [{ documentId: 'a', position: { after: {} } }] }, `${WRONG} \`after\` takes a documentId`],
    [
      { connect: [{ documentId: 'a', position: 'start' }] },
      `${WRONG} expected an object with ${ONE.slice(9)}`,
    ],
  ],
  'locale and status count where the target has them': [
    [{ connect: [{ documentId: 'a', locale: 'fr', status: 'draft' }] }, 'connect a/fr/draft@end'],
    [[{ documentId: 'a', status: 'published' }], 'set a//published'],
    [
      [{ documentId: 'a', status: 'other' }],
      'format: Invalid value for status of a relation at sequels: expected published or draft',
    ],
    [
      [{ documentId: 'a', locale: 5 }],
      'format: Invalid value for locale of a relation at sequels: expected the code of a locale',
    ],
  ],
  'what names no document is refused': [
    ['', 'rule: Invalid relations'],
    [true, 'rule: Invalid relations'],
    [1.5, 'rule: Invalid relations'],
    [['a\0b'], 'rule: Invalid relations'],
    [[{}], 'rule: Invalid relations'],
    [[['a']], 'rule: Invalid relations'],
    [{ connect: [{ name: 'x' }] }, 'rule: Invalid relations'],
    [{ connect: true }, 'rule: Invalid relations'],
  ],
  'set goes with neither connect nor disconnect; other keys are none': [
    [
      { set: ['a'], connect: ['b'] },
      'format: Invalid relations at sequels: `set` cannot be combined with `connect` or `disconnect`',
    ],
    [
      { set: [], disconnect: [] },
      'format: Invalid relations at sequels: `set` cannot be combined with `connect` or `disconnect`',
    ],
    [{ add: ['a'] }, 'key: Invalid key add at sequels'],
    [{ connect: ['a'], documentId: 'b' }, 'key: Invalid key documentId at sequels'],
  ],
}

for (const [promise, rows] of Object.entries(TABLE)) {
  test(promise, t => {
    for (const [raw, meaning] of rows) t.is(read('sequels', raw), meaning, JSON.stringify(raw))
  })
}

test('locale and status are ignored if the target has neither', t => {
  t.is(read('author', [{ documentId: 'a', locale: 5, status: 'retired' }]), 'set a')
})

test('media are set as a whole', t => {
  t.is(read('cover', 7), 'set #7')
  t.is(read('cover', { set: ['a'] }), 'set a')
  const refused =
    'format: Invalid relations at cover: files are given as a whole, without `connect` and `disconnect`'
  t.is(read('cover', { connect: ['a'] }), refused)
  t.is(read('cover', { disconnect: ['a'] }), refused)
})

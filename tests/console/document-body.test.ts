import { readFileSync } from 'node:fs'
import test from 'ava'
import {
  digitsOf,
  type JsonRecord,
  type JsonValue,
  parseExact,
  printExact,
  toQuery,
} from '../../tools/console/api/json.ts'
import { readSchema } from '../../tools/console/api/schema.ts'
import {
  bodyOf,
  relationChanges,
  withoutIds,
  withoutPasswords,
} from '../../tools/console/fields/document-body.ts'

const attribute = (name: string, type: string, more: JsonRecord = {}): JsonValue => ({
  name,
  type,
  readable: true,
  writable: true,
  ...more,
})

const schema = readSchema({
  'x-plinth': {
    types: [
      {
        uid: 'api::article.article',
        kind: 'collectionType',
        singularName: 'article',
        attributes: [
          attribute('title', 'string'),
          attribute('price', 'decimal'),
          attribute('author', 'relation', { relation: 'manyToOne', target: 'author' }),
          attribute('tags', 'relation', { relation: 'manyToMany', target: 'tag' }),
          attribute('cover', 'media'),
          attribute('secret', 'password'),
          attribute('seo', 'component', { component: 'shared.seo' }),
          attribute('body', 'dynamiczone', { components: ['blocks.text', 'shared.seo'] }),
          attribute('locked', 'string', { writable: false }),
        ],
      },
    ],
    components: [
      { uid: 'shared.seo', attributes: [attribute('title', 'string'), attribute('text', 'text')] },
      { uid: 'blocks.text', attributes: [attribute('text', 'richtext'), attribute('key', 'password')] },
    ],
  },
})

const attributes = schema.types[0]?.attributes ?? []
const write = (before: JsonRecord, after: JsonRecord) => bodyOf(schema, attributes, before, after)
const link = (documentId: string): JsonRecord => ({ id: 1, documentId, name: documentId })

test('a write has only what changed, and never what the caller may not write', t => {
  const before = { title: 'a', locked: 'x', seo: { id: 4, title: 'b', text: 'c' } }
  t.deepEqual(write(before, before), {})
  t.deepEqual(write(before, { ...before, locked: 'y' }), {})
  t.deepEqual(write(before, { ...before, seo: { id: 4, title: 'new', text: 'c' } }), {
    seo: { id: 4, title: 'new' },
  })
  t.deepEqual(write(before, { ...before, seo: null }), { seo: null })
})

test('entries of a zone keep their ids, new ones have none, and keys of the screen are not sent', t => {
  const before = { body: [{ __component: 'blocks.text', id: 1, text: 'a' }] }
  const after = {
    body: [
      { __component: 'shared.seo', __key: 'k', title: 'new' },
      { __component: 'blocks.text', id: 1, text: 'b' },
      // The same number of another component is another entry.
      { __component: 'shared.seo', id: 1, title: 'moved' },
    ],
  }
  t.deepEqual(write(before, after), {
    body: [
      { __component: 'shared.seo', title: 'new' },
      { __component: 'blocks.text', id: 1, text: 'b' },
      { __component: 'shared.seo', title: 'moved' },
    ],
  })
})

test('links are written as a difference, and files as ids', t => {
  const before = { tags: ['a', 'b', 'c'].map(link), author: link('x'), cover: { id: 7, url: '/a' } }
  const after = { tags: ['c', 'a', 'd'].map(link), author: null, cover: { id: 8, url: '/b' } }
  t.deepEqual(write(before, after), {
    tags: {
      disconnect: ['b'],
      connect: [
        { documentId: 'c', position: { start: true } },
        { documentId: 'd', position: { after: 'a' } },
      ],
    },
    author: { disconnect: ['x'] },
    cover: 8,
  })
})

/** docs/rest.md, "Relations": disconnects first, then each connect in order. */
function apply(before: readonly string[], changes: JsonValue): readonly string[] {
  const { disconnect = [], connect = [] } = changes as {
    readonly disconnect?: readonly string[]
    readonly connect?: readonly {
      readonly documentId: string
      readonly position: { readonly start?: true; readonly after?: string }
    }[]
  }
  let list = before.filter(id => !disconnect.includes(id))
  for (const { documentId, position } of connect) {
    list = list.filter(id => id !== documentId)
    const at = position.after === undefined ? 0 : list.indexOf(position.after) + 1
    list = list.toSpliced(at, 0, documentId)
  }
  return list
}

test('1,000 random changes of an order arrive at it, and others of the list stay', t => {
  let seed = 7
  const random = (bound: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648
    return seed % bound
  }
  const shuffled = () => {
    const ids = 'abcdefghij'.split('').filter(() => random(3) > 0)
    return ids.toSorted(() => random(3) - 1)
  }
  for (let round = 0; round < 1000; round++) {
    const [before, after] = [shuffled(), shuffled()]
    const changes = relationChanges(before, after)
    t.deepEqual(apply(before, changes), after)
    t.true(apply([...before, 'added-by-others'], changes).includes('added-by-others'))
  }
  t.deepEqual(relationChanges(['a', 'b', 'c'], ['b', 'c', 'a']), {
    connect: [{ documentId: 'a', position: { after: 'c' } }],
  })
})

test('numbers keep all of their digits from the answer to the request', t => {
  const text = '{"price":12345678901234567.890,"list":[1.50,1e400,-0.10,3],"text":"1.50"}'
  const parsed = parseExact(text) as JsonRecord
  t.is(printExact(parsed), text)
  t.is(digitsOf(parsed.price ?? null), '12345678901234567.890')
  t.deepEqual(write({ price: null }, { price: parsed.price ?? null }), { price: '12345678901234567.890' })
  t.is(printExact({ text: '"\\u00001.5"' }), JSON.stringify({ text: '"\\u00001.5"' }))
})

test('copies have no ids, and the browser keeps no passwords', t => {
  const value = {
    id: 1,
    title: 'a',
    secret: 'hidden',
    body: [{ __component: 'blocks.text', id: 2, text: 'b', key: 'c' }],
  }
  t.deepEqual(withoutIds(schema, attributes, value), {
    title: 'a',
    secret: 'hidden',
    body: [{ __component: 'blocks.text', text: 'b', key: 'c' }],
  })
  t.deepEqual(withoutPasswords(schema, attributes, value), {
    id: 1,
    title: 'a',
    body: [{ __component: 'blocks.text', id: 2, text: 'b' }],
  })
})

test('a query has the brackets of the API and encodes every name and value', t => {
  t.is(
    decodeURIComponent(
      toQuery({ filters: { $and: [{ 'a&b': { $eq: 'x=y' } }] }, _q: undefined, fields: ['a'] }),
    ),
    '?filters[$and][0][a&b][$eq]=x=y&fields[0]=a',
  )
  t.true(toQuery({ 'a&b': 'x=y&z' }).endsWith('a%26b=x%3Dy%26z'))
})

test('the languages of the interface have the same texts, with the same values in them', t => {
  const read = (language: string): Readonly<Record<string, string>> =>
    JSON.parse(readFileSync(`tools/console/translations/${language}.json`, 'utf8'))
  const [english, french] = [read('en'), read('fr')]
  t.deepEqual(Object.keys(french), Object.keys(english))
  const valuesIn = (text: string) => (text.match(/\{\w+\}/g) ?? []).toSorted()
  for (const [key, text] of Object.entries(english))
    t.deepEqual(valuesIn(french[key] ?? ''), valuesIn(text), key)
})

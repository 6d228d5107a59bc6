import test from 'ava'
import type { TestApp, TestResult } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// Operations that PostgreSQL writes in a project with code: only what code has a say in goes through code.

const PROJECT = `
name: Library
components:
  shared.part: { attributes: { title: { type: string, required: true }, pages: integer } }
contentTypes:
  book:
    draftAndPublish: true
    attributes:
      title: { type: string, required: true }
      price: decimal
      secret: { type: string, private: true }
      hour: time
      kind: { type: enumeration, enum: [novel, two words] }
      rank: integer
      day: date
      notes: json
      main: { type: component, component: shared.part, required: true }
      parts: { type: component, component: shared.part, repeatable: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
  author:
    attributes:
      name: { type: string, required: true }
      price: decimal
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
roles:
  public: { permissions: { book: [find, findOne], author: [find, findOne] } }
resolversConfig:
  Book.rank: { policies: [cheap] }
`

const POLICY = `
import { definePolicy } from 'plinth'
export default definePolicy(({ parent }) => parent.price < 3)
`

const EXTENSION = `
import { defineExtension, ForbiddenError, ValidationError } from 'plinth'
let calls = 0
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: \`
        scalar Upper
        enum Size { SMALL LARGE }
        extend type Query { calls: Int }
        extend type Book {
          label: String, loud: Upper, size: Size, sure: String!, asks(n: Int! = 2, of: String): String, fails: Int
          later: String, sees: JSON, holds: String, words: [String], where: JSON, broken: Size
        }
        extend type Author { label: String, words: [String] }
        extend type ComponentSharedPart { label: String!, words: [String] }
        extend type Pagination { half: Int }
      \`,
      resolvers: {
        Upper: { serialize: value => String(value).toUpperCase() },
        Size: { SMALL: 1, LARGE: 2 },
        Date: { serialize: value => 'on ' + value },
        Query: { calls: () => calls },
        Book: {
          label: book => (calls++, book.title + ' for ' + book.price),
          loud: book => book.title,
          size: book => (book.price > 2 ? 2 : 1),
          sure: book => (book.price > 3 ? null : 'yes'),
          asks: (book, args) => { args.n += 1; return args.n + '/' + args.of },
          fails: book => { if (book.price > 2) throw new ValidationError('too dear'); throw new ForbiddenError() },
          later: async book => { await null; return book.secret },
          sees: book => Object.keys(book).filter(key => !key.startsWith(':') && !['main', 'parts', 'author'].includes(key)).sort(),
          holds: ({ documentId, title, price, secret, kind, rank, day, notes }) =>
            JSON.stringify([typeof documentId, title, price, secret, kind, rank, day, notes]),
          words: () => ['x'],
          where: (book, args, context, { path, fieldName, parentType, returnType, operation }) =>
            [path.key, path.prev.key, typeof path.prev.prev.key, fieldName, parentType.name, String(returnType), operation.operation],
          broken: () => 3,
        },
        Author: { label: author => author.name + author.price, words: () => ['x'] },
        ComponentSharedPart: { label: part => (part.pages === 13 ? null : part.title + part.pages), words: () => ['x'] },
        Pagination: { half: page => page.total / 2 },
      },
      resolversConfig: {
        'Query.calls': { auth: false },
        'Book.kind': { middlewares: [async next => next()] },
        'Query.author': { middlewares: [next => next()] },
      },
    })
  },
})
`

let app: TestApp
const file = teardownOfFile(test.after.always)

test.before(async () => {
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('policies/cheap.ts', POLICY)
  folder.write('extensions/library.js', EXTENSION)
  app = await openTestApp(file, { project: folder.path })
  await fill()
})

const TITLES = ['quote " back\\slash "\\u0000" {"from":', 'ends with \\"', 'ends with \\']

async function fill() {
  const { documents } = app.app
  const ann = await documents('author').create({ data: { name: 'Ann "the" \\u0000', price: 7.5 } })
  for (const number of [1, 2, 3])
    await documents('book').create({
      status: 'published',
      data: {
        title: TITLES[number - 1],
        price: number + 0.5,
        secret: `secret ${number}`,
        hour: '10:11:12',
        kind: number === 2 ? 'two words' : 'novel',
        rank: number,
        day: '2024-02-29',
        notes: { title: 'of the notes', price: number, '"title":': [',"holds":'] },
        main: { title: 'main', pages: number === 3 ? 13 : number },
        parts: [{ title: 'one' }, { title: 'two', pages: 13 }, { title: 'three', pages: 3 }],
        author: number === 2 ? null : ann.documentId,
      },
    })
}

/** The answer, and whether PostgreSQL wrote it: a number of JavaScript would be printed as 1.5 where it has 1.50. */
async function ask(query: string) {
  const { body, headers } = await app.request('POST', '/graphql', { body: { query } })
  const written = Number(headers['content-length']) > Buffer.byteLength(JSON.stringify(body))
  return { ...(body as TestResult), written }
}

/** The same field by field: lists of values that code answers are nowhere in a text. */
async function askByField(query: string) {
  const inside = query.replaceAll(/attributes \{/g, 'attributes { forced: words ')
  const { data, errors, written } = await ask(inside)
  if (written) throw new Error(`${inside} was to be answered field by field`)
  return { data: without(data), errors }
}

function without(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(without)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (key === 'forced' ? [] : [[key, without(inner)]])),
  )
}

const unplaced = (errors: TestResult['errors']) =>
  errors?.map(({ message, path, extensions }) => ({ message, path, extensions }))

test('the text of PostgreSQL is sent for an operation without custom code, whatever else the project adds', async t => {
  const untouched = [
    '{ books { data { attributes { title price author { data { attributes { name } } } } } meta { pagination { total } } } }',
    '{ books { data { attributes { price main { title } parts { title pages } } } } }',
    '{ authors { data { attributes { price } } } }',
  ]
  for (const query of untouched) t.true((await ask(query)).written, query)
})

test('an operation with a field of a changed type, a guarded root or a custom list is executed field by field', async t => {
  const touched = [
    '{ books { data { attributes { price words } } } }',
    '{ books { data { attributes { price } } meta { pagination { half } } } }',
    '{ calls books { data { attributes { price } } } }',
    '{ author(id: 1) { data { attributes { price } } } }',
  ]
  for (const query of touched) t.false((await ask(query)).written, query)
})

const FIELDS = [
  'label',
  'loud',
  'size',
  'sure',
  'asks',
  'b: asks(n: 5, of: "x") c: asks(of: null)',
  'fails',
  'later',
  'where',
  'broken',
  'kind',
  'day label',
  'rank',
  't: title label',
  'label title label2: label',
  'main { label } label',
  'parts { title label } later',
  'label author { data { attributes { label name } } } again: later',
  '__typename label',
  'from: label at: title row: loud to: size',
  '__proto__: label constructor: later',
  'holds',
  'title holds',
  'holds title',
  'title holds rank title2: title',
  'holds rank',
  'x: title day holds y: title label z: title',
  'holds author { data { attributes { name label } } } title again: holds day',
  'author { data { attributes { name label } } } title holds rank main { title } day',
  'notes title holds notes2: notes title2: title',
  'holds to: title at: author { data { attributes { title: name label } } }',
  '__typename title holds price2: price parts { title pages } label',
]

const CLIMBING = ['sure', 'main { label } label', 'parts { title label } later']

test('custom resolvers in the printed text give the same answers and errors as field by field', async t => {
  for (const fields of FIELDS) {
    const query = `{ all: books(sort: "id") { rows: data { id attributes { price ${fields} } } meta { pagination { total } } } }`
    const { data, errors, written } = await ask(query)
    const field = await askByField(query)
    t.deepEqual(data, field.data, fields)
    t.deepEqual(unplaced(errors), unplaced(field.errors), fields)
    // If null propagates, the text is assembled again.
    t.is(written, !CLIMBING.includes(fields), fields)
  }
})

test('null propagates from a non-null custom field to the nearest nullable field', async t => {
  const { data, errors } = await ask(
    '{ books(sort: "id") { data { attributes { price sure main { label } parts { label } } } } }',
  )
  const part = (label: string) => ({ label })
  const parts = [part('onenull'), null, part('three3')]
  t.deepEqual(data, {
    books: {
      data: [
        { attributes: { price: 1.5, sure: 'yes', main: part('main1'), parts } },
        { attributes: { price: 2.5, sure: 'yes', main: part('main2'), parts } },
        { attributes: null },
      ],
    },
  })
  t.is(errors?.length, 5)
})

// Serial, because calls are counted.
test.serial(
  'a custom field receives all values of its row without statements, and is called once for each row',
  async t => {
    const { data } = await ask('{ books(pagination: { limit: 1 }) { data { attributes { price sees } } } }')
    const sees = [
      'createdAt',
      'day',
      'documentId',
      'hour',
      'id',
      'kind',
      'notes',
      'price',
      'publishedAt',
      'rank',
      'secret',
    ]
    t.deepEqual(data, {
      books: { data: [{ attributes: { price: 1.5, sees: [...sees, 'title', 'updatedAt'] } }] },
    })
    const before = (await ask('{ calls }')).data as { calls: number }
    await ask('{ books { data { attributes { price label } } } }')
    const after = (await ask('{ calls }')).data as { calls: number }
    t.is(after.calls - before.calls, 3)
  },
)

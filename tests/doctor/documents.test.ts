import test from 'ava'
import { runDocumentCheck } from '../../tools/cli/doctor.ts'
import { temporaryFolder } from '../harness/folder.ts'

const project = (config: string) => `name: Library
components: { page.quote: { attributes: { text: string } }, page.list: { attributes: { title: string } } }
contentTypes:
  book:
    attributes:
      title: string
      author: { type: relation, relation: manyToOne, target: author, inversedBy: books }
      blocks: { type: dynamiczone, components: [page.quote, page.list] }
  author:
    attributes:
      name: string
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
graphql: { config: { ${config} } }
`

const FLAT = 'v4CompatibilityMode: false'

interface Survey {
  readonly files: number
  readonly operations: number
  readonly faults: readonly { file: string; line: number; column: number; message: string }[]
  readonly needs: readonly { key: string; needed: number; configured: number; operation: string }[]
}

/** Checks files of documents; returns the exit code with what was written. */
async function check(config: string, files: Readonly<Record<string, string>>, json = true) {
  const folder = temporaryFolder()
  try {
    folder.write('project.yaml', project(config))
    for (const [name, text] of Object.entries(files)) folder.write(`documents/${name}`, text)
    let text = ''
    const write = (part: string) => {
      text += part
    }
    const code = await runDocumentCheck({
      ...{ folder: folder.path, documents: `${folder.path}/documents`, env: {}, json },
      ...{ paint: (_: string, part: string) => part, write, complain: write },
    })
    return { code, text }
  } finally {
    folder.remove()
  }
}

const FRAGMENTS = `fragment Block on BookBlocksDynamicZone {
  ... on ComponentPageQuote { text }
  ... on ComponentPageList { heading: title }
}
`

const BOOKS = `query Books {
  books { title author { name books { title blocks { ...Block } } } }
}
`

test('valid documents are measured with the fragments of all files', async t => {
  const { code, text } = await check(FLAT, { 'books.gql': BOOKS, 'parts/blocks.graphql': FRAGMENTS })
  t.is(code, 0, text)
  const { files, operations, faults, needs }: Survey = JSON.parse(text)
  t.deepEqual({ files, operations, faults }, { files: 2, operations: 1, faults: [] })
  const needed = Object.fromEntries(needs.map(({ key, needed: most }) => [key, most]))
  t.is(needed['graphql.config.depthLimit'], 4)
  t.is(needed['graphql.config.limits.aliases'], 1)
  t.is(needed['graphql.config.limits.rootFields'], 1)
})

test('an invalid document is reported with its place and the nearest name', async t => {
  const { code, text } = await check(FLAT, {
    'a.graphql': 'query A {\n  books { titel }\n}\n',
    'b.graphql': 'query B { books { ',
    'c.graphql': 'fragment Lonely on Author {\n  nam\n}\n',
    'd.graphql': 'query D { books { ...Missing } }',
    'schema.graphql': 'type Query { any: Int }',
  })
  t.is(code, 1)
  const { faults }: Survey = JSON.parse(text)
  const found = faults.map(({ file, line, column, message }) => `${file}:${line}:${column} ${message}`).sort()
  t.is(found.length, 4, text)
  t.regex(found[0] ?? '', /^a\.graphql:2:11 Cannot query field "titel" on type "Book"\. Did you mean "title"/)
  t.regex(found[1] ?? '', /^b\.graphql:1:19 Syntax Error/)
  t.regex(found[2] ?? '', /^c\.graphql:2:3 Cannot query field "nam" on type "Author"\. Did you mean "name"/)
  t.regex(found[3] ?? '', /^d\.graphql:1:22 Unknown fragment "Missing"/)
})

test('a limit that is too low is named with its key and the operation', async t => {
  const files = { 'books.graphql': BOOKS + FRAGMENTS }
  const { code, text } = await check(`${FLAT}, depthLimit: 3, limits: { aliases: 0 }`, files, false)
  t.is(code, 1)
  t.regex(text, /graphql\.config\.depthLimit: 3 is too low, 4 is needed \(Books, books\.graphql:1:1\)/)
  t.regex(text, /graphql\.config\.limits\.aliases: 0 is too low, 1 is needed/)
  t.regex(text, /graphql\.config\.limits\.tokens: 5000 is enough, at most \d+ is needed/)
})

test('the nested format is checked, too', async t => {
  const nested = 'query Books { books { data { id attributes { title author { data { id } } } } } }'
  t.is((await check('v4CompatibilityMode: true', { 'a.graphql': nested })).code, 0)
  const { code, text } = await check('v4CompatibilityMode: true', { 'a.graphql': BOOKS + FRAGMENTS })
  t.is(code, 1)
  t.regex(text, /Cannot query field \\"title\\" on type \\"BookEntityResponseCollection\\"/)
})

test('fragments that double and cycles of fragments end at once', async t => {
  const doubling = Array.from(
    { length: 40 },
    (_, at) => `fragment F${at} on Book { ...F${at + 1} ...F${at + 1} }`,
  )
  const { code, text } = await check(FLAT, {
    'double.graphql': `query Q { books { ...F0 } } ${doubling.join(' ')} fragment F40 on Book { title }`,
    'deep.graphql': `query R { ${'books {'.repeat(200)}`,
    'cycle.graphql': 'query C { books { ...A } } fragment A on Book { author { books { ...A } } }',
  })
  t.is(code, 1)
  const { faults, operations }: Survey = JSON.parse(text)
  t.is(operations, 2)
  t.regex(JSON.stringify(faults), /Cannot spread fragment \\"A\\" within itself/)
  t.regex(JSON.stringify(faults), /nested brackets: 101/)
  t.is(faults.length, 2, text)
})

test('a folder without documents is a fault', async t => {
  const { code, text } = await check(FLAT, { 'readme.md': 'nothing' })
  t.is(code, 1)
  t.regex(text, /has no \.graphql or \.gql file/)
})

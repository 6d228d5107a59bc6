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
  readonly skipped: readonly { file: string; line: number; column: number; message: string }[]
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
      ...{ paint: (_: string, part: string) => part, write, writeError: write },
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

test('an invalid document is reported with its position and the nearest name', async t => {
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

test('the nested format is checked too', async t => {
  const nested = 'query Books { books { data { id attributes { title author { data { id } } } } } }'
  t.is((await check('v4CompatibilityMode: true', { 'a.graphql': nested })).code, 0)
  const { code, text } = await check('v4CompatibilityMode: true', { 'a.graphql': BOOKS + FRAGMENTS })
  t.is(code, 1)
  t.regex(text, /Cannot query field \\"title\\" on type \\"BookEntityResponseCollection\\"/)
})

test('fragments that grow exponentially and cycles of fragments are refused at once', async t => {
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

test('a folder without documents is an error', async t => {
  const { code, text } = await check(FLAT, { 'readme.md': 'nothing' })
  t.is(code, 1)
  t.regex(text, /has no \.graphql or \.gql file/)
})

/** Checks code in the flat format; returns the exit code and the lines that start with a place. */
async function checkCode(files: Readonly<Record<string, string>>) {
  const { code, text } = await check(FLAT, files)
  const { operations, faults, skipped }: Survey = JSON.parse(text)
  const print = ({ file, line, column, message }: Survey['skipped'][number]) =>
    `${file}:${line}:${column} ${message}`
  return { code, operations, faults: faults.map(print), skipped: skipped.map(print) }
}

test('documents in the code of a front-end are checked: tagged, passed to a function, or marked', async t => {
  const { code, operations, faults, skipped } = await checkCode({
    'a.ts':
      "import { gql } from '@apollo/client'\nexport const A = gql`query A { books { title } }` as Typed<string>",
    'b.tsx':
      'export const B = () => <List<Book> query={/* GraphQL */ `\n  query B { authors { name } }\n`} />',
    'c.js': 'const query = graphql(`query C { books { ...Part } }`); const html = <p>`query`</p>',
    'd.vue': [
      '<template><p v-if="a > 1">{{ gql`no code` }}</p></template>',
      '<script setup lang="ts">',
      'const list = <T,>(x: T) => x',
      'const D = gql`',
      '  query D { books { titel } }`',
      '</script>',
      '<style>a { b: c }</style>',
    ].join('\n'),
    'e.svelte': '<script>\nlet E = gql`query E { author }`\n</script>\n{#if true}<p>{`x`}</p>{/if}',
    'f.astro':
      '---\nconst F = await ask(graphql`query F { nope }`)\n---\n<p>{F.a}</p>\n<script>gql`query G { no }`</script>',
    'parts.mts': 'export default Apollo.gql`fragment Part on Book { title }`',
    'types.d.ts': 'declare const x: `graphql ${string}`',
    'typeDefs.ts': 'export const typeDefs = gql`type Query { mine: Int }`',
    'node_modules/a/a.js': 'gql`{ broken`',
    '.next/a.js': 'gql`{ broken`',
  })
  t.is(code, 1)
  t.deepEqual(skipped, [])
  t.is(operations, 7)
  t.deepEqual(
    faults.map(fault => fault.split('. ')[0]),
    [
      'd.vue:5:21 Cannot query field "titel" on type "Book"',
      'e.svelte:2:23 Field "author" of type "Author" must have a selection of subfields',
      'e.svelte:2:23 Field "author" argument "documentId" of type "ID!" is required, but it was not provided.',
      'f.astro:2:39 Cannot query field "nope" on type "Query".',
      'f.astro:5:23 Cannot query field "no" on type "Query".',
    ],
  )
})

test('interpolated documents and texts of the folder are resolved', async t => {
  const { code, operations, faults, skipped } = await checkCode({
    'pages/list.ts': [
      "import { BOOK, FIELDS as shown } from '../parts/book.js'",
      "import AUTHOR from '../parts/author.graphql'",
      "import { WRITER } from '@/parts'",
      "import { Card } from '../parts'",
      'const LIMIT = 5',
      'export const LIST = gql`',
      '  query List { books(pagination: { limit: ${LIMIT} }) { ${shown} ...Book author { ...Author ...Writer ...Card } nope } }',
      '  ${BOOK} ${AUTHOR}',
      '  ${WRITER}',
      '  ${Card.fragments.author}',
      '`',
    ].join('\n'),
    'parts/book.ts':
      'export const FIELDS: string = `\n  title # a comment\n  ${"documentId"}\n`\nexport const BOOK = gql`fragment Book on Book { ${FIELDS} }`',
    'parts/author.graphql': 'fragment Author on Author { name }',
    'parts/index.ts': "export * from './writer'\nexport { Card } from './card'",
    'parts/writer.ts': 'export const WRITER = /* GraphQL */ `fragment Writer on Author { name }`',
    'parts/card.jsx':
      'export const Card = () => <p />\nCard.fragments = { author: gql`fragment Card on Author { documentId }` }',
  })
  t.deepEqual(skipped, [])
  t.is(operations, 1)
  t.is(code, 1)
  t.is(faults.length, 1)
  t.regex(faults[0] ?? '', /^pages\/list\.ts:7:\d+ Cannot query field "nope" on type "Book"/)
})

test('unknown expressions and invalid code are reported with their position', async t => {
  const doubling = Array.from({ length: 60 }, (_, at) => `const F${at} = \`\${F${at + 1}} \${F${at + 1}}\``)
  const { code, operations, faults, skipped } = await checkCode({
    'a.ts': 'export const list = (fields: string) => gql`\n  query A { books {\n    title ${fields} } }`',
    'b.ts': "import { F } from 'elsewhere'\nconst B = gql`query B { books { ...F } } ${F}`",
    'cycle.ts': 'const A = `${B}`\nconst B = `${A}`\nconst C = gql`query C { books { ${A} } }`',
    'doubling.ts': `${doubling.join('\n')}\nconst F60 = 'title'\nconst D = gql\`query D { books { \${F0} } }\``,
    'broken.ts': 'const graphql = {{',
    'good.ts': 'gql`query E { books { title } }`',
  })
  t.is(code, 0)
  t.is(operations, 1)
  t.deepEqual(faults, [])
  const expression = 'this expression is no document or text of the folder'
  t.deepEqual(skipped.slice(1), [
    `a.ts:3:13 ${expression}`,
    `b.ts:2:44 ${expression}`,
    `cycle.ts:3:35 ${expression}`,
    `doubling.ts:62:35 ${expression}`,
  ])
  t.regex(skipped[0] ?? '', /^broken\.ts:1:\d+ the code is not valid: /)
  const { text } = await check(FLAT, { 'a.ts': 'gql`query A { books { ${fields} } }`' }, false)
  t.regex(
    text,
    /^not checked {2}a\.ts:1:25 this expression[^\n]*\n0 operations in 0 files, 0 faults, 1 not checked/,
  )
})

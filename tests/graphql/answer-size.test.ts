import test from 'ava'
import type { TestApp, TestResult } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// What a query is answered with is bounded, whatever it repeats: values by aliases, errors by rows, texts of the request
// by messages. The attribute `hour` has the field resolved one by one instead of by PostgreSQL.

const MAX_BYTES = 1_000_000

const PROJECT = {
  name: 'Sizes',
  graphql: { endpoints: { '/graphql': 'nested', '/flat': 'flat' } },
  database: { limits: { bytes: '1mb' } },
  components: { 'shared.part': { attributes: { text: 'string', hour: 'time' } } },
  contentTypes: {
    secret: { attributes: { text: 'string' } },
    tag: { attributes: { text: 'string', hour: 'time' } },
    note: {
      attributes: {
        text: 'text',
        hour: 'time',
        extra: 'json',
        secret: { type: 'relation', relation: 'manyToOne', target: 'secret' },
        tags: { type: 'relation', relation: 'manyToMany', target: 'tag' },
        parts: { type: 'component', component: 'shared.part', repeatable: true },
        zone: { type: 'dynamiczone', components: ['shared.part'] },
      },
    },
  },
  roles: { public: { permissions: { note: ['find', 'create'], tag: ['find'] } } },
}

const file = teardownOfFile(test.after.always)
let api: TestApp
test.before(async () => {
  api = await openTestApp(file, { project: PROJECT })
  const { documents } = api.app
  const tags: string[] = []
  for (let index = 0; index < 20; index++)
    tags.push(String((await documents('tag').create({ data: { text: `t${index}` } })).documentId))
  const part = { text: 'p' }
  for (let index = 0; index < 50; index++)
    await documents('note').create({
      data: {
        ...{ text: 'x'.repeat(1_000), hour: '10:00:00', extra: { long: 'y'.repeat(1_000) }, tags },
        ...{ parts: [part, part, part, part], zone: [{ __component: 'shared.part', ...part }] },
      },
    })
})

const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, index) => `a${index}: ${field}`).join(' ')
const PAGE = '(pagination: { limit: 100 })'
const notes = (below: string) => `{ notes${PAGE} { data { attributes { hour ${below} } } } }`
const flat = (below: string) => `{ notes${PAGE} { hour ${below} } }`

const ask = async (query: string, variables: object = {}, path = '/graphql') => {
  const { status, body } = await api.request('POST', path, { body: { query, variables } })
  return { status, body: body as TestResult, size: JSON.stringify(body).length }
}

const LONG = 'x'.repeat(500_000)

const TOO_LARGE: Readonly<Record<string, readonly [query: string, variables?: object, path?: string]>> = {
  'texts under many keys': [notes(aliases(40, 'text'))],
  'JSON under many keys': [notes(aliases(40, 'extra'))],
  'names of types under many keys': [notes(`tags${PAGE} { data { ${aliases(100, '__typename')} } }`)],
  'names of wrappers under many keys': [
    notes(`tags${PAGE} { ${aliases(450, '__typename').replaceAll(/a(\d+)/g, 'long_key_$1')} }`),
  ],
  'ids under many keys': [notes(`tags${PAGE} { data { ${aliases(100, 'id')} } }`)],
  'components under many keys': [notes(aliases(200, `parts${PAGE} { hour text }`))],
  'zones under many keys': [
    notes(aliases(300, 'zone { ... on ComponentSharedPart { text hour } __typename }')),
  ],
  'nulls under many keys': [notes(`tags${PAGE} { data { attributes { ${aliases(100, 'hour')} } } }`)],
  'relations that are forbidden': [notes(aliases(100, 'secret { data { id } }'))],
  'lists with invalid arguments': [notes(aliases(100, `tags(sort: "none") { data { id } }`))],
  'long arguments': [
    `query ($s: [String]) ${notes(aliases(100, 'parts(sort: $s) { text }'))}`,
    { s: [LONG] },
  ],
  'flat texts': [flat(aliases(40, 'text')), {}, '/flat'],
  'flat long arguments': [
    `query ($s: [String]) { ${aliases(50, 'notes_connection(sort: $s) { nodes { text } }')} }`,
    { s: [LONG] },
    '/flat',
  ],
}

for (const [name, [query, variables, path]] of Object.entries(TOO_LARGE))
  test.serial(`an answer that is larger than allowed is refused: ${name}`, async t => {
    const { status, body, size } = await ask(query, variables, path)
    t.is(status, 200)
    t.true(size < 2_000, `${size} bytes`)
    // The database refuses to read some of them.
    t.true(Object.values(Object(body.data)).every(each => each === null))
    t.regex(String(body.errors?.[0]?.message), /has more than the 1048576 bytes that database\.limits\.bytes/)
    t.is(body.errors?.[0]?.extensions.code, 'BAD_USER_INPUT')
  })

test.serial('an answer within the limit has all values and one error for each row', async t => {
  const texts = await ask(notes(aliases(10, 'text')))
  t.is(texts.body.errors, undefined)
  t.true(texts.size > 500_000)
  const forbidden = await ask(notes('secret { data { id } }'))
  t.is(forbidden.body.errors?.length, 50)
  t.is(forbidden.body.errors?.[0]?.message, 'Forbidden access')
  const invalid = await ask(notes('tags(sort: "none") { data { id } } text'))
  t.is(invalid.body.errors?.length, 50)
  t.is(invalid.body.errors?.[49]?.message, 'Invalid parameter none')
  t.true(invalid.size > 50_000, 'the other fields are answered')
})

test.serial('a mutation whose answer is too large says so, and answers that it was done', async t => {
  const before = await api.app.documents('note').count()
  const text = 'x'.repeat(20_000)
  const { body, size } = await ask(
    `mutation ($text: String) { createNote(data: { text: $text }) { data { id attributes { hour ${aliases(100, 'text')} } } } }`,
    { text },
  )
  t.is(await api.app.documents('note').count(), before + 1)
  t.like(body.data, { createNote: { data: { attributes: { a0: text, a99: null } } } })
  t.regex(String(body.errors?.at(-1)?.message), /database\.limits\.bytes/)
  t.true(size < 2 * MAX_BYTES)
})

const REFUSED: Readonly<Record<string, readonly [query: string, variables?: object]>> = {
  'many unknown fields next to a long value': [
    'mutation ($d: NoteInput!) { createNote(data: $d) { data { id } } }',
    { d: { text: LONG, ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`a${index}`, 1])) } },
  ],
  'many undefined variables of an operation with a long name': [
    `query ${LONG} { notes(sort: [${Array.from({ length: 110 }, (_, index) => `$v${index}`)}]) { data { id } } }`,
  ],
  'a long unknown field': [`{ ${LONG} }`],
}

for (const [name, [query, variables]] of Object.entries(REFUSED))
  test.serial(`messages do not repeat long texts of the request: ${name}`, async t => {
    const { status, body, size } = await ask(query, variables)
    t.is(status, 400)
    t.true(size < 250_000, `${size} bytes`)
    const message = String(body.errors?.[0]?.message)
    t.true(message.length > 1_000 && message.length < 2_100, message)
    t.regex(message, / … /)
  })

test.serial('a message over REST does not repeat long texts', async t => {
  const { status, body } = await api.request('POST', '/api/notes', { body: { data: { [LONG]: 1 } } })
  t.is(status, 400)
  const { error } = body as { readonly error: { readonly message: string } }
  t.true(error.message.startsWith('Invalid key xxx'))
  t.true(error.message.length < 2_100)
})

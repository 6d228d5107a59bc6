import anyTest, { type TestFn } from 'ava'
import { FULL, openTwoApps, type Site, type TwoApps } from './two-apps.ts'

// The cost of caching for responses that are requested once or change all the time.

const PROJECT = `
name: Worth
server: { rateLimit: { api: false, auth: false } }
contentTypes:
  note: { attributes: { title: string, place: integer, hour: time, shelf: { type: relation, relation: manyToOne, target: shelf } } }
  shelf: { attributes: { name: string } }
roles:
  public: { permissions: { note: [find, findOne] } }
apiTokens: { full: { type: full-access, secret: full-access-for-the-tests-of-the-cache } }
`

const EXTENSION = `
import { defineExtension } from 'plinth'
let calls = 0
export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: 'extend type Note { calls: String }',
      resolvers: { Note: { calls: note => note.title + ' in ' + note.place + ': ' + ++calls } },
    })
  },
})
`

const test = anyTest as TestFn<TwoApps>

test.before(async t => {
  t.context = await openTwoApps(PROJECT, { extension: EXTENSION })
})

test.after.always(t => t.context.close())

/** The statements of one read. */
async function read(site: Site, path: string): Promise<readonly string[]> {
  site.statements()
  const { status } = await site.ask('GET', path)
  if (status !== 200) throw new Error(`${path}: ${status}`)
  return site.statements()
}

const isProof = (statement: string): boolean => /^prove|plinth_versions/.test(statement)

test.serial('a single read runs the same statement as without a cache', async t => {
  const { cached, plain } = t.context
  const note = await plain.data('POST', '/api/notes', { title: 'once' })
  const paths = [
    `/api/notes/${note.documentId}?fields=title`,
    '/api/notes?filters[place]=1',
    '/api/notes?filters[place]=2&pagination[withCount]=false',
    '/graphql?query={notes(filters:{place:{eq:3}}){data{id}}}',
  ]
  for (const path of paths) t.deepEqual(await read(cached, path), await read(plain, path), path)
})

test.serial('a response is cached at the second request, and so are the totals of lists', async t => {
  const { cached } = t.context
  const path = '/api/notes?filters[title]=twice'
  t.false((await read(cached, path)).some(isProof))
  t.true((await read(cached, `${path}&pagination[page]=2`)).some(isProof), 'another page has the same total')
  t.is((await read(cached, path)).length, 1)
  t.deepEqual(await read(cached, path), ['prove an answer'])
})

test.serial(
  'rows are cached before their custom fields are resolved, which happens for each request',
  async t => {
    const { cached, plain } = t.context
    const note = await plain.data('POST', '/api/notes', { title: 'custom', place: 7 })
    const query = (calls: string) =>
      `/graphql?query=${encodeURIComponent(`{ notes(filters: { title: { eq: "custom" } }) { data { attributes { ${calls} } } meta { pagination { total } } } }`)}`
    const path = query('calls')
    // A time is converted by code, so that the fields are resolved one by one.
    const byField = query('hour calls')
    const answers: string[] = []
    const statements: (readonly string[])[] = []
    for (let time = 0; time < 3; time++) {
      cached.statements()
      answers.push((await cached.ask('GET', path, { as: FULL })).text)
      statements.push(cached.statements())
    }
    t.deepEqual(
      answers.map(text => JSON.parse(text).data.notes),
      [1, 2, 3].map(calls => ({
        data: [{ attributes: { calls: `custom in 7: ${calls}` } }],
        meta: { pagination: { total: 1 } },
      })),
    )
    t.deepEqual(statements[2], ['prove an answer'])
    for (let time = 0; time < 2; time++) await cached.ask('GET', byField, { as: FULL })
    cached.statements()
    t.regex((await cached.ask('GET', byField, { as: FULL })).text, /custom in 7: 6/)
    t.deepEqual(cached.statements(), ['prove an answer'])
    await plain.data('PUT', `/api/notes/${note.documentId}`, { place: 8 })
    t.regex((await cached.ask('GET', path, { as: FULL })).text, /custom in 8: 7/)
    t.regex((await cached.ask('GET', byField, { as: FULL })).text, /custom in 8: 8/)
  },
)

test.serial(
  'reads between writes cost one statement each, and are cached again when the writes end',
  async t => {
    const { cached, plain } = t.context
    const note = await plain.data('POST', '/api/notes', { title: 'hot', place: 0 })
    const path = `/api/notes/${note.documentId}`
    for (let time = 0; time < 3; time++) await read(cached, path)
    let statements = 0
    let proofs = 0
    for (let place = 1; place <= 100; place++) {
      await plain.data('PUT', path, { place })
      cached.statements()
      const reported = await cached.ask('GET', path)
      t.is(JSON.parse(reported.text).data.place, place)
      const sent = cached.statements()
      statements += sent.length
      proofs += sent.filter(isProof).length
    }
    t.true(statements <= 125, `${statements} statements for 100 reads`)
    t.true(proofs <= 40, `${proofs} of them asked for versions`)
    let reads = 0
    while (!(await read(cached, path)).includes('prove an answer') && reads < 1000) reads++
    t.true(reads < 100, `${reads} reads until it was kept again`)
  },
)

test.serial(
  'reads of many documents of a type that is written occasionally cost one statement each',
  async t => {
    const { cached, plain } = t.context
    const notes = await Promise.all(
      Array.from({ length: 20 }, (_, place) => plain.data('POST', '/api/notes', { title: 'many', place })),
    )
    const paths = notes.map(({ documentId }) => `/api/notes/${documentId}?populate=shelf`)
    for (let time = 0; time < 2; time++) for (const path of paths) await read(cached, path)
    let statements = 0
    for (let round = 0; round < 5; round++) {
      await plain.data('PUT', String(paths[0]), { place: round })
      for (const path of paths) statements += (await read(cached, path)).length
    }
    // A write costs two: its changes, and the changed document.
    t.true(statements <= 110, `${statements} statements for 100 reads: a write is found out once`)
  },
)

test.serial(
  'documents that are written between their reads are read without versions for a while',
  async t => {
    const { cached, plain } = t.context
    const notes = await Promise.all(
      Array.from({ length: 20 }, (_, place) => plain.data('POST', '/api/notes', { title: 'between', place })),
    )
    const paths = notes.map(({ documentId }) => `/api/notes/${documentId}?fields=title,place`)
    for (let time = 0; time < 2; time++) for (const path of paths) await read(cached, path)
    let versioned = 0
    for (let round = 0; round < 10; round++) {
      await plain.data('PUT', String(paths[1]), { place: round })
      for (const path of paths) versioned += (await read(cached, path)).filter(isProof).length
      // The tables are not volatile: something is read twice between two writes.
      await read(cached, String(paths[0]))
      const { text } = await cached.ask('GET', String(paths[1]))
      t.is(JSON.parse(text).data.place, round)
    }
    t.true(versioned < 160, `${versioned} of 200 reads asked for versions`)
    let reads = 0
    while (!(await read(cached, String(paths[0]))).includes('prove an answer') && reads < 1000) reads++
    t.true(reads < 300, `${reads} reads until it was kept again`)
  },
)

import test, { type ExecutionContext } from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'

// One document middleware serves REST, both formats of GraphQL and code: what it writes into `context.params` has the same
// meaning in all of them.

const PROJECT = {
  contentTypes: { note: { attributes: { text: 'string', at: 'datetime' } } },
  roles: { public: { permissions: { note: ['find', 'findOne', 'create'] } } },
  graphql: { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } },
}

/** What the middleware does with the parameters of a list that has this text in its filter. */
const CHANGES = {
  'limit, a number': 'params.limit = 1',
  'limit, a text': "params.limit = '1'",
  'limit and start': 'Object.assign(params, { start: 0, limit: 1 })',
  'a page of numbers': 'params.pagination = { limit: 1 }',
  'a page of texts': "params.pagination = { page: '1', pageSize: '1' }",
  'a Date': "params.filters = { at: { $lt: new Date('2001-01-01') } }",
  'an absent value': 'Object.assign(params, { filters: undefined, limit: 1 })',
} as const

const FAULTS = {
  limt: ['params.limt = 1', /Unknown parameter limt of .*: did you mean `limit`\?/],
  filter: ["params.filter = { text: 'a' }", /Unknown parameter filter of .*: did you mean `filters`\?/],
  page: ['params.pagination = { limt: 1 }', /Unknown (parameter|key) limt of pagination/],
  list: ['params.pagination = 3', /pagination .*must be an object/],
  undefined: ['params.filters = { text: undefined }', /filters\.text is undefined/],
} as const

async function open(t: ExecutionContext) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const cases = Object.entries({
    ...CHANGES,
    ...Object.fromEntries(Object.entries(FAULTS).map(([name, [change]]) => [name, change])),
  })
  folder.write(
    'extensions/changes.ts',
    `import { defineExtension } from 'plinth'
const changes: Record<string, (params: any) => void> = {
${cases.map(([name, change]) => `  '${name}': params => { ${change} },`).join('\n')}
}
export default defineExtension({
  register({ documents }) {
    documents.use(({ params, action }: any, next) => {
      const change = action === 'findMany' && changes[params.filters?.text?.$ne]
      if (change) change(params)
      if (params.data?.text === 'dated') params.data.at = new Date('2000-01-01')
      return next()
    })
  },
})
`,
  )
  const app = await createTestApp({ project: PROJECT, plugins: folder.path, snapshot: await snapshot() })
  t.teardown(() => app.close())
  return app
}

test('pages, dates and absent values that a document middleware writes mean the same in every API', async t => {
  const { request, graphql, app } = await open(t)
  const post = (query: string) => request('POST', '/graphql5', { body: { query } })
  const at = '2000-01-01T00:00:00.000Z'
  t.like(await request('POST', '/api/notes', { body: { data: { text: 'dated' } } }), {
    body: { data: { at } },
  })
  await app.documents('note').deleteMany({ filters: {} })
  t.like(await post('mutation { createNote(data: { text: "dated" }) { at } }'), {
    body: { data: { createNote: { at } } },
  })
  await app.documents('note').create({ data: { text: 'late', at: new Date('2002-01-01') } })
  for (const name of Object.keys(CHANGES)) {
    const filter = `{ text: { ne: "${name}" } }`
    const rest = await request(
      'GET',
      `/api/notes?fields=text&filters[text][$ne]=${encodeURIComponent(name)}&sort=id`,
    )
    t.regex(JSON.stringify(rest.body), /^\{"data":\[\{[^{}]*"dated"[^{}]*\}\]/, name)
    const nested = await graphql(`{ notes(sort: "id", filters: ${filter}) { data { attributes { text } } } }`)
    t.like(nested, { data: { notes: { data: [{ attributes: { text: 'dated' } }] } } }, name)
    const flat = await post(`{ notes(sort: "id", filters: ${filter}) { text } }`)
    t.deepEqual(flat.body, { data: { notes: [{ text: 'dated' }] } }, name)
    const found = await app.documents('note').findMany({ sort: 'id', filters: { text: { $ne: name } } })
    t.is(found.length, 1, name)
  }
})

test('a misspelled parameter of a document middleware is refused with the nearest one in every API', async t => {
  const { request, graphql, app } = await open(t)
  for (const [name, [, message]] of Object.entries(FAULTS)) {
    const rest = await request('GET', `/api/notes?filters[text][$ne]=${encodeURIComponent(name)}`)
    t.is(rest.status, 400, name)
    t.regex(JSON.stringify(rest.body), message)
    const { errors } = await graphql(`{ notes(filters: { text: { ne: "${name}" } }) { data { id } } }`)
    t.regex(errors?.[0]?.message ?? '', message)
    await t.throwsAsync(app.documents('note').findMany({ filters: { text: { $ne: name } } }), { message })
  }
  // Unknown parameters of a client are ignored, as in Strapi.
  t.is((await request('GET', '/api/notes?limt=1&pagination[limt]=1&filters[text][$ne]=x')).status, 200)
})

const WRITES = `import { defineExtension } from 'plinth'
let written: Record<string, unknown> = {}
export default defineExtension({
  register({ documents, rest }) {
    rest.route('POST', '/written', async ({ http }) => {
      written = (await http.request.json()) as Record<string, unknown>
    }, { auth: false })
    documents.use((context, next) => {
      if (context.caller) Object.assign(context.params, written)
      return next()
    })
  },
})
`

test('a condition that a document middleware adds to a write is refused, not ignored', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/writes.ts', WRITES)
  const project = {
    contentTypes: { note: { draftAndPublish: true, attributes: { text: 'string' } } },
    roles: { public: { permissions: { note: '*' } } },
    graphql: { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } },
  }
  const { request, app, close } = await createTestApp({
    project,
    plugins: folder.path,
    snapshot: await snapshot(),
  })
  t.teardown(close)
  const { documentId } = await app.documents('note').create({ data: { text: 'yours' }, status: 'published' })
  const path = `/api/notes/${documentId}`
  const body = { data: { text: 'changed' } }
  const graphql = (query: string) => ({ body: { query } })
  const writes = {
    create: [() => request('POST', '/api/notes', { body })],
    update: [
      () => request('PUT', path, { body }),
      () => request('PUT', `${path}?filters[text]=changed`, { body }),
      () =>
        request(
          'POST',
          '/graphql',
          graphql(`mutation { updateNote(id: "${documentId}", data: { text: "changed" }) { data { id } } }`),
        ),
      () =>
        request(
          'POST',
          '/graphql5',
          graphql(
            `mutation { updateNote(documentId: "${documentId}", data: { text: "changed" }) { documentId } }`,
          ),
        ),
    ],
    delete: [
      () => request('DELETE', path),
      () =>
        request('POST', '/graphql', graphql(`mutation { deleteNote(id: "${documentId}") { data { id } } }`)),
    ],
  }
  for (const [name, value] of [
    ['filters', { text: 'mine' }],
    ['_q', 'mine'],
    ['sort', 'text'],
    ['limit', 1],
  ] as const) {
    await request('POST', '/api/written', { body: { [name]: value } })
    for (const [action, forms] of Object.entries(writes))
      for (const write of forms) {
        const answer = JSON.stringify((await write()).body)
        t.true(answer.includes(`${name} of context.params has no effect on ${action}, which`), answer)
      }
  }
  t.is(await app.documents('note').count(), 1)
  t.like(await app.documents('note').findOne({ documentId }), { text: 'yours' })
  // Those of the client are ignored by a write, as in Strapi.
  await request('POST', '/api/written', { body: {} })
  t.is((await request('PUT', `${path}?filters[text]=mine&sort=text`, { body })).status, 200)
})

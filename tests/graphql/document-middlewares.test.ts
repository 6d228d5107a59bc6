import test, { type ExecutionContext } from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const attributes = { text: 'string', owner: 'string', likes: 'integer' }
const PROJECT = {
  contentTypes: { note: { draftAndPublish: false, attributes } },
  roles: {
    public: {
      permissions: {
        note: { find: true, create: { fields: ['text'] }, update: { fields: ['text'] }, delete: true },
      },
    },
  },
}

const EXTENSION = `import { ConflictError, defineExtension } from 'plinth'
export default defineExtension({
  register({ documents, app }) {
    documents.use(async (context, next) => {
      const { action, params, caller, previous } = context
      const before = action === 'update' || action === 'delete' ? await previous() : null
      app.log.info({ action, id: params.documentId ?? null, text: before?.text ?? null, role: caller?.role?.type ?? null }, 'wrapped')
      if (params.data?.text === 'refused') throw new ConflictError('The text is taken')
      if (params.data?.text === 'answered') return { documentId: 'none', id: 1, text: 'by the middleware', owner: null }
      if (params.data) params.data = { ...params.data, owner: 'stamped' }
      return next()
    })
  },
})`

async function open(t: ExecutionContext) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/hooks.ts', EXTENSION)
  const graphql = { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } }
  const project = { ...PROJECT, graphql }
  const app = await createTestApp({ project, plugins: folder.path, snapshot: await snapshot() })
  t.teardown(() => app.close())
  const post = async (path: string, query: string) =>
    (await app.request('POST', path, { body: { query } })).body as never
  return { ...app, post }
}

test('document middlewares wrap the mutations of both formats, with the caller and the previous document', async t => {
  const { app, post, log } = await open(t)
  const row = '{ data { id attributes { text owner } } }'
  const nested = (call: string) => post('/graphql', `mutation { ${call} ${row} }`)
  const flat = (call: string) => post('/graphql5', `mutation { ${call} }`)
  t.like(await nested('createNote(data: { text: "a" })'), {
    data: { createNote: { data: { attributes: { text: 'a', owner: 'stamped' } } } },
  })
  const [note] = await app.documents('note').findMany()
  const id = String(note?.documentId)
  await app.documents('note').update({ documentId: id, data: { text: 'a' } })
  t.like(await nested(`updateNote(id: "${note?.id}", data: { text: "b" })`), {
    data: { updateNote: { data: { attributes: { text: 'b', owner: 'stamped' } } } },
  })
  t.like(await flat('createNote(data: { text: "c" }) { documentId text owner }'), {
    data: { createNote: { text: 'c', owner: 'stamped' } },
  })
  t.like(await flat(`updateNote(documentId: "${id}", data: { text: "d" }) { text owner }`), {
    data: { updateNote: { text: 'd', owner: 'stamped' } },
  })
  t.like(await flat(`deleteNote(documentId: "${id}") { documentId }`), {
    data: { deleteNote: { documentId: id } },
  })
  const lines = log().filter(line => line.includes('wrapped'))
  t.true(
    lines.some(line => line.includes('"update"') && line.includes(`"${id}"`) && line.includes('"public"')),
    lines.join('\n'),
  )
  t.true(
    lines.some(line => line.includes('"delete"') && line.includes('"d"')),
    lines.join('\n'),
  )
})

test('what the caller may not write is refused before middlewares run, and a middleware can refuse or answer', async t => {
  const { app, post, log } = await open(t)
  const wrapped = () => log().filter(line => line.includes('wrapped')).length
  for (const [path, call] of [
    ['/graphql', 'createNote(data: { text: "a", owner: "me" }) { data { id } }'],
    ['/graphql5', 'createNote(data: { text: "a", owner: "me" }) { documentId }'],
  ] as const) {
    const { errors } = (await post(path, `mutation { ${call} }`)) as { errors?: unknown[] }
    t.is(errors?.length, 1, path)
  }
  t.is(wrapped(), 0)
  const refused = await post('/graphql5', 'mutation { createNote(data: { text: "refused" }) { documentId } }')
  t.regex(JSON.stringify(refused), /The text is taken/)
  t.is(await app.documents('note').count(), 0)
  const answered = await post(
    '/graphql',
    'mutation { createNote(data: { text: "answered" }) { data { attributes { text } } } }',
  )
  t.like(answered, { data: { createNote: { data: { attributes: { text: 'by the middleware' } } } } })
  t.is(await app.documents('note').count(), 0)
  const unknown = await post(
    '/graphql',
    'mutation { updateNote(id: "unknown", data: { text: "x" }) { data { id } } }',
  )
  t.like(unknown, { data: { updateNote: { data: null } } })
})

const READS = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents, app }) {
    documents.use(async (context, next) => {
      const { action, params, uid } = context
      app.log.info({ uid, action, params }, 'read')
      if (params.filters?.text?.$eq === 'own') return [{ documentId: 'none', id: 7, text: 'by the middleware', owner: null }]
      if (String(params.sort) === 'likes') params.sort = 'owner:desc'
      if (params.locale === 'fr') params.locale = 'en'
      params.populate = '*'
      if (uid === 'api::note.note' && action !== 'create')
        params.filters = { $and: [params.filters ?? {}, { owner: { $ne: 'hidden' } }] }
      const value = await next()
      return Array.isArray(value) ? value.map(each => ({ ...each, text: each.text + '!' })) : value
    })
  },
})`

test('document middlewares wrap the queries of both formats: conditions, order and values are theirs', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/reads.ts', READS)
  const permissions = { note: { find: { fields: ['text', 'likes'] }, findOne: { fields: ['text'] } } }
  const project = {
    i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
    contentTypes: { note: { draftAndPublish: true, localized: true, attributes } },
    roles: { public: { permissions } },
    graphql: { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } },
  }
  const app = await createTestApp({ project, plugins: folder.path, snapshot: await snapshot() })
  t.teardown(() => app.close())
  const post = async (path: string, query: string) =>
    (await app.request('POST', path, { body: { query } })).body as unknown
  const notes = app.app.documents('note')
  const make = async (text: string, owner: string) =>
    String((await notes.create({ data: { text, owner }, status: 'published' })).documentId)
  const seen = await make('a', 'ann')
  const hidden = await make('b', 'hidden')
  await make('c', 'bob')

  const flat = (query: string) => post('/graphql5', `{ ${query} }`)
  const nested = (query: string) => post('/graphql', `{ ${query} }`)
  t.deepEqual(await flat('notes(sort: "text") { text }'), {
    data: { notes: [{ text: 'a!' }, { text: 'c!' }] },
  })
  // The caller may not read `owner`; the middleware may sort by it.
  t.deepEqual(await flat('notes(sort: "likes") { text }'), {
    data: { notes: [{ text: 'c!' }, { text: 'a!' }] },
  })
  t.regex(JSON.stringify(await flat('notes(sort: "owner") { text }')), /Invalid key owner|Forbidden/)
  t.regex(JSON.stringify(await flat('notes { text owner }')), /owner/)
  t.deepEqual(await flat('notes_connection(locale: "fr") { nodes { text } pageInfo { total } }'), {
    data: { notes_connection: { nodes: [{ text: 'a!' }, { text: 'c!' }], pageInfo: { total: 2 } } },
  })
  t.deepEqual(
    await flat(`one: note(documentId: "${seen}") { text } none: note(documentId: "${hidden}") { text }`),
    {
      data: { one: { text: 'a' }, none: null },
    },
  )
  t.deepEqual(
    await nested('notes(filters: { text: { contains: "b" } }) { data { id } meta { pagination { total } } }'),
    { data: { notes: { data: [], meta: { pagination: { total: 0 } } } } },
  )
  t.deepEqual(await nested(`note(id: "${seen}") { data { id attributes { text } } }`), {
    data: { note: { data: { id: seen, attributes: { text: 'a' } } } },
  })
  t.deepEqual(
    await nested(
      'notes(filters: { text: { eq: "own" } }) { data { attributes { text } } meta { pagination { total pageSize } } }',
    ),
    {
      data: {
        notes: {
          data: [{ attributes: { text: 'by the middleware' } }],
          meta: { pagination: { total: 1, pageSize: 1 } },
        },
      },
    },
  )
  const { body } = await app.request('GET', '/api/notes?sort=text&fields=text')
  t.like(body, { data: [{ text: 'a!' }, { text: 'c!' }] })
})

test('with document middlewares, a mutation needs the permission of its own action, and its own attributes', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'extensions/pass.ts',
    "import { defineExtension } from 'plinth'\n" +
      'export default defineExtension({ register({ documents }) { documents.use((context, next) => next()) } })',
  )
  const article = { draftAndPublish: true, localized: true, attributes: { title: 'string', owner: 'string' } }
  const graphql = { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } }
  const permissions = {
    article: {
      find: true,
      create: { set: { owner: 'the server' } },
      publish: true,
      update: { fields: ['title'] },
      createLocalization: { fields: ['owner'] },
    },
    note: { find: true, create: true },
    page: { find: true, create: { fields: ['title'] }, publish: false },
  }
  const app = await openTestApp(t, {
    plugins: folder.path,
    project: {
      graphql,
      i18n: { locales: ['en', 'fr'] },
      contentTypes: { article, page: article, note: { attributes: { text: 'string' } } },
      roles: { public: { permissions } },
    },
  })
  const post = async (path: string, query: string) =>
    (await app.request('POST', path, { body: { query: `mutation { ${query} }` } })).body
  t.like(await post('/graphql', 'createNote(data: { text: "a" }) { data { attributes { text } } }'), {
    data: { createNote: { data: { attributes: { text: 'a' } } } },
  })
  t.like(await post('/graphql5', 'createNote(data: { text: "b" }) { text }'), {
    data: { createNote: { text: 'b' } },
  })
  const row = '{ documentId title owner }'
  const made = await post('/graphql5', `createArticle(data: { title: "c", owner: "mine" }) ${row}`)
  t.like(made, { data: { createArticle: { title: 'c', owner: 'the server' } } })
  const { documentId } = (made as { data: { createArticle: { documentId: string } } }).data.createArticle
  const localized = `createArticleLocalization(id: "${documentId}", locale: "fr", data: { owner: "le mien" })`
  t.like(await post('/graphql', `${localized} { data { attributes { owner locale } } }`), {
    data: { createArticleLocalization: { data: { attributes: { owner: 'le mien', locale: 'fr' } } } },
  })
  const changed = await post(
    '/graphql5',
    `updateArticle(documentId: "${documentId}", data: { owner: "x" }) ${row}`,
  )
  t.like(changed, { data: { updateArticle: null }, errors: [{ message: 'Invalid key owner' }] })
  // Permissions are checked before values.
  const published = await post('/graphql5', 'createPage(data: { owner: "x" }) { owner }')
  t.like(published, { data: { createPage: null }, errors: [{ message: 'Forbidden access' }] })
  t.is((await app.request('GET', '/api/articles?status')).status, 400)
})

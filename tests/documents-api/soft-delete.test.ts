import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// A document middleware that replaces an action answers it in one form, whichever API the request came over.

const PROJECT = {
  contentTypes: {
    note: { attributes: { text: 'string', deletedAt: { type: 'datetime', private: true } } },
    page: { kind: 'single', attributes: { text: 'string' } },
  },
  roles: { public: { permissions: { note: ['find', 'findOne', 'delete'], page: ['find', 'delete'] } } },
  graphql: { endpoints: { '/graphql': 'nested', '/graphql5': 'flat' } },
}

const SOFT_DELETE = `import { defineExtension } from 'plinth'
const READS = ['findMany', 'findFirst', 'findOne', 'count']
export default defineExtension({
  register({ documents, app }) {
    documents.use(async ({ uid, action, params, previous }, next) => {
      if (uid !== 'api::note.note') return next()
      if (READS.includes(action)) params.filters = { $and: [params.filters ?? {}, { deletedAt: { $null: true } }] }
      if (action !== 'delete') return next()
      const before = await previous()
      if (before === null || before.deletedAt !== null) return null
      const { documentId = '' } = params
      await app.documents('note').update({ documentId, data: { deletedAt: new Date() } })
      return { documentId, entries: [before] }
    })
  },
})
`

async function open(t: ExecutionContext, extension: string, settings = {}) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/deletes.ts', extension)
  return openTestApp(t, { project: { ...PROJECT, ...settings }, plugins: folder.path })
}

const STRAPI4 = { rest: { responseFormat: 'v4-flat' } }

test('a document middleware replaces a delete, over REST, both formats of GraphQL and in code', async t => {
  const { app, request, graphql } = await open(t, SOFT_DELETE)
  const notes = app.documents('note')
  const make = async () => String((await notes.create({ data: { text: 'kept' } })).documentId)
  const nested = (id: string) =>
    graphql(`mutation { deleteNote(id: "${id}") { data { id attributes { text } } } }`)
  const [rest, first, second, code] = [await make(), await make(), await make(), await make()]

  t.is((await request('DELETE', `/api/notes/${rest}`)).status, 204)
  t.deepEqual(await nested(first), {
    data: { deleteNote: { data: { id: first, attributes: { text: 'kept' } } } },
  })
  t.deepEqual(await nested(first), { data: { deleteNote: { data: null } } })
  const flat = (id: string) =>
    request('POST', '/graphql5', {
      body: { query: `mutation { deleteNote(documentId: "${id}") { documentId } }` },
    })
  t.like(await flat(second), { body: { data: { deleteNote: { documentId: second } } } })
  t.like(await notes.delete({ documentId: code }), { documentId: code, entries: [{ text: 'kept' }] })

  for (const documentId of [rest, first, second, code]) {
    t.is((await request('GET', `/api/notes/${documentId}`)).status, 404)
    t.is(await notes.findOne({ documentId }), null)
  }
  t.is(await notes.count(), 0)
  t.is(await app.models.note?.count(), 4)
})

test('a document middleware replaces a delete in the format of Strapi 4', async t => {
  const { app, request } = await open(t, SOFT_DELETE, STRAPI4)
  const { id } = await app.documents('note').create({ data: { text: 'kept' } })
  t.like(await request('DELETE', `/api/notes/${id}`), { status: 200, body: { data: { id, text: 'kept' } } })
  t.is((await request('DELETE', `/api/notes/${id}`)).status, 404)
  t.is(await app.models.note?.count(), 1)
})

const SEEN = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents, app }) {
    documents.use(async ({ action }, next) => {
      const value = await next()
      if (action === 'delete') app.log.info({ value }, 'deleted')
      return value
    })
  },
})
`

test('next() of a delete resolves to the same form over every API', async t => {
  const { app, request, graphql, log } = await open(t, SEEN)
  const seen = () =>
    log()
      .filter(line => line.includes('"deleted"'))
      .map(line => JSON.parse(line).value)
      .at(-1)
  const make = async () => String((await app.documents('note').create({ data: { text: 'gone' } })).documentId)

  const rest = await make()
  await request('DELETE', `/api/notes/${rest}`)
  t.deepEqual(seen(), { documentId: rest, entries: [] })

  const nested = await make()
  const answered = await graphql(`mutation { deleteNote(id: "${nested}") { data { attributes { text } } } }`)
  t.deepEqual(answered, { data: { deleteNote: { data: { attributes: { text: 'gone' } } } } })
  t.like(seen(), { documentId: nested, entries: [{ text: 'gone' }] })

  const { documentId } = (await app.documents('page').update({ data: { text: 'gone' } })) ?? {}
  const single = await request('POST', '/graphql5', {
    body: { query: 'mutation { deletePage { documentId } }' },
  })
  t.like(single.body, { data: { deletePage: { documentId } } })
  t.like(seen(), { documentId })

  const former = await open(t, SEEN, STRAPI4)
  const { id, documentId: key } = await former.app.documents('note').create({ data: { text: 'gone' } })
  const answer = await former.request('DELETE', `/api/notes/${id}`)
  t.like(answer, { status: 200, body: { data: { id, text: 'gone' } } })
  t.true(former.log().some(line => line.includes(`"value":{"documentId":"${key}","entries":[{`)))
})

test('what a middleware answers in another form is an error that names the form', async t => {
  const { app, request, log } = await open(
    t,
    SOFT_DELETE.replace('return { documentId, entries: [before] }', 'return before'),
  )
  const { documentId } = await app.documents('note').create({ data: { text: 'a' } })
  t.is((await request('DELETE', `/api/notes/${documentId}`)).status, 500)
  t.true(log().some(line => line.includes('must answer delete with { documentId, entries } or null')))
})

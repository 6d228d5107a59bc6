import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = {
  contentTypes: {
    note: {
      search: { attributes: { title: 'A', secret: 'B' } },
      attributes: { title: 'string', secret: { type: 'string', private: true }, shown: 'boolean' },
    },
  },
  roles: { public: { permissions: { note: ['find'] } } },
}

const MIDDLEWARE = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents }) {
    documents.use((context, next) => {
      if (context.action === 'findMany') context.params.filters = { shown: true }
      return next()
    })
  },
})`

test('a middleware that changes the filters lets no caller search in attributes that the caller may not read', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/shown.ts', MIDDLEWARE)
  const { app, request, graphql } = await openTestApp(t, { project: PROJECT, plugins: folder.path })
  await app.documents('note').create({ data: { title: 'wine', secret: 'okapi', shown: true } })
  const total = async (query: string) => {
    const { body } = await request('GET', `/api/notes?${query}`)
    return (body as { meta: { pagination: { total: number } } }).meta.pagination.total
  }
  t.is(await total('search=wine'), 1)
  t.is(await total('search=okapi'), 0)
  t.is(await total('_q=win'), 1)
  t.is(await total('_q=oka'), 0)
  const { data } = await graphql('{ notes(search: "okapi") { data { id } } }')
  t.deepEqual(data, { notes: { data: [] } })
})

import test from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'

const PROJECT = {
  contentTypes: {
    order: {
      attributes: { title: 'string', page: { type: 'relation', relation: 'manyToOne', target: 'page' } },
    },
    page: { draftAndPublish: true, attributes: { title: 'string' } },
  },
  roles: { public: { permissions: { order: ['update'] } } },
}

const EXTENSION = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents, app }) {
    documents.use(async (context, next) => {
      if (context.action !== 'update') return next()
      const before: any = await context.previous({ populate: { page: true } })
      const published: any = await context.previous({ populate: { page: true }, status: 'published' })
      app.log.info({ page: before?.page?.title ?? null, published: published?.page?.title ?? null }, 'before')
      return next()
    })
  },
})
`

test('previous() of a type without drafts populates relations to drafts, over REST and in code', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/before.ts', EXTENSION)
  const { app, request, log, close } = await createTestApp({
    project: PROJECT,
    plugins: folder.path,
    snapshot: await snapshot(),
  })
  t.teardown(close)
  const page = await app.documents('page').create({ data: { title: 'draft' } })
  const order = await app.documents('order').create({ data: { title: 'a', page: page.documentId } })
  const path = `/api/orders/${order.documentId}`
  t.like(await request('PUT', path, { body: { data: { title: 'b' } } }), { status: 200 })
  await app.documents('order').update({ documentId: String(order.documentId), data: { title: 'c' } })
  const lines = log().flatMap(line => (line.includes('"before"') ? [JSON.parse(line)] : []))
  t.deepEqual(
    lines.map(({ page: seen, published }) => [seen, published]),
    [
      ['draft', null],
      ['draft', null],
    ],
  )
})

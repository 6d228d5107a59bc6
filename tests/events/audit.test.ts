import { cpSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const root = join(import.meta.dirname, '..', '..')

test('the audit extension of the example project records changes of restaurants and articles', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const part of ['project.yaml', 'policies', 'middlewares', 'extensions'])
    cpSync(join(root, part), join(folder.path, part), { recursive: true })
  const { app, settled } = await openTestApp(t, { project: folder.path })
  const restaurants = app.documents('restaurant')
  const { documentId: id } = await restaurants.create({ data: { name: 'Casa Oliva' } })
  await restaurants.update({ documentId: id, data: { name: 'Casa Oliva' }, status: 'published' })
  const made = await app.documents('article').create({ data: { title: 'Midi' }, locale: 'fr' })
  await restaurants.delete({ documentId: id })
  await settled()
  const entries = await app.documents('audit-entry').findMany({ sort: 'id' })
  const reported = entries.map(({ action, about, language }) => `${action} ${about} ${language}`)
  t.deepEqual(
    reported.filter(line => line.includes(id)),
    ['create', 'update', 'publish', 'delete'].map(action => `restaurant.${action} ${id} null`),
  )
  t.deepEqual(
    reported.filter(line => line.includes(made.documentId)),
    [`article.create ${made.documentId} fr`],
  )
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestApp, type TestApp } from 'plinth/testing'

let api: TestApp

before(async () => {
  api = await createTestApp({ project: '.' })
})

after(() => api?.close())

const titlesOf = (body: unknown) => (body as { data: { title: string }[] }).data.map(({ title }) => title)

test('everyone reads notes', async () => {
  const { status, body } = await api.request('GET', '/api/notes?sort=title')
  assert.equal(status, 200)
  assert.deepEqual(titlesOf(body), ['Next steps', 'Welcome'])
})

test('pinned notes have a route', async () => {
  const { body } = await api.request('GET', '/api/notes/pinned')
  assert.deepEqual(titlesOf(body), ['Welcome'])
})

test('only editors write notes', async () => {
  const { status } = await api.request('POST', '/api/notes', { body: { data: { title: 'Mine' } } })
  assert.equal(status, 403)
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestApp, type TestApp } from 'plinth/testing'

let api: TestApp

before(async () => {
  api = await createTestApp({ project: '.' })
})

after(() => api?.close())

test('everyone reads restaurants with their cuisines', async () => {
  const { status, body } = await api.request('GET', '/api/restaurants?populate=cuisines&sort=name')
  assert.equal(status, 200)
  const { data } = body as { data: { name: string; cuisines: { name: string }[] }[] }
  assert.ok(data.length > 0)
  assert.ok(data.every(({ cuisines }) => cuisines.length > 0))
})

test('only editors write restaurants', async () => {
  const { status } = await api.request('POST', '/api/restaurants', { body: { data: { name: 'Mine' } } })
  assert.equal(status, 403)
})

test('the search finds dishes', async () => {
  const { status } = await api.request('GET', '/api/search?q=soup')
  assert.equal(status, 200)
})

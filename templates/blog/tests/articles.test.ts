import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestApp, type TestApp } from 'plinth/testing'

let api: TestApp

before(async () => {
  api = await createTestApp({ project: '.' })
})

after(() => api?.close())

interface Answer {
  data: { title: string; minutes: number | null; author?: { name: string } }[]
}

test('everyone reads published articles with their author', async () => {
  const { status, body } = await api.request('GET', '/api/articles?populate=author')
  assert.equal(status, 200)
  const { data } = body as Answer
  assert.deepEqual(
    data.map(({ title, author }) => [title, author?.name]),
    [['A spade for life', 'Ada Moreau']],
  )
})

test('an article is translated', async () => {
  const { body } = await api.request('GET', '/api/articles?locale=fr')
  assert.equal((body as Answer).data[0]?.title, 'Une bêche pour la vie')
})

test('drafts are hidden from the public', async () => {
  const { status } = await api.request('GET', '/api/articles?status=draft')
  assert.equal(status, 403)
})

test('an article has its reading time', async () => {
  const text = 'word '.repeat(660)
  const body = [{ __component: 'blocks.text' as const, text }]
  const written = await api.app.documents('article').create({ data: { title: 'Long', body } })
  assert.equal(written.minutes, 3)
})

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createTestApp, type TestApp } from 'plinth/testing'

let api: TestApp

before(async () => {
  api = await createTestApp({ project: '.' })
})

after(() => api?.close())

async function register(name: string): Promise<string> {
  const body = { username: name, email: `${name}@example.org`, password: 'a-long-password' }
  const answer = await api.request('POST', '/api/auth/local/register', { body })
  assert.equal(answer.status, 200)
  return (answer.body as { jwt: string }).jwt
}

interface Order {
  data: { documentId: string; number: string; state: string }
}

test('everyone reads published products', async () => {
  const { status, body } = await api.request(
    'GET',
    '/api/products?filters[categories][slug]=garden&sort=price',
  )
  assert.equal(status, 200)
  const { data } = body as { data: { name: string }[] }
  assert.deepEqual(
    data.map(({ name }) => name),
    ['Herb pot', 'Spade'],
  )
})

test('users order, and see their own orders only', async () => {
  const [ann, ben] = [await register('ann'), await register('ben')]
  const lines = [{ product: 'spade', quantity: 1 }]
  const placed = await api.request('POST', '/api/orders', { token: ann, body: { data: { lines } } })
  assert.equal(placed.status, 201)
  const { data } = placed.body as Order
  assert.match(data.number, /^\d{4}-[0-9A-F]{8}$/)
  assert.equal(data.state, 'placed')

  const path = `/api/orders/${data.documentId}`
  assert.equal((await api.request('GET', path, { token: ann })).status, 200)
  assert.equal((await api.request('GET', path, { token: ben })).status, 404)
  assert.equal((await api.request('GET', path)).status, 403)
})

test('a user cannot set the state of an order', async () => {
  const token = await register('eve')
  const data = { lines: [{ product: 'spade', quantity: 1 }], state: 'paid' }
  const { body } = await api.request('POST', '/api/orders', { token, body: { data } })
  assert.equal((body as Order).data.state, 'placed')
})

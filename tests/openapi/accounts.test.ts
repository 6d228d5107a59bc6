import { createConfig, lintFromString } from '@redocly/openapi-core'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'
import { AnswerCheck } from './answer-check.ts'

const TOKEN = 'site-site-site-site-site-site-site-site'

const PROJECT = {
  name: 'Accounts',
  contentTypes: { note: { attributes: { text: 'string' } } },
  auth: {
    keys: { enabled: true },
    providers: {
      company: {
        issuer: 'http://127.0.0.1:1',
        clientId: 'notes',
        clientSecret: 'a-secret',
        redirectUrls: ['https://www.example.com/in'],
      },
    },
  },
  server: { rateLimit: { auth: false, account: false } },
  roles: {
    public: { permissions: { auth: ['register'] } },
    authenticated: { permissions: { users: ['me'] } },
  },
  apiTokens: { site: { type: 'full-access', secret: TOKEN } },
}

const EXTENSION = `import { Router } from 'express'
import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest }) {
    const shop = Router()
    shop.get('/cart/:id', (request, response) => response.json({ cart: request.params.id }))
    shop.route('/orders').post((request, response) => response.status(201).json({ ordered: true }))
    shop.get('/files/*rest', (request, response) => response.send('file'))
    rest.mount('/shop', shop, { auth: false })
    const desk = Router()
    desk.get('/', (request, response) => response.json([]))
    rest.mount('/desk', desk)
  },
})
`

test('the description has sign-in at providers, keys for sessions of users, and routes of mounted routers', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', JSON.stringify(PROJECT))
  folder.write('extensions/shop.ts', EXTENSION)
  const app = await openTestApp(t, { project: folder.path })
  const check = new AnswerCheck(app)
  const send = async (method: string, path: string, options: { token?: string; body?: object } = {}) => {
    const answer = await app.request(method, path, options)
    t.is(await check.fault({ method, path, token: options.token }, answer), null, `${method} ${path}`)
    return answer
  }
  const described = async (token?: string) => {
    const { body } = await app.request('GET', '/api/openapi.json', { ...(token && { token }) })
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: JSON.stringify(body), config, absoluteRef: 'api.json' })
    t.deepEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    )
    const { paths } = body as { paths: Record<string, object> }
    return Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).flatMap(method => (method === 'parameters' ? [] : [`${method} ${path}`])),
    )
  }

  const person = { username: 'ann', email: 'ann@example.com', password: 'secret1' }
  const registered = await send('POST', '/api/auth/local/register', { body: person })
  const { jwt: token } = registered.body as { jwt: string }
  const made = await send('POST', '/api/users/me/keys', { token, body: { name: 'script' } })
  const { id, key } = made.body as { id: string; key: string }
  t.is(((await send('GET', '/api/users/me/keys', { token })).body as unknown[]).length, 1)
  t.is((await send('POST', '/api/users/me/keys', { token, body: { name: '' } })).status, 400)
  await send('GET', '/api/auth/company/callback?access_token=unknown')
  await send('GET', '/api/auth/company/callback')
  await send('GET', '/api/connect/company?callback=https://evil.example/')
  await send('GET', '/api/connect/company/callback?code=1&state=2')
  await send('GET', '/api/connect/nothing')
  t.deepEqual((await send('GET', '/api/shop/cart/7')).body, { cart: '7' })
  t.is((await send('POST', '/api/shop/orders', { body: {} })).status, 201)

  const keys = ['get /users/me/keys', 'post /users/me/keys', 'delete /users/me/keys/{id}']
  const everyone = [
    'get /connect/{provider}',
    'get /connect/{provider}/callback',
    'get /auth/{provider}/callback',
    'get /shop/cart/{id}',
    'post /shop/orders',
  ]
  const ofPublic = await described()
  const ofUser = await described(token)
  const ofKey = await described(key)
  const ofToken = await described(TOKEN)
  for (const operation of everyone)
    for (const operations of [ofPublic, ofUser, ofKey, ofToken])
      t.true(operations.includes(operation), operation)
  for (const operation of keys)
    t.deepEqual(
      [ofPublic, ofUser, ofKey, ofToken].map(operations => operations.includes(operation)),
      [false, true, false, false],
      operation,
    )
  t.deepEqual(
    [ofPublic, ofToken].map(operations => operations.includes('get /desk')),
    [false, true],
  )
  t.false(ofToken.some(operation => operation.includes('/shop/files')))
  for (const operation of ['get /users/me', 'get /users/me/permissions', 'post /auth/change-password'])
    t.false(ofToken.includes(operation), `${operation}: a token has no user of its own`)
  t.true(ofUser.includes('get /users/me'))
  t.is((await send('DELETE', `/api/users/me/keys/${id}`, { token })).status, 204)
})

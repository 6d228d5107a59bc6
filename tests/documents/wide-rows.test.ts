import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const SECRET = 'a-secret-of-forty-letters-that-is-not-guessed'
const NAMES = Array.from({ length: 500 }, (_, index) => `text${index}`)

const texts = (filled: number): Readonly<Record<string, string>> =>
  Object.fromEntries(NAMES.slice(0, filled).map(name => [name, `${name} `.repeat(20)]))

test('values that exceed a row of PostgreSQL are refused, in documents and in components', async t => {
  const attributes = Object.fromEntries(NAMES.map(name => [name, 'text']))
  const part = { type: 'component', component: 'part.wide' }
  const { request, graphql, app, log } = await openTestApp(t, {
    project: {
      components: { 'part.wide': { attributes } },
      contentTypes: { wide: { attributes: { ...attributes, part } } },
      apiTokens: { all: { type: 'full-access', secret: SECRET } },
    },
  })
  const send = (method: string, path: string, data: object) =>
    request(method, path, { body: { data }, token: SECRET })
  const refused = /exceed the 8160 bytes of a row/

  for (const data of [texts(500), { part: texts(500) }]) {
    const { status, body } = await send('POST', '/api/wides', data)
    t.is(status, 400)
    t.regex(JSON.stringify(body), refused)
  }
  const { errors } = await graphql(
    'mutation ($data: WideInput!) { createWide(data: $data) { __typename } }',
    { data: texts(500) },
    { token: SECRET },
  )
  t.regex(errors?.[0]?.message ?? '', refused)
  await t.throwsAsync(app.documents('api::wide.wide').create({ data: texts(500) }), { message: refused })
  t.is(await app.documents('api::wide.wide').count({}), 0)

  const { documentId } = await app.documents('api::wide.wide').create({ data: texts(300) })
  t.is((await send('PUT', `/api/wides/${documentId}`, texts(500))).status, 400)
  const kept = await app.documents('api::wide.wide').findOne({ documentId })
  t.is(kept?.text400, null)
  t.is(kept?.text200, texts(300).text200)
  t.deepEqual(
    log().filter(line => line.includes('"event":"failed"')),
    [],
  )
})

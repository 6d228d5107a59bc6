import test from 'ava'
import { openBrowser } from '../harness/browser.ts'
import { serve } from '../http/serving.ts'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
contentTypes:
  book: { attributes: { title: string } }
roles:
  public: { permissions: { book: [find, create] } }
`

test('the playground opens without external requests, runs a query and shows the result', async t => {
  const { create, respond } = await openEndpoint(t, PROJECT)
  await create('book', { title: 'Solaris' })
  const { url } = await serve(t, [respond], { settings: { bodyLimit: 100_000 } })
  const browser = await openBrowser()
  t.teardown(browser.close)
  const query = encodeURIComponent('{ books { data { attributes { title } } } }')
  await browser.open(`${url}/graphql?query=${query}`)
  await browser.until(`document.querySelector('.graphiql-query-editor')?.innerText.includes('books')`)
  await browser.click(`document.querySelector('.graphiql-execute-button')`)
  t.is(
    await browser.until(`/Solaris/.exec(document.querySelector('.graphiql-response')?.innerText)?.[0]`),
    'Solaris',
  )
  t.true(browser.requests.length >= 7)
  for (const asked of browser.requests)
    t.true(asked.startsWith(`${url}/`) || asked.startsWith('data:'), asked.slice(0, 100))
  t.deepEqual(browser.complaints, [])
})

test('only browsers get the playground, in production only if the project enables it', async t => {
  const always = `${PROJECT}graphql: { config: { playgroundAlways: true } }`
  const cases = [
    { yaml: PROJECT, production: false, isThere: true },
    { yaml: PROJECT, production: true, isThere: false },
    { yaml: always, production: true, isThere: true },
  ]
  for (const { yaml, production, isThere } of cases) {
    const { send } = await openEndpoint(t, yaml, { production })
    const page = await send({ method: 'GET', accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' })
    t.is(page?.type, isThere ? 'text/html; charset=utf-8' : 'text/plain; charset=utf-8')
    t.is(page?.status, isThere ? 200 : 400)
    if (!isThere) t.is(page?.body, 'GET query missing.')
    const file = await send({ method: 'GET', path: '/graphql/playground/graphiql.js' })
    t.is(file?.status, isThere ? 200 : undefined)
    t.is(await send({ method: 'GET', path: '/graphql/playground/../../package.json' }), null)
    const json = await send({ method: 'GET', search: 'query={__typename}', accept: 'application/json' })
    t.is(json?.body, '{"data":{"__typename":"Query"}}')
  }
})

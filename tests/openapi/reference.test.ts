import test from 'ava'
import { openBrowser } from '../harness/browser.ts'
import { openTestApp } from '../harness/test-app.ts'

const token = 'full-access-token-of-the-reference-test'

/** Attributes of every form that the reference shows. Few types: axe takes seconds for each hundred operations. */
const project = {
  name: 'Reference',
  components: { 'blocks.quote': { attributes: { text: { type: 'text', required: true } } } },
  contentTypes: {
    article: {
      draftAndPublish: true,
      attributes: {
        title: { type: 'string', required: true, maxLength: 50 },
        kind: { type: 'enumeration', enum: ['news', 'opinion'] },
        cover: { type: 'media', allowedTypes: ['images'] },
        quotes: { type: 'component', component: 'blocks.quote', repeatable: true },
        body: { type: 'dynamiczone', components: ['blocks.quote'] },
        author: { type: 'relation', relation: 'manyToOne', target: 'author' },
      },
    },
    author: { attributes: { name: { type: 'string' } } },
  },
  roles: { public: { permissions: { article: { find: true, findOne: true }, author: { find: true } } } },
  apiTokens: { full: { type: 'full-access', secret: token } },
}

/** Chromium reports the status of the opened address itself. */
const EXPECTED_404 = 'Failed to load resource: the server responded with a status of 404 (Not Found)'

test('the start page, the reference and the playground work in a browser, are accessible, and need no other servers', async t => {
  const { url } = await openTestApp(t, { project, listen: true })
  const browser = await openBrowser()
  t.teardown(browser.close)
  await browser.open(`${url}/`)
  await browser.until(`document.querySelectorAll('tbody tr').length === 2`)
  t.deepEqual(await browser.audit(), [])
  await browser.click(`document.querySelector('a[href$="#get-/articles"]')`)
  const text = `document.querySelector('rapi-doc')?.shadowRoot?.textContent ?? ''`
  await browser.until(`/List Article/.test(${text})`)
  t.false(await browser.evaluate(`/Create one Article/.test(${text})`))
  await browser.evaluate(
    `(() => { const field = document.getElementById('token'); field.value = '${token}'; field.dispatchEvent(new Event('change')) })()`,
  )
  await browser.until(`/Create one Article/.test(${text})`)
  const request = `document.querySelector('rapi-doc').shadowRoot.querySelector('api-request')?.shadowRoot`
  const button = `${request}?.querySelector('button[part~="btn-try"]')`
  await browser.click(button)
  await browser.until(`/OK:200/.test(${request}?.textContent)`)
  t.deepEqual(await browser.audit(), [])

  await browser.open(`${url}/graphql?query=${encodeURIComponent('{ __typename, articles { data { id } } }')}`)
  await browser.until(`document.querySelector('.graphiql-query-editor')?.innerText.includes('articles')`)
  await browser.click(`document.querySelector('.graphiql-execute-button')`)
  await browser.until(`/Query/.test(document.querySelector('.graphiql-response')?.innerText)`)
  t.deepEqual(await browser.audit(), [])
  await browser.open(`${url}/nothing`)
  await browser.until(`/404/.test(document.title)`)
  t.deepEqual(await browser.audit(), [])
  for (const asked of browser.requests)
    t.true(asked.startsWith(`${url}/`) || asked.startsWith('data:'), asked.slice(0, 100))
  t.deepEqual(browser.complaints, [EXPECTED_404])
})

import { resolve } from 'node:path'
import test from 'ava'
import { openBrowser } from '../harness/browser.ts'
import { openTestApp } from '../harness/test-app.ts'

const project = resolve(import.meta.dirname, '../conformance/project')

test('the reference page shows what a token may do and sends requests, without other servers', async t => {
  const { url } = await openTestApp(t, { project, listen: true })
  const browser = await openBrowser()
  t.teardown(browser.close)
  await browser.open(`${url}/api/reference`)
  const text = `document.querySelector('rapi-doc')?.shadowRoot?.textContent ?? ''`
  await browser.until(`/List Article/.test(${text})`)
  t.false(await browser.evaluate(`/Create one Article/.test(${text})`))
  const token = 'full-conformance-token-0000000000000000'
  await browser.evaluate(
    `(() => { const field = document.getElementById('token'); field.value = '${token}'; field.dispatchEvent(new Event('change')) })()`,
  )
  await browser.until(`/Create one Article/.test(${text})`)
  await browser.evaluate(`document.querySelector('rapi-doc').scrollToPath('get-/articles')`)
  const button = `document.querySelector('rapi-doc').shadowRoot.querySelector('api-request')?.shadowRoot?.querySelector('button[part~="btn-try"]')`
  await browser.until(`Boolean(${button})`)
  await browser.evaluate(`${button}.click()`)
  await browser.until(
    `performance.getEntriesByType('resource').some(({ name }) => /api.articles/.test(name))`,
  )
  for (const asked of browser.requests)
    t.true(asked.startsWith(`${url}/`) || asked.startsWith('data:'), asked.slice(0, 100))
  t.deepEqual(browser.complaints, [])
})

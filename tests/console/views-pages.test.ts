import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, signIn } from './open-console.ts'

const project = resolve(import.meta.dirname, '../..')
const file = teardownOfFile(test.after.always)
const bundled = once(() => bundleConsole())

const openApp = once(async () => {
  await bundled()
  const app = await openTestApp(file, { project, listen: true })
  await addUser(app, 'editor')
  return app
})

test.serial('the views and the layout of the diagram load on demand', async t => {
  const { folder, files, names } = await bundled()
  t.false(files.some(name => /^(layout-graph|model-page|permissions-page)/.test(name)))
  const layout = names.find(name => name.startsWith('layout-graph')) ?? ''
  t.true(statSync(join(folder, 'assets', layout)).size > 500_000)
  const bytes = files.map(name => gzipSync(readFileSync(join(folder, 'assets', name))).length)
  t.true(bytes.reduce((sum, size) => sum + size, 0) < 300 * 1024)
})

test.serial(
  'the model is a diagram that is searched, moved by keys and saved, and a list with the same content',
  async t => {
    const app = await openApp()
    const page = await openConsole(t)
    await page.browser.open(`${app.url}/console/model`)
    await signIn(page)
    await page.until(`document.querySelectorAll('.diagram .box').length > 10`)
    const text = (selector: string) =>
      page.browser.evaluate(
        `[...document.querySelectorAll('${selector}')].map(each => each.textContent).join('|')`,
      )
    t.regex(String(await text('.diagram .box-name')), /Restaurant/)
    t.true(Number(await page.browser.evaluate(`document.querySelectorAll('.diagram .edge').length`)) > 8)
    t.deepEqual(await page.browser.audit(), [])
    const moved = await page.browser.evaluate(`(() => {
    const before = document.querySelector('.diagram svg g').getAttribute('transform')
    document.querySelector('.diagram').dispatchEvent(new KeyboardEvent('keydown', { key: '+', bubbles: true }))
    return before
  })()`)
    await page.until(
      `document.querySelector('.diagram svg g').getAttribute('transform') !== ${JSON.stringify(moved)}`,
    )
    await page.browser.evaluate(`{
    window.saved = null
    URL.createObjectURL = blob => { blob.text().then(text => { window.saved = text }); return 'blob:none' }
    HTMLAnchorElement.prototype.click = () => {}
  }`)
    await page.clickText('Save as SVG')
    await page.until('window.saved')
    t.regex(
      String(await page.browser.evaluate('window.saved')),
      /^<svg xmlns[\s\S]*Restaurant[\s\S]*<\/svg>$/,
    )
    await page.fill('input[type=search]', 'visitedOn')
    await page.until(`document.querySelectorAll('.diagram .found').length === 1`)
    t.regex(String(await text('main details summary')), /^Article/)
    t.regex(
      String(await text('main details')),
      /visitedOn date[\s\S]*restaurants relation oneToMany · localized → Restaurant/,
    )
    t.deepEqual(await page.browser.audit(), [])
  },
)

test.serial('the matrix shows condition, fields and the line of a decision', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await page.browser.open(`${app.url}/console/permissions`)
  await signIn(page)
  await page.until(`document.querySelectorAll('.matrix tbody tr').length > 8`)
  t.deepEqual(await page.browser.audit(), [])
  await page.browser.click(`document.querySelector('[aria-label="find article: allowed in part"]')`)
  await page.until(`/notNull/.test(document.querySelector('.decision').innerText)`)
  const decision = String(await page.browser.evaluate(`document.querySelector('.decision').innerText`))
  t.regex(decision, /project\.yaml:\d+ find: \{ where/)
  await page.fill('.narrow-field select', 'authenticated')
  await page.until(`document.querySelector('[aria-label="create tip: allowed in part"]')`)
  t.deepEqual(await page.browser.audit(), [])
})

test.serial('the simulator answers for a role and a user, with reason, line and SQL', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await page.browser.open(`${app.url}/console/simulator`)
  await signIn(page)
  await page.fill('select[name=role]', 'public')
  await page.fill('input[name=path]', '/api/articles?fields=title')
  await page.clickText('Ask')
  await page.until(`/^Yes: public may GET/.test(document.querySelector('.card h2')?.innerText)`)
  t.regex(
    String(await page.browser.evaluate(`document.querySelector('.card').innerText`)),
    /project\.yaml:\d+[\s\S]*SELECT/,
  )
  t.deepEqual(await page.browser.audit(), [])
  await page.fill('select[name=method]', 'DELETE')
  await page.fill('input[name=path]', '/api/articles/any')
  await page.clickText('Ask')
  await page.until(`/^No: public may not DELETE/.test(document.querySelector('.card h2')?.innerText)`)
  await page.fill('input[name=user]', 'ann')
  await page.clickText('Ask')
  await page.until(`/^Yes: ann may DELETE/.test(document.querySelector('.card h2')?.innerText)`)
  await page.fill('input[name=path]', 'nothing')
  await page.clickText('Ask')
  await page.until(`/path/.test(document.querySelector('[role=alert]')?.innerText)`)
})

test.serial('operations show plugins and where they apply, in French on a phone, too', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await page.browser.open(`${app.url}/console/operations`)
  await signIn(page)
  await page.until(`/restaurant.delete: has-role/.test(document.querySelector('main').innerText)`)
  t.deepEqual(await page.browser.audit(), [])
  await page.browser.evaluate(`localStorage.setItem('plinth-language', 'fr')`)
  await page.browser.evaluate('location.reload()')
  await page.until(`document.querySelector('input[name=identifier], .layout')`)
  await signIn(page)
  await page.until(`/Migration en attente/.test(document.querySelector('main').innerText)`)
  t.deepEqual(await page.browser.audit(), [])
})

import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'

// Parts of the console load on demand. A lost connection, or a deploy that replaced them since the page was opened, must not leave an
// empty page.

const file = teardownOfFile(test.after.always)

const PROJECT = {
  name: 'Parts',
  contentTypes: { page: { attributes: { title: 'string', body: 'richtext' } } },
  roles: { public: {}, editor: { permissions: { page: '*', users: ['me'] } } },
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  const data = { title: 'Cellar', body: 'Barrels' }
  const pages = app.app.documents('api::page.page' as 'api::dish.dish')
  const { documentId } = (await pages.create({ data } as never)) as { readonly documentId: string }
  return { app, path: `/content/pages/${documentId}` }
})

const shows = (pattern: RegExp) => `${pattern}.test(document.body.innerText)`

test.serial('a page that does not load says so, keeps the navigation, and loads after a reload', async t => {
  const { app, path } = await openApp()
  const page = await openConsole(t)
  await openSignedIn(page, app.url)
  await page.browser.block(['*/assets/edit-page-*'])
  await page.follow(path)
  await page.until(shows(/This part of the console failed/))
  t.true(
    await page.browser.evaluate(`Boolean(document.querySelector('nav a[href="/console/content/pages"]'))`),
  )
  t.true(await page.browser.evaluate(shows(/edit-page-/)))
  await page.click('nav a[href="/console/content/pages"]')
  await page.until(`document.querySelector('tbody tr')`)
  t.false(await page.browser.evaluate(shows(/This part of the console failed/)))
  await page.follow(path)
  await page.until(shows(/This part of the console failed/))
  await page.browser.block([])
  await page.clickText('Reload')
  await page.until(`document.querySelector('main form .field')`)
})

test.serial('an input that does not load leaves the rest of the form as it is', async t => {
  const { app, path } = await openApp()
  const page = await openConsole(t)
  await openSignedIn(page, app.url)
  await page.browser.block(['*/assets/markdown-input-*'])
  await page.follow(path)
  await page.until(shows(/This part of the console failed/))
  await page.fill('[data-path=title] input', 'Cellar of the abbey')
  await page.browser.block([])
  await page.clickText('Reload')
  await page.until(`document.querySelector('[data-path=body] textarea')?.value === 'Barrels'`)
  t.is(
    await page.browser.evaluate(`document.querySelector('[data-path=title] input').value`),
    'Cellar of the abbey',
  )
})

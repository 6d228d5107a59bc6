import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, signIn } from './open-console.ts'

const project = resolve(import.meta.dirname, '../..')

const file = teardownOfFile(test.after.always)

const openApp = once(async () => {
  await bundled()
  const app = await openTestApp(file, { project, listen: true })
  await addUser(app, 'editor')
  return app
})
const bundled = once(() => bundleConsole())

test('the first screen is at most 300 KB, and the editor of a document loads on demand', async t => {
  const { folder, files, names } = await bundled()
  const bytes = files.map(name => gzipSync(readFileSync(join(folder, 'assets', name))).length)
  t.true(bytes.reduce((sum, size) => sum + size, 0) < 300 * 1024)
  t.true(names.length > files.length + 5)
  t.false(files.some(name => name.startsWith('edit-page')))
})

test.serial(
  'an editor signs in, searches, edits a draft, is told what is wrong, publishes and takes it back',
  async t => {
    const app = await openApp()
    const page = await openConsole(t)
    const draft = async (status: 'draft' | 'published') =>
      (await app.app.documents('api::restaurant.restaurant').findOne({ documentId: 'kumo', status })) as {
        readonly name: string
        readonly stars: number
      } | null

    await page.browser.open(`${app.url}/console/content/restaurants`)
    await page.fill('input[name=identifier]', 'ann')
    await page.fill('input[name=password]', 'wrong')
    await page.click('button[type=submit]')
    await page.until(
      `/Invalid identifier or password/.test(document.querySelector('[role=alert]')?.innerText)`,
    )
    t.deepEqual(await page.browser.audit(), [])
    await page.fill('input[name=password]', page.password)
    await page.click('button[type=submit]')
    await page.until(`document.querySelectorAll('tbody tr').length > 5`)
    t.deepEqual(await page.browser.audit(), [])

    await page.fill('input[type=search]', 'kumo')
    await page.until(`document.querySelectorAll('tbody tr').length === 1`)
    t.true(/kumo/.test(String(await page.browser.evaluate('decodeURIComponent(location.search)'))))
    await page.click('tbody a')
    await page.until(`document.querySelector('[data-path=name] input')`)
    t.deepEqual(await page.browser.audit(), [])

    await page.fill('[data-path=name] input', 'Kumo II')
    await page.fill('[data-path=stars] input', '9')
    await page.clickText('Publish')
    await page.until(`/stars/.test(document.querySelector('[data-path=stars] .fault')?.innerText)`)
    t.is((await draft('published'))?.name, 'Kumo')
    t.is(await page.browser.evaluate(`document.querySelector('[data-path=name] input').value`), 'Kumo II')
    t.deepEqual(await page.browser.audit(), [])

    await page.fill('[data-path=stars] input', '2')
    await page.clickText('Save draft')
    await page.until(`document.querySelector('.state.modified')`)
    t.is((await draft('draft'))?.name, 'Kumo II')
    t.is((await draft('published'))?.name, 'Kumo')
    await page.clickText('Changes')
    await page.until(`/Kumo II/.test(document.querySelector('dialog table')?.innerText)`)
    t.deepEqual(await page.browser.audit(), [])
    await page.clickText('Discard the draft')
    await page.until(`document.querySelector('.state.published')`)
    t.is((await draft('draft'))?.name, 'Kumo')

    await page.fill('[data-path=name] input', 'Kumo III')
    await page.clickText('Publish')
    await page.until(`/Published/.test(document.querySelector('.notices p')?.innerText)`)
    t.is((await draft('published'))?.name, 'Kumo III')
    await page.clickText('Unpublish')
    await page.until(`document.querySelector('dialog .danger')`)
    await page.click('dialog .danger')
    await page.until(`document.querySelector('.state.draft')`)
    t.is(await draft('published'), null)
  },
)

test.serial('a conflict shows both versions, and unsaved input survives a reload', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  const dishes = app.app.documents('api::dish.dish')
  const [dish] = (await dishes.findMany({ pagination: { limit: 1 } } as never)) as { documentId: string }[]
  const documentId = dish?.documentId ?? ''
  await page.browser.open(`${app.url}/console/content/dishes/${documentId}`)
  await signIn(page)
  await page.until(`document.querySelector('[data-path=name] input')`)
  await page.fill('[data-path=name] input', 'Mine')
  await page.fill('[data-path=price] input', '12.50')
  await dishes.update({ documentId, data: { name: 'Theirs', vegetarian: true } } as never)
  await page.clickText('Save')
  await page.until(`/Mine/.test(document.querySelector('dialog table')?.innerText)`)
  t.true(/Theirs/.test(String(await page.browser.evaluate(`document.querySelector('dialog').innerText`))))
  t.deepEqual(await page.browser.audit(), [])
  await page.clickText('Continue')

  await page.browser.evaluate('location.reload()')
  await page.until(
    `document.querySelector('input[name=identifier], [data-path=name] input')?.closest('form')`,
  )
  await signIn(page)
  await page.until(`/restored/.test(document.querySelector('.notice')?.innerText)`)
  t.is(await page.browser.evaluate(`document.querySelector('[data-path=name] input').value`), 'Mine')
  await page.clickText('Save')
  await page.until(`/Saved/.test(document.querySelector('.notices p')?.innerText)`)
  const saved = (await dishes.findOne({ documentId } as never)) as Record<string, unknown>
  t.is(saved.name, 'Mine')
  t.is(Number(saved.price), 12.5)
  t.is(saved.vegetarian, true)
})

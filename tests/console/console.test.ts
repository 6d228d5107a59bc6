import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { until } from '../harness/until.ts'
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
    await until('the draft is Kumo II', async () => (await draft('draft'))?.name === 'Kumo II')
    t.is((await draft('published'))?.name, 'Kumo')
    await page.clickText('Changes')
    await page.until(`/Kumo II/.test(document.querySelector('dialog table')?.innerText)`)
    t.deepEqual(await page.browser.audit(), [])
    await page.clickText('Discard the draft')
    await page.until(`document.querySelector('.state.published')`)
    await until('the draft is Kumo', async () => (await draft('draft'))?.name === 'Kumo')

    await page.fill('[data-path=name] input', 'Kumo III')
    await page.clickText('Publish')
    await page.until(`/Published/.test(document.querySelector('.notices p')?.innerText)`)
    await until('Kumo III is published', async () => (await draft('published'))?.name === 'Kumo III')
    await page.clickText('Unpublish')
    await page.until(`document.querySelector('dialog .danger')`)
    await page.click('dialog .danger')
    await page.until(`document.querySelector('.state.draft')`)
    await until('nothing is published', async () => (await draft('published')) === null)
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

test.serial('a hostile document runs nothing, and every screen is accessible in both languages', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  const evil = '<img src=x onerror="window.ran=1"><script>window.ran=1</script>'
  const restaurants = app.app.documents('api::restaurant.restaurant')
  const link =
    '[a](javascript:window.ran=1) <a href="javascript:window.ran=1">b</a> <svg onload="window.ran=1"></svg>'
  const { documentId } = await restaurants.create({
    data: {
      name: `${evil} hostile`,
      slug: 'hostile',
      summary: evil,
      description: `${evil}\n\n${link}\n\n<iframe srcdoc="${evil}"></iframe>`,
      tags: [evil],
      address: { street: evil, city: evil },
    },
  } as never)
  await page.browser.open(
    `${app.url}/console/content/restaurants?filter=${encodeURIComponent('{"text":"hostile"}')}`,
  )
  await signIn(page)
  await page.until(`document.querySelectorAll('tbody tr').length === 1`)
  await page.click('tbody a')
  await page.until(`document.querySelector('[data-path="address.street"] input')`)
  await page.clickText('Preview')
  await page.until(`document.querySelector('.rendered a')`)
  const links = `[...document.querySelectorAll('a')].filter(a => a.protocol === 'javascript:').length`
  t.is(await page.browser.evaluate(links), 0)
  t.is(
    await page.browser.evaluate(`document.querySelectorAll('iframe, main script, .rendered svg').length`),
    0,
  )
  t.is(
    await page.browser.evaluate(`document.querySelector('[data-path=name] input').value`),
    `${evil} hostile`,
  )
  await page.browser.click(`document.querySelector('.rendered a')`)
  t.is(await page.browser.evaluate('window.ran ?? null'), null)
  t.deepEqual(await page.browser.audit(), [])
  await restaurants.delete({ documentId } as never)

  await page.fill('.preferences select', 'fr')
  await page.until(`/Se déconnecter/.test(document.querySelector('.preferences')?.innerText)`)
  const follow = (path: string) => page.browser.click(`document.querySelector('a[href="/console${path}"]')`)
  for (const [path, ready] of [
    ['/single/homepage', '[data-path=title] input'],
    ['/media', '.files'],
    ['/account', 'input[name=currentPassword]'],
    ['/content/articles', 'tbody tr'],
    ['/content/articles/create', '[data-path=title] input'],
  ] as const) {
    await follow(path)
    await page.until(`document.querySelector(${JSON.stringify(ready)})`)
    t.deepEqual(await page.browser.audit(), [], path)
  }
})

test.serial('a session that ends in the middle of work asks for the password and goes on', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await page.browser.open(`${app.url}/console/content/cuisines/create`)
  await signIn(page)
  await page.fill('[data-path=name] input', 'Basque')
  await page.clickText('Generate')
  await page.until(`document.querySelector('[data-path=slug] input').value === 'basque'`)
  const users = app.app.documents('plugin::users-permissions.user')
  const [user] = (await users.findMany({ filters: { username: 'ann' } } as never)) as { documentId: string }[]
  await users.update({
    documentId: user?.documentId ?? '',
    data: { password: `${page.password} 2` },
  } as never)
  await page.clickText('Save')
  await page.fill('dialog input[name=password]', `${page.password} 2`)
  await page.click('dialog button[type=submit]')
  await page.until(`/cuisines\\/[^/]+$/.test(location.pathname) && !/create/.test(location.pathname)`)
  const found = await app.app
    .documents('api::cuisine.cuisine')
    .findMany({ filters: { slug: 'basque' } } as never)
  t.is((found as unknown[]).length, 1)
})

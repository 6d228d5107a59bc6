import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, signInAs } from './open-console.ts'

// A project without content: what each empty list says to do next, to a role that may create and to one that may not.

const file = teardownOfFile(test.after.always)

const PROJECT = {
  name: 'Empty',
  contentTypes: {
    page: {
      attributes: {
        title: { type: 'string', required: true },
        author: { type: 'relation', relation: 'manyToOne', target: 'author' },
        cover: { type: 'media', multiple: false, allowedTypes: ['images'] },
      },
    },
    author: { attributes: { name: { type: 'string', required: true } } },
  },
  roles: {
    public: {},
    editor: { permissions: { page: '*', author: '*', upload: '*', users: ['me'] }, console: ['model'] },
    writer: {
      permissions: {
        page: ['find', 'findOne', 'create'],
        author: ['find', 'findOne'],
        upload: ['find', 'findOne'],
        users: ['me'],
      },
    },
    guest: { permissions: { users: ['me'] } },
  },
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  await addUser(app, 'writer', 'wim')
  await addUser(app, 'guest', 'gus')
  return app
})

const openPage = once(() => openConsole({ teardown: file.teardown }))

async function start(user: string) {
  const app = await openApp()
  const page = await openPage()
  await signInAs(page, app.url, user)
  return page
}

const says = (pattern: RegExp, selector = 'main') =>
  `${pattern}.test(document.querySelector('${selector}')?.innerText)`

test.serial('a role that may create is led to what it can create, upload or change', async t => {
  const page = await start('ann')
  await page.follow('/content/pages')
  await page.until(says(/nothing here yet/))
  t.is(
    await page.browser.evaluate(`document.querySelector('.empty a').pathname`),
    '/console/content/pages/create',
  )
  await page.fill('input[type=search]', 'anything')
  await page.until(says(/Nothing matches. Change the search/))
  await page.clickText('Clear search and filters')
  await page.until(says(/nothing here yet/))
  await page.follow('/media')
  await page.until(says(/no files of this kind yet. Upload one/))
  await page.fill('input[type=search]', 'anything')
  await page.until(says(/Nothing matches. Change the search/))
  await page.follow('/model')
  await page.until(`document.querySelector('.diagram .box')`)
  await page.fill('input[type=search]', 'anything')
  await page.until(says(/0 found[\s\S]*Nothing matches/))

  await page.follow('/content/pages/create')
  await page.clickIn('[data-path=author]', 'Link')
  await page.until(says(/nothing to link to yet/, '.picker'))
  t.is(
    await page.browser.evaluate(`document.querySelector('.picker a').pathname`),
    '/console/content/authors/create',
  )
  await page.fill('.picker input', 'anything')
  await page.until(says(/Nothing matches. Change the search/, '.picker'))
  const { app } = await openApp()
  await app.documents('api::author.author').create({ data: { name: 'Ines' } } as never)
  await page.fill('.picker input', 'Ines')
  await page.click('.picker li button')
  await page.until(says(/All of these are linked already/, '.picker'))
  await page.clickIn('[data-path=cover]', 'Library')
  await page.until(says(/no files of this kind yet. Upload one/, 'dialog'))
  t.deepEqual(await page.browser.audit(), [])
})

test.serial('a role that may not create is led to the permission', async t => {
  const page = await start('wim')
  const authors = (await openApp()).app.documents('api::author.author')
  for (const { documentId } of (await authors.findMany({} as never)) as readonly { documentId: string }[])
    await authors.delete({ documentId } as never)
  await page.follow('/content/authors')
  await page.until(says(/may not create it. Ask for the permission/))
  t.false(await page.browser.evaluate(`Boolean(document.querySelector('.empty a'))`))
  await page.follow('/content/pages/create')
  await page.clickIn('[data-path=author]', 'Link')
  await page.until(says(/may not create it. Ask for the permission/, '.picker'))
  await page.clickIn('[data-path=cover]', 'Library')
  await page.until(says(/may not upload any. Ask for the permission/, 'dialog'))
  t.deepEqual(await page.browser.audit(), [])
})

test.serial('a role without any content is led to the permission', async t => {
  const page = await start('gus')
  await page.until(says(/may not edit anything. Ask for a permission/))
  t.deepEqual(await page.browser.audit(), [])
})

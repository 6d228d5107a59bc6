import test from 'ava'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp } from '../harness/test-app.ts'
import { pressEntry, uploadInto, WRITTEN } from './console-driver.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'

const PROJECT = {
  name: 'Paper',
  components: {
    'page.figure': { attributes: { image: { type: 'media', multiple: true }, caption: 'string' } },
  },
  contentTypes: {
    page: {
      attributes: {
        title: { type: 'string', required: true },
        figures: { type: 'component', component: 'page.figure', repeatable: true },
      },
    },
  },
  roles: {
    public: { permissions: {} },
    editor: {
      permissions: { '*': ['find', 'findOne', 'create', 'update'], upload: '*', users: ['me'] },
    },
  },
  rest: { openapi: true },
}

test('what is edited during an upload is kept, and the form is not saved before its end', async t => {
  const figures = [{ caption: 'one' }, { caption: 'two' }, { caption: 'three' }]
  await bundleConsole()
  const app = await openTestApp(t, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  const pages = app.app.documents('api::page.page')
  const { documentId } = await pages.create({ data: { title: 'Figures', figures } } as never)
  const page = await openConsole(t)
  const { browser } = page
  await openSignedIn(page, app.url)
  await page.follow(`/content/pages/${documentId}`)
  await page.until(`document.querySelector('[data-path="figures.2"], [data-path="figures.2.caption"] input')`)
  // Uploads wait until the test lets them go.
  await browser.evaluate(`(() => {
    const send = window.fetch
    window.held = []
    window.fetch = async (address, request) => {
      if (request?.method === 'POST' && /upload/.test(address)) await new Promise(go => window.held.push(go))
      return send(address, request)
    }
  })()`)
  await uploadInto(page, '[data-path="figures.1.image"] input[type=file]', 'kept.svg')
  await uploadInto(page, '[data-path="figures.2.image"] input[type=file]', 'removed.svg')
  await page.until(`window.held.length === 2`)
  await page.fill('[data-path="figures.1.caption"] input', 'edited')
  await pressEntry(page, 'figures', 2, 'Remove')
  await pressEntry(page, 'figures', 1, 'Move up')
  await page.until(`document.querySelector('form[aria-busy=true] button[type=submit][aria-disabled=true]')`)
  await browser.evaluate(`window.held.forEach(go => go())`)
  await page.until(`document.querySelector('form[aria-busy=false]')`)
  await page.clickText('Save')
  await page.until(WRITTEN)
  const stored = (await pages.findOne({
    documentId,
    populate: { figures: { populate: { image: { fields: ['name'] } } } },
  } as never)) as unknown as {
    readonly figures: readonly {
      readonly caption: string
      readonly image: readonly { readonly name: string }[]
    }[]
  }
  t.deepEqual(
    stored.figures.map(({ caption, image }) => [caption, ...image.map(({ name }) => name)]),
    [['edited', 'kept.svg'], ['one']],
  )
  t.deepEqual(browser.complaints, [])
})

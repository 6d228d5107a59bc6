import test from 'ava'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp } from '../harness/test-app.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'

const PROJECT = {
  contentTypes: { page: { draftAndPublish: true, attributes: { title: 'string' } } },
  roles: {
    public: { permissions: {} },
    editor: { permissions: { page: ['find', 'findOne', 'update', 'publish', 'readDrafts'], users: ['me'] } },
  },
}

/** Holds the save of a draft back until `letSave()`. */
const HOLD = `(() => {
  const send = fetch
  window.fetch = async (address, options) => {
    if (options?.method === 'PUT') await new Promise(resolve => { window.letSave = resolve })
    return send(address, options)
  }
})()`

const DISCARD = `[...document.querySelectorAll('dialog button')].find(each => each.innerText.trim() === 'Discard the draft')`

test('a draft is not discarded while it is saved: the save would come after', async t => {
  await bundleConsole()
  const app = await openTestApp(t, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  const pages = app.app.documents('page') as never as {
    create(input: object): Promise<{ documentId: string }>
    findOne(input: object): Promise<{ title: string }>
  }
  const { documentId } = await pages.create({ data: { title: 'One' }, status: 'published' })
  const page = await openConsole(t)
  await openSignedIn(page, app.url)
  await page.browser.open(`${app.url}/console/content/pages/${documentId}`)
  await page.until(`document.querySelector('.state.published')`)
  await page.browser.evaluate(HOLD)
  await page.fill('[data-path=title] input', 'Two')
  await page.clickText('Save draft')
  await page.until('window.letSave')
  await page.clickText('Changes')
  await page.until(DISCARD)
  t.is(await page.browser.evaluate(`${DISCARD}.ariaDisabled`), 'true')
  await page.browser.evaluate('letSave(undefined)')
  await page.clickText('Discard the draft')
  await page.until(`document.querySelector('[data-path=title] input').value === 'One'`)
  t.is((await pages.findOne({ documentId, status: 'draft' })).title, 'One')
})

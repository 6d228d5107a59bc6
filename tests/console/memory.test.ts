import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import type { LiveMemory } from '../harness/browser.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, type ConsolePage, openConsole, signIn } from './open-console.ts'

// The memory of a page in which documents are edited one after another. PLINTH_SAFETY=whole: 200 edits instead of 48.

const file = teardownOfFile(test.after.always)

/** Edits between two measurements: caches of the page are full after the first one. */
const EDITS = process.env.PLINTH_SAFETY === 'whole' ? 50 : 12
const DOCUMENTS = 12

/** Growth between the second and the fourth measurement. In the short run most of it is code that is compiled for the first time. */
const MOST_BYTES = (EDITS === 50 ? 2 : 1) * 1024 * 1024
const MOST_NODES = 0.05

const PROJECT = {
  name: 'Diary',
  components: { 'page.part': { attributes: { text: 'blocks', place: 'string' } } },
  contentTypes: {
    page: {
      draftAndPublish: true,
      attributes: {
        title: { type: 'string', required: true },
        body: 'blocks',
        notes: 'richtext',
        at: 'datetime',
        parts: { type: 'component', component: 'page.part', repeatable: true },
        next: { type: 'relation', relation: 'manyToOne', target: 'page' },
      },
    },
  },
  roles: { public: {}, editor: { permissions: { page: '*', users: ['me'] } } },
}

const paragraph = (text: string) => [{ type: 'paragraph', children: [{ type: 'text', text }] }]

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  const pages = app.app.documents('api::page.page')
  for (let number = 1; number <= DOCUMENTS; number++)
    await pages.create({
      data: {
        title: `Page ${number}`,
        body: paragraph('body'),
        notes: '# notes',
        parts: [{ text: paragraph('part'), place: 'here' }],
      },
      status: 'draft',
    } as never)
  return app
})

/** From the list to a document, types, saves, and goes back. */
async function edit(page: ConsolePage, number: number): Promise<void> {
  const row = number % DOCUMENTS
  await page.until(`document.querySelectorAll('tbody tr').length === ${DOCUMENTS}`)
  await page.browser.click(`document.querySelectorAll('tbody tr')[${row}].querySelector('a')`)
  await page.until(`document.querySelectorAll('main form [role=textbox]').length === 2`)
  await page.fill('[data-path="parts.0.place"] input', `place ${number}`)
  await page.clickText('Save draft')
  await page.until(
    `document.querySelector('form[aria-busy=false] button[type=submit][aria-disabled=true]') && document.querySelector('.notices p')`,
  )
  await page.click('nav a[href="/console/content/pages"]')
}

test('the memory of a page is stable while documents are edited', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await page.browser.open(`${app.url}/console/content/pages`)
  await signIn(page)
  const measured: LiveMemory[] = []
  for (let number = 1; number <= 4 * EDITS; number++) {
    await edit(page, number)
    if (number % EDITS === 0) {
      await page.until(`document.querySelectorAll('tbody tr').length === ${DOCUMENTS}`)
      // It goes by itself after a while, before or after the measurement.
      await page.browser.evaluate(`document.querySelector('.notices button')?.click()`)
      await page.until(`!document.querySelector('.notices p')`)
      measured.push(await page.browser.live())
    }
  }
  const [, second, , fourth] = measured
  if (!second || !fourth) throw new Error('There are four measurements')
  t.log(
    measured.map(({ bytes, nodes, listeners }) => `${bytes} bytes, ${nodes} nodes, ${listeners} listeners`),
  )
  t.true(fourth.bytes - second.bytes <= MOST_BYTES, JSON.stringify(measured))
  t.true(fourth.nodes <= second.nodes * (1 + MOST_NODES), JSON.stringify(measured))
  t.true(fourth.listeners <= second.listeners * (1 + MOST_NODES), JSON.stringify(measured))
})

import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { createTestApp, type TestApp } from '../core/testing.ts'
import { addUser, type ConsolePage, openConsole, signIn } from '../tests/console/open-console.ts'
import { openScreen, SCREENS } from '../tests/console/screens.ts'
import type { View } from '../tests/harness/browser.ts'
import { bundleConsole } from './bundle-console.ts'

// `npx tsx scripts/screenshots.ts [NAME …]`: the images of docs/images, from the example project. Needs Chromium.

const PROJECT = resolve(import.meta.dirname, '..')
const FOLDER = join(PROJECT, 'docs/images')
const QUERY = '{ articles(pagination: { limit: 3 }) { data { attributes { title } } } }'

const DESK: View = { width: 1280, height: 800, dark: false }
const PHONE: View = { width: 390, height: 844, dark: false }

interface Picture {
  readonly name: string
  readonly view: View
  open(page: ConsolePage, app: TestApp): Promise<void>
}

const REFERENCE = `document.querySelector('rapi-doc').shadowRoot.querySelector('api-request')?.shadowRoot`

const address = (path: string, ready: string) => async (page: ConsolePage, app: TestApp) => {
  await page.browser.open(String(app.url) + path)
  await page.until(ready)
}

const SERVER: readonly Picture[] = [
  { name: 'start-page', view: DESK, open: address('/', `document.querySelectorAll('tbody tr').length > 1`) },
  {
    name: 'reference',
    view: DESK,
    open: address('/api/reference#get-/articles', `${REFERENCE}?.querySelector('button[part~="btn-try"]')`),
  },
  {
    name: 'playground',
    view: DESK,
    async open(page, app) {
      const editor = `document.querySelector('.graphiql-query-editor')?.innerText.includes('articles')`
      await address(`/graphql?query=${encodeURIComponent(QUERY)}`, editor)(page, app)
      await page.click('.graphiql-execute-button')
      await page.until(`/title/.test(document.querySelector('.graphiql-response')?.innerText)`)
    },
  },
]

/** The screens in this order: the last one ends the session. */
const CONSOLE: readonly Picture[] = SCREENS.map(screen => ({
  name: `console-${screen.name}`,
  view: screen.image === 'phone' ? PHONE : { ...DESK, dark: screen.image === 'dark' },
  async open(page, app) {
    if (!screen.signedOut) await startSession(page, app)
    await openScreen(page, app, screen)
  },
}))

/** The input of the screen before is not restored. */
async function startSession(page: ConsolePage, app: TestApp): Promise<void> {
  await page.browser.evaluate('sessionStorage.clear()')
  await page.browser.open(`${app.url}/console`)
  await signIn(page)
  await page.until(`document.querySelector('.layout')`)
}

async function takePicture(page: ConsolePage, app: TestApp, { name, view, open }: Picture): Promise<void> {
  await page.browser.emulate(view)
  await open(page, app)
  // Fonts and transitions.
  await page.browser.evaluate('new Promise(resolve => setTimeout(resolve, 1000))')
  const small = await sharp(await page.browser.screenshot())
    .resize({ width: Math.min(960, view.width) })
    .png({ palette: true, colours: 64, effort: 10 })
    .toBuffer()
  await writeFile(join(FOLDER, `${name}.png`), small)
}

async function takePictures(names: readonly string[]): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  await bundleConsole()
  const ends: (() => unknown)[] = []
  const app = await createTestApp({ project: PROJECT, listen: true })
  ends.push(() => app.close())
  try {
    await addUser(app, 'editor')
    const page = await openConsole({ teardown: end => void ends.push(end) })
    for (const picture of [...SERVER, ...CONSOLE])
      if (names.length === 0 || names.includes(picture.name)) await takePicture(page, app, picture)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

await takePictures(process.argv.slice(2))

import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { createTestApp } from '../core/testing.ts'
import { type Browser, openBrowser } from '../tests/harness/browser.ts'

// `npx tsx scripts/screenshots.ts`: the images of docs/images, from the example project. Needs Chromium.

const PROJECT = resolve(import.meta.dirname, '..')
const FOLDER = join(PROJECT, 'docs/images')
const QUERY = '{ articles(pagination: { limit: 3 }) { data { attributes { title } } } }'

interface Picture {
  readonly name: string
  readonly path: string
  /** True in the page when all of it is there. */
  readonly ready: string
  readonly click?: string
  /** True after the click. */
  readonly done?: string
}

const REFERENCE = `document.querySelector('rapi-doc').shadowRoot.querySelector('api-request')?.shadowRoot`

const PICTURES: readonly Picture[] = [
  { name: 'start-page', path: '/', ready: `document.querySelectorAll('tbody tr').length > 1` },
  {
    name: 'reference',
    path: '/api/reference#get-/articles',
    ready: `Boolean(${REFERENCE}?.querySelector('button[part~="btn-try"]'))`,
  },
  {
    name: 'playground',
    path: `/graphql?query=${encodeURIComponent(QUERY)}`,
    ready: `document.querySelector('.graphiql-query-editor')?.innerText.includes('articles')`,
    click: `document.querySelector('.graphiql-execute-button').click()`,
    done: `/title/.test(document.querySelector('.graphiql-response')?.innerText)`,
  },
]

async function takePicture(browser: Browser, url: string, picture: Picture): Promise<void> {
  await browser.open(url + picture.path)
  await browser.until(picture.ready)
  if (picture.click) await browser.evaluate(picture.click)
  if (picture.done) await browser.until(picture.done)
  // Fonts and transitions.
  await browser.evaluate('new Promise(resolve => setTimeout(resolve, 1000))')
  const small = await sharp(await browser.screenshot())
    .resize({ width: 960 })
    .png({ palette: true, colours: 64, effort: 10 })
    .toBuffer()
  await writeFile(join(FOLDER, `${picture.name}.png`), small)
}

async function takePictures(): Promise<void> {
  await mkdir(FOLDER, { recursive: true })
  const app = await createTestApp({ project: PROJECT, listen: true })
  const browser = await openBrowser()
  try {
    for (const picture of PICTURES) await takePicture(browser, String(app.url), picture)
  } finally {
    await browser.close()
    await app.close()
  }
}

await takePictures()

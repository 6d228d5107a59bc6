import { mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import sharp from 'sharp'
import { createTestApp } from '../core/testing.ts'
import { addUser } from '../tests/console/open-console.ts'
import { type Browser, openBrowser } from '../tests/harness/browser.ts'
import { bundleConsole } from './bundle-console.ts'

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
  /** With the session of an editor, who signs in once. */
  readonly signedIn?: true
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
  { name: 'console-sign-in', path: '/console', ready: `Boolean(document.querySelector('.sign-in form'))` },
  {
    name: 'console-list',
    path: '/console/content/restaurants',
    ready: `document.querySelectorAll('tbody tr').length > 5`,
    signedIn: true,
  },
  {
    name: 'console-form',
    path: '/console/content/restaurants/kumo',
    ready: `document.querySelectorAll('.thumbnail, .ordered').length > 2`,
    signedIn: true,
  },
  {
    name: 'console-article',
    path: '/console/content/articles/the-courtyard-at-eight',
    ready: `Boolean(document.querySelector('.locales'))`,
    click: `document.querySelectorAll('.field')[6].scrollIntoView()`,
    signedIn: true,
  },
  { name: 'console-media', path: '/console/media', ready: `document.images.length > 0`, signedIn: true },
]

/** The value of a field of React changes by the setter of its prototype. */
const SIGN_IN = `for (const [name, value] of [['identifier', 'ann'], ['password', 'correct horse battery']]) {
  const field = document.querySelector('input[name=' + name + ']')
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, value)
  field.dispatchEvent(new Event('input', { bubbles: true }))
}
document.querySelector('button[type=submit]').click()`

async function takePicture(browser: Browser, url: string, picture: Picture): Promise<void> {
  await browser.open(url + picture.path)
  if (picture.signedIn) {
    await browser.until(`Boolean(document.querySelector('input[name=identifier]'))`)
    await browser.evaluate(SIGN_IN)
  }
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
  await bundleConsole()
  const app = await createTestApp({ project: PROJECT, listen: true })
  await addUser(app, 'editor')
  const browser = await openBrowser()
  try {
    for (const picture of PICTURES) await takePicture(browser, String(app.url), picture)
  } finally {
    await browser.close()
    await app.close()
  }
}

await takePictures()

import type { TestApp } from '../../core/testing.ts'
import { type ConsolePage, PASSWORD } from './open-console.ts'

/** A screen of the console, as an editor of the example project sees it in English. */
export interface Screen {
  readonly name: string
  /** Below the path of the console. */
  readonly path: string
  /** True in the page when all of it is there. */
  readonly ready: string
  /** Without a session. */
  readonly signedOut?: true
  /** How docs/console.md shows it, unless light and in the window of a desk. */
  readonly image?: 'dark' | 'phone'
  /** Leads on from the address. */
  readonly open?: (page: ConsolePage, app: TestApp) => Promise<void>
}

const FORM = `document.querySelectorAll('.thumbnail, .ordered').length > 2`
const ARTICLE = `document.querySelector('[data-path=body] textarea')`

const narrowed = (text: string): string =>
  `/content/restaurants?filter=${encodeURIComponent(JSON.stringify({ text }))}`

/** All screens and views. The last one ends the session. */
export const SCREENS: readonly Screen[] = [
  { name: 'sign-in', path: '/', ready: `document.querySelector('.sign-in form')`, signedOut: true },
  { name: 'home', path: '/', ready: `document.querySelector('.cards li')` },
  {
    name: 'list',
    path: '/content/restaurants',
    ready: `document.querySelector('tbody a[href*="/content/restaurants/"]')`,
  },
  {
    name: 'selection',
    path: narrowed('kumo'),
    ready: `document.querySelectorAll('tbody tr').length === 1`,
    open: filterAndSelect,
  },
  { name: 'empty', path: '/content/tips', ready: `document.querySelector('.empty a.button')` },
  {
    name: 'nothing-found',
    path: narrowed('no such restaurant'),
    ready: `document.querySelector('.empty button')`,
  },
  { name: 'form', path: '/content/restaurants/kumo', ready: FORM },
  { name: 'refusal', path: '/content/restaurants/tinta', ready: FORM, open: saveWrongStars },
  { name: 'links', path: '/content/restaurants/milpa', ready: FORM, open: searchLinks },
  { name: 'create', path: '/content/dishes/create', ready: `document.querySelector('[data-path=price]')` },
  { name: 'zone', path: '/content/articles/the-courtyard-at-eight', ready: ARTICLE, open: showZone },
  {
    name: 'languages',
    path: '/content/articles/the-courtyard-at-eight?locale=fr',
    ready: ARTICLE,
    open: compareLocales,
    image: 'phone',
  },
  { name: 'single', path: '/single/homepage', ready: `document.querySelector('[data-path=intro] textarea')` },
  { name: 'changes', path: '/content/restaurants/bouchon-des-soies', ready: FORM, open: showChanges },
  {
    name: 'conflict',
    path: '/content/restaurants/casa-oliva',
    ready: FORM,
    open: meetConflict,
    image: 'dark',
  },
  { name: 'library', path: '/content/restaurants/comal-azul', ready: FORM, open: chooseFile, image: 'phone' },
  { name: 'media', path: '/media', ready: `document.querySelectorAll('.files img').length > 3` },
  { name: 'file', path: '/media', ready: `document.querySelector('.files button')`, open: showFile },
  { name: 'model', path: '/model', ready: `document.querySelectorAll('.diagram .box').length > 10` },
  {
    name: 'permissions',
    path: '/permissions',
    ready: `document.querySelectorAll('.matrix tbody tr').length > 8`,
    open: showDecision,
    image: 'dark',
  },
  { name: 'simulator', path: '/simulator', ready: `document.querySelector('select[name=role]')`, open: ask },
  { name: 'operations', path: '/operations', ready: `document.querySelectorAll('main details').length > 2` },
  { name: 'account', path: '/account', ready: `document.querySelector('input[name=currentPassword]')` },
  { name: 'missing', path: '/content/nothing', ready: `document.querySelector('main > h1 + p + a')` },
  { name: 'session-ended', path: '/', ready: `document.querySelector('.cards li')`, open: endSession },
]

export async function openScreen(page: ConsolePage, app: TestApp, screen: Screen): Promise<void> {
  if (screen.signedOut) await page.browser.open(`${app.url}/console${screen.path}`)
  else await page.follow(screen.path)
  await page.until(screen.ready)
  await screen.open?.(page, app)
}

async function filterAndSelect(page: ConsolePage): Promise<void> {
  await page.clickText('Add a filter')
  await page.fill('.condition input', 'Ku')
  await page.click('tbody input[type=checkbox]')
  await page.until(`document.querySelector('.bulk')`)
}

async function saveWrongStars(page: ConsolePage): Promise<void> {
  await page.fill('[data-path=stars] input', '9')
  await page.clickText('Save draft')
  await page.until(`document.querySelector('[data-path=stars] .fault')`)
}

async function searchLinks(page: ConsolePage): Promise<void> {
  await page.clickIn('[data-path=cuisines]', 'Link')
  await page.until(`document.querySelector('.picker li button')`)
}

async function showZone(page: ConsolePage): Promise<void> {
  await page.clickIn('[data-path=body]', 'Preview')
  await page.until(`document.querySelector('[data-path=body] .rendered p')`)
  await page.browser.evaluate(`document.querySelector('[data-path=body]').scrollIntoView()`)
}

async function compareLocales(page: ConsolePage): Promise<void> {
  await page.fill('.locales label:nth-of-type(2) select', 'en')
  await page.until(`document.querySelector('.reference')`)
}

async function showChanges(page: ConsolePage, { app }: TestApp): Promise<void> {
  const documentId = 'bouchon-des-soies'
  const data = { stars: 2, summary: 'Quenelles, and a cellar that is opened on request.' }
  await app.documents('api::restaurant.restaurant').update({ documentId, data } as never)
  await page.browser.evaluate('location.reload()')
  await page.until(`document.querySelector('.layout')`)
  await page.clickText('Changes')
  await page.until(`document.querySelectorAll('dialog tbody tr').length === 2`)
}

async function meetConflict(page: ConsolePage, { app }: TestApp): Promise<void> {
  await page.fill('[data-path=name] input', 'Casa Oliva, Lavapiés')
  await page.fill('[data-path=seats] input', '24')
  const theirs = { documentId: 'casa-oliva', data: { name: 'Casa Oliva y Mar', stars: 2 } }
  await app.documents('api::restaurant.restaurant').update(theirs as never)
  await page.clickText('Save draft')
  await page.until(`document.querySelector('dialog table')`)
}

async function chooseFile(page: ConsolePage): Promise<void> {
  await page.clickIn('[data-path=gallery]', 'Library')
  await page.until(`document.querySelectorAll('dialog .files img').length > 3`)
}

async function showFile(page: ConsolePage): Promise<void> {
  await page.click('.files button')
  await page.until(`document.querySelector('dialog .focal-frame img')?.complete`)
}

async function showDecision(page: ConsolePage): Promise<void> {
  await page.click('.matrix .mark-inPart')
  await page.until(`document.querySelector('.decision dl')`)
}

async function ask(page: ConsolePage): Promise<void> {
  await page.fill('input[name=path]', '/api/articles?fields=title')
  await page.clickText('Ask')
  await page.until(`document.querySelector('.card pre')`)
}

/** A new password, which may be the old one, ends the sessions of its user. */
async function endSession(page: ConsolePage, { app }: TestApp): Promise<void> {
  const users = app.documents('plugin::users-permissions.user')
  const [user] = (await users.findMany({ filters: { username: 'ann' } } as never)) as readonly {
    readonly documentId: string
  }[]
  await users.update({ documentId: user?.documentId ?? '', data: { password: PASSWORD } } as never)
  await page.follow('/content/critics')
  await page.until(`document.querySelector('dialog input[name=password]')`)
}

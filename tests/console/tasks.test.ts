import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { until } from '../harness/until.ts'
import { field, press, saveNew, uploadInto } from './console-driver.ts'
import { addUser, type ConsolePage, openConsole, signInAs as signInTo } from './open-console.ts'

const EXAMPLE = resolve(import.meta.dirname, '../..')

const file = teardownOfFile(test.after.always)

/** May write restaurants and articles, and not publish them. */
const WRITER = `
  writer:
    extends: authenticated
    permissions:
      restaurant: { find: true, findOne: true, create: true, update: true, readDrafts: true, publish: false }
      article: { find: true, findOne: true, create: true, update: true, readDrafts: true, publish: false }
`

/** The example with a third role. */
function exampleFolder(): string {
  const { path, remove } = temporaryFolder()
  file.teardown(remove)
  for (const name of ['content', 'extensions', 'mails', 'middlewares', 'policies'])
    symlinkSync(join(EXAMPLE, name), join(path, name))
  const text = readFileSync(join(EXAMPLE, 'project.yaml'), 'utf8')
  writeFileSync(join(path, 'project.yaml'), text.replace('\n  editor:\n', `${WRITER}\n  editor:\n`))
  return path
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: exampleFolder(), listen: true })
  await addUser(app, 'editor')
  await addUser(app, 'writer', 'wim')
  await addUser(app, 'authenticated', 'rea')
  return app
})

const openPage = once(() => openConsole({ teardown: file.teardown }))

type Values = Readonly<Record<string, unknown>>

/** The stored document that a filter finds, with everything that tasks look at. */
async function find(type: string, filters: Values, more: Values = {}): Promise<Values | undefined> {
  const { app } = await openApp()
  const found = await app
    .documents(`api::${type}.${type}` as 'api::dish.dish')
    .findMany({ filters, status: 'draft', populate: '*', ...more } as never)
  return (found as unknown as readonly Values[])[0]
}

async function stored(
  what: string,
  isSo: (document: Values) => boolean,
  look: () => Promise<Values | undefined>,
): Promise<void> {
  const { browser } = await openPage()
  let document: Values | undefined
  await until(what, async () => {
    document = await look()
    return document !== undefined && isSo(document)
  }).catch(async ({ message }: Error) => {
    throw new Error(
      `${message}\nStored: ${JSON.stringify(document)}\nThe page shows: ${await browser.shown()}`,
    )
  })
}

const list = (value: unknown): readonly Values[] => (Array.isArray(value) ? (value as readonly Values[]) : [])

async function signInAs(user: string): Promise<ConsolePage> {
  const page = await openPage()
  await signInTo(page, (await openApp()).url, user)
  return page
}

/** Follows a link inside the page. */
async function follow(path: string): Promise<ConsolePage> {
  const page = await openPage()
  await page.follow(path)
  return page
}

test.serial('an editor does the work of a guide: restaurants, dishes, cuisines', async t => {
  const page = await signInAs('ann')
  const restaurant = () => find('restaurant', { name: { $startsWith: 'Task' } })

  await follow('/content/cuisines/create')
  await page.fill(field('name'), 'Basque cooking')
  await page.clickText('Generate')
  await page.until(`document.querySelector('[data-path=slug] input').value === 'basque-cooking'`)
  await saveNew(page, 'Save')
  await stored(
    '1: a cuisine with a generated slug',
    ({ slug }) => slug === 'basque-cooking',
    () => find('cuisine', { name: 'Basque cooking' }),
  )
  await page.fill(field('name'), 'Basque')
  await page.clickText('Save')
  await stored(
    '2: the cuisine has another name',
    () => true,
    () => find('cuisine', { name: 'Basque' }),
  )

  await follow('/content/critics/create')
  await page.fill(field('name'), 'Task Critic')
  await page.fill(field('bio', 'textarea'), 'One\nTwo')
  await saveNew(page, 'Save')
  await stored(
    '3: a critic with a text of two lines',
    ({ bio }) => bio === 'One\nTwo',
    () => find('critic', { name: 'Task Critic' }),
  )

  await follow('/content/restaurants/create')
  await page.until(`document.querySelector('[data-path=hours]')`)
  await page.fill(field('name'), 'Task')
  await page.fill(field('openedOn'), '2024-02-29')
  await press(page, 'address', 'Add Address')
  await page.fill(field('address.street'), 'Rue Une 1')
  await press(page, 'hours', 'Add Hours')
  await page.fill(field('hours.0.days'), 'Mon')
  // A draft may lack required values.
  await page.clickText('Publish')
  await page.until(`document.querySelector('[data-path="address.city"] > .fault')`)
  await page.until(`document.querySelector('[data-path="hours.0.closes"] > .fault')`)
  t.deepEqual(await page.browser.audit(), [], '4: what the server refuses is said at its fields')
  await page.fill(field('address.city'), 'Lyon')
  await page.fill(field('hours.0.opens'), '10:00')
  await page.fill(field('hours.0.closes'), '22:30')
  await saveNew(page, 'Save draft')
  await stored(
    '5: a draft with components, a date and times',
    ({ openedOn, address, hours }) =>
      openedOn === '2024-02-29' &&
      (address as Values)?.city === 'Lyon' &&
      list(hours)[0]?.closes === '22:30:00',
    restaurant,
  )
  t.is(
    await find('restaurant', { name: 'Task' }, { start: 1 }),
    undefined,
    'a refused publication leaves nothing behind',
  )

  await press(page, 'hours', 'Add Hours')
  await page.fill(field('hours.1.days'), 'Sun')
  await page.fill(field('hours.1.opens'), '12:00')
  await page.fill(field('hours.1.closes'), '14:00')
  await page.click(`[data-path=hours] li:nth-child(2) > .entry-buttons [title="Move up"]`)
  await page.clickText('Save draft')
  await stored(
    '6: repeatable components in another order',
    ({ hours }) =>
      list(hours)
        .map(({ days }) => days)
        .join() === 'Sun,Mon',
    restaurant,
  )
  await page.until(`document.querySelector('button[type=submit]').ariaDisabled`)
  await page.click(`[data-path=hours] li:nth-child(1) > .entry-buttons [title="Duplicate"]`)
  await page.click(`[data-path=hours] li:nth-child(3) > .entry-buttons [title="Remove"]`)
  await page.fill(field('hours.1.days'), 'Sat')
  await page.clickText('Save draft')
  await stored(
    '7: one is duplicated, one removed',
    ({ hours }) =>
      list(hours)
        .map(({ days }) => days)
        .join() === 'Sun,Sat',
    restaurant,
  )

  for (const name of ['Basque', 'Japanese']) {
    await press(page, 'cuisines', 'Link Cuisines').catch(() => undefined)
    await page.fill('[data-path=cuisines] input[type=search]', name)
    await page.clickIn('[data-path=cuisines] .picker', name)
    await press(page, 'cuisines', 'Close')
  }
  await page.clickText('Save draft')
  await stored(
    '8: two relations, found by search',
    ({ cuisines }) =>
      list(cuisines)
        .map(({ name }) => name)
        .join() === 'Basque,Japanese',
    restaurant,
  )
  await page.until(`document.querySelector('button[type=submit]').ariaDisabled`)
  await page.click(`[data-path=cuisines] li:nth-child(2) > .entry-buttons [title="Move up"]`)
  await page.clickText('Save draft')
  await stored(
    '9: relations in another order',
    ({ cuisines }) =>
      list(cuisines)
        .map(({ name }) => name)
        .join() === 'Japanese,Basque',
    restaurant,
  )

  await page.fill(field('stars'), '2')
  await page.clickText('Publish')
  await stored(
    '10: published',
    ({ stars }) => stars === 2,
    () => find('restaurant', { name: 'Task' }, { status: 'published' }),
  )
  await page.until(`document.querySelector('.state.published')`)
  await page.fill(field('name'), 'Task changed')
  await page.clickText('Save draft')
  await page.until(`document.querySelector('.state.modified')`)
  await page.clickText('Changes')
  await page.clickText('Discard the draft')
  await stored('11: the draft is discarded', ({ name }) => name === 'Task', restaurant)
  await page.until(`document.querySelector('.state.published')`)
  await page.clickText('Unpublish')
  await page.click('dialog .danger')
  await page.until(`document.querySelector('.state.draft')`)
  t.is(await find('restaurant', { name: 'Task' }, { status: 'published' }), undefined, '12: unpublished')

  await follow('/content/dishes/create')
  await page.fill(field('name'), 'Task dish')
  await page.fill(field('price'), '12.50')
  await page.fill(field('vegetarian', 'select'), 'true')
  await press(page, 'restaurant', 'Link Restaurant')
  await page.fill('[data-path=restaurant] input[type=search]', 'Task')
  await page.clickIn('[data-path=restaurant] .picker', 'Task')
  await saveNew(page, 'Save')
  await stored(
    '13: a decimal, a boolean and a to-one relation',
    ({ price, vegetarian, restaurant: of }) =>
      Number(price) === 12.5 && vegetarian === true && (of as Values)?.name === 'Task',
    () => find('dish', { name: 'Task dish' }),
  )
  await page.until(`/Task/.test(document.querySelector('[data-path=restaurant] li')?.innerText)`)

  await follow(`/content/restaurants?filter=${encodeURIComponent('{"text":"Task"}')}`)
  await page.click('tbody input[type=checkbox]')
  await page.clickIn('.bulk', 'Publish')
  await page.click('dialog .danger')
  await page.until(`/Task/.test(document.querySelector('.outcomes')?.innerText)`)
  t.truthy(await find('restaurant', { name: 'Task' }, { status: 'published' }), '14: published from the list')
  t.deepEqual(await page.browser.audit(), [])
  await page.until(`!document.querySelector('.bulk') && document.activeElement.className === 'outcomes'`)
  await page.clickIn('.outcomes', 'Close')
  await page.until(`document.activeElement.tagName === 'H1'`)
  await page.click('tbody input[type=checkbox]')
  await page.clickIn('.bulk', 'Delete')
  await page.click('dialog .danger')
  await page.until(`document.querySelector('.empty')`)
  await page.until(
    `/Task/.test(document.activeElement.innerText) && document.activeElement.className === 'outcomes'`,
  )
  t.is(await restaurant(), undefined, '15: deleted from the list')
  await page.clickText('Clear search and filters')
  await page.until(`document.querySelectorAll('tbody tr').length > 3`)
  t.false(
    /filter=%7B%22/.test(String(await page.browser.evaluate('location.search'))),
    '16: an empty list shows the way back',
  )
})

test.serial('an editor writes an article in two languages, a page and a file', async t => {
  const page = await signInAs('ann')
  const article = (locale = 'en') => find('article', { title: { $startsWith: 'Task' } }, { locale })
  await follow('/content/articles/create?locale=en')
  await page.fill(field('title'), 'Task article')
  await page.fill(field('kind', 'select'), 'news')
  await page.clickIn('[data-path=body]', 'Add Blocks text')
  await page.fill(field('body.0.text', 'textarea'), '# One\n\n- two')
  await page.clickIn('[data-path=body]', 'Add Blocks quote')
  await page.fill(field('body.1.text', 'textarea'), 'Quoted')
  await saveNew(page, 'Save draft')
  const kinds = (document: Values) =>
    list(document.body)
      .map(({ __component: name }) => String(name).slice(7))
      .join()
  await stored(
    '17: a zone of two components',
    document => kinds(document) === 'text,quote' && list(document.body)[0]?.text === '# One\n\n- two',
    () => article(),
  )
  await page.click(`[data-path=body] li:nth-child(2) > .entry-buttons [title="Move up"]`)
  await page.click(`[data-path=body] li:nth-child(1) > .entry-buttons [title="Duplicate"]`)
  await page.clickText('Save draft')
  await stored(
    '18: moved and duplicated',
    document => kinds(document) === 'quote,quote,text',
    () => article(),
  )
  await page.until(`document.querySelector('button[type=submit]').ariaDisabled`)
  await page.click(`[data-path=body] li:nth-child(1) > .entry-buttons [title="Remove"]`)
  await press(page, 'seo', 'Add Seo')
  await page.fill(field('seo.title'), 'For robots')
  await page.clickText('Save draft')
  await stored(
    '19: removed, and a single component',
    document => kinds(document) === 'quote,text' && (document.seo as Values)?.title === 'For robots',
    () => article(),
  )

  await page.fill('.locales select', 'fr')
  await page.until(`/locale=fr/.test(location.search)`)
  await page.fill('.locales label:nth-of-type(2) select', 'en')
  await page.clickText('Fill from en')
  await page.until(`document.querySelector('[data-path=title] > input').value === 'Task article'`)
  await page.fill(field('title'), 'Task en français')
  await page.clickText('Save draft')
  await stored(
    '20: another locale, filled from the first',
    document => document.title === 'Task en français' && kinds(document) === 'quote,text',
    () => article('fr'),
  )
  t.is((await article())?.title, 'Task article')

  await follow('/single/homepage')
  await page.until(`document.querySelector('[data-path=title] > input')?.value`)
  await page.fill(field('title'), 'Task home')
  await page.clickText('Publish')
  await stored(
    '21: a single type is published',
    ({ title }) => title === 'Task home',
    () => find('homepage', {}, { status: 'published', locale: 'en' }),
  )

  await follow('/media')
  await page.until(`document.querySelector('#upload')`)
  await uploadInto(page, '#upload', 'task.svg')
  await page.until(`/task.svg/.test(document.querySelector('.files')?.innerText)`)
  t.is(await page.browser.evaluate('window.ran ?? null'), null, '22: an uploaded drawing runs nothing')
  t.deepEqual(await page.browser.audit(), [])
})

test.serial('a writer saves drafts and is offered no publication', async t => {
  const page = await signInAs('wim')
  await follow('/content/restaurants/create')
  await page.fill(field('name'), 'Written')
  await page.clickText('Save draft')
  await stored(
    '23: a draft of a writer',
    ({ name }) => name === 'Written',
    () => find('restaurant', { name: 'Written' }),
  )
  const buttons = `[...document.querySelectorAll('button')].map(button => button.innerText.trim())`
  const offered = (await page.browser.evaluate(buttons)) as readonly string[]
  t.false(offered.some(text => ['Publish', 'Unpublish', 'Delete'].includes(text)))
  t.is(await find('restaurant', { name: 'Written' }, { status: 'published' }), undefined)
  t.false(/Audit/.test(String(await page.browser.evaluate(`document.querySelector('nav').innerText`))))
})

test.serial('a reader leaves a tip and cannot edit the guide', async t => {
  const page = await signInAs('rea')
  await follow('/content/restaurants')
  await page.until(`document.querySelectorAll('tbody tr').length > 3`)
  t.is(await page.browser.evaluate(`document.querySelectorAll('.title-row .button').length`), 0)
  await page.click('tbody a')
  await page.until(`document.querySelector('[data-path=name] > input')`)
  t.is(
    await page.browser.evaluate(
      `document.querySelectorAll('form input:enabled, form textarea:enabled').length`,
    ),
    0,
    '24: a form without permission is read-only',
  )
  t.false(/phone/i.test(String(await page.browser.evaluate('document.body.innerText'))))
  await follow('/content/tips/create')
  await page.fill(field('text', 'textarea'), 'Try the soup')
  await page.clickText('Save')
  await stored(
    '25: a tip of its own',
    ({ owner }) => (owner as Values)?.username === 'rea',
    () => find('tip', { text: 'Try the soup' }),
  )
})

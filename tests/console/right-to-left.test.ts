import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'

// Arabic and Hebrew content, in its own locale and within an English document.

const file = teardownOfFile(test.after.always)

const ARABIC = 'مطعم الزيتون في القدس'
const HEBREW = 'שלום עולם, ברוכים הבאים'
const ENGLISH = 'A table under the olive tree'

const PROJECT = {
  name: 'Scripts',
  i18n: { locales: ['en', 'ar'], defaultLocale: 'en' },
  contentTypes: {
    page: {
      draftAndPublish: true,
      localized: true,
      attributes: {
        title: { type: 'string', required: true },
        plain: 'string',
        slug: { type: 'uid', targetField: 'title' },
        summary: 'text',
        notes: 'richtext',
        body: 'blocks',
        data: 'json',
        other: { type: 'relation', relation: 'manyToOne', target: 'page' },
      },
    },
  },
  roles: { public: {}, editor: { permissions: { page: '*', users: ['me'] } } },
}

const paragraph = (text: string) => ({ type: 'paragraph', children: [{ type: 'text', text }] })

const valuesIn = (title: string) => ({
  title,
  plain: ENGLISH,
  slug: 'olive',
  summary: HEBREW,
  notes: `# ${ARABIC}\n\n${ENGLISH}`,
  body: [paragraph(ARABIC), paragraph(ENGLISH)],
  data: { name: ARABIC },
})

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  const pages = app.app.documents('api::page.page')
  const create = { data: valuesIn(ARABIC), locale: 'en', status: 'published' }
  const { documentId } = await pages.create(create as never)
  await pages.update({ documentId, locale: 'ar', data: valuesIn(ARABIC) } as never)
  await pages.update({
    documentId,
    locale: 'en',
    data: { summary: ARABIC, plain: HEBREW, other: documentId },
  } as never)
  await pages.create({ data: { title: ENGLISH, other: documentId }, locale: 'en' } as never)
  return { app, documentId }
})

const openPage = once(async () => {
  const { app } = await openApp()
  const page = await openConsole({ teardown: file.teardown })
  await openSignedIn(page, app.url)
  return page
})

/** The side at which each block of a text begins. */
const sidesOf = (selector: string): string => `[...document.querySelectorAll('${selector}')].map(block => {
  const range = document.createRange()
  range.selectNodeContents(block)
  const text = range.getBoundingClientRect()
  const box = block.getBoundingClientRect()
  return text.left - box.left < box.right - text.right ? 'left' : 'right'
}).join()`

const directionsOf = (selector: string): string =>
  `[...document.querySelectorAll('${selector}')].map(each => getComputedStyle(each).direction).join()`

async function direction(name: string, tag: string): Promise<unknown> {
  const { browser } = await openPage()
  return browser.evaluate(directionsOf(`[data-path="${name}"] ${tag}`))
}

test.serial('an Arabic document is written from the right, and its code from the left', async t => {
  const { documentId } = await openApp()
  const page = await openPage()
  await page.follow(`/content/pages/${documentId}?locale=ar`)
  await page.until(`document.querySelector('[data-path=body] [role=textbox]')`)
  for (const [name, tag] of [
    ['title', 'input'],
    ['summary', 'textarea'],
    ['notes', 'textarea'],
    ['body', '[role=textbox]'],
  ] as const)
    t.is(await direction(name, tag), 'rtl', name)
  t.is(await direction('slug', 'input'), 'ltr')
  t.is(await direction('data', 'textarea'), 'ltr')
  t.true(
    String(await page.browser.evaluate(`document.querySelector('[data-path=data] textarea').value`)).includes(
      ARABIC,
    ),
  )
  t.is(await page.browser.evaluate(sidesOf('[data-path=body] [role=textbox] > *')), 'right,left')
  t.is(await direction('title', 'label'), 'ltr')
  t.deepEqual(await page.browser.audit(), [])
})

test.serial(
  'within an English document each text, paragraph and cell has the direction of its words',
  async t => {
    const { documentId } = await openApp()
    const page = await openPage()
    await page.follow(`/content/pages/${documentId}?locale=en`)
    await page.until(`document.querySelector('[data-path=body] [role=textbox]')`)
    t.is(await direction('title', 'input'), 'rtl')
    t.is(await direction('plain', 'input'), 'rtl')
    t.is(await direction('summary', 'textarea'), 'rtl')
    t.is(await page.browser.evaluate(directionsOf('main h1')), 'rtl')
    t.is(await page.browser.evaluate(sidesOf('[data-path=body] [role=textbox] > *')), 'right,left')
    await page.clickIn('[data-path=notes]', 'Preview')
    await page.until(`document.querySelector('.rendered p')`)
    t.is(await page.browser.evaluate(sidesOf('.rendered > *')), 'right,left')
    t.is(await direction('other', '.entry a'), 'rtl')
    t.deepEqual(await page.browser.audit(), [])

    await page.clickText('Changes')
    await page.until(`document.querySelectorAll('dialog tbody tr').length > 1`)
    t.is(
      await page.browser.evaluate(
        `[...document.querySelectorAll('dialog tbody tr')].map(row => [...row.querySelectorAll('td')]
        .map(cell => getComputedStyle(cell).direction)).join('|')`,
      ),
      'ltr,rtl|rtl,rtl|ltr,rtl',
    )
    await page.clickText('Close')

    await page.follow('/content/pages')
    await page.until(`document.querySelectorAll('tbody tr').length === 2`)
    t.is(await page.browser.evaluate(directionsOf('tbody tr td:nth-child(2) bdi')), 'ltr,rtl')
    t.deepEqual(await page.browser.audit(), [])
  },
)

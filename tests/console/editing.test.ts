import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import type { JsonValue } from '../../tools/console/api/json.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { until } from '../harness/until.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'
import { randomBlocks, randomNumbers } from './random-blocks.ts'

const file = teardownOfFile(test.after.always)

const PROJECT = {
  name: 'Paper',
  components: {
    'page.part': { attributes: { text: 'blocks' } },
    'page.links': {
      attributes: { label: 'string', notes: { type: 'relation', relation: 'manyToMany', target: 'note' } },
    },
  },
  contentTypes: {
    page: {
      attributes: {
        title: { type: 'string', required: true },
        body: 'blocks',
        notes: 'richtext',
        summary: 'text',
        lines: 'string',
        count: 'integer',
        large: 'biginteger',
        exact: 'decimal',
        at: 'datetime',
        parts: { type: 'component', component: 'page.part', repeatable: true },
      },
    },
    note: {
      localized: true,
      attributes: {
        title: 'string',
        parts: { type: 'component', component: 'page.links', repeatable: true },
      },
    },
  },
  i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
  roles: {
    public: { permissions: {} },
    editor: { permissions: { '*': ['find', 'findOne', 'create', 'update', 'delete'], users: ['me'] } },
  },
  rest: { openapi: true },
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  return app
})

/** One browser for the whole file. */
const openPage = once(async () => {
  const app = await openApp()
  const page = await openConsole({ teardown: file.teardown })
  await openSignedIn(page, app.url)
  return page
})

const pages = async () => (await openApp()).app.documents('api::page.page')

const bodyOf = async (documentId: string): Promise<JsonValue> => {
  const found = (await (await pages()).findOne({ documentId } as never)) as unknown as {
    readonly body: JsonValue
  }
  return found.body
}

/** Within the page: the session has no password to ask for. */
async function follow(path: string) {
  const page = await openPage()
  await page.follow(path)
  return page
}

/** Nothing is left to save. A notice may be that of an earlier save. */
const WRITTEN = `document.querySelector('form[aria-busy=false] button[type=submit][aria-disabled=true]')`

const text = (value: string, more = {}) => ({ type: 'text', text: value, ...more })

test.serial('blocks are written with the keyboard: styles, marks, lists, links, and taken back', async t => {
  const { documentId } = await (await pages()).create({ data: { title: 'Keys' } } as never)
  const page = await follow(`/content/pages/${documentId}`)
  const { browser } = page
  await page.until(`document.querySelector('[data-path=body] [role=textbox]')`)
  t.deepEqual(await browser.audit(), [])
  await browser.evaluate(`document.querySelector('[data-path=body] [role=textbox]').focus()`)
  await page.until(`document.querySelector('[role=toolbar] select:not(:disabled)')`)
  await browser.press('Control+Alt+2')
  await browser.type('Title')
  await browser.press('Enter')
  await browser.type('plain ')
  await browser.press('Control+b')
  await browser.type('bold')
  await browser.press('Control+b')
  await browser.press('Enter')
  await browser.press('Alt+F10')
  await page.until(`document.activeElement.closest('[role=toolbar]')`)
  await browser.press('ArrowRight')
  t.is(await browser.evaluate('document.activeElement.getAttribute("aria-label")'), 'Bold')
  await browser.press('Escape')
  await page.until(`document.activeElement.getAttribute('role') === 'textbox'`)
  await page.fill('[role=toolbar] select', 'unordered')
  await page.until(`document.querySelector('[data-path=body] li')`)
  await browser.type('one')
  await browser.press('Enter')
  await browser.press('Control+]')
  await browser.type('two')
  await browser.press('Enter')
  await browser.press('Control+k')
  await page.until(`document.querySelector('dialog input') === document.activeElement`)
  t.deepEqual(await browser.audit(), [])
  await browser.type('javascript:alert(1)')
  await browser.press('Enter')
  await page.until(`document.querySelector('dialog .fault')`)
  await page.fill('dialog input', 'example.org/a')
  await browser.press('Enter')
  await page.until(`document.querySelector('[data-path=body] a[href="https://example.org/a"]')`)
  await page.until(`document.activeElement.getAttribute('role') === 'textbox'`)
  await browser.type('!')
  await page.until(`/!$/.test(document.querySelector('[data-path=body] [role=textbox]').innerText.trim())`)
  await browser.press('Backspace')
  t.deepEqual(await browser.audit(), [])
  await page.clickText('Save')
  await page.until(WRITTEN)
  t.deepEqual(await bodyOf(documentId), [
    { type: 'heading', level: 2, children: [text('Title')] },
    { type: 'paragraph', children: [text('plain '), text('bold', { bold: true })] },
    {
      type: 'list',
      format: 'unordered',
      children: [
        { type: 'list-item', children: [text('one')] },
        {
          type: 'list',
          format: 'unordered',
          indentLevel: 1,
          children: [
            { type: 'list-item', children: [text('two')] },
            {
              type: 'list-item',
              children: [
                text(''),
                { type: 'link', url: 'https://example.org/a', children: [text('https://example.org/a')] },
                text(''),
              ],
            },
          ],
        },
      ],
    },
  ])
})

test.serial('a form of 30 random documents writes the edited one, and no byte of the others', async t => {
  const random = randomNumbers(5)
  const parts = Array.from({ length: 30 }, () => ({ text: randomBlocks(random, true) }))
  const { documentId } = await (await pages()).create({ data: { title: 'Random', parts } } as never)
  const stored = async () => {
    const found = await (await pages()).findOne({ documentId, populate: { parts: true } } as never)
    return (found as unknown as { readonly parts: readonly { readonly text: JsonValue }[] }).parts
  }
  const before = await stored()
  ;(await openPage()).browser.complaints.splice(0)
  const page = await follow(`/content/pages/${documentId}`)
  await page.until(`document.querySelectorAll('[data-path=parts] details').length === 30`)
  await page.browser.evaluate(`for (const part of document.querySelectorAll('details')) part.open = true`)
  await page.until(`document.querySelectorAll('[data-path=parts] [role=textbox]').length === 30`)
  await page.fill('[data-path=title] input', 'Random again')
  await page.browser.evaluate(`document.querySelectorAll('[data-path=parts] [role=textbox]')[4].focus()`)
  await page.browser.press('Control+Home')
  await page.browser.type('Edited ')
  await page.until(
    `/^Edited/.test(document.querySelectorAll('[data-path=parts] [role=textbox]')[4].innerText)`,
  )
  await page.clickText('Save')
  await page.until(WRITTEN)
  const after = await stored()
  t.is(after.length, 30)
  for (const [index, part] of after.entries())
    if (index === 4) t.true(/Edited /.test(JSON.stringify(part)))
    else t.is(JSON.stringify(part), JSON.stringify(before[index]))
  t.deepEqual(page.browser.complaints, [])
})

test.serial('the focus stays while a document is saved, and what is typed meanwhile is not lost', async t => {
  const page = await follow('/content/pages/create')
  const { browser } = page
  const focused = () => browser.evaluate('document.activeElement.outerHTML.slice(0, 200)')
  await page.until(`document.querySelector('[data-path=title] input')`)
  await browser.evaluate(`document.querySelector('[data-path=title] input').focus()`)
  await browser.type('One')
  await browser.press('Enter')
  await page.until(`/pages\\/(?!create)/.test(location.pathname) && ${WRITTEN}`)
  await page.until(`document.activeElement.tagName === 'H1'`)
  const documentId = String(await browser.evaluate(`location.pathname.split('/').at(-1)`))
  const stored = async () =>
    ((await (await pages()).findOne({ documentId } as never)) as unknown as { readonly title: string }).title
  t.is(await stored(), 'One')

  // The next PUT waits until the test lets it go.
  await browser.evaluate(`(() => {
    const send = window.fetch
    window.fetch = async (address, request) => {
      if (request?.method === 'PUT') await new Promise(resolve => { window.letGo = resolve })
      return send(address, request)
    }
  })()`)
  await browser.evaluate(`document.querySelector('[data-path=title] input').focus()`)
  await browser.press('End')
  await browser.type(' two')
  await browser.press('Enter')
  await page.until(`document.querySelector('form[aria-busy=true]') && window.letGo`)
  t.regex(String(await focused()), /^<input/)
  t.deepEqual(await browser.audit(), [])
  await browser.type(' three')
  await browser.evaluate('window.letGo()')
  await page.until(`document.querySelector('form[aria-busy=false]')`)
  t.is(await stored(), 'One two')
  t.is(await browser.evaluate('document.activeElement.value'), 'One two three')

  await browser.evaluate(`document.querySelector('form button[type=submit]').focus()`)
  await browser.press(' ')
  await page.until(`document.querySelector('form[aria-busy=true]')`)
  await browser.evaluate('window.letGo()')
  await page.until(WRITTEN)
  t.is(await stored(), 'One two three')
  t.regex(String(await focused()), /type="submit"/)
  await browser.evaluate('location.reload()')
  await page.until(`document.querySelector('.layout')`)
})

test.serial('a reload stays signed in, and signing out ends that', async t => {
  const app = await openApp()
  const page = await openConsole(t)
  await openSignedIn(page, app.url)
  // A sign-in is shown when its cookie is set.
  await page.browser.open(`${app.url}/console`)
  await page.until(`document.querySelector('.layout, input[name=identifier]')`)
  t.true(await page.browser.evaluate(`Boolean(document.querySelector('.layout'))`))
  t.is(await page.browser.evaluate('document.cookie'), '')
  t.false(
    /eyJ/.test(String(await page.browser.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })'))),
  )
  await page.clickText('Sign out')
  await page.until(`document.querySelector('input[name=identifier]')`)
  await page.browser.open(`${app.url}/console`)
  await page.until(`document.querySelector('.layout, input[name=identifier]')`)
  t.false(await page.browser.evaluate(`Boolean(document.querySelector('.layout'))`))
})

test.serial(
  'line breaks, digits and times that were not edited stay, and edited ones are what was typed',
  async t => {
    const values = {
      title: 'Values',
      notes: '# a\r\n\r\n\tb  \rc\u200b\n',
      summary: 'one\r\ntwo\r\n',
      lines: 'one\ntwo',
      count: 7,
      large: '9007199254740993',
      exact: '12345678.90',
      at: '2024-02-29T12:00:00.123Z',
    }
    const { documentId } = await (await pages()).create({ data: values } as never)
    const read = async () =>
      (await (await pages()).findOne({ documentId } as never)) as unknown as Record<string, unknown>
    const before = await read()
    const page = await follow(`/content/pages/${documentId}`)
    await page.until(`document.querySelector('[data-path=title] input')?.value === 'Values'`)
    await page.until(`document.querySelector('[data-path=notes] textarea')`)
    await page.fill('[data-path=title] input', 'Values again')
    await page.clickText('Save')
    await page.until(WRITTEN)
    const { title: _title, updatedAt: _updatedAt, publishedAt: _publishedAt, ...kept } = await read()
    for (const [name, value] of Object.entries(kept)) t.deepEqual(value, before[name], name)

    await page.fill('[data-path=notes] textarea', '# a\n\n\tb  \nc\u200b\nnew')
    await page.fill('[data-path=lines] textarea', 'one\ntwo\nthree')
    await page.fill('[data-path=count] input', 'many')
    await page.fill('[data-path=large] input', '9007199254740995')
    await page.fill('[data-path=exact] input', '-0.10')
    await page.clickText('Save')
    await page.until(`document.querySelector('[data-path=count] .fault')`)
    t.is(await page.browser.evaluate(`document.querySelector('[data-path=count] input').value`), 'many')
    await page.fill('[data-path=count] input', '-12')
    await page.clickText('Save')
    await until('the corrected number is saved', async () => (await read()).count === -12)
    const after = await read()
    t.is(after.notes, `${values.notes}new`)
    t.is(after.lines, 'one\ntwo\nthree')
    t.is(after.count, -12)
    t.is(after.large, '9007199254740995')
    t.is(Number(after.exact), -0.1)
    t.is(after.at, values.at)
  },
)

test.serial('a locale is filled without links to documents that do not have it', async t => {
  const notes = (await openApp()).app.documents('api::note.note' as 'api::page.page')
  const create = async (data: object): Promise<string> => (await notes.create({ data } as never)).documentId
  const both = await create({ title: 'Both' })
  await notes.update({ documentId: both, locale: 'fr', data: { title: 'Les deux' } } as never)
  const english = await create({ title: 'English' })
  const documentId = await create({ title: 'Links', parts: [{ label: 'See', notes: [english, both] }] })
  const page = await follow(`/content/notes/${documentId}?locale=fr`)
  await page.fill('.locales label:nth-of-type(2) select', 'en')
  await page.clickText('Fill from en')
  await page.until(`/^1 link/.test(document.querySelector('.notices')?.innerText)`)
  t.is(
    await page.browser.evaluate(`document.querySelector('[data-path=parts] > .reference').innerText`),
    'en See · English, Both',
  )
  await page.clickText('Save')
  await page.until(WRITTEN)
  const populate = { parts: { populate: { notes: true } } }
  const stored = await notes.findOne({ documentId, locale: 'fr', populate } as never)
  const [part] = (stored as unknown as { readonly parts: readonly { readonly notes: readonly object[] }[] })
    .parts
  t.like(part, { label: 'See', notes: [{ documentId: both, title: 'Les deux' }] })
  t.is(part?.notes.length, 1)
})

test.serial(
  'input that the browser has no room for is saved, and the form says that it is not kept',
  async t => {
    const { documentId } = await (await pages()).create({ data: { title: 'Full' } } as never)
    const page = await follow(`/content/pages/${documentId}`)
    await page.until(`document.querySelector('[data-path=title] input')?.value === 'Full'`)
    await page.browser.evaluate(`(() => {
    for (let length = 1e6; length >= 1; length = Math.floor(length / 2))
      try {
        for (;;) sessionStorage.setItem('full' + length + Math.random(), 'x'.repeat(length))
      } catch {}
  })()`)
    await page.fill('[data-path=title] input', 'No room')
    await page.until(`/no room/.test(document.querySelector('form [role=alert]')?.innerText)`)
    await page.clickText('Save')
    await page.until(WRITTEN)
    await page.browser.evaluate(
      `Object.keys(sessionStorage).filter(key => key.startsWith('full')).forEach(key => sessionStorage.removeItem(key))`,
    )
    t.like(await (await pages()).findOne({ documentId } as never), { title: 'No room' })
  },
)

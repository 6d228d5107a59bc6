import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import type { View } from '../harness/browser.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { walkByTab } from './keyboard-walk.ts'
import { addUser, type ConsolePage, openConsole, openSignedIn } from './open-console.ts'
import { openScreen, SCREENS, type Screen } from './screens.ts'

// Every screen, in windows of a phone and of a desk, in light and dark, in English and French. PLINTH_SAFETY=whole: all combinations
// instead of the two that differ in everything.

const project = resolve(import.meta.dirname, '../..')
const file = teardownOfFile(test.after.always)
const whole = process.env.PLINTH_SAFETY === 'whole'

const PHONE = { width: 360, height: 740 }
const DESK = { width: 1280, height: 800 }

interface Look extends View {
  readonly language: 'en' | 'fr'
}

const ALL_LOOKS: readonly Look[] = [PHONE, DESK].flatMap(size =>
  [false, true].flatMap(dark => (['en', 'fr'] as const).map(language => ({ ...size, dark, language }))),
)
const LOOKS = whole
  ? ALL_LOOKS
  : ALL_LOOKS.filter(({ width, dark, language }) =>
      width === PHONE.width ? dark && language === 'fr' : !dark && language === 'en',
    )

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project, listen: true })
  await addUser(app, 'editor')
  return app
})

/** One browser for the whole file. */
const openPage = once(() => openConsole({ teardown: file.teardown }))

async function show(screen: Screen): Promise<ConsolePage> {
  const app = await openApp()
  const page = await openPage()
  await page.browser.emulate({ ...DESK, dark: false })
  if (!screen.signedOut) {
    await page.browser.evaluate(`sessionStorage.clear(); localStorage.setItem('plinth-language', 'en')`)
    await openSignedIn(page, app.url)
  }
  await openScreen(page, app, screen)
  return page
}

/** The words change at once. Before the sign-in they are those of the browser. */
async function speak(page: ConsolePage, language: string): Promise<void> {
  if (!(await page.browser.evaluate(`Boolean(document.querySelector('.preferences'))`))) return
  await page.fill('.preferences select', language)
  await page.until(`document.documentElement.lang === '${language}'`)
}

/** What is wider than its window, which may be a dialog: the reader of a phone would have to move it to and fro. */
const OVERFLOW = `[document.documentElement, ...document.querySelectorAll('dialog[open]')]
  .filter(box => box.scrollWidth > box.clientWidth)
  .flatMap(box => [...box.querySelectorAll('*')]
    .filter(each => each.getBoundingClientRect().right > box.getBoundingClientRect().left + box.clientWidth + 1)
    .map(each => each.tagName + '.' + each.className + ' ' + each.textContent.slice(0, 40)).slice(0, 5))`

test('each route of the console has a screen', t => {
  const routes = readFileSync(join(project, 'tools/console/main.tsx'), 'utf8').matchAll(
    /<Route path="(\/[^"]*)"/g,
  )
  const patterns = [...routes].map(
    ([, path = '']) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/?]+')}(\\?|$)`),
  )
  t.true(patterns.length > 10)
  for (const pattern of patterns)
    t.true(
      SCREENS.some(({ path }) => pattern.test(path)),
      String(pattern),
    )
})

for (const screen of SCREENS)
  test.serial(`${screen.name}: accessible in every window, colour and language, and by keyboard`, async t => {
    const page = await show(screen)
    const found: Record<string, readonly string[]> = {}
    for (const look of LOOKS) {
      await page.browser.emulate(look)
      await speak(page, look.language)
      const overflow = (await page.browser.evaluate(OVERFLOW)) as readonly string[]
      const findings = [...overflow, ...(await page.browser.audit()), ...(await walkByTab(page.browser))]
      if (findings.length > 0) found[JSON.stringify(look)] = findings
    }
    t.deepEqual(found, {})
  })

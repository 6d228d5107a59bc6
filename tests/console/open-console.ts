import type { ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { type Browser, openBrowser } from '../harness/browser.ts'

/** A browser for the console. */
export interface ConsolePage {
  readonly browser: Browser
  readonly password: string
  /** Types a value into the first element that the selector finds, once it may be edited, as a user does: React hears of it. */
  fill(selector: string, value: string): Promise<void>
  click(selector: string): Promise<void>
  /** The button that has exactly this text. */
  clickText(text: string): Promise<void>
  /** The button that begins with this text, within the first element that the selector finds. */
  clickIn(selector: string, text: string): Promise<void>
  until(expression: string): Promise<unknown>
  /** Goes to an address of the console within the page, and waits until the form of before is gone. */
  follow(path: string): Promise<void>
}

export const PASSWORD = 'correct horse battery'

export async function openConsole(t: Pick<ExecutionContext, 'teardown'>): Promise<ConsolePage> {
  const browser = await openBrowser()
  t.teardown(browser.close)
  return {
    browser,
    password: PASSWORD,
    until: expression => browser.until(`Boolean(${expression})`),
    async fill(selector, value) {
      await browser.until(`(element => {
        if (!element || element.disabled || element.readOnly) return false
        const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), 'value')
        set.call(element, ${JSON.stringify(value)})
        element.dispatchEvent(new Event('input', { bubbles: true }))
        element.dispatchEvent(new Event('change', { bubbles: true }))
        return true
      })(document.querySelector(${JSON.stringify(selector)}))`)
    },
    click: selector =>
      browser.click(`(element => element && !element.disabled && !element.ariaDisabled ? element : null)(
        document.querySelector(${JSON.stringify(selector)}))`),
    async follow(path) {
      const url = JSON.stringify(`/console${path}`)
      await browser.evaluate(`(() => {
        const form = document.querySelector('main form')
        if (form) form.dataset.left = 'yes'
        history.pushState(null, '', ${url})
        dispatchEvent(new PopStateEvent('popstate'))
      })()`)
      await browser.until(`!document.querySelector('main form[data-left]')`)
    },
    clickText: text =>
      browser.click(`[...document.querySelectorAll('${ENABLED}')]
        .find(each => each.innerText.trim() === ${JSON.stringify(text)})`),
    clickIn: (selector, text) =>
      browser.click(`[...document.querySelector(${JSON.stringify(selector)}).querySelectorAll('${ENABLED}')]
        .find(each => each.innerText.trim().startsWith(${JSON.stringify(text)}))`),
  }
}

/** The selector of buttons that can be pressed. */
export const ENABLED = 'button:not(:disabled, [aria-disabled=true])'

/** Only where the page asks for it. */
export async function signIn({ browser, fill, click, password }: ConsolePage, user = 'ann'): Promise<void> {
  await browser.until(`Boolean(document.querySelector('input[name=identifier], .layout'))`)
  if (!(await browser.evaluate(`Boolean(document.querySelector('input[name=identifier]'))`))) return
  await fill('input[name=identifier]', user)
  await fill('input[name=password]', password)
  await click('button[type=submit]')
}

/** Opens the console, signed in. */
export async function openSignedIn(page: ConsolePage, url: string | null, user?: string): Promise<void> {
  await page.browser.open(`${url}/console`)
  await signIn(page, user)
  await page.until(`document.querySelector('.layout')`)
}

/** Also signs out another user. */
export async function signInAs(page: ConsolePage, url: string | null, user: string): Promise<void> {
  await page.browser.open(`${url}/console`)
  await page.until(`document.querySelector('input[name=identifier], .layout')`)
  if (await page.browser.evaluate(`Boolean(document.querySelector('.layout'))`)) {
    await page.clickText('Sign out')
    await page.until(`document.querySelector('input[name=identifier]')`)
  }
  await signIn(page, user)
  await page.until(`document.querySelector('.layout')`)
}

/** A user whose role has this type. */
export async function addUser({ app }: TestApp, type: string, username = 'ann'): Promise<void> {
  const roles = (await app.documents('plugin::users-permissions.role').findMany({
    filters: { type },
  })) as readonly { readonly documentId: string }[]
  const data = { username, email: `${username}@example.org`, password: PASSWORD, role: roles[0]?.documentId }
  await app.documents('plugin::users-permissions.user').create({ data } as never)
}

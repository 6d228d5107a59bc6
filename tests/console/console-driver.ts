import type { Attribute, Component, Holder } from '../../core/model/model.ts'
import { toLabel } from '../../tools/console/api/schema.ts'
import { editable, type StoredFile, type Target, type Values } from './entered-values.ts'
import { type ConsolePage, ENABLED } from './open-console.ts'

/** The input of an attribute of a form. */
export const field = (path: string, tag = 'input'): string =>
  `[data-path="${path}"] > ${tag}, [data-path="${path}"] > .with-button > ${tag}, [data-path="${path}"] > .markdown > ${tag}`

/** A new document is shown in a form of its own. */
export async function saveNew(page: ConsolePage, label: string): Promise<void> {
  await page.browser.evaluate(`document.querySelector('main form').dataset.isNew = 'yes'`)
  await page.clickText(label)
  await page.until(`document.querySelector('main form:not([data-is-new]) .field')`)
}

/** A button within a field: components and relations have the same words. */
export const press = (page: ConsolePage, path: string, label: string): Promise<void> =>
  page.clickIn(`[data-path="${path}"]`, label)

/** The button of exactly this field, and of none within it. */
function pressOwn(page: ConsolePage, path: string, label: string): Promise<void> {
  const buttons = `[...document.querySelectorAll('[data-path="${path}"] ${ENABLED}')]`
  const button = `${buttons}.find(each => each.closest('[data-path]').dataset.path === ${JSON.stringify(path)}
    && each.innerText.trim() === ${JSON.stringify(label)})`
  return page.browser.click(button)
}

/** The nth entry of a list of components, links or files; `title` is that of the button. */
export const pressEntry = (page: ConsolePage, path: string, place: number, title: string): Promise<void> =>
  page.click(`[data-path="${path}"] > ol > li:nth-child(${place + 1}) > .entry-buttons [title="${title}"]`)

/** Nothing is left to save. A notice may be that of an earlier save. */
export const WRITTEN = `document.querySelector('main form[aria-busy=false] button[type=submit][aria-disabled=true]')`

/** Enters all values of a new document or component. */
export async function enter(page: ConsolePage, holder: Holder, values: Values, path = ''): Promise<void> {
  for (const attribute of editable(holder)) {
    const value = values[attribute.name]
    const place = path === '' ? attribute.name : `${path}.${attribute.name}`
    if (value !== undefined && value !== null) await enterValue(page, attribute, value, place)
  }
}

async function enterValue(
  page: ConsolePage,
  attribute: Attribute,
  value: unknown,
  path: string,
): Promise<void> {
  const label = toLabel(attribute.name)
  switch (attribute.kind) {
    case 'scalar':
      return enterScalar(page, attribute.type, value, path)
    case 'relation':
      return chooseTargets(
        page,
        label,
        attribute.many ? (value as readonly Target[]) : [value as Target],
        path,
      )
    case 'media':
      return chooseFiles(
        page,
        attribute.many ? (value as readonly StoredFile[]) : [value as StoredFile],
        path,
      )
    case 'component':
      if (!attribute.repeatable) {
        await pressOwn(page, path, `Add ${label}`)
        return enter(page, attribute.component, value as Values, path)
      }
      for (const [index, item] of (value as readonly Values[]).entries()) {
        await pressOwn(page, path, `Add ${label}`)
        await enter(page, attribute.component, item, `${path}.${index}`)
      }
      return
    case 'zone':
      for (const [index, item] of (value as readonly Values[]).entries()) {
        const component = componentOf(attribute.components, item)
        await pressOwn(page, path, `Add ${toLabel(component.uid)}`)
        await enter(page, component, item, `${path}.${index}`)
      }
  }
}

function componentOf(components: readonly Component[], { __component: uid }: Values): Component {
  const found = components.find(each => each.uid === uid)
  if (!found) throw new Error(`The zone has no component ${uid}`)
  return found
}

export async function enterScalar(
  page: ConsolePage,
  type: string,
  value: unknown,
  path: string,
): Promise<void> {
  switch (type) {
    case 'text':
    case 'richtext':
      return page.fill(field(path, 'textarea'), String(value))
    case 'json':
    case 'array':
      return page.fill(field(path, 'textarea'), JSON.stringify(value))
    case 'boolean':
    case 'enumeration':
      return page.fill(field(path, 'select'), String(value))
    case 'datetime':
    case 'timestamp':
      return page.fill(field(path), localTime(String(value)))
    case 'blocks':
      return writeBlocks(page, value, path)
    default:
      return page.fill(field(path), String(value))
  }
}

/** As an input of the browser has it, which is in the time zone of this process. */
function localTime(text: string): string {
  const time = new Date(text)
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

async function writeBlocks(page: ConsolePage, value: unknown, path: string): Promise<void> {
  const box = `document.querySelector('[data-path="${path}"] [role=textbox]')`
  await page.until(box)
  await page.browser.evaluate(`${box}.focus()`)
  await page.browser.press('Control+a')
  const [block] = value as readonly { readonly children: readonly { readonly text: string }[] }[]
  const text = block?.children[0]?.text ?? ''
  await page.browser.type(text)
  await page.until(`${box}.innerText.trim() === ${JSON.stringify(text)}`)
}

/** Each is found by search and chosen; the picker is closed again. */
export async function chooseTargets(
  page: ConsolePage,
  label: string,
  targets: readonly Target[],
  path: string,
): Promise<void> {
  await pressOwn(page, path, `Link ${label}`)
  for (const target of targets) {
    if (target.label !== target.documentId)
      await page.fill(`[data-path="${path}"] > .picker input[type=search]`, target.label)
    const buttons = `[...document.querySelectorAll('[data-path="${path}"] > .picker li button')]`
    const button = `${buttons}.find(each => each.innerText.trim() === ${JSON.stringify(target.label)})`
    await page.browser.click(button)
  }
  await pressOwn(page, path, 'Close')
}

/** Files of the library. */
export async function chooseFiles(
  page: ConsolePage,
  files: readonly StoredFile[],
  path: string,
): Promise<void> {
  for (const { name } of files) {
    await pressOwn(page, path, 'Library')
    const button = `[...document.querySelectorAll('dialog .files li button')]
      .find(each => each.innerText.trim().endsWith(${JSON.stringify(name)}))`
    await page.browser.click(button)
    // A field of one file closes it by itself.
    await page.browser.evaluate(`document.querySelector('dialog header button')?.click()`)
    await page.until(`!document.querySelector('dialog')`)
  }
}

/** Gives a file to the upload of a field. */
export async function uploadInto(page: ConsolePage, selector: string, name: string): Promise<void> {
  await page.until(`document.querySelector(${JSON.stringify(selector)})`)
  await page.browser.evaluate(`(() => {
    const files = new DataTransfer()
    files.items.add(new File([${JSON.stringify(DRAWING)}], ${JSON.stringify(name)}, { type: 'image/svg+xml' }))
    const input = document.querySelector(${JSON.stringify(selector)})
    input.files = files.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
  })()`)
}

/** Its code would be seen in the page. */
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"><script>window.ran = 1</script></svg>'

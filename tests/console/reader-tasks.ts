import type { ContentType, Holder } from '../../core/model/model.ts'
import { field } from './console-driver.ts'
import { dataOf, editable, nameOf, type Values, valuesFor } from './entered-values.ts'
import { startWork, type Work, type Workplace } from './work.ts'

/** Publishes a document with values for all attributes. */
async function publish(work: Work): Promise<void> {
  const { app, type, supply } = work
  work.expected = valuesFor(type, supply)
  const documents = app.app.documents(type.uid as 'api::dish.dish')
  const write = { data: dataOf(type, work.expected), ...(type.draftAndPublish && { status: 'published' }) }
  const written = await (type.kind === 'single'
    ? documents.update(write as never)
    : documents.create(write as never))
  work.documentId = (written as unknown as { readonly documentId: string }).documentId
}

/** The inputs of texts and numbers at any depth, with what they show. */
function shownInputs(holder: Holder, values: Values, path = ''): readonly (readonly [string, string])[] {
  return editable(holder).flatMap(attribute => {
    const value = values[attribute.name]
    const place = `${path}${attribute.name}`
    if (value === undefined || value === null) return []
    if (attribute.kind === 'scalar') {
      const tag = TAGS[attribute.type]
      return tag === undefined ? [] : [[field(place, tag), String(value)] as const]
    }
    if (attribute.kind === 'component' && !attribute.repeatable)
      return shownInputs(attribute.component, value as Values, `${place}.`)
    if (attribute.kind !== 'component' && attribute.kind !== 'zone') return []
    return (value as readonly Values[]).flatMap((item, index) => {
      const component =
        attribute.kind === 'component'
          ? attribute.component
          : attribute.components.find(({ uid }) => uid === item.__component)
      return component ? shownInputs(component, item, `${place}.${index}.`) : []
    })
  })
}

const TAGS: Readonly<Record<string, string>> = {
  ...{ string: 'input', uid: 'input', email: 'input', date: 'input', text: 'textarea', richtext: 'textarea' },
  ...{ integer: 'input', decimal: 'input', float: 'input', enumeration: 'select', boolean: 'select' },
}

async function look(work: Work): Promise<void> {
  const { page, type, documentId, expected } = work
  const path = type.kind === 'single' ? `/single/${type.key}` : `/content/${type.pluralApiId}/${documentId}`
  await page.follow(path)
  const inputs = shownInputs(type, expected)
  for (const [selector, text] of inputs) {
    const value = `document.querySelector(${JSON.stringify(selector)})?.value`
    await page.until(`${value} !== undefined`)
    const shown = await page.browser.evaluate(value)
    if (shown !== text) throw new Error(`${selector} shows ${JSON.stringify(shown)} and not ${text}`)
  }
}

async function findNothingToWrite({ page, type }: Work): Promise<void> {
  const buttons = (await page.browser.evaluate(ACTIONS)) as readonly string[]
  const offered = buttons.filter(text => text !== 'Preview')
  if (offered.length > 0) throw new Error(`The form of ${type.key} offers ${offered.join(', ')}`)
  const enabled = (await page.browser.evaluate(ENABLED)) as readonly string[]
  if (enabled.length > 0) throw new Error(`The form has ${enabled.join(', ')}`)
}

const ACTIONS = `[...document.querySelectorAll('.actions :is(button, a)')].map(({ textContent }) => textContent.trim())`

/** What a form offers besides the choice of its language and of what is shown. */
const ENABLED = `[...document.querySelectorAll('main form :is(input, textarea, select, button, [contenteditable=true])')]
  .filter(element => !element.disabled && !element.ariaDisabled && !element.closest('.locales') && element.textContent.trim() !== 'Preview')
  .map(element => element.outerHTML.slice(0, 200))`

async function lookAtList(work: Work): Promise<void> {
  const { page, type, documentId, expected } = work
  const name = nameOf(type)
  const text = name === null ? undefined : expected[name]
  const filter = text === undefined ? {} : { where: [{ name, operator: '$eq', value: String(text) }] }
  await page.follow(`/content/${type.pluralApiId}?filter=${encodeURIComponent(JSON.stringify(filter))}`)
  await page.until(`document.querySelector('tbody a[href*="${documentId}"], tbody tr:nth-child(25)')`)
  const offered = (await page.browser.evaluate(
    `[...document.querySelectorAll('.title-row .button, .bulk')].map(({ innerText }) => innerText)`,
  )) as readonly string[]
  if (offered.length > 0) throw new Error(`The list offers ${offered.join()}`)
}

/** A role that may find documents. */
export async function readerTasks(place: Workplace, type: ContentType): Promise<void> {
  const work = startWork(place, type)
  await publish(work)
  if (type.kind === 'collection')
    await work.task(`${type.key}: a list without actions`, () => lookAtList(work))
  if (type.kind === 'collection')
    await work.task(`${type.key}: no form of a new document`, async () => {
      await place.page.follow(`/content/${type.pluralApiId}/create`)
      await place.page.until(`document.querySelector('main form .field')`)
      await findNothingToWrite(work)
    })
  await work.task(`${type.key}: a form with all texts, numbers and choices`, () => look(work))
  await work.task(`${type.key}: nothing to write`, () => findNothingToWrite(work))
}

import type {
  Attribute,
  ComponentAttribute,
  ContentType,
  RelationAttribute,
  ScalarAttribute,
  ZoneAttribute,
} from '../../core/model/model.ts'
import { toLabel } from '../../tools/console/api/schema.ts'
import { until } from '../harness/until.ts'
import { chooseTargets, enterScalar, field, pressEntry, uploadInto, WRITTEN } from './console-driver.ts'
import { differences, editable, scalarFor, type Values } from './entered-values.ts'
import { type ConsolePage, ENABLED } from './open-console.ts'
import {
  change,
  compare,
  create,
  read,
  save,
  saveLabel,
  scalars,
  startWork,
  type Work,
  type Workplace,
} from './work.ts'

/** Other values for all scalars of the document. */
async function editScalars(work: Work): Promise<void> {
  for (const attribute of scalars(work.type)) {
    const value = scalarFor(attribute, work.supply.number())
    if (value === undefined || attribute.type === 'password') continue
    await enterScalar(work.page, attribute.type, value, attribute.name)
    change(work, { [attribute.name]: value })
  }
  await save(work)
}

const itemsOf = (work: Work, { name }: Attribute): readonly Values[] =>
  (work.expected[name] ?? []) as readonly Values[]

/** A list of components or a zone: the second entry before the first, then one twice, then one less. */
async function arrange(work: Work, attribute: ComponentAttribute | ZoneAttribute): Promise<void> {
  const { page } = work
  const { name, max = 100 } = attribute
  const [first, second, ...rest] = itemsOf(work, attribute)
  if (!first || !second) return
  await work.task(`${work.type.key}.${name}: move an entry`, async () => {
    await pressEntry(page, name, 1, 'Move up')
    change(work, { [name]: [second, first, ...rest] })
    await save(work)
  })
  if (max > rest.length + 2)
    await work.task(`${work.type.key}.${name}: duplicate an entry`, async () => {
      await pressEntry(page, name, 1, 'Duplicate')
      change(work, { [name]: [second, first, first, ...rest] })
      await save(work)
    })
  await work.task(`${work.type.key}.${name}: remove an entry`, async () => {
    await pressEntry(page, name, 0, 'Remove')
    change(work, { [name]: itemsOf(work, attribute).slice(1) })
    await save(work)
  })
}

async function relink(work: Work, attribute: RelationAttribute): Promise<void> {
  const { page, supply, type } = work
  const { name } = attribute
  const target = supply.target(attribute.target)
  if (!target) return
  await work.task(`${type.key}.${name}: link a document found by search`, async () => {
    await chooseTargets(page, toLabel(name), [target], name)
    change(work, { [name]: attribute.many ? [...itemsOf(work, attribute), target] : target })
    await save(work)
  })
  if (attribute.many && itemsOf(work, attribute).length > 1)
    await work.task(`${type.key}.${name}: move a link`, async () => {
      const links = itemsOf(work, attribute)
      await pressEntry(page, name, links.length - 1, 'Move up')
      change(work, { [name]: [...links.slice(0, -2), ...links.slice(-1), ...links.slice(-2, -1)] })
      await save(work)
    })
  await work.task(`${type.key}.${name}: remove a link`, async () => {
    await pressEntry(page, name, 0, 'Remove')
    change(work, { [name]: attribute.many ? itemsOf(work, attribute).slice(1) : null })
    await save(work)
  })
}

async function uploadFile(work: Work, attribute: Attribute & { readonly kind: 'media' }): Promise<void> {
  const { name, many } = attribute
  const before = itemsOf(work, attribute)
  const drawing = `${work.type.key}-${work.supply.number()}.svg`
  await uploadInto(work.page, `[data-path="${name}"] input[type=file]`, drawing)
  await work.page.until(
    `document.querySelector('[data-path="${name}"] > ol')?.innerText.includes(${JSON.stringify(drawing)})`,
  )
  const found = (await work.app.app
    .documents('plugin::upload.file')
    .findMany({ filters: { name: drawing } } as never)) as readonly Values[]
  const [file] = found
  change(work, { [name]: many ? [...before, file] : file })
  await save(work)
}

/** What is required stays in the form with a message at its field. */
async function refuse(work: Work): Promise<void> {
  const { page, type } = work
  const required = scalars(type).find(({ required, type: kind }) => required && TYPED.has(kind))
  if (!required) return
  await work.task(`${type.key}.${required.name}: is required`, async () => {
    await page.fill(
      field(required.name, required.type === 'text' || required.type === 'richtext' ? 'textarea' : 'input'),
      '',
    )
    await page.clickText(type.draftAndPublish ? 'Publish' : 'Save')
    await page.until(`document.querySelector('[data-path="${required.name}"] > .fault')`)
    const value = scalarFor(required, work.supply.number())
    await enterScalar(page, required.type, value, required.name)
    change(work, { [required.name]: value })
    await save(work)
  })
}

const TYPED: ReadonlySet<string> = new Set([
  'string',
  'text',
  'richtext',
  'email',
  'integer',
  'decimal',
  'float',
])

/** An attribute that a text can be typed into. */
const textOf = (type: ContentType): ScalarAttribute | undefined =>
  scalars(type).find(({ type: kind }) => kind === 'string' || kind === 'text')

async function publications(work: Work): Promise<void> {
  const { page, type } = work
  const text = textOf(type)
  await work.task(`${type.key}: publish`, async () => {
    await page.clickText('Publish')
    await page.until(`document.querySelector('.state.published')`)
    await compare(work, work.expected, { status: 'published' })
  })
  if (text)
    await work.task(`${type.key}: change the draft and discard it`, async () => {
      const { expected } = work
      const value = scalarFor(text, work.supply.number())
      await enterScalar(page, text.type, value, text.name)
      change(work, { [text.name]: value })
      await save(work)
      await page.until(`document.querySelector('.state.modified')`)
      await page.clickText('Changes')
      await page.clickText('Discard the draft')
      await page.until(`document.querySelector('.state.published')`)
      work.expected = expected
      await compare(work, expected)
    })
  await work.task(`${type.key}: unpublish`, async () => {
    await page.clickText('Unpublish')
    await page.click('dialog .danger')
    await page.until(`document.querySelector('.state.draft')`)
    if (await read(work, { status: 'published' })) throw new Error('There is a published version')
    await compare(work, work.expected)
  })
}

/** Attributes that each locale has of its own, and that do not lead to documents without that locale. */
const ownOfLocale = (type: ContentType): readonly ScalarAttribute[] =>
  scalars(type).filter(({ localized, type: kind }) => localized && kind !== 'uid' && kind !== 'password')

/** Each locale has a form of its own. */
async function switchLocale(page: ConsolePage, locale: string): Promise<void> {
  await page.browser.evaluate(`document.querySelector('main form').dataset.left = 'yes'`)
  await page.fill('.locales select', locale)
  await page.until(`document.querySelector('main form:not([data-left]) .locales select')`)
}

async function translate(work: Work, locale: string): Promise<void> {
  const { page, type, model } = work
  const own = ownOfLocale(type)
  await switchLocale(page, locale)
  await page.fill('.locales label:nth-of-type(2) select', model.defaultLocale)
  await page.clickText(`Fill from ${model.defaultLocale}`)
  const text = textOf(type)
  await page.until(
    `[...document.querySelectorAll('.locales ${ENABLED}')].some(each => each.innerText.startsWith('Fill'))`,
  )
  const value = text?.localized ? scalarFor(text, work.supply.number()) : undefined
  if (text && value !== undefined) await enterScalar(page, text.type, value, text.name)
  // Required, and not filled from another locale.
  for (const uid of scalars(type).filter(({ type: kind, localized }) => kind === 'uid' && localized))
    await enterScalar(page, 'uid', scalarFor(uid, work.supply.number()), uid.name)
  await page.clickText(saveLabel(work))
  await page.until(WRITTEN)
  const expected = { ...work.expected, ...(text && value !== undefined && { [text.name]: value }) }
  await until(`${type.key} in ${locale}`, async () => {
    const stored = await read(work, { locale })
    return (
      stored !== null &&
      own.every(({ name }) => differences(stored[name] ?? null, expected[name] ?? null).length === 0)
    )
  })
  await compare(work, work.expected)
  await switchLocale(page, model.defaultLocale)
}

/** Another user saves first. */
async function conflict(work: Work): Promise<void> {
  const { page, type, app, documentId } = work
  const [mine, theirs] = scalars(type).filter(({ type: kind }) => kind === 'string' || kind === 'text')
  if (!mine || !theirs) return
  await work.task(`${type.key}: a conflict with another user`, async () => {
    const [own, other] = [mine, theirs].map(attribute => scalarFor(attribute, work.supply.number()))
    const data = { [theirs.name]: other }
    const documents = app.app.documents(type.uid as 'api::dish.dish')
    await documents.update({ ...(documentId !== undefined && { documentId }), data } as never)
    await enterScalar(page, mine.type, own, mine.name)
    await page.clickText(saveLabel(work))
    await page.until(`document.querySelector('dialog .changes')`)
    await page.clickIn('dialog', 'Continue')
    change(work, { [mine.name]: own, ...data })
    await save(work)
  })
}

/** All that an editor does with one document of a type. Returns the document. */
export async function editorTasks(place: Workplace, type: ContentType): Promise<Work> {
  const work = startWork(place, type)
  await work.task(`${type.key}: create with all attributes`, () => create(work))
  await work.task(`${type.key}: is accessible`, async () => {
    const findings = await work.page.browser.audit()
    if (findings.length > 0) throw new Error(findings.join('\n'))
  })
  if (scalars(type).length > 0)
    await work.task(`${type.key}: edit all texts, numbers and choices`, () => editScalars(work))
  for (const attribute of editable(type)) {
    if ((attribute.kind === 'component' && attribute.repeatable) || attribute.kind === 'zone')
      await arrange(work, attribute)
    if (attribute.kind === 'relation') await relink(work, attribute)
    if (attribute.kind === 'media' && attribute.allowedTypes.includes('images'))
      await work.task(`${type.key}.${attribute.name}: upload`, () => uploadFile(work, attribute))
  }
  await refuse(work)
  await conflict(work)
  const other = work.model.locales.find(({ code }) => code !== work.model.defaultLocale)
  if (type.localized && other) await work.task(`${type.key}: translate`, () => translate(work, other.code))
  if (type.draftAndPublish) await publications(work)
  return work
}

/** The texts of the buttons of the page. */
const BUTTONS = `[...document.querySelectorAll('main button')].map(button => button.innerText.trim())`

const FOR_PUBLISHERS = ['Publish', 'Unpublish', 'Delete', 'Discard the draft']

async function refusePublishers({ page }: Work): Promise<void> {
  const offered = (await page.browser.evaluate(BUTTONS)) as readonly string[]
  const wrong = offered.filter(text => FOR_PUBLISHERS.includes(text))
  if (wrong.length > 0) throw new Error(`The page offers ${wrong.join(', ')}`)
}

/** A role that may write and not publish. */
export async function writerTasks(place: Workplace, type: ContentType): Promise<void> {
  const work = startWork(place, type)
  await work.task(`${type.key}: create with all attributes`, () => create(work))
  if (scalars(type).length > 0)
    await work.task(`${type.key}: edit all texts, numbers and choices`, () => editScalars(work))
  await work.task(`${type.key}: the form offers no publication`, async () => {
    await refusePublishers(work)
    if (type.draftAndPublish && (await read(work, { status: 'published' })))
      throw new Error('It is published')
  })
  if (type.kind === 'collection')
    await work.task(`${type.key}: the list offers no publication`, async () => {
      const { page } = work
      await page.follow(`/content/${type.pluralApiId}`)
      await page.click('tbody input[type=checkbox]')
      await page.until(`document.querySelector('tbody input:checked')`)
      await refusePublishers(work)
    })
}

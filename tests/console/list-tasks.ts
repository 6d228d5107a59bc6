import type { ContentType, ScalarAttribute } from '../../core/model/model.ts'
import { toLabel } from '../../tools/console/api/schema.ts'
import { until } from '../harness/until.ts'
import { nameOf, scalarFor, type Values } from './entered-values.ts'
import { read, scalars, type Work } from './work.ts'

/** The documents that the list shows, in its order. */
const SHOWN = `[...document.querySelectorAll('tbody tr td:nth-child(2) a')].map(({ pathname }) => pathname.split('/').at(-1))`

async function shows(
  work: Work,
  what: string,
  isSo: (ids: readonly string[]) => boolean | Promise<boolean>,
): Promise<void> {
  let ids: readonly string[] = []
  await until(`${work.type.key}: ${what}`, async () => {
    ids = (await work.page.browser.evaluate(SHOWN)) as readonly string[]
    return isSo(ids)
  }).catch(async ({ message }: Error) => {
    throw new Error(`${message}\nIt shows ${ids.join()}\n${await work.page.browser.shown()}`)
  })
}

const openList = (work: Work, filter?: Values): Promise<unknown> => {
  const query = filter === undefined ? '' : `?filter=${encodeURIComponent(JSON.stringify(filter))}`
  return work.page.follow(`/content/${work.type.pluralApiId}${query}`)
}

/** The ids of the first page in an order, as the document service has them. */
async function firstPage({ app, type, model }: Work, sort: string): Promise<readonly string[]> {
  const documents = app.app.documents(type.uid as 'api::dish.dish')
  const locale = type.localized ? { locale: model.defaultLocale } : {}
  const found = await documents.findMany({
    sort,
    limit: 25,
    status: 'draft',
    fields: ['documentId'],
    ...locale,
  } as never)
  return (found as unknown as readonly Values[]).map(({ documentId }) => String(documentId))
}

/** Every column that can be sorted by, in both orders. */
async function sort(work: Work): Promise<void> {
  const { page } = work
  await openList(work)
  await page.until(`document.querySelector('tbody tr')`)
  const columns = (await page.browser.evaluate(
    `[...document.querySelectorAll('thead th button')].map(button => button.innerText.replace(/[↑↓]/g, '').trim())`,
  )) as readonly string[]
  for (const column of columns) {
    const attribute = [...work.type.attributes.values()].find(({ name }) => toLabel(name) === column)
    if (!attribute) throw new Error(`No attribute is named ${column}`)
    for (let turn = 0; turn < 2; turn++) {
      await page.clickIn('thead', column)
      await page.until(
        `document.querySelector('th[aria-sort]')?.innerText.includes(${JSON.stringify(column)})`,
      )
      await shows(work, `sorted by ${column}`, async ids => {
        const order = await page.browser.evaluate(`document.querySelector('th[aria-sort]').ariaSort`)
        const expected = await firstPage(work, `${attribute.name}:${order === 'ascending' ? 'asc' : 'desc'}`)
        return ids.join() === expected.join()
      })
    }
  }
}

const EXACT: ReadonlySet<string> = new Set(['text', 'richtext', 'json', 'blocks', 'array', 'password'])

const filterable = (type: ContentType): readonly ScalarAttribute[] =>
  scalars(type).filter(({ type: kind }) => !EXACT.has(kind))

/** The document is found by the value of each attribute. */
async function filter(work: Work): Promise<void> {
  const { documentId = '' } = work
  const stored = await read(work)
  for (const { name } of filterable(work.type)) {
    const value = stored?.[name]
    if (value === null || value === undefined) continue
    await openList(work, { where: [{ name, operator: '$eq', value: String(value) }] })
    // Many documents have the same choice.
    await shows(work, `filtered by ${name}`, ids => ids.includes(documentId) || ids.length === 25)
  }
}

/** A filter that is set with the controls of the list. */
async function filterByHand(work: Work, attribute: ScalarAttribute): Promise<void> {
  const { page, documentId = '', expected } = work
  await openList(work)
  await page.clickText('Add a filter')
  await page.fill('.condition select', attribute.name)
  await page.fill('.condition select:nth-of-type(2)', '$eq')
  await page.fill('.condition input', String(expected[attribute.name]))
  await shows(work, `filtered by hand`, ids => ids.join() === documentId)
}

/** Publishes, unpublishes and deletes from the list. */
async function bulk(work: Work, label: string): Promise<void> {
  const { page, type, documentId = '' } = work
  await openList(work, { text: label })
  await shows(work, `found by ${label}`, ids => ids.join() === documentId)
  const run = async (action: string, isDone: () => Promise<boolean>) => {
    await page.click('tbody input[type=checkbox]')
    await page.clickIn('.bulk', action)
    await page.click('dialog .danger')
    await page.until(`document.querySelector('.outcomes')`)
    await until(`${type.key}: ${action}`, isDone)
    await page.clickIn('.outcomes', 'Close')
  }
  const isPublished = async () => (await read(work, { status: 'published' })) !== null
  if (type.draftAndPublish) {
    await work.task(`${type.key}: publish from the list`, () => run('Publish', isPublished))
    await work.task(`${type.key}: unpublish from the list`, () =>
      run('Unpublish', async () => !(await isPublished())),
    )
  }
  await work.task(`${type.key}: delete from the list`, () =>
    run('Delete', async () => (await read(work)) === null),
  )
}

/** All that an editor does in the list of a type, which has this document. */
export async function listTasks(work: Work): Promise<void> {
  const { type } = work
  await work.task(`${type.key}: sort by each column`, () => sort(work))
  await work.task(`${type.key}: filter by each attribute`, () => filter(work))
  const name = nameOf(type)
  const attribute = scalars(type).find(each => each.name === name && TYPED.has(each.type))
  if (!attribute) return
  const label = String(scalarFor(attribute, 0) === undefined ? '' : work.expected[attribute.name])
  await work.task(`${type.key}: filter by hand`, () => filterByHand(work, attribute))
  await bulk(work, label)
}

const TYPED: ReadonlySet<string> = new Set(['string', 'text'])

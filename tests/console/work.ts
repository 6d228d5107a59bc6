import type { ContentType, Model, ScalarAttribute } from '../../core/model/model.ts'
import type { TestApp } from '../../core/testing.ts'
import { until } from '../harness/until.ts'
import { enter, saveNew, WRITTEN } from './console-driver.ts'
import {
  comparable,
  differences,
  editable,
  populateAll,
  type Supply,
  type Values,
  valuesFor,
} from './entered-values.ts'
import type { ConsolePage } from './open-console.ts'

/** A project that runs, and the page that works on it. */
export interface Workplace {
  readonly app: TestApp
  readonly model: Model
  readonly page: ConsolePage
  readonly supply: Supply
  /** Runs one task and counts it; a failure is kept, and ends the tasks of its type. */
  task(name: string, run: () => Promise<void>): Promise<void>
}

/** The document of a type that tasks work on: where it is, and what it should be. */
export interface Work extends Workplace {
  readonly type: ContentType
  documentId: string | undefined
  expected: Values
}

export const startWork = (place: Workplace, type: ContentType): Work => ({
  ...place,
  type,
  documentId: undefined,
  expected: {},
})

interface Version {
  readonly status?: 'draft' | 'published'
  readonly locale?: string
}

export async function read(work: Work, { status = 'draft', locale }: Version = {}): Promise<Values | null> {
  const { app, type, documentId } = work
  const query = {
    populate: populateAll(type),
    status,
    ...(type.localized && { locale: locale ?? work.model.defaultLocale }),
  }
  const documents = app.app.documents(type.uid as 'api::dish.dish')
  const found = await documents.findFirst({
    ...query,
    filters: documentId === undefined ? {} : { documentId },
  } as never)
  return found as Values | null
}

/** Waits until the stored version is what was entered. */
export async function compare(work: Work, expected: Values, version?: Version): Promise<void> {
  const { type, page } = work
  let found: readonly string[] = []
  await until(
    `${type.key} is stored as it was entered`,
    async () => {
      const stored = await read(work, version)
      found = stored
        ? differences(comparable(type, stored), comparable(type, expected))
        : ['There is no such version']
      return found.length === 0
    },
    PATIENCE,
  ).catch(async ({ message }: Error) => {
    throw new Error(
      `${message}\n${found.slice(0, 10).join('\n')}\nThe page shows: ${await page.browser.shown()}`,
    )
  })
}

const PATIENCE = 120_000

export const saveLabel = ({ type }: Work): string => (type.draftAndPublish ? 'Save draft' : 'Save')

/** Saves a document that exists, and compares what is stored. */
export async function save(work: Work): Promise<void> {
  await work.page.clickText(saveLabel(work))
  await work.page.until(WRITTEN)
  await compare(work, work.expected)
}

export const change = (work: Work, values: Values): void => {
  work.expected = { ...work.expected, ...values }
}

/** Creates a document through its form. That of a single type is deleted first. */
export async function create(work: Work): Promise<void> {
  const { app, page, type, supply } = work
  const values = valuesFor(type, supply)
  if (type.kind === 'single') {
    const locale = type.localized ? { locale: '*' } : {}
    await app.app.documents(type.uid as 'api::dish.dish').deleteMany({ filters: {}, ...locale } as never)
  }
  await page.follow(type.kind === 'single' ? `/single/${type.key}` : `/content/${type.pluralApiId}/create`)
  await page.until(`document.querySelector('main form .field')`)
  await enter(page, type, values)
  work.expected = values
  if (type.kind === 'single') {
    await page.clickText(saveLabel(work))
    await page.until(WRITTEN)
  } else {
    await saveNew(page, saveLabel(work))
    work.documentId = String(await page.browser.evaluate(`location.pathname.split('/').at(-1)`))
  }
  await compare(work, values)
}

export const scalars = (type: ContentType): readonly ScalarAttribute[] =>
  editable(type).filter((attribute): attribute is ScalarAttribute => attribute.kind === 'scalar')

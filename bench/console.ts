import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { parse } from 'yaml'
import { createTestApp } from '../core/testing.ts'
import { bundleConsole } from '../scripts/bundle-console.ts'
import { addUser, type ConsolePage, openConsole, signIn } from '../tests/console/open-console.ts'
import { freshDatabase } from '../tests/harness/test-database.ts'
import { grow } from './growth/seed.ts'
import { aboutMachine } from './machine.ts'

// How long an editor waits for a list of the console over a million articles with drafts, in Chromium. Needs TEST_DATABASE_URL:
//   bash scripts/with-postgres.sh npx tsx bench/console.ts
// CONSOLE_ARTICLES (1000000), CONSOLE_VISITS (7 of each list), CONSOLE_REQUESTS=1 prints the requests of one visit of each.

const ARTICLES = Number(process.env.CONSOLE_ARTICLES ?? 1_000_000)
const VISITS = Number(process.env.CONSOLE_VISITS ?? 7)
const LIST = '/content/articles'

/** Every 50th article was never published, every 100th has a changed draft. */
const STATES = `
  DELETE FROM articles_categories_links USING articles
    WHERE owner_id = articles.id AND status = 'published' AND document_key % 100 = 1;
  DELETE FROM articles WHERE status = 'published' AND document_key % 100 = 1;
  UPDATE articles SET updated_at = updated_at + interval '1 day' WHERE status = 'draft' AND document_key % 200 = 3;
  VACUUM ANALYZE articles`

interface View {
  readonly title: string
  /** The address of one visit; each is another one, so that nothing is cached in the page. */
  readonly query: (visit: number) => Readonly<Record<string, unknown>>
}

const where = (name: string, operator: string, value: string) => ({
  filter: { where: [{ name, operator, value }] },
})
const inTheMiddle = (visit: number): number => Math.floor((ARTICLES / VISITS / 2) * (visit + 1))

const VIEWS: readonly View[] = [
  { title: 'the first pages', query: visit => ({ page: visit + 1 }) },
  { title: 'page 1,000 and following', query: visit => ({ page: 1000 + visit }) },
  { title: 'the last pages', query: visit => ({ page: ARTICLES / 25 - visit - 1000 }) },
  { title: 'the last change first', query: visit => ({ sort: 'updatedAt', page: visit + 1 }) },
  { title: 'sorted by title', query: visit => ({ sort: 'title', order: 'ASC', page: visit + 1 }) },
  { title: 'sorted by price, without an index', query: visit => ({ sort: 'price', page: visit + 1 }) },
  { title: 'of one kind', query: visit => ({ ...where('kind', '$eq', 'news'), page: visit + 1 }) },
  { title: 'one title', query: visit => where('title', '$eq', `Article number ${inTheMiddle(visit)}`) },
  { title: 'a title contains', query: visit => where('title', '$containsi', `number ${inTheMiddle(visit)}`) },
  { title: 'of one author', query: visit => where('author', '$containsi', `Author ${9000 + visit}`) },
  { title: 'search', query: visit => ({ filter: { text: `number ${inTheMiddle(visit)}` } }) },
  { title: 'search that finds nothing', query: visit => ({ filter: { text: `nowhere ${visit}` } }) },
  { title: 'drafts only', query: visit => ({ filter: { status: 'draft' }, page: visit + 1 }) },
  { title: 'modified', query: visit => ({ filter: { status: 'modified' }, page: visit + 1 }) },
  { title: 'published', query: visit => ({ filter: { status: 'published' }, page: visit + 1 }) },
]

interface Visit {
  readonly milliseconds: number
  readonly requests: readonly {
    readonly url: string
    readonly milliseconds: number
    readonly bytes: number
  }[]
}

/** Goes to an address within the page and waits for rows, or for the message that there are none. */
const visit = (address: string): string => `(async () => {
  const shown = () => document.querySelector('main tbody tr, main .empty, main [role=alert]')
  history.pushState(null, '', '/console/account')
  dispatchEvent(new PopStateEvent('popstate'))
  while (shown()) await new Promise(requestAnimationFrame)
  performance.clearResourceTimings()
  const start = performance.now()
  history.pushState(null, '', ${JSON.stringify(address)})
  dispatchEvent(new PopStateEvent('popstate'))
  while (!shown()) await new Promise(requestAnimationFrame)
  const milliseconds = performance.now() - start
  const requests = performance.getEntriesByType('resource').map(({ name, duration, transferSize }) =>
    ({ url: name, milliseconds: duration, bytes: transferSize }))
  return { milliseconds, requests }
})()`

const addressOf = (query: Readonly<Record<string, unknown>>): string => {
  const whole = { page: 1, perPage: 25, sort: 'createdAt', order: 'DESC', filter: {}, ...query }
  const pairs = Object.entries(whole).map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ])
  return `/console${LIST}?${new URLSearchParams(Object.fromEntries(pairs))}`
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0

/** From the address in the browser's bar to the rows: the page, its scripts, the session, the types and the list. */
async function firstList({ browser }: ConsolePage, url: string): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < VISITS; at++) {
    await browser.open(`${url}/console${LIST}`)
    times.push(Number(await browser.until(`document.querySelector('tbody tr') && performance.now()`)))
  }
  return median(times)
}

async function measure(page: ConsolePage, view: View): Promise<string> {
  const visits: Visit[] = []
  for (let at = 0; at < VISITS; at++)
    visits.push((await page.browser.evaluate(visit(addressOf(view.query(at))))) as Visit)
  const times = visits.map(({ milliseconds }) => milliseconds)
  const requests = visits.at(-1)?.requests ?? []
  const bytes = requests.reduce((sum, each) => sum + each.bytes, 0)
  if (process.env.CONSOLE_REQUESTS)
    for (const each of visits[1]?.requests ?? [])
      console.log(Math.round(each.milliseconds), decodeURIComponent(each.url))
  const cells = [view.title, `${Math.round(median(times))} ms`, `${Math.round(Math.max(...times))} ms`]
  const line = `| ${[...cells, requests.length, `${(bytes / 1000).toFixed(1)} kB`].join(' | ')} |`
  console.log(line)
  return line
}

/** The growth project with an editor, and with indexes of what editors sort and search by (docs/console.md, "Large projects"). */
function projectOf() {
  const project = parse(readFileSync(join(import.meta.dirname, 'growth', 'project.yaml'), 'utf8')) as Growth
  const { article } = project.contentTypes
  const indexes = [...article.indexes, ['title'], ['updatedAt'], { attributes: ['title'], kind: 'text' }]
  return {
    ...project,
    console: { enabled: 'always' },
    contentTypes: { ...project.contentTypes, article: { ...article, indexes } },
    roles: { public: {}, editor: { permissions: { '*': '*', users: ['me'] } } },
  }
}

interface Growth {
  readonly contentTypes: { readonly article: { readonly indexes: readonly unknown[] } }
}

const PROJECT = projectOf()

async function main(): Promise<void> {
  const server = process.env.TEST_DATABASE_URL
  assert(server, 'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh npx tsx bench/console.ts')
  const machine = await aboutMachine(server)
  await bundleConsole()
  const { url, drop } = await freshDatabase()
  const ends: (() => unknown)[] = [drop]
  try {
    const first = await createTestApp({
      project: PROJECT,
      database: url,
      env: { JWT_SECRET: 'x'.repeat(40) },
    })
    await first.close()
    await grow(url, { from: 0, to: ARTICLES })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    for (const statement of STATES.split(';')) await client.query(statement)
    await client.end()
    const app = await createTestApp({
      project: PROJECT,
      database: url,
      listen: true,
      env: { JWT_SECRET: 'x'.repeat(40) },
    })
    ends.push(() => app.close())
    await addUser(app, 'editor')
    const page = await openConsole({ teardown: end => ends.push(end) })
    await page.browser.open(`${app.url}/console`)
    await signIn(page)
    await page.until(`document.querySelector('.layout')`)
    const lines = [
      '# Lists of the console',
      '',
      `An editor opens lists of ${ARTICLES.toLocaleString('en')} articles with drafts, 25 a page, in Chromium: from the address to the rows with their status.`,
      '',
      `From the address in the browser's bar to the first list (a reload, signed in): ${Math.round(await firstList(page, app.url ?? ''))} ms.`,
      '',
      '| list | p50 | slowest | requests | bytes |',
      '|---|---|---|---|---|',
    ]
    for (const view of VIEWS) lines.push(await measure(page, view))
    const report = [...lines, '', ...machine(), ''].join('\n')
    console.log(report)
    writeFileSync(join(import.meta.dirname, 'console', 'RESULTS.md'), report)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

await main()

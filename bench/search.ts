import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createTestApp, type TestApp } from '../core/testing.ts'

// Full-text search over articles in five languages: time of requests at a fixed rate, and what the vectors cost writes.
//   bash scripts/with-postgres.sh npx tsx bench/search.ts
// SEARCH_ARTICLES (100000), SEARCH_RATE (50 a second), SEARCH_SECONDS (10 for each request).

const number = (name: string, standard: number): number => Number(process.env[name] ?? standard)
const ARTICLES = number('SEARCH_ARTICLES', 100_000)
const RATE = number('SEARCH_RATE', 50)
const SECONDS = number('SEARCH_SECONDS', 10)
const UPDATES = 300
const LOCALES = ['en', 'fr', 'de', 'es', 'it']
const TOKEN = 'a-secret-of-forty-letters-that-is-not-guessed'

const article = (search: object) => ({
  localized: true,
  attributes: { title: 'string', body: 'text', rating: 'integer' },
  ...search,
})
const project = {
  cache: { enabled: false },
  i18n: { locales: LOCALES, defaultLocale: 'en' },
  server: { rateLimit: { api: false, auth: false, account: false } },
  contentTypes: {
    article: article({ search: { attributes: { title: 'A', body: 'C' } } }),
    plain: article({}),
  },
  roles: { public: { permissions: { article: { find: { fields: ['title', 'rating'] } }, plain: ['find'] } } },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

/** The n-th commonest of 20,000 words has a frequency of about 1/n. */
const WORD = `'w' || floor(exp(random() * ln(20000)))::integer`
const words = (count: number): string =>
  `(SELECT string_agg(${WORD}, ' ') FROM generate_series(1, ${count}) WHERE n > 0)`
const fill = (table: string): string =>
  `INSERT INTO ${table} (document_id, document_key, locale, title, body, rating, created_at, updated_at, published_at)
   SELECT '${table}' || n, n, (ARRAY['${LOCALES.join("','")}'])[1 + n % 5], ${words(6)}, ${words(60)}, n % 1000, now(), now(), now()
   FROM generate_series(1, ${ARTICLES}) AS n`

const REQUESTS: Readonly<Record<string, string>> = {
  'two words, by relevance': 'search=w300+w40',
  'the same, title only (a role that may not read the body)': 'search=w300+w40&public',
  'two words, sorted by an attribute': 'search=w300+w40&sort=rating',
  'two words with a filter': 'search=w300+w40&filters[rating][$lt]=100',
  'a phrase': 'search="w30+w90"',
  'a word of 1 % of the texts': 'search=w600',
  'a word of two fifths of the texts': 'search=w12',
  'the same with highlight': 'search=w300+w40&highlight=title,body',
  'a word that does not occur': 'search=nothing',
  'list without search': 'sort=rating',
  '`_q` of a word that does not occur': '_q=nothing',
}

interface Measured {
  readonly total: number
  readonly p50: number
  readonly p95: number
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** At a fixed rate, whatever the answers take: a slow server is not asked less. At most 20 at once, so that a row that is too slow for the rate ends. */
async function measure({ request }: TestApp, query: string): Promise<Measured> {
  const path = `/api/articles?${encodeURI(query.replace('&public', ''))}&pagination[pageSize]=25&locale=en`
  const terms = query.endsWith('public') ? {} : { token: TOKEN }
  const times: number[] = []
  const ask = async () => {
    const begun = performance.now()
    const { status, body } = await request('GET', path, terms)
    times.push(status === 503 ? Number.POSITIVE_INFINITY : performance.now() - begun)
    if (status === 503) return Number.NaN
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as { meta: { pagination: { total: number } } }).meta.pagination.total
  }
  for (let at = 0; at < 5; at++) await ask()
  times.length = 0
  const total = await ask()
  const open = new Set<Promise<unknown>>()
  const end = performance.now() + SECONDS * 1000
  for (let at = 0, begun = performance.now(); performance.now() < end; at++) {
    await pause(Math.max(0, begun + (at * 1000) / RATE - performance.now()))
    if (open.size > 20) continue
    const asked = ask().finally(() => open.delete(asked))
    open.add(asked)
  }
  await Promise.all(open)
  const sorted = times.toSorted((one, other) => one - other)
  return { total, p50: percentile(sorted, 0.5), p95: percentile(sorted, 0.95) }
}

/** Milliseconds of an update over REST. */
async function updates({ request }: TestApp, path: string, table: string): Promise<number> {
  const times: number[] = []
  for (let at = 1; at <= UPDATES; at++) {
    const n = at * 5
    const data = { title: `w${at} w${at + 1}`, body: `w${at} `.repeat(60) }
    const begun = performance.now()
    const { status, body } = await request('PUT', `/api/${path}/${table}${n}`, {
      token: TOKEN,
      body: { data },
    })
    times.push(performance.now() - begun)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  return percentile(
    times.toSorted((one, other) => one - other),
    0.5,
  )
}

async function main(): Promise<void> {
  const database = process.env.TEST_DATABASE_URL
  if (database === undefined) throw new Error('TEST_DATABASE_URL is missing: use scripts/with-postgres.sh')
  const app = await createTestApp({ project, database })
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const run = async (text: string) => {
    const begun = performance.now()
    await client.query(text)
    return performance.now() - begun
  }
  const lines = [
    `# Full-text search`,
    '',
    `${ARTICLES} articles in five languages of 66 words, ${RATE} requests a second but at most 20 at once, one process, no response cache.`,
    '',
  ]
  const searched = await run(fill('articles'))
  const plain = await run(fill('plains'))
  await run('VACUUM ANALYZE articles')
  await run('VACUUM ANALYZE plains')
  lines.push('| request | total | p50 ms | p95 ms |', '|---|---|---|---|')
  for (const [name, query] of Object.entries(REQUESTS)) {
    const { total, p50, p95 } = await measure(app, query)
    lines.push(`| ${name} | ${total} | ${p50.toFixed(1)} | ${p95.toFixed(1)} |`)
    console.log(lines.at(-1))
  }
  const costs = [await updates(app, 'plains', 'plains'), await updates(app, 'articles', 'articles')]
  const again = [await updates(app, 'plains', 'plains'), await updates(app, 'articles', 'articles')]
  const [without = 0, withSearch = 0] = costs.map((cost, at) => (cost + (again[at] ?? 0)) / 2)
  lines.push('', '| write | without search | with search | ratio |', '|---|---|---|---|')
  lines.push(
    `| rows filled by SQL, a second | ${Math.round((ARTICLES / plain) * 1000)} | ${Math.round((ARTICLES / searched) * 1000)} | ${(searched / plain).toFixed(2)} |`,
  )
  lines.push(
    `| update of title and body over REST, ms | ${without.toFixed(2)} | ${withSearch.toFixed(2)} | ${(withSearch / without).toFixed(2)} |`,
  )
  console.log(lines.slice(-2).join('\n'))
  writeFileSync(join(import.meta.dirname, 'search/RESULTS.md'), `${lines.join('\n')}\n`)
  await client.end()
  await app.close()
}

await main()

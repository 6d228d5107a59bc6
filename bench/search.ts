import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { createTestApp, type TestApp } from '../core/testing.ts'
import { type ProcessorTime, timeOfPostgres } from './processor-time.ts'

// Full-text search over articles in five languages: time of requests at a fixed rate, and what the vectors cost writes.
//   bash scripts/with-postgres.sh npx tsx bench/search.ts
// SEARCH_ARTICLES (100000), SEARCH_RATE (50 a second), SEARCH_SECONDS (10 for each request). Tables that are filled stay as they are.

const number = (name: string, standard: number): number => Number(process.env[name] ?? standard)
const ARTICLES = number('SEARCH_ARTICLES', 100_000)
/** Of the type with `typos`: its words are as many. */
const CORRECTED = Math.min(ARTICLES, 200_000)
const RATE = number('SEARCH_RATE', 50)
const SECONDS = number('SEARCH_SECONDS', 10)
const UPDATES = 300
const LOCALES = ['en', 'fr', 'de', 'es', 'it']
const TABLES = ['plains', 'articles', 'correcteds']
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
    corrected: article({ search: { attributes: { title: 'A', body: 'C' }, typos: true } }),
    plain: article({}),
  },
  roles: {
    public: {
      permissions: {
        article: { find: { fields: ['title', 'rating'] } },
        corrected: { find: { fields: ['title', 'rating'] } },
        plain: ['find'],
      },
    },
  },
  apiTokens: { all: { type: 'full-access', secret: TOKEN } },
}

/** The n-th commonest of 20,000 words has a frequency of about 1/n. Of letters, because words with digits are not corrected. */
const WORD = `'w' || translate(floor(exp(random() * ln(20000)))::integer::text, '0123456789', 'bdkmorstuz')`
const word = (n: number): string => `w${[...String(n)].map(digit => 'bdkmorstuz'[Number(digit)]).join('')}`
const words = (count: number): string =>
  `(SELECT string_agg(${WORD}, ' ') FROM generate_series(1, ${count}) WHERE n > 0)`
const fill = (table: string): string =>
  `INSERT INTO ${table} (document_id, document_key, locale, title, body, rating, created_at, updated_at, published_at)
   SELECT '${table}' || n, n, (ARRAY['${LOCALES.join("','")}'])[1 + n % 5], ${words(6)}, ${words(60)}, n % 1000, now(), now(), now()
   FROM generate_series(1, ${rowsOf(table)}) AS n`

const rowsOf = (table: string): number => (table === 'correcteds' ? CORRECTED : ARTICLES)

const TWO = `search=${word(300)}+${word(40)}`

const REQUESTS: Readonly<Record<string, string>> = {
  'two words, by relevance': TWO,
  'the same, at most 10,000 counted': `${TWO}&pagination[withCount]=estimate`,
  'the same, title only (a role that may not read the body)': `${TWO}&public`,
  'two words, sorted by an attribute': `${TWO}&sort=rating`,
  'two words with a filter': `${TWO}&filters[rating][$lt]=100`,
  'a phrase': `search="${word(30)}+${word(90)}"`,
  'a word of 1 % of the texts': `search=${word(600)}`,
  'a word of two fifths of the texts, 5 requests a second': `search=${word(12)}`,
  'the same, at most 10,000 counted ': `search=${word(12)}&pagination[withCount]=estimate`,
  'two words with highlight': `${TWO}&highlight=title,body`,
  'a word that does not occur': 'search=nothing',
  'with `typos`: two words': `${TWO}&corrected`,
  'with `typos`: two words, of which one is mistyped': `search=${word(300)}x+${word(40)}&corrected`,
  'list without search': 'sort=rating',
  '`_q` of a word that does not occur': '_q=nothing',
}

interface Measured {
  readonly total: number
  /** Milliseconds of processor time of a request, of PostgreSQL and of this process with its client. */
  readonly postgres: number
  readonly own: number
  readonly p50: number
  readonly p95: number
}

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN

/** At a fixed rate, whatever the answers take: a slow server is not asked less. At most 20 at once, so that a row that is too slow for the rate ends. */
async function measure({ request }: TestApp, query: string, postgres: ProcessorTime): Promise<Measured> {
  const list = query.endsWith('corrected') ? 'correcteds' : 'articles'
  const path = `/api/${list}?${encodeURI(query.replace(/&(public|corrected)$/, ''))}&pagination[pageSize]=25&locale=en`
  const options = query.endsWith('public') ? {} : { token: TOKEN }
  const times: number[] = []
  const ask = async () => {
    const begun = performance.now()
    const { status, body } = await request('GET', path, options)
    times.push(status === 503 ? Number.POSITIVE_INFINITY : performance.now() - begun)
    if (status === 503) return Number.NaN
    if (status !== 200) throw new Error(JSON.stringify(body))
    return (body as { meta: { pagination: { total: number } } }).meta.pagination.total
  }
  for (let at = 0; at < 5; at++) await ask()
  times.length = 0
  const total = await ask()
  const before = { postgres: postgres(), own: process.cpuUsage() }
  const rate = query.startsWith(`search=${word(12)}`) ? RATE / 10 : RATE
  const open = new Set<Promise<unknown>>()
  const end = performance.now() + SECONDS * 1000
  for (let at = 0, begun = performance.now(); performance.now() < end; at++) {
    await pause(Math.max(0, begun + (at * 1000) / rate - performance.now()))
    if (open.size > 20) continue
    const asked = ask().finally(() => open.delete(asked))
    open.add(asked)
  }
  await Promise.all(open)
  const { user, system } = process.cpuUsage(before.own)
  const asked = times.length - 1
  const sorted = times.toSorted((one, other) => one - other)
  return {
    total,
    postgres: (postgres() - before.postgres) / asked,
    own: (user + system) / 1000 / asked,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
  }
}

/** Milliseconds of an update of title and body over REST: processor time of PostgreSQL and this process, and time. */
async function updates({ request }: TestApp, table: string, postgres: ProcessorTime) {
  const times: number[] = []
  const before = { postgres: postgres(), own: process.cpuUsage() }
  for (let at = 1; at <= UPDATES; at++) {
    const some = Array.from({ length: 66 }, () =>
      word(Math.floor(Math.exp(Math.random() * Math.log(20_000)))),
    )
    const data = { title: some.slice(0, 6).join(' '), body: some.slice(6).join(' ') }
    const begun = performance.now()
    const { status, body } = await request('PUT', `/api/${table}/${table}${at * 5}`, {
      token: TOKEN,
      body: { data },
    })
    times.push(performance.now() - begun)
    if (status !== 200) throw new Error(JSON.stringify(body))
  }
  const { user, system } = process.cpuUsage(before.own)
  const processor = (postgres() - before.postgres + (user + system) / 1000) / UPDATES
  return {
    processor,
    time: percentile(
      times.toSorted((one, other) => one - other),
      0.5,
    ),
  }
}

/** In turns, so that other load on the machine meets all of them. */
async function measureWrites(app: TestApp, postgres: ProcessorTime, lines: string[]): Promise<void> {
  const rounds = 4
  const sums = new Map(TABLES.map(table => [table, { processor: 0, time: 0 }]))
  for (const table of TABLES) await updates(app, table, postgres)
  for (let round = 0; round < rounds; round++)
    for (const table of TABLES) {
      const { processor, time } = await updates(app, table, postgres)
      const sum = sums.get(table)
      if (sum) sums.set(table, { processor: sum.processor + processor, time: sum.time + time })
    }
  const plain = sums.get('plains')
  lines.push(
    '',
    '| update of title and body over REST | processor time, ms | ratio | p50 ms | ratio |',
    '|---|---|---|---|---|',
  )
  for (const [table, name] of Object.entries({
    plains: 'without search',
    articles: 'with search',
    correcteds: 'with `typos`',
  })) {
    const sum = sums.get(table)
    if (!sum || !plain) continue
    const ratios = [sum.processor / plain.processor, sum.time / plain.time].map(each => each.toFixed(2))
    lines.push(
      `| ${name} | ${(sum.processor / rounds).toFixed(2)} | ${ratios[0]} | ${(sum.time / rounds).toFixed(2)} | ${ratios[1]} |`,
    )
    console.log(lines.at(-1))
  }
  lines.push('')
}

async function main(): Promise<void> {
  const database = process.env.TEST_DATABASE_URL
  if (database === undefined) throw new Error('TEST_DATABASE_URL is missing: use scripts/with-postgres.sh')
  const app = await createTestApp({ project, database })
  const client = new pg.Client({ connectionString: database })
  await client.connect()
  const end = async () => {
    await client.end()
    await app.close()
  }
  const run = async (text: string) => {
    const begun = performance.now()
    await client.query(text)
    return performance.now() - begun
  }
  const lines = [
    `# Full-text search`,
    '',
    `${ARTICLES} articles in five languages of 66 words (with \`typos\`: ${CORRECTED}), ${RATE} requests a second but at most 20 at once, one process, no`,
    'response cache. PostgreSQL and the server share two cores with other programs, so the processor time is what compares.',
    '',
  ]
  const postgres = await timeOfPostgres(database)
  const filled = new Map<string, number>()
  for (const table of TABLES) {
    const { rows } = await client.query(`SELECT FROM ${table} LIMIT 1`)
    if (rows.length > 0) continue
    filled.set(table, await run(fill(table)))
    await run(`VACUUM ANALYZE ${table}`)
  }
  if (process.env.SEARCH_FILL === 'only') return await end()
  lines.push(
    '| request | total | p50 ms | p95 ms | processor time of PostgreSQL, ms | of the server and its client, ms |',
    '|---|---|---|---|---|---|',
  )
  for (const [name, query] of Object.entries(REQUESTS)) {
    // These scan the table: of a million rows that takes seconds.
    if (ARTICLES > 100_000 && !query.includes('search=')) continue
    const { total, p50, p95, ...time } = await measure(app, query, postgres)
    const figures = [p50, p95, time.postgres, time.own].map(each => each.toFixed(1))
    lines.push(`| ${name.trim()} | ${total} | ${figures.join(' | ')} |`)
    console.log(lines.at(-1))
  }
  await measureWrites(app, postgres, lines)
  for (const [table, time] of filled)
    lines.push(`${table}: ${Math.round((rowsOf(table) / time) * 1000)} rows a second filled by SQL`)
  writeFileSync(join(import.meta.dirname, 'search/RESULTS.md'), `${lines.join('\n')}\n`)
  await end()
}

await main()

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { compileModel } from '../core/model/compile-model.ts'
import { loadProject } from '../core/project/load-project.ts'
import { describe } from '../tools/transfer/describe.ts'

// 100,000 articles into an empty database and out again. Needs TEST_DATABASE_URL and a build:
//   npm run build && bash scripts/with-postgres.sh node --import=tsx bench/transfer.ts

const ARTICLES = Number(process.env.BENCH_ARTICLES ?? 100_000)
const AUTHORS = 1_000
const CATEGORIES = 200
const PROJECT = join(import.meta.dirname, 'transfer')
const PLINTH = resolve(import.meta.dirname, '..', 'bin', 'plinth.js')

interface Ran {
  readonly seconds: number
  /** Of its processor time; PostgreSQL's comes on top. */
  readonly cpu: number
  /** The most that it held at once, MB (10^6). */
  readonly memory: number
}

async function main(): Promise<void> {
  const server = process.env.TEST_DATABASE_URL
  assert(
    server,
    'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh node --import=tsx bench/transfer.ts',
  )
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bulk-'))
  try {
    const [made, again] = [join(folder, 'made.ndjson'), join(folder, 'again.ndjson')]
    await writeStream(made)
    const url = await emptyDatabase(server)
    const rows: (readonly [string, Ran])[] = [
      ['import into an empty database', await plinth(url, ['import', PROJECT, made])],
      ['the same again: all of it is there', await plinth(url, ['import', PROJECT, made])],
      [
        'the same again with `--on-conflict update`',
        await plinth(url, ['import', PROJECT, made, '--on-conflict', 'update']),
      ],
      ['export', await plinth(url, ['export', PROJECT, '--out', again])],
    ]
    const megabytes = (statSync(again).size / 1e6).toFixed(0)
    const head = `${ARTICLES.toLocaleString('en')} articles, ${megabytes} MB of NDJSON`
    const lines = rows.map(
      ([what, { seconds, cpu, memory }]) =>
        `| ${what} | ${seconds.toFixed(0)} s | ${cpu.toFixed(0)} s | ${memory.toFixed(0)} MB |`,
    )
    process.stdout.write(
      [head, '', '| | time | its processor time | most memory |', '|---|---|---|---|', ...lines, ''].join(
        '\n',
      ),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function emptyDatabase(server: string): Promise<string> {
  const name = `plinth_bulk_${process.pid}`
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`).finally(() => client.end())
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function plinth(url: string, command: readonly string[]): Promise<Ran> {
  const began = performance.now()
  const child = spawn(process.execPath, [PLINTH, ...command], {
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let last = { memory: 0, cpu: 0 }
  const watch = setInterval(() => {
    last = lookAt(child.pid) ?? last
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  assert.equal(code, 0, command.join(' '))
  return { seconds: (performance.now() - began) / 1000, ...last }
}

/** undefined where the process is over. */
function lookAt(pid: number | undefined): Pick<Ran, 'memory' | 'cpu'> | undefined {
  try {
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(' ')
      .slice(13, 15)
      .map(Number)
    return peak === undefined
      ? undefined
      : { memory: (Number(peak) * 1024) / 1e6, cpu: (user + system) / 100 }
  } catch (error) {
    assert(error instanceof Error && 'code' in error)
    return undefined
  }
}

async function writeStream(path: string): Promise<void> {
  const file = createWriteStream(path)
  const write = async (line: object) => {
    if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain')
  }
  await write(await header())
  // Articles come first: all their links lead to what is still to come.
  for (let number = 1; number <= ARTICLES; number++) await write(article(number))
  for (let number = 1; number <= AUTHORS; number++)
    await write(plain('author', number, { name: `Author ${number}` }))
  for (let number = 1; number <= CATEGORIES; number++)
    await write(plain('category', number, { name: `Category ${number}`, slug: `category-${number}` }))
  file.end()
  await finished(file)
}

async function header() {
  const project = await loadProject(PROJECT, {})
  assert(project.ok)
  const model = compileModel(project.value)
  assert(model.ok)
  const types = [...model.value.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  return describe({ project: project.value, model: model.value, types, passwords: false })
}

const STAMPS = { createdAt: '2025-01-02T03:04:05.006Z', updatedAt: '2025-02-03T04:05:06.007Z' }
const BODY = 'It was a bright cold day in April, and the clocks were striking thirteen. '.repeat(8)

const idOf = (type: string, number: number): string => `${type}${String(number).padStart(12, '0')}`

const plain = (type: string, number: number, values: object) => ({
  type: `api::${type}.${type}`,
  documentId: idOf(type, number),
  versions: [{ ...STAMPS, publishedAt: STAMPS.updatedAt, values }],
})

/** Published in English; every fourth in French, too; every tenth draft was changed since. */
function article(number: number) {
  const shared = {
    rating: number % 10,
    price: `${number % 90}.50`,
    blocks: [
      { __component: 'blocks.text', text: BODY },
      { __component: 'blocks.pick', note: 'Next', article: idOf('article', (number % ARTICLES) + 1) },
    ],
  }
  const versions = (number % 4 === 0 ? ['en', 'fr'] : ['en']).flatMap(locale => [
    {
      locale,
      status: 'draft',
      ...STAMPS,
      values: valuesOf(number, locale, number % 10 === 0 ? ' (changed)' : ''),
    },
    {
      locale,
      status: 'published',
      ...STAMPS,
      publishedAt: STAMPS.updatedAt,
      values: valuesOf(number, locale, ''),
    },
  ])
  return {
    type: 'api::article.article',
    documentId: idOf('article', number),
    versions,
    shared: { draft: shared, published: shared },
  }
}

const valuesOf = (number: number, locale: string, suffix: string) => ({
  title: `Article ${number} in ${locale}${suffix}`,
  slug: `article-${number}`,
  body: BODY,
  author: { documentId: idOf('author', (number % AUTHORS) + 1), order: ARTICLES - number },
  categories: [0, 1, 2].map(step => ({
    documentId: idOf('category', ((number * 7 + step * 31) % CATEGORIES) + 1),
    order: number,
  })),
  next: idOf('article', ((number * 13) % ARTICLES) + 1),
  seo: { title: `Article ${number}`, description: 'A day in April' },
})

await main()

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type FreshDatabase, freshDatabase } from '../../tests/harness/test-database.ts'
import { aboutMachine, assertDurable } from '../machine.ts'
import { ROUNDS, SECONDS } from '../rounds.ts'
import { lookAtRest } from './at-rest.ts'
import { compare } from './compare.ts'
import { preparePayload } from './payload.ts'
import { preparePlinth } from './plinth.ts'
import { costTable, plot, restTable, speedTable } from './report.ts'
import { prepareStrapi } from './strapi.ts'

// Compares Plinth with Strapi and Payload, on one PostgreSQL, in one run. Needs TEST_DATABASE_URL, npm and a build:
//   npm run build && DURABLE=1 bash scripts/with-postgres.sh npm run bench:peers

const ARTICLES = Number(process.env.PEERS_ARTICLES ?? 2000)

async function main(): Promise<void> {
  const url = process.env.TEST_DATABASE_URL
  assert(url, 'TEST_DATABASE_URL is not set: DURABLE=1 bash scripts/with-postgres.sh npm run bench:peers')
  await assertDurable(url)
  const about = await aboutMachine(url)
  const kept = process.env.PEERS_DIR
  const within = kept ? resolve(kept) : mkdtempSync(join(tmpdir(), 'plinth-peers-'))
  const databases: FreshDatabase[] = []
  try {
    for (let count = 0; count < 3; count++) databases.push(await freshDatabase())
    write(await measure(within, databases, about))
  } finally {
    for (const database of databases) await database.drop()
    if (!kept) rmSync(within, { recursive: true, force: true })
  }
}

interface Written {
  readonly report: string
  readonly drawing: string
}

async function measure(
  within: string,
  databases: readonly FreshDatabase[],
  about: () => readonly string[],
): Promise<Written> {
  const [home, strapis, payloads] = databases.map(({ url }) => ({ within, url, articles: ARTICLES }))
  assert(home && strapis && payloads)
  const { plinth, kept, floor } = await preparePlinth(home)
  const peers = [plinth, await prepareStrapi(strapis), await preparePayload(payloads)]
  const looked = await lookAtRest(peers)
  const contenders = [kept, plinth, floor, ...peers.slice(1)]
  const compared = await compare(contenders, process.env.BENCH_ROWS)
  const names = contenders.map(({ name }) => name)
  return {
    report: [
      ...head(about()),
      ...speedTable(compared, names),
      '',
      ...costTable(compared, names),
      '',
      ...restTable(looked),
      '',
    ].join('\n'),
    drawing: plot(
      compared,
      `Requests a second, ${ARTICLES.toLocaleString('en')} articles (each line is ten times the one before)`,
    ),
  }
}

const head = (about: readonly string[]): readonly string[] => [
  '# Comparison with Strapi and Payload',
  '',
  ...about,
  `${ARTICLES.toLocaleString('en')} published articles with drafts; 10 connections; one process each; ${ROUNDS} rounds of ` +
    `${SECONDS} s, in turn. Medians; ratios are medians of the ratios of the turns. What is compared, and what not, is in ` +
    '[README.md](README.md).',
  '',
  '![Requests a second of each](requests.svg)',
  '',
]

function write({ report, drawing }: Written): void {
  process.stdout.write(report)
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report)
  writeFileSync(join(import.meta.dirname, 'requests.svg'), drawing)
}

await main()

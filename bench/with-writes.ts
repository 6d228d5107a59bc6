import { Client } from 'pg'
import { administer } from '../tests/harness/test-database.ts'
import { type Running, startPlinth } from './process.ts'
import { measured, median, takeTurns } from './rounds.ts'
import { mixed, type PlanRequest, reads } from './rows.ts'

interface ReadRow {
  readonly title: string
  readonly asked: readonly PlanRequest[]
}

const page = (number: number) => `pagination[page]=${number}&pagination[withCount]=false`

const READS: readonly ReadRow[] = [
  { title: 'single documents', asked: reads(mixed(1000).map(one => `/api/articles/article-${one * 10}`)) },
  {
    title: 'random pages of 25 by title, two relations populated',
    asked: reads(mixed(40).map(one => `/api/articles?sort=title&populate=author,categories&${page(one)}`)),
  },
  {
    title: 'lists of a category',
    asked: reads(
      mixed(30).map(one => `/api/articles?filters[categories][slug]=category-${one}&${page((one % 3) + 1)}`),
    ),
  },
]

/** Writes a second to the table that is read. */
const RATES = [1, 10, 100]

/** A server that caches, compared with one that does not, while another program writes to the table. */
export async function compareWithWrites(
  off: Running,
  { project, url, only }: { readonly project: string; readonly url: string; readonly only: string },
): Promise<readonly string[]> {
  const rows = READS.flatMap(row => RATES.map(rate => ({ ...row, rate }))).map(row => ({
    ...row,
    title: `${row.rate} writes a second: ${row.title}`,
  }))
  const chosen = rows.filter(({ title }) => title.includes(only))
  if (chosen.length === 0) return []
  const on = await startPlinth(project, url, { CACHE: 'true' })
  const lines: string[] = []
  try {
    for (const { title, asked, rate } of chosen) {
      const writer = await startWriter(url, rate)
      const turns = await takeTurns([
        { server: off, asked },
        { server: on, asked },
      ]).finally(writer.stop)
      const share = median(turns.map(([without, cached]) => cached.perSecond / without.perSecond))
      lines.push(`| ${title} | ${share.toFixed(2)} | ≥ 0.95 ${measured(turns)}`)
    }
  } finally {
    await on.stop()
  }
  // The rows that are measured next read the table as it was before the writes.
  await administer(url, 'VACUUM ANALYZE articles')
  return [...HEAD, ...lines]
}

const HEAD = [
  '| reads during writes to their table | cache on, of cache off | goal | off, a second | on, a second | CPU a request: off | on | p99: off | on |',
  '|---|---|---|---|---|---|---|---|---|',
]

/** Changes one article after another in SQL, as programs do that do not know of Plinth. */
async function startWriter(url: string, rate: number): Promise<{ stop(): Promise<void> }> {
  const client = new Client({ connectionString: url })
  await client.connect()
  let last: Promise<unknown> = Promise.resolve()
  let number = 0
  const timer = setInterval(() => {
    const target = (++number * 7919) % 10_000
    last = last.then(() =>
      client.query('UPDATE articles SET rating = (rating + 1) % 11 WHERE document_id = $1', [
        `article-${target}`,
      ]),
    )
  }, 1000 / rate)
  return {
    async stop() {
      clearInterval(timer)
      await last
      await client.end()
    },
  }
}

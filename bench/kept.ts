import { type Running, startPlinth } from './process.ts'
import { measured, median, takeTurns } from './rounds.ts'
import { KEPT, type PlanRequest, ROWS } from './rows.ts'
import { assertSameAnswers } from './same-answers.ts'

/** Cached responses, each validated by one statement, compared with the baseline for one document. */
export async function compareKept(
  floor: Running,
  { project, url, only }: { readonly project: string; readonly url: string; readonly only: string },
): Promise<readonly string[]> {
  const rows = KEPT.filter(({ title }) => title.includes(only))
  if (rows.length === 0) return []
  const plinth = await startPlinth(project, url, { CACHE: 'true' })
  const one = ROWS[0]?.asked ?? []
  const lines: string[] = []
  try {
    for (const { title, goal, asked, isTagged } of rows) {
      await assertSameAnswers(asked, [plinth, floor])
      const turns = await takeTurns([
        { server: floor, asked: one },
        { server: plinth, asked: isTagged ? await withTags(asked, plinth) : asked },
      ])
      const share = median(turns.map(([theirs, ours]) => ours.perSecond / theirs.perSecond))
      lines.push(`| ${title} | ${share.toFixed(2)} | ≥ ${goal} ${measured(turns)}`)
    }
  } finally {
    await plinth.stop()
  }
  return [...HEAD, ...lines]
}

const HEAD = [
  '| asked for again | share of the floor’s throughput of findOne | goal | floor’s findOne, a second | Plinth, a second | CPU a request: floor’s findOne | Plinth | p99: floor’s findOne | Plinth |',
  '|---|---|---|---|---|---|---|---|---|',
]

/** As clients ask that have the answers already. */
const withTags = (asked: readonly PlanRequest[], { base }: Running): Promise<readonly PlanRequest[]> =>
  Promise.all(
    asked.map(async ({ path }) => {
      const answer = await fetch(base + path)
      await answer.arrayBuffer()
      return { path, headers: { 'if-none-match': answer.headers.get('etag') ?? '' } }
    }),
  )

import { join } from 'node:path'
import { temporaryFolder } from '../tests/harness/folder.ts'
import { freePort } from '../tests/harness/free-port.ts'
import { launch, type Running, startPlinth } from './process.ts'
import { measured, median, takeTurns } from './rounds.ts'
import { CUSTOM, CUSTOM_GOAL } from './rows.ts'
import { assertSameAnswers } from './same-answers.ts'

const EXTENSION = `import { defineExtension } from 'plinth'

export default defineExtension({
  register({ graphql }) {
    graphql.use({
      typeDefs: 'extend type Article { headline: String }',
      resolvers: { Article: { headline: article => article.title + ' (' + article.kind + ')' } },
    })
  },
})
`

/** Without the cache PostgreSQL is read for each request; with it, as by default, its rows are in memory as those of yoga. */
const CACHES = [
  { CACHE: 'false', title: `${CUSTOM.title}, cache off` },
  { CACHE: 'true', title: CUSTOM.title },
] as const

/** The cost of a custom field, compared with graphql-yoga with a resolver for each field over rows in memory. */
export async function compareCustom(project: string, url: string, only: string): Promise<readonly string[]> {
  const { asked } = CUSTOM
  const lines: string[] = []
  const folder = temporaryFolder(project)
  folder.write('extensions/headline.js', EXTENSION)
  const servers: Running[] = []
  try {
    for (const { CACHE, title } of CACHES) {
      if (!title.includes(only)) continue
      const plinth = await startPlinth(folder.path, url, { CACHE })
      servers.push(plinth)
      const yoga = await startYoga(url, asked[0]?.path ?? '/')
      servers.push(yoga)
      await assertSameAnswers(asked, [plinth, yoga])
      const turns = await takeTurns([
        { server: yoga, asked },
        { server: plinth, asked },
      ])
      const cpu = median(turns.map(([theirs, ours]) => ours.cpu / theirs.cpu))
      lines.push(`| ${title} | ${cpu.toFixed(2)} | ≤ ${CUSTOM_GOAL} ${measured(turns)}`)
      for (const server of servers.splice(0)) await server.stop()
    }
    return lines.length === 0 ? [] : [...HEAD, ...lines]
  } finally {
    for (const server of servers) await server.stop()
    folder.remove()
  }
}

const HEAD = [
  '| request | share of graphql-yoga’s CPU a request | goal | graphql-yoga, a second | Plinth, a second | CPU a request: graphql-yoga | Plinth | p99: graphql-yoga | Plinth |',
  '|---|---|---|---|---|---|---|---|---|',
]

const startYoga = async (url: string, probe: string): Promise<Running> =>
  launch({
    command: ['--import=tsx', join(import.meta.dirname, 'yoga.js')],
    port: await freePort(),
    environment: { NODE_ENV: 'production', DATABASE_URL: url },
    probe,
  })

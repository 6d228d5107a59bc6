import { join, resolve } from 'node:path'
import { freePort } from '../../tests/harness/free-port.ts'
import { launch } from '../process.ts'
import { runFile } from '../sql-file.ts'
import { type Contender, type Peer, PRODUCTION, type Setting, startOnce } from './contender.ts'
import { fromEntities, fromRest, type Raw } from './documents.ts'
import { installPlinth } from './install.ts'
import { ours, type RowName } from './rows.ts'

const bench = resolve(import.meta.dirname, '..')

interface Home {
  /** Without the response cache: every request reads from the database. */
  readonly plinth: Peer
  /** The default settings, with the response cache: repeated requests are cache hits. */
  readonly kept: Contender
  /** Written by hand, over Plinth's tables. */
  readonly floor: Contender
}

export async function preparePlinth({ within, url, articles }: Setting): Promise<Home> {
  const installed = await installPlinth(within)
  const start = (cache: boolean) => async () =>
    launch({
      command: [
        join(installed.folder, 'node_modules', 'plinth', 'bin', 'plinth.js'),
        'start',
        join(bench, 'project'),
      ],
      port: await freePort(),
      environment: {
        ...PRODUCTION,
        DATABASE_URL: url,
        JWT_SECRET: 'a-secret-for-the-benchmark-alone-0000',
        CACHE: String(cache),
      },
      probe: '/api/articles',
    })
  await startOnce(start(false))
  await runFile(url, join(bench, 'seed.sql'), { articles })
  const { create, ...reads } = ours(articles)
  const requests = { ...reads, ...(create && { create }) }
  return {
    plinth: { name: 'Plinth, cache off', url, installed, requests, read, madeAt, start: start(false) },
    kept: { name: 'Plinth', url, requests: reads, read, start: start(true) },
    floor: { name: 'floor', url, requests, read, start: startFloor(url) },
  }
}

const startFloor = (url: string) => async () =>
  launch({
    command: ['--import=tsx', join(bench, 'floor.ts')],
    port: await freePort(),
    environment: { ...PRODUCTION, DATABASE_URL: url },
    probe: '/api/articles/article-1',
  })

const read = (row: RowName, body: Raw) => (row === 'nested' ? fromEntities(body) : fromRest(body))

/** The same in Strapi's REST. */
export const madeAt = ({ data }: Raw): string =>
  `/api/articles/${(data as { documentId: string }).documentId}?populate=author,categories`

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tests/harness/free-port.ts'
import { launch } from '../process.ts'
import { runFile } from '../sql-file.ts'
import { type Peer, PRODUCTION, type Setting, startOnce } from './contender.ts'
import { fromConnection, fromRest } from './documents.ts'
import { install } from './install.ts'
import { madeAt } from './plinth.ts'
import { strapis } from './rows.ts'

/** Its first start makes the tables. */
export async function prepareStrapi({ within, url, articles }: Setting): Promise<Peer> {
  const installed = await install({ name: 'strapi', within, build })
  const start = async () =>
    launch({
      command: ['node_modules/@strapi/strapi/bin/strapi.js', 'start'],
      folder: installed.folder,
      port: await freePort(),
      environment: { ...PRODUCTION, DATABASE_URL: url, STRAPI_TELEMETRY_DISABLED: 'true' },
      probe: '/api/articles',
    })
  await startOnce(start)
  await runFile(url, join(installed.folder, 'fill.sql'), { articles })
  return {
    name: 'Strapi',
    url,
    installed,
    requests: strapis(articles),
    read: (row, body) => (row === 'nested' ? fromConnection(body) : fromRest(body)),
    madeAt,
    start,
  }
}

const TYPES = ['article', 'author', 'category']
const PARTS = { controllers: 'Controller', services: 'Service', routes: 'Router' }

/** The three files that its generator writes for each content-type, and the folder that it does not start without. */
async function build(folder: string): Promise<void> {
  mkdirSync(join(folder, 'public', 'uploads'), { recursive: true })
  for (const type of TYPES) {
    for (const [part, factory] of Object.entries(PARTS)) {
      const within = join(folder, 'src', 'api', type, part)
      mkdirSync(within, { recursive: true })
      writeFileSync(
        join(within, `${type}.js`),
        `module.exports = require('@strapi/strapi').factories.createCore${factory}('api::${type}.${type}')\n`,
      )
    }
  }
}

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../tests/harness/free-port.ts'
import { launch } from '../process.ts'
import { runFile } from '../sql-file.ts'
import { type Peer, PRODUCTION, type Setting } from './contender.ts'
import { fromPayload } from './documents.ts'
import { install, runIn } from './install.ts'
import { payloads } from './rows.ts'

export async function preparePayload({ within, url, articles }: Setting): Promise<Peer> {
  const environment = { ...PRODUCTION, DATABASE_URL: url, ...SETTINGS }
  const installed = await install({ name: 'payload', within, build: folder => build(folder, environment) })
  await runIn(installed.folder)('node', [PAYLOAD, 'migrate'], environment)
  await runFile(url, join(installed.folder, 'fill.sql'), { articles })
  return {
    name: 'Payload',
    url,
    installed,
    requests: payloads(articles),
    read: (_row, body) => fromPayload(body),
    madeAt: ({ doc }) => `/api/articles/${(doc as { id: number }).id}?depth=1`,
    start: async () =>
      launch({
        command: [NEXT, 'start', '-H', '127.0.0.1'],
        folder: installed.folder,
        port: await freePort(),
        environment,
        probe: '/api/articles?limit=1',
      }),
  }
}

const SETTINGS = { NEXT_TELEMETRY_DISABLED: '1', PAYLOAD_CONFIG_PATH: 'payload.config.js' }
const PAYLOAD = 'node_modules/payload/bin.js'
const NEXT = 'node_modules/next/dist/bin/next'

/** The migration that makes its tables, and the application as Next.js serves it. */
async function build(folder: string, environment: Readonly<Record<string, string>>): Promise<void> {
  rmSync(join(folder, 'migrations'), { recursive: true, force: true })
  const run = runIn(folder)
  await run('node', [PAYLOAD, 'migrate:create', 'first'], environment)
  await run('node', [NEXT, 'build'], environment)
}

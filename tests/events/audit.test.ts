import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'
import { until } from './listening.ts'

const root = join(import.meta.dirname, '..', '..')

/** The content-types of the example project that its audit is about, in short. */
const PROJECT = `
name: Audited
server: { host: 127.0.0.1, port: "\${PORT}" }
database: { url: "\${DATABASE_URL}" }
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  restaurant: { draftAndPublish: true, attributes: { name: { type: string, required: true } } }
  article: { draftAndPublish: true, localized: true, attributes: { title: { type: string, required: true } } }
  audit-entry:
    attributes:
      event: { type: string, required: true, unique: true }
      action: { type: string, required: true }
      about: { type: string, required: true }
      language: string
      at: { type: datetime, required: true }
apiTokens: { all: { type: full-access, secret: all-of-it } }
`

test('the audit of the example project keeps an entry of what becomes of restaurants and articles', async t => {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  folder.write('extensions/audit.ts', readFileSync(join(root, 'extensions/audit.ts')))
  const server = await startServer({ project: folder.path })
  const send = async (method: string, path: string, data?: object) => {
    const answer = await fetch(`${server.base}/api${path}`, {
      method,
      headers: { authorization: 'Bearer all-of-it', 'content-type': 'application/json' },
      ...(data && { body: JSON.stringify({ data }) }),
      signal: AbortSignal.timeout(20_000),
    })
    const text = await answer.text()
    return text === '' ? null : JSON.parse(text).data
  }
  const lines = async (): Promise<readonly string[]> =>
    (await send('GET', '/audit-entries?sort=id')).map(
      (line: Record<string, unknown>) => `${line.action} ${line.about} ${line.language}`,
    )
  try {
    const { documentId: id } = await send('POST', '/restaurants?status=draft', { name: 'Casa Oliva' })
    await send('PUT', `/restaurants/${id}`, { name: 'Casa Oliva' })
    const { documentId: article } = await send('POST', '/articles?status=draft&locale=fr', { title: 'Midi' })
    await send('DELETE', `/restaurants/${id}`)
    await until(async () => (await lines()).length === 5)
    const told = await lines()
    t.deepEqual(
      told.filter(line => line.includes(id)),
      ['create', 'update', 'publish', 'delete'].map(action => `restaurant.${action} ${id} null`),
    )
    t.deepEqual(
      told.filter(line => line.includes(article)),
      [`article.create ${article} fr`],
    )
  } finally {
    await server.stop()
    folder.remove()
  }
})

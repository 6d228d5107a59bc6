import { randomUUID } from 'node:crypto'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'

// On whatever database the run has, the embedded one too: there a request that waited for itself would never end.

const PROJECT = `
name: Once Embedded
server: { host: "\${HOST}", port: "\${PORT}" }
database: { url: "\${DATABASE_URL}" }
contentTypes:
  note: { attributes: { text: { type: string, unique: true } } }
roles:
  public: { permissions: { note: ["*"] } }
`

/** Reads and writes through everything that code has: middlewares, events, two actions at once. */
const WRITER = `
import { defineExtension } from 'plinth'
export default defineExtension({ register({ rest, documents, app }) {
  documents.use(async (context, next) => {
    if (context.action === 'create') await app.documents('note').count()
    return next()
  })
  documents.on('note.create', async () => { await app.documents('note').count() })
  rest.route('POST', '/many', async ({ app }) => {
    const texts = ['a', 'b', 'a']
    const made = await Promise.allSettled(
      texts.map(text => app.documents('note').create({ data: { text } })),
    )
    return { made: made.map(({ status }) => status), count: await app.documents('note').count() }
  }, { auth: false })
} })
`

test('the transaction of an idempotent request does not block calls that its handler awaits', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('extensions/writer.ts', WRITER)
  const server = await startServer({ project: folder.path })
  t.teardown(server.stop)
  const ask = async (path: string, key: string, body: unknown) => {
    const answer = await fetch(server.base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(120_000),
    })
    return {
      status: answer.status,
      text: await answer.text(),
      at: answer.headers.get('idempotency-replayed'),
    }
  }
  const [one, many] = [randomUUID(), randomUUID()]
  const made = await ask('/api/notes', one, { data: { text: 'one' } })
  t.is(made.status, 201, made.text)
  t.deepEqual(await ask('/api/notes', one, { data: { text: 'one' } }), { ...made, at: 'true' })
  const wrote = await ask('/api/many', many, {})
  t.deepEqual(JSON.parse(wrote.text), { made: ['fulfilled', 'fulfilled', 'rejected'], count: 3 })
  t.deepEqual(await ask('/api/many', many, {}), { ...wrote, at: 'true' })
  const graphql = { query: 'mutation { createNote(data: { text: "two" }) { data { id } } }' }
  const mutated = await ask('/graphql', randomUUID(), graphql)
  t.regex(mutated.text, /"createNote":\{"data":\{"id"/)
  const others = await Promise.all(
    Array.from({ length: 6 }, (_, index) =>
      ask('/api/notes', randomUUID(), { data: { text: `t ${index}` } }),
    ),
  )
  t.deepEqual(
    others.map(({ status }) => status),
    others.map(() => 201),
  )
})

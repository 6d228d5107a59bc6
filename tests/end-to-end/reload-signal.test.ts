import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'

const project = (attributes: string, defaultLimit = 10) => `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}" }
auth: { jwtSecret: "\${JWT_SECRET}" }
contentTypes: { note: { attributes: { ${attributes} } } }
roles: { public: { permissions: { note: [find] } } }
graphql: { config: { defaultLimit: ${defaultLimit} } }
`

test('in production files are reloaded only on SIGHUP', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project('text: string'))
  folder.write('.env', 'JWT_SECRET=0123456789-of-a-secret-for-a-test\n')
  const server = await startServer({ project: folder.path, environment: { NODE_ENV: 'production' } })
  t.teardown(server.stop)
  const reloads = () => server.log().match(/"event":"reload(ed|Refused)"/g)?.length ?? 0
  const hup = async (count: number) => {
    process.kill(server.pid, 'SIGHUP')
    for (let tries = 0; reloads() < count && tries < 1_000; tries++) await pause(30)
  }
  const statusOf = async (field: string) => (await server.get(`/api/notes?fields=${field}`)).status
  const page = async () => {
    const query = encodeURIComponent('{ notes { data { id } meta { pagination { pageSize } } } }')
    const { body } = await server.get(`/graphql?query=${query}`)
    return JSON.stringify(body)
  }
  const before = await page()
  folder.write('project.yaml', project('text: string, size: integer', 7))
  await pause(1_500)
  t.deepEqual([reloads(), await statusOf('size')], [0, 400])
  const asked = Promise.all(Array.from({ length: 20 }, () => statusOf('text')))
  await hup(1)
  t.is(await statusOf('size'), 200)
  // Cached operations are discarded.
  t.deepEqual(
    [before, await page()].map(text => /"pageSize":(\d+)/.exec(text)?.[1]),
    ['10', '7'],
  )
  t.deepEqual(new Set(await asked), new Set([200]))
  folder.write('.env', 'JWT_SECRET=\n')
  await hup(2)
  t.regex(
    server.log(),
    /Not reloaded; the server keeps serving the previous version:\\nProduction needs a secret/,
  )
  t.is(await statusOf('size'), 200)
  t.is(await server.stop(), 0, 'it can still be ended')
})

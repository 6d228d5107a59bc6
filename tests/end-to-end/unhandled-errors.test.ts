import { spawn } from 'node:child_process'
import { once } from 'node:events'
import test from 'ava'
import { layEmbedded } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { PLINTH } from '../harness/program.ts'
import { startServer } from '../harness/server.ts'
import { until } from '../harness/until.ts'

// No `error` event of a stream or a server ends the process.

const PROJECT = `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}", logLevel: debug }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes: { note: { attributes: { text: string } } }
roles: { public: { permissions: { note: [find, create] } } }
`

/** Writes to its response after it has ended, as does a middleware that forgets an await. */
const LATE = `import { defineMiddleware } from 'plinth'
export default defineMiddleware({
  express: () => (request, response, next) => {
    if (request.url !== '/late') return next()
    response.end('done')
    response.write('more')
  },
})
`

test('a middleware that writes to an ended response does not end the server', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', `${PROJECT}middlewares: [late]\n`)
  folder.write('middlewares/late.mjs', LATE)
  const server = await startServer({ project: folder.path })
  t.teardown(server.stop)
  t.is((await server.get('/late')).body, 'done')
  await until('the log tells it', () => /written to after it had ended/.test(server.log()))
  t.is((await server.get('/_ready')).status, 200)
})

test('a server whose log pipe is closed keeps running', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  await layEmbedded(folder.path)
  const port = await freePort()
  const child = spawn(process.execPath, [...PLINTH, 'start', folder.path], {
    env: { ...process.env, NODE_ENV: 'development', PORT: String(port), DATABASE_URL: 'embedded' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await until('the server listens', () => answers(port))
  child.stdout.destroy()
  child.stderr.destroy()
  for (let times = 0; times < 5; times++) t.true(await answers(port))
  t.is(child.exitCode, null)
  child.kill('SIGTERM')
  t.deepEqual(await once(child, 'exit'), [0, null])
})

const answers = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/_ready`).then(
    ({ ok }) => ok,
    () => false,
  )

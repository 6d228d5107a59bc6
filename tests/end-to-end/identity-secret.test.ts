import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'
import { runToEnd } from './run-to-end.ts'

const PROJECT = `name: Secrets
server: { host: "\${HOST}", port: "\${PORT}" }
database: { url: "\${DATABASE_URL}" }
contentTypes: { note: { attributes: { text: string } } }
auth: { jwtSecret: "\${JWT_SECRET:-}", mail: { url: "\${SMTP_URL:-}" } }
`
const USERS =
  '- { username: ann, email: ann@example.com, password: ann-password, confirmed: true, role: authenticated }\n'

function project() {
  const folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  folder.write('content/users.yaml', USERS)
  return folder
}

for (const [what, environment, words] of [
  ['no secret', { NODE_ENV: 'production' }, /JWT_SECRET.*32/],
  ['a short secret', { NODE_ENV: 'production', JWT_SECRET: 'short' }, /jwtSecret.*too short/],
  [
    'a mail server without a name',
    { JWT_SECRET: 'x'.repeat(32), SMTP_URL: 'smtp://user:mail-secret@' },
    /auth\.mail\.url/,
  ],
] as const) {
  test.serial(`a start is refused with ${what}`, async t => {
    const folder = project()
    t.teardown(folder.remove)
    const { code, output } = await runToEnd(folder.path, environment)
    t.is(code, 1)
    t.regex(output, words)
    t.notRegex(output, /mail-secret|\bat .*\.ts:/)
  })
}

test.serial('in development sessions survive a restart of the server', async t => {
  const folder = project()
  t.teardown(folder.remove)
  const start = () => startServer({ project: folder.path, environment: { DATABASE_URL: 'embedded' } })
  const first = await start()
  const answer = await fetch(`${first.base}/api/auth/local`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier: 'ann', password: 'ann-password' }),
  })
  const { jwt } = (await answer.json()) as { readonly jwt: string }
  t.is(await first.stop(), 0)
  const file = join(folder.path, '.plinth/jwt-secret')
  const secret = readFileSync(file, 'utf8')
  t.is(statSync(file).mode & 0o777, 0o600)
  const second = await start()
  const authorization = `Bearer ${jwt}`
  // Known, and allowed nothing: who is not known is answered 401.
  t.is((await second.get('/api/users/me', { authorization })).status, 403)
  t.is((await second.get('/api/users/me', { authorization: `${authorization}x` })).status, 401)
  t.is(readFileSync(file, 'utf8'), secret)
  t.false(second.log().includes(secret.trim()))
  t.is(await second.stop(), 0)
})

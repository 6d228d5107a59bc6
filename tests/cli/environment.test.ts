import { spawnSync } from 'node:child_process'
import test, { type ExecutionContext } from 'ava'
import { command } from '../end-to-end/command.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'

const PROJECT = 'name: Env\ncontentTypes: { note: { attributes: { text: string } } }\n'

function projectOf(t: ExecutionContext, files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  for (const [name, text] of Object.entries({ 'project.yaml': PROJECT, ...files })) folder.write(name, text)
  return folder.path
}

function plinth(words: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { HOST: _, PORT: __, DATABASE_URL: ___, ...others } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, [...PLINTH, ...words], {
    encoding: 'utf8',
    env: { ...others, ...env },
    timeout: 90_000,
  })
  return { code: status, out: stdout, complaint: stderr }
}

test('check --print shows each setting with its value and its origin, and masks secrets', t => {
  const secret = 'a-secret-of-more-than-thirty-two-letters'
  const folder = projectOf(t, {
    'project.yaml': `${PROJECT}rest: { prefix: /v1 }\nserver: { host: "\${BIND:-127.0.0.9}" }\n`,
    '.env': `JWT_SECRET=${secret}\n`,
  })
  const words = ['check', folder, '--print', '--port', '4001']
  const { code, out } = plinth(words, {
    DATABASE_URL: 'postgres://ann:pass-word@db.example.org:6000/shop?x=y',
  })
  t.is(code, 0)
  const line = (path: string) => out.split('\n').find(each => each.startsWith(`${path} `)) ?? ''
  t.regex(line('server.port'), / 4001 +--port$/)
  t.regex(line('server.host'), / 127\.0\.0\.9 .*project\.yaml:4:17, BIND \(not set\)$/)
  t.regex(line('rest.prefix'), / \/v1 .*project\.yaml:3:17$/)
  t.regex(line('rest.defaultLimit'), / 25 +default$/)
  t.regex(
    line('database.url'),
    / postgres:\/\/ann:\*{6}@db\.example\.org:6000\/shop +DATABASE_URL \(environment\)$/,
  )
  t.regex(line('auth.jwtSecret'), / \*{6} +JWT_SECRET \(\.env\)$/)
  t.notRegex(out, /pass-word|a-secret-of/)
  const json = JSON.parse(plinth([...words, '--json']).out)
  t.like(
    json.settings.find(({ path }: { path: string }) => path === 'server.port'),
    { value: '4001', origin: '--port' },
  )
})

test('a command names its database and the mode first, without user and password', async t => {
  const folder = projectOf(t, {})
  const embedded = await command('plan', folder)
  t.regex(embedded.complaint, /^Database: embedded, not created yet \(development\)\n/)
  const url = 'postgres://ann:pass-word@127.0.0.1:1/shop'
  const { code, complaint } = plinth(['plan', folder, '--database', url], {
    NODE_ENV: 'production',
    DATABASE_URL: 'embedded',
  })
  t.is(code, 1)
  t.regex(complaint, /^Database: shop on 127\.0\.0\.1:1 \(production\)\n/)
  t.notRegex(complaint, /pass-word/)
})

const WORDS = 'In production the database has to be named'

test('production without a configured database does not start', t => {
  const env = { NODE_ENV: 'production', JWT_SECRET: 'x'.repeat(40) }
  const refused = plinth(['start', projectOf(t, {})], env)
  t.is(refused.code, 1)
  t.true(refused.complaint.includes(WORDS))
  const fallback = { 'project.yaml': `${PROJECT}database: { url: "\${DATABASE_URL:-embedded}" }\n` }
  t.true(plinth(['start', projectOf(t, fallback)], env).complaint.includes(WORDS))
})

test('production starts on an embedded database that the file or the environment configures', t => {
  // The missing secret is reported after the database was accepted.
  const env = { NODE_ENV: 'production' }
  const written = { 'project.yaml': `${PROJECT}database: { url: embedded }\n` }
  for (const { complaint } of [
    plinth(['start', projectOf(t, written)], env),
    plinth(['start', projectOf(t, {})], { ...env, DATABASE_URL: 'embedded' }),
    plinth(['start', projectOf(t, {}), '--database', 'embedded'], env),
    plinth(['start', projectOf(t, { '.env': 'DATABASE_URL=embedded\n' })], env),
  ]) {
    t.false(complaint.includes(WORDS), complaint)
    t.regex(complaint, /jwtSecret/)
  }
})

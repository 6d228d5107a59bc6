import { Readable } from 'node:stream'
import test, { type ExecutionContext } from 'ava'
import { runUser, type UserChange } from '../../tools/cli/user.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { type RunOptions, run } from './run.ts'

// `plinth user` on a database that a server has open.

const PROJECT = `
name: Members
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1391}", rateLimit: { auth: false, account: false } }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes: { note: { attributes: { text: string } } }
roles:
  authenticated: { permissions: { users: [me] } }
  editor: { extends: authenticated, permissions: { note: "*" } }
`

async function opened(t: ExecutionContext) {
  const database = await freshDatabase()
  t.teardown(database.drop)
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const server = await startServer({ project: folder.path, environment: { DATABASE_URL: database.url } })
  t.teardown(() => server.stop())
  return { options: { folder: folder.path, env: { DATABASE_URL: database.url } }, server }
}

const change = (changed: UserChange, options: RunOptions, typed = '', json = false) =>
  run(options => runUser({ ...options, json, input: () => Readable.from([typed]) }, changed), options)

const ANN = { username: 'Ann', email: 'ann@example.org', role: 'editor' }

async function signIn({ base }: Server, identifier: string, password: string) {
  const answer = await fetch(`${base}/api/auth/local`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ identifier, password }),
  })
  const { jwt = '' } = (await answer.json()) as { jwt?: string }
  return { status: answer.status, jwt }
}

const me = async (server: Server, jwt: string): Promise<number> =>
  (await server.get('/api/users/me', { authorization: `Bearer ${jwt}` })).status

test('users are added, listed, given roles, blocked and unblocked while the server runs', async t => {
  const { options, server } = await opened(t)
  const added = await change({ kind: 'add', ...ANN, readsPassword: false }, options)
  t.is(added.code, 0, added.complaint)
  t.regex(added.complaint, /^Database: .* \(development\)\n$/)
  const password = /shown only now: (\S+)\n$/.exec(added.out)?.[1] ?? ''
  t.true(password.length >= 20)
  const bob = {
    kind: 'add',
    username: 'bob',
    email: 'bob@example.org',
    role: null,
    readsPassword: true,
  } as const
  t.false((await change(bob, options, 'secret-of-bob\n')).out.includes('secret-of-bob'))
  const { status, jwt } = await signIn(server, 'ann@example.org', password)
  t.is(status, 200)
  t.is((await signIn(server, 'bob', 'secret-of-bob')).status, 200)

  const list = (role: string | null, blocked = false) => change({ kind: 'list', role, blocked }, options)
  t.is((await list(null)).out, 'Ann  ann@example.org  editor\nbob  bob@example.org  authenticated\n')
  t.is((await list('authenticated')).out, 'bob  bob@example.org  authenticated\n')
  t.is((await list(null, true)).out, 'No users.\n')

  t.is(await me(server, jwt), 200)
  t.regex((await change({ kind: 'block', who: 'ANN@example.org' }, options)).out, /blocked\n$/)
  t.is(await me(server, jwt), 401)
  t.is((await signIn(server, 'Ann', password)).status, 400)
  await change({ kind: 'unblock', who: 'Ann' }, options)
  t.is(await me(server, jwt), 200)

  const moved = await change({ kind: 'role', who: 'bob', role: 'editor' }, options, '', true)
  t.like(JSON.parse(moved.out)[0], { username: 'bob', role: 'editor', blocked: false, confirmed: true })
})

test('a user that cannot be created or changed is refused with the reason, and nothing is written', async t => {
  const { options } = await opened(t)
  await change({ kind: 'add', ...ANN, readsPassword: false }, options)
  const refused: readonly (readonly [UserChange, number, RegExp])[] = [
    [{ kind: 'add', ...ANN, readsPassword: false }, 1, /already taken|unique/],
    [{ kind: 'add', ...ANN, username: 'eve', email: 'no address', readsPassword: false }, 1, /email/],
    [{ kind: 'add', ...ANN, username: 'eve', email: 'eve@example.org', readsPassword: true }, 1, /password/],
    [
      { kind: 'add', ...ANN, role: 'editr', readsPassword: false },
      2,
      /unknown role `editr`: did you mean `editor`/,
    ],
    [{ kind: 'role', who: 'eve', role: 'editor' }, 1, /no user with the name or the mail address `eve`/],
    [{ kind: 'block', who: '' }, 1, /no user/],
    [{ kind: 'list', role: 'guests', blocked: false }, 2, /unknown role `guests`/],
  ]
  for (const [changed, code, reason] of refused) {
    const done = await change(changed, options)
    t.is(done.code, code, `${JSON.stringify(changed)}: ${done.out}${done.complaint}`)
    t.regex(done.complaint, reason)
  }
  t.is(
    (await change({ kind: 'list', role: null, blocked: false }, options)).out,
    'Ann  ann@example.org  editor\n',
  )
})

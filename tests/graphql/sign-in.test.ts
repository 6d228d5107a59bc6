import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// reference/graphql.md#7-users, reference/graphql.md#8-permissions; reference/safety.md: what signing in and users are held to over REST holds over GraphQL, too.

const PROJECT = `
name: Signing in over GraphQL
server:
  host: "\${HOST:-127.0.0.1}"
  port: "\${PORT:-1390}"
  trustProxy: true
  rateLimit: { auth: { window: 10m, max: 6 } }
database: { url: "\${DATABASE_URL:-embedded}" }
i18n: { locales: [en, fr], defaultLocale: en }
auth:
  jwtSecret: graphql-jwt-secret-graphql-jwt-secret
  register: { role: member, confirmEmail: true }
# All tests of this file hash passwords at once.
graphql: { config: { limits: { time: 60s } } }
contentTypes:
  note: { attributes: { title: string } }
roles:
  public: { permissions: { auth: [login, register, forgotPassword, emailConfirmation] } }
  member: { permissions: { auth: [changePassword, resetPassword], i18n: [find] } }
apiTokens:
  full: { type: full-access, secret: full-graphql-token-000000000000000000000 }
  reader: { type: custom, secret: reader-graphql-token-0000000000000000000, permissions: { users: [find, findOne] } }
`
const USERS = `
- { username: ann, email: ann@users.test, password: Ann-Password1, confirmed: true, role: member }
- { username: bob, email: bob@users.test, password: Bob-Password1, confirmed: true, role: member }
- { username: cid, email: cid@users.test, password: Cid-Password1, confirmed: true, role: member }
`

let folder: Folder
let server: Server

test.before(async () => {
  folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  folder.write('content/users.yaml', USERS)
  server = await startServer({ project: folder.path })
})
test.after.always(async () => {
  await server?.stop()
  folder?.remove()
})

const FULL = 'full-graphql-token-000000000000000000000'
const READER = 'reader-graphql-token-0000000000000000000'

interface From {
  /** The network address that asks: each has limits of its own. */
  readonly address: string
  readonly token?: string
}

async function post(path: string, body: unknown, { address, token }: From) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const answer = await fetch(server.base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address, ...authorization },
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: JSON.parse(await answer.text()) }
}

const ask = async (query: string, from: From, variables: Readonly<Record<string, unknown>> = {}) =>
  (await post('/graphql', { query, variables }, from)).body

const LOGIN =
  'mutation ($i: UsersPermissionsLoginInput!) { login(input: $i) { jwt user { id username role { type } } } }'
const login = (name: string, password: string, from: From) =>
  ask(LOGIN, from, { i: { identifier: name, password } })
const tokenOf = async (name: string, password: string, from: From): Promise<string> =>
  (await login(name, password, from)).data.login.jwt
const codeOf = (error: { readonly extensions: { readonly code: string } } | undefined) =>
  error?.extensions.code

/** The code in the newest mail to an address, which is written shortly after the answer. */
async function mailedCode(to: string, pattern: RegExp): Promise<string> {
  for (let tries = 0; tries < 100; tries++) {
    const mails = join(folder.path, '.plinth', 'mail')
    const texts = readdirSync(join(folder.path, '.plinth'))
      .flatMap(name => (name === 'mail' ? readdirSync(mails).toSorted() : []))
      .map(name => readFileSync(join(mails, name), 'utf8'))
    const code = texts
      .flatMap(text => (text.includes(to) ? [pattern.exec(text)?.[1] ?? []].flat() : []))
      .at(-1)
    if (code !== undefined) return code
    await pause(50)
  }
  throw new Error(`no mail to ${to}`)
}

test('login returns the user without the role, me with it, both by documentId', async t => {
  const from = { address: '10.0.0.1' }
  const { data } = await login('ann@USERS.test', 'Ann-Password1', from)
  t.is(data.login.user.role, null)
  const token = data.login.jwt
  const { me } = (await ask('{ me { id username blocked role { id type } } }', { ...from, token })).data
  t.like(me, { id: data.login.user.id, username: 'ann', blocked: false })
  t.is(me.role.type, 'member')
  const user = await ask(
    'query ($id: ID!) { usersPermissionsUser(id: $id) { data { attributes { username role { data { id } } } } } }',
    { ...from, token: FULL },
    { id: me.id },
  )
  t.deepEqual(user.data.usersPermissionsUser.data.attributes, {
    username: 'ann',
    role: { data: { id: me.role.id } },
  })
})

test('responses with credentials are not cacheable, alone or in a batch', async t => {
  const query = LOGIN
  const variables = { i: { identifier: 'ann', password: 'Ann-Password1' } }
  const read = { query: '{ __typename }' }
  const kept = async (body: unknown) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${server.base}/graphql`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    t.is(answer.status, 200)
    return answer.headers.get('cache-control') !== 'no-store'
  }
  t.deepEqual(
    [
      await kept({ query, variables }),
      await kept([{ query, variables }, read]),
      await kept(read),
      await kept([read, read]),
    ],
    [false, false, true, true],
  )
})

test('anonymous callers and API tokens have no me; other providers and GET do not sign in', async t => {
  const from = { address: '10.0.0.2' }
  for (const token of [undefined, FULL])
    t.is(
      codeOf((await ask('{ me { username } }', { ...from, ...(token && { token }) })).errors[0]),
      'FORBIDDEN',
    )
  const input = { identifier: 'ann', password: 'Ann-Password1', provider: 'github' }
  t.is((await ask(LOGIN, from, { i: input })).errors[0].message, 'This provider is disabled')
  const query = 'mutation { login(input: { identifier: "ann", password: "Ann-Password1" }) { jwt } }'
  const answer = await fetch(`${server.base}/graphql?${new URLSearchParams({ query })}`)
  t.is(answer.status, 405)
  t.false((await answer.text()).includes('jwt'))
})

test('every login of an operation and of a batch counts, together with logins over REST (S9)', async t => {
  const wrong = 'login(input: { identifier: "unknown-user", password: "wrong" }) { jwt }'
  const from = { address: '10.0.1.1' }
  const batch = await post(
    '/graphql',
    [{ query: `mutation { a: ${wrong} }` }, { query: `mutation { b: ${wrong} }` }],
    from,
  )
  t.is(codeOf(batch.body[1].errors[0]), 'BAD_USER_INPUT')
  for (let tries = 0; tries < 3; tries++)
    t.is(codeOf((await ask(`mutation { login: ${wrong} }`, from)).errors[0]), 'BAD_USER_INPUT')
  t.is((await post('/api/auth/local', { identifier: 'unknown', password: 'x' }, from)).status, 400)
  const over = await login('ann', 'Ann-Password1', from)
  t.is(codeOf(over.errors[0]), 'STRAPI_RATE_LIMIT_ERROR')
  t.is(over.data, null)
  t.is((await post('/api/auth/local', { identifier: 'ann', password: 'Ann-Password1' }, from)).status, 429)
  const codes = 'forgotPassword(email: "unknown@users.test") { ok }'
  const aliases = Array.from({ length: 8 }, (_, index) => `a${index}: ${codes}`).join(' ')
  const many = await ask(`mutation { ${aliases} }`, { address: '10.0.1.2' })
  t.deepEqual(many.data.a5, { ok: true })
  t.is(many.data.a6, null)
  t.is(codeOf(many.errors[0]), 'STRAPI_RATE_LIMIT_ERROR')
})

test('public permissions apply to every caller, others do not', async t => {
  const from = { address: '10.0.2.1' }
  const RESET =
    'mutation { resetPassword(password: "Another-1", passwordConfirmation: "Another-1", code: "x") { jwt } }'
  t.is(codeOf((await ask(RESET, from)).errors[0]), 'FORBIDDEN')
  const token = await tokenOf('bob', 'Bob-Password1', from)
  t.is((await ask(RESET, { ...from, token })).errors[0].message, 'Incorrect code provided')
  t.is(typeof (await tokenOf('bob', 'Bob-Password1', { ...from, token })), 'string')
  const CHANGE =
    'mutation { changePassword(currentPassword: "x", password: "Another-1", passwordConfirmation: "Another-1") { jwt } }'
  t.is(codeOf((await ask(CHANGE, from)).errors[0]), 'FORBIDDEN')
})

test('a changed password ends other sessions, all if another caller sets it; a mailed code is valid once (S8)', async t => {
  const from = { address: '10.0.3.1' }
  const isIn = async (token: string) =>
    (await post('/graphql', { query: '{ __typename }' }, { ...from, token })).status
  const first = await tokenOf('cid', 'Cid-Password1', from)
  const CHANGE =
    'mutation { changePassword(currentPassword: "Cid-Password1", password: "Cid-Password2", passwordConfirmation: "Cid-Password2") { jwt user { id role { type } } } }'
  const { changePassword } = (await ask(CHANGE, { ...from, token: first })).data
  t.is(changePassword.user.role, null)
  t.deepEqual([await isIn(first), await isIn(changePassword.jwt)], [200, 200])
  const update =
    'mutation ($id: ID!) { updateUsersPermissionsUser(id: $id, data: { password: "Cid-Password3" }) { data { id } } }'
  const { id } = changePassword.user
  t.is((await ask(update, { ...from, token: FULL }, { id })).data.updateUsersPermissionsUser.data.id, id)
  t.deepEqual([await isIn(first), await isIn(changePassword.jwt)], [401, 401])
  const third = await tokenOf('cid', 'Cid-Password3', from)
  t.deepEqual(await ask('mutation { forgotPassword(email: "CID@users.test") { ok } }', from), {
    data: { forgotPassword: { ok: true } },
  })
  const code = await mailedCode('cid@users.test', /Use this code: (\S+)/)
  const RESET =
    'mutation ($c: String!) { resetPassword(password: "Cid-Password4", passwordConfirmation: "Cid-Password4", code: $c) { jwt user { username } } }'
  const as = { ...from, token: await tokenOf('ann', 'Ann-Password1', from) }
  const reset = await ask(RESET, as, { c: code })
  t.is(reset.data.resetPassword.user.username, 'cid')
  t.deepEqual([await isIn(third), await isIn(reset.data.resetPassword.jwt)], [401, 200])
  t.is((await ask(RESET, as, { c: code })).errors[0].message, 'Incorrect code provided')
})

test('a new user confirms the address before signing in; the mailed code is valid once', async t => {
  const from = { address: '10.0.4.1' }
  const REGISTER =
    'mutation { register(input: { username: "dee", email: "Dee@users.test", password: "Dee-Password1" }) { jwt user { id email confirmed } } }'
  const { register } = (await ask(REGISTER, from)).data
  t.like(register, { jwt: null, user: { email: 'dee@users.test', confirmed: false } })
  t.is((await login('dee', 'Dee-Password1', from)).errors[0].message, 'Your account email is not confirmed')
  const code = await mailedCode('dee@users.test', /confirmation=(\S+)/)
  const CONFIRM =
    'mutation ($c: String!) { emailConfirmation(confirmation: $c) { jwt user { id confirmed } } }'
  t.deepEqual(await ask(CONFIRM, from, { c: code }), {
    data: { emailConfirmation: { jwt: null, user: { id: register.user.id, confirmed: true } } },
  })
  t.is((await ask(CONFIRM, from, { c: code })).errors[0].message, 'Invalid token')
  t.is((await login('dee', 'Dee-Password1', from)).data.login.user.username, 'dee')
})

test('permitted callers create, change and remove users; roles cannot be changed (S6)', async t => {
  const from = { address: '10.0.5.1', token: FULL }
  const found = await ask(
    '{ usersPermissionsRoles(filters: { type: { eq: "member" } }) { data { id attributes { type } } } }',
    from,
  )
  const [role] = found.data.usersPermissionsRoles.data
  const MAKE =
    'mutation ($d: UsersPermissionsUserInput!) { createUsersPermissionsUser(data: $d) { data { id attributes { email role { data { id } } } } } }'
  const data = { username: 'eve', email: 'Eve@users.test', password: 'Eve-Password1', role: role.id }
  for (const token of [undefined, READER]) {
    const as = { address: '10.0.5.2', ...(token && { token }) }
    t.is(codeOf((await ask(MAKE, as, { d: {} })).errors[0]), 'FORBIDDEN')
  }
  for (const key of ['resetPasswordToken', 'confirmationToken'])
    t.is((await ask(MAKE, from, { d: { ...data, [key]: 'x' } })).errors[0].message, `Invalid key ${key}`)
  const made = await ask(MAKE, from, { d: { ...data, publishedAt: '2020-01-01T00:00:00Z' } })
  const { id, attributes } = made.data.createUsersPermissionsUser.data
  t.deepEqual(attributes, { email: 'eve@users.test', role: { data: { id: role.id } } })
  const [{ id: number }] = await fetch(`${server.base}/api/users?filters[username]=eve`, {
    headers: { authorization: `Bearer ${FULL}` },
  }).then(async answer => JSON.parse(await answer.text()))
  const UPDATE =
    'mutation ($id: ID!) { updateUsersPermissionsUser(id: $id, data: { blocked: true }) { data { id attributes { blocked } } } }'
  const blocked = await ask(UPDATE, from, { id: number })
  t.deepEqual(blocked.data.updateUsersPermissionsUser.data, { id, attributes: { blocked: true } })
  t.is((await ask(UPDATE, from, { id: 'missing' })).errors[0].message, 'User not found')
  const CHANGE =
    'mutation ($id: ID!, $d: UsersPermissionsUserInput!) { updateUsersPermissionsUser(id: $id, data: $d) { data { attributes { role { data { id } } } } } }'
  for (const [key, kind] of [
    ['password', 'string'],
    ['role', 'object'],
  ] as const)
    t.is(
      (await ask(CHANGE, from, { id, d: { [key]: null } })).errors[0].message,
      `${key} must be a \`${kind}\` type, but the final value was: \`null\`.`,
    )
  t.is(
    (await ask(CHANGE, from, { id, d: {} })).data.updateUsersPermissionsUser.data.attributes.role.data.id,
    role.id,
  )
  const DELETE = 'mutation ($id: ID!) { deleteUsersPermissionsUser(id: $id) { data { id } } }'
  t.is((await ask(DELETE, from, { id })).data.deleteUsersPermissionsUser.data.id, id)
  t.is((await ask(DELETE, from, { id })).data.deleteUsersPermissionsUser.data, null)
  for (const mutation of [
    'createUsersPermissionsRole(data: { name: "Role" }) { ok }',
    `updateUsersPermissionsRole(id: "${role.id}", data: { name: "Role" }) { ok }`,
    `deleteUsersPermissionsRole(id: "${role.id}") { ok }`,
  ])
    t.is(codeOf((await ask(`mutation { ${mutation} }`, from)).errors[0]), 'FORBIDDEN')
})

test('locales are listed, and read by id, by permitted callers', async t => {
  const from = { address: '10.0.6.1' }
  const token = await tokenOf('bob', 'Bob-Password1', from)
  const LIST = '{ i18NLocales(sort: "code") { data { id attributes { code } } } }'
  for (const as of [
    { ...from, token },
    { ...from, token: FULL },
  ]) {
    const { data } = await ask(LIST, as)
    t.deepEqual(
      data.i18NLocales.data.map(({ attributes }: { attributes: { code: string } }) => attributes.code),
      ['en', 'fr'],
    )
    const { id } = data.i18NLocales.data[1]
    const one = await ask('query ($id: ID) { i18NLocale(id: $id) { data { attributes { code } } } }', as, {
      id,
    })
    t.is(one.data.i18NLocale?.data.attributes.code, 'fr')
  }
  t.is(codeOf((await ask(LIST, from)).errors[0]), 'FORBIDDEN')
})

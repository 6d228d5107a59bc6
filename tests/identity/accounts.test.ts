import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { NO_OUTBOX } from '../../core/documents/outbox.ts'
import { newDocumentId } from '../../core/documents/rows/document-id.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { confirmEmail, sendEmailConfirmation } from '../../core/identity/confirm-email.ts'
import { type AuthCall, type IdentityOptions, openBackground } from '../../core/identity/identity.ts'
import type { AuthBody } from '../../core/identity/parse-credentials.ts'
import {
  forgotPassword,
  resetPassword as resetPasswordBy,
} from '../../core/identity/sign-in/change-password.ts'
import { newCode } from '../../core/identity/sign-in/codes.ts'
import { openLoginAttempts } from '../../core/identity/sign-in/login-attempts.ts'
import { openSessions } from '../../core/identity/sign-in/sessions.ts'
import { signIn as signInFrom } from '../../core/identity/sign-in/sign-in.ts'
import { syncRoles } from '../../core/identity/sync-declared-rows.ts'
import { NO_MESSAGES, saveUser, scalarValue } from '../../core/identity/users/save-user.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import { passed, world } from '../access/project.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const { project, model, access } = await world('roles: {}')
const storage = compileStorage(model)

/** Signing in over a real database, where users are as another program left them. */
async function open(t: ExecutionContext) {
  const database = await openTestDatabase(t, { tables: storage.tables })
  passed(await migrate(database, storage.tables))
  passed(await syncRoles(project.settings.roles, { database, model, storage }))
  const mails: { readonly to: string; readonly text: string }[] = []
  const background = openBackground(reason => t.fail(String(reason)))
  const options: IdentityOptions = {
    database,
    model,
    storage,
    background,
    settings: project.settings.auth,
    sessions: openSessions({ secret: 'x'.repeat(32), lifetime: 60_000 }),
    mail: { sendToAccount: async (_name, to, data) => void mails.push({ to, text: JSON.stringify(data) }) },
    outbox: NO_OUTBOX,
    loginAttempts: openLoginAttempts({ window: 60_000, max: MOST }, database),
    sealKey: new Uint8Array(32),
    otherSealKeys: [],
    address: 'http://localhost/api',
  }
  return {
    signIn: (identifier: string, password: string, network = 'here') =>
      signInFrom({ identifier, password }, callFrom(network), options),
    resetPassword: (body: AuthBody, network = 'here') => resetPasswordBy(body, callFrom(network), options),
    options,
    mails,
    background,
    column: columnOf(database),
  }
}

const callFrom = (address: string): AuthCall => ({
  address,
  caller: { kind: 'public', grants: access.publicCaller.grants, user: null },
})

/** Failed tries of one user. */
const MOST = 4

/** A user with these columns, past all that routes do. */
function leave(
  { database }: IdentityOptions,
  username: string,
  columns: Readonly<Record<string, string | boolean | null>>,
) {
  const values = {
    username,
    email: `${username}@example.com`,
    provider: 'local',
    confirmed: true,
    ...columns,
  }
  const scalars = Object.entries(values).map(([key, value]) => [key, scalarValue(value)] as const)
  const user = { documentId: newDocumentId(), values: new Map(scalars) }
  return database.transaction(transaction =>
    saveUser(user, NO_MESSAGES, transaction, { database, model, storage }),
  )
}

const columnOf = (database: Database) => async (username: string, field: string) => {
  const { user } = model.builtIn
  const text = `SELECT ${storage.column(user, field)} FROM ${storage.table(user).name} WHERE ${storage.column(user, 'username')} = $1`
  const { rows } = await database.run({ text, values: [username] })
  return rows[0]?.[0]
}

/** `ok`, or the message of the refusal. */
async function said(work: () => unknown): Promise<string> {
  try {
    await work()
    return 'ok'
  } catch (error) {
    if (error instanceof RequestFault) return error.message
    throw error
  }
}

const MADE_BY_STRAPI = 'abcdefghijklmnopqrstuuG/UEkOdRnwd.E60H5mO5p7PHHbPkK.y'
const ITS_PASSWORD = 'Strapi-Passw0rd é'

test('users imported from Strapi sign in with their existing passwords', async t => {
  const { signIn, options } = await open(t)
  for (const form of ['$2a$', '$2b$', '$2y$']) {
    const username = `user-${form.slice(1, 3)}`
    await leave(options, username, { password: `${form}10$${MADE_BY_STRAPI}` })
    const signedIn = await signIn(username, ITS_PASSWORD)
    t.not(await options.sessions.read(signedIn.jwt ?? ''), null)
    t.is(await said(() => signIn(username, 'Strapi-Passw0rd e')), 'Invalid identifier or password')
  }
})

test('an account without a password, or with an invalid hash, refuses every sign-in', async t => {
  const { signIn, options } = await open(t)
  await leave(options, 'without', { password: null })
  await leave(options, 'plain', { password: 'plain-password' })
  for (const identifier of ['without', 'plain'])
    for (const password of ['plain-password', 'null', ' '])
      t.is(await said(() => signIn(identifier, password)), 'Invalid identifier or password', identifier)
})

test('a mailed code is stored as its hash, and replaces an older code', async t => {
  const { options, mails, background, column, resetPassword } = await open(t)
  await leave(options, 'ann', { password: null })
  await forgotPassword({ email: 'ANN@example.com' }, options)
  await background.settled()
  const [mail] = mails
  t.is(mail?.to, 'ann@example.com')
  const code = /[0-9a-f]{64}[0-9a-z]+/.exec(mail?.text ?? '')?.[0] ?? ''
  const stored = String(await column('ann', 'resetPasswordToken'))
  t.regex(stored, /^sha256:[0-9a-f]{64}$/)
  t.false(stored.includes(code.slice(0, 64)))
  const stolen = { code: stored, password: 'new-password', passwordConfirmation: 'new-password' }
  t.is(await said(() => resetPassword(stolen, 'here')), 'Incorrect code provided')
  t.is(await said(() => resetPassword({ ...stolen, code }, 'here')), 'ok')
  t.is(await column('ann', 'resetPasswordToken'), null)
  t.regex(String(await column('ann', 'password')), /^\$2[aby]\$10\$.{53}$/)
})

test('a code that has expired sets no password and confirms no address', async t => {
  const { options, column, resetPassword } = await open(t)
  const old = newCode(3_600_000, Date.now() - 3_600_001)
  await leave(options, 'late', {
    resetPasswordToken: old.hash,
    confirmationToken: old.hash,
    confirmed: false,
  })
  const reset = { code: old.code, password: 'new-password', passwordConfirmation: 'new-password' }
  t.is(await said(() => resetPassword(reset, 'here')), 'Incorrect code provided')
  t.is(await said(() => confirmEmail(old.code, options)), 'Invalid token')
  t.is(await column('late', 'confirmed'), false)
  const fresh = newCode(3_600_000, Date.now())
  await leave(options, 'early', {
    resetPasswordToken: fresh.hash,
    confirmationToken: fresh.hash,
    confirmed: false,
  })
  t.is(await said(() => confirmEmail(fresh.code, options)), 'ok')
  t.is(await said(() => resetPassword({ ...reset, code: fresh.code }, 'here')), 'ok')
})

test('unknown and blocked accounts get no mail', async t => {
  const { options, mails, background } = await open(t)
  await leave(options, 'blocked', { blocked: true, confirmed: false })
  for (const email of ['blocked@example.com', 'unknown@example.com', "x'--@example.com"]) {
    t.is(await said(() => forgotPassword({ email }, options)), 'ok')
    t.is(await said(() => sendEmailConfirmation({ email }, options)), 'ok')
  }
  await background.settled()
  t.deepEqual(mails, [])
})

test('if one user’s name is another’s address, the address takes precedence', async t => {
  const { signIn, options } = await open(t)
  const hash = `$2b$10$${MADE_BY_STRAPI}`
  await leave(options, 'owner', { email: 'owner@example.com', password: hash })
  await leave(options, 'owner@example.com', { email: 'thief@example.com', password: hash })
  const signedIn = await signIn('owner@example.com', ITS_PASSWORD)
  const named = await signIn('owner', ITS_PASSWORD)
  t.is(signedIn.documentId, named.documentId)
})

const TOO_MANY = 'Too many requests, please try again later.'
const WRONG = 'Invalid identifier or password'

test('password attempts on one user are limited across networks, and look the same for unknown users', async t => {
  const { signIn, options } = await open(t)
  await leave(options, 'ann', { password: `$2b$10$${MADE_BY_STRAPI}` })
  for (const names of [
    ['ann', 'ANN', ' ann', 'Ann', 'ａnn', 'aｎn', 'anｎ', 'ＡＮＮ'],
    ['unknown', 'UNKNOWN', ' unknown', 'Unknown', 'ｕnknown', 'uｎknown', '𝐮nknown', 'ＵＮＫＮＯＷＮ'],
  ]) {
    const reported = await Promise.all(
      names.map((name, at) => said(() => signIn(name, 'nonsense', `network ${at}`))),
    )
    t.deepEqual(
      [reported.filter(each => each === WRONG).length, reported.filter(each => each === TOO_MANY).length],
      [4, 4],
    )
    t.is(await said(() => signIn(names[0] ?? '', ITS_PASSWORD, 'a ninth')), TOO_MANY)
  }
})

test('an attacker cannot lock out an owner on a known network, or one who resets the password', async t => {
  const { signIn, options, mails, background, resetPassword } = await open(t)
  const password = 'password of ann'
  await leave(options, 'ann', { password: `$2b$10$${MADE_BY_STRAPI}` })
  t.is(await said(() => signIn('ann@example.com', ITS_PASSWORD, 'home')), 'ok')
  for (let at = 0; at <= MOST; at++) await said(() => signIn('ann', 'nonsense', `network ${at}`))
  t.is(await said(() => signIn('ann', ITS_PASSWORD, 'elsewhere')), TOO_MANY)
  t.is(await said(() => signIn('ann', ITS_PASSWORD, 'home')), 'ok')
  t.is(await said(() => signIn('ann', 'nonsense', 'home')), WRONG)
  await forgotPassword({ email: 'ann@example.com' }, options)
  await background.settled()
  const code = /[0-9a-f]{64}[0-9a-z]+/.exec(mails[0]?.text ?? '')?.[0] ?? ''
  const body = { code, password, passwordConfirmation: password }
  t.is(await said(() => resetPassword(body, 'elsewhere')), 'ok')
  t.is(await said(() => signIn('ann', password, 'elsewhere')), 'ok')
})

test('successful sign-ins do not count as attempts', async t => {
  const { signIn, options } = await open(t)
  await leave(options, 'ann', { password: `$2b$10$${MADE_BY_STRAPI}` })
  for (let at = 0; at <= MOST; at++)
    t.is(await said(() => signIn('ann', ITS_PASSWORD, `network ${at}`)), 'ok')
})

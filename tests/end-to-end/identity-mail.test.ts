import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { freePort } from '../harness/free-port.ts'
import { openMute, openPost } from '../harness/post.ts'
import { codeIn, FULL, forge, openPeople, type People, payloadOf, said } from './people.ts'
import type { Body } from './reading-room.ts'

// reference/rest.md#14-access: addresses that have to be confirmed; mails that no server accepts
let people: People
test.before(async () => {
  people = await openPeople({
    auth: [
      '  register: { confirmEmail: true, role: authenticated }',
      '  mail:',
      '    from: "The Guide <guide@example.com>"',
      '    resetUrl: https://guide.example.com/reset?lang=en',
      '    confirmUrl: https://guide.example.com/welcome',
    ].join('\n'),
  })
})
test.after.always(() => people?.close())

const register = (name: string) =>
  people.call('POST', '/api/auth/local/register', {
    username: name,
    email: `${name}@example.com`,
    password: `${name}-password`,
  })
const login = (name: string) =>
  people.call('POST', '/api/auth/local', { identifier: name, password: `${name}-password` })
const me = (token: string) => people.call('GET', '/api/users/me', undefined, token)
const confirm = (code: string) => people.call('GET', `/api/auth/email-confirmation?confirmation=${code}`)
const sendAgain = (email: string) => people.call('POST', '/api/auth/send-email-confirmation', { email })

test('a registered user can sign in after following the mailed link', async t => {
  const { status, body } = await register('nora')
  t.is(status, 200)
  t.deepEqual(Object.keys(body), ['user'])
  t.like(body.user as Body, { username: 'nora', confirmed: false })
  t.is(said(await login('nora')), '400 Your account email is not confirmed')

  const [mail = ''] = await people.mailsTo('nora@example.com', 1)
  t.regex(mail, /^From: The Guide <guide@example\.com>\n/)
  t.regex(mail, /\nhttp:\/\/[^ ]+\/api\/auth\/email-confirmation\?confirmation=[0-9a-f]{64}[0-9a-z]+\n/)
  t.is(said(await confirm(`${codeIn(mail)}0`)), '400 Invalid token')
  // A mail scanner looks first.
  const path = `/api/auth/email-confirmation?confirmation=${codeIn(mail)}`
  t.is((await people.call('HEAD', path)).status, 204)
  const confirmed = await confirm(codeIn(mail))
  t.is(confirmed.status, 302)
  t.is(confirmed.headers.get('location'), 'https://guide.example.com/welcome')
  t.is(said(await login('nora')), '200')
  t.is(said(await confirm(codeIn(mail))), '400 Invalid token')
})

test('only the last mailed link is valid', async t => {
  await register('olga')
  const [first] = await people.mailsTo('olga@example.com', 1)
  const { status, body } = await sendAgain('Olga@Example.com')
  t.deepEqual([status, body], [200, { email: 'olga@example.com', sent: true }])
  const [, second] = await people.mailsTo('olga@example.com', 2)
  t.is(said(await confirm(codeIn(first))), '400 Invalid token')
  t.is((await confirm(codeIn(second))).status, 302)
  // Confirmed, unknown and unconfirmed addresses are answered alike.
  for (const email of ['olga@example.com', 'unknown@example.com'])
    t.deepEqual(await sendAgain(email).then(({ status, body }) => [status, body]), [
      200,
      { email, sent: true },
    ])
  t.is((await people.mailsTo('olga@example.com', 2)).length, 2)
  t.is(said(await sendAgain('nonsense')), '400 email must be a valid email')
})

test('an invalid code confirms nothing', async t => {
  for (const code of ['', 'x', 'null', '%00', 'f'.repeat(70), '&confirmation[$ne]=x'])
    t.is((await confirm(code)).status, 400, code)
  t.is((await people.call('GET', '/api/auth/email-confirmation?confirmation[$ne]=x')).status, 400)
  t.is((await people.call('GET', '/api/auth/email-confirmation')).status, 400)
})

test('a token of a user whose address is not confirmed is refused, whatever its origin', async t => {
  const token = await people.signIn('ann')
  const { id } = payloadOf(token)
  t.is(said(await me(token)), '200')
  const put = (confirmed: boolean) => people.call('PUT', `/api/users/${Number(id)}`, { confirmed }, FULL)
  await put(false)
  t.is(said(await me(token)), '401 Invalid credentials')
  const now = Math.floor(Date.now() / 1000)
  const forged = forge({ alg: 'HS256' }, { id: Number(id), version: 0, iat: now, exp: now + 60 })
  t.is(said(await me(forged)), '401 Invalid credentials')
  await put(true)
  t.is(said(await me(token)), '200')
})

const change = (token: string, data: object, of = token) =>
  people.call('PUT', `/api/users/${Number(payloadOf(of).id)}`, data, token)
const linkIn = (mail = ''): string => /confirmation=(\S+)/.exec(mail)?.[1] ?? ''

test('a changed address takes effect after the link mailed to it was followed', async t => {
  const token = await people.signIn('dora')
  t.is(said(await change(token, { email: 'BOB@example.com' })), '400 Email already taken')
  t.is(said(await change(token, { email: 'nonsense' })), '400 email must be a valid email')
  const asked = await change(token, { email: 'Dora-New@example.com', username: 'dora2' })
  t.like(asked.body, { email: 'dora@example.com', username: 'dora2', confirmed: true })
  const [mail] = await people.mailsTo('dora-new@example.com', 1)
  await people.call('POST', '/api/auth/forgot-password', { email: 'dora@example.com' })
  const [reset] = await people.mailsTo('dora@example.com', 1)
  t.is(said(await confirm(linkIn(mail).slice(0, -2))), '400 Invalid token')
  t.is((await confirm(linkIn(mail))).status, 302)
  t.like((await me(token)).body, { email: 'dora-new@example.com', confirmed: true })
  const password = 'dora-password-2'
  const late = { code: codeIn(reset), password, passwordConfirmation: password }
  t.is(said(await people.call('POST', '/api/auth/reset-password', late)), '400 Incorrect code provided')
  t.is(said(await confirm(linkIn(mail))), '400 Invalid token')
})

test('a new password, or an address taken by another user meanwhile, invalidates the link to a new address', async t => {
  const token = await people.signIn('eve')
  await change(token, { email: 'thief@example.com' })
  const [first] = await people.mailsTo('thief@example.com', 1)
  await change(token, { password: 'eve-password-2' })
  t.is(said(await confirm(linkIn(first))), '400 Invalid token')
  const next = await people.signIn('eve', 'eve-password-2')
  await change(next, { email: 'wanted@example.com' })
  const [second] = await people.mailsTo('wanted@example.com', 1)
  await register('wanted')
  t.is(said(await confirm(linkIn(second))), '400 Email already taken')
  t.like((await me(next)).body, { email: 'eve@example.com' })
  await change(next, { email: 'name@example.com' })
  const [third] = await people.mailsTo('name@example.com', 1)
  const found = await people.call('GET', '/api/users?filters[username]=wanted', undefined, FULL)
  const [wanted] = Object.values(found.body) as unknown as readonly { readonly id: number }[]
  const renamed = { username: 'name@example.com' }
  t.is(said(await people.call('PUT', `/api/users/${wanted?.id}`, renamed, FULL)), '200')
  t.is(said(await confirm(linkIn(third))), '400 Email already taken')
  t.is(said(await change(next, { email: 'name@example.com' })), '400 Email already taken')
})

test('an address set by another user has to be confirmed, unless the request sets confirmed', async t => {
  const token = await people.signIn('finn')
  t.like((await change(FULL, { email: 'finn2@example.com', confirmed: true }, token)).body, {
    confirmed: true,
  })
  t.like((await change(FULL, { email: 'FINN2@example.com', blocked: false }, token)).body, {
    confirmed: true,
  })
  t.is(said(await me(token)), '200')
  const moved = await change(FULL, { email: 'finn3@example.com' }, token)
  t.like(moved.body, { email: 'finn3@example.com', confirmed: false })
  t.is(said(await me(token)), '401 Invalid credentials')
  const [mail] = await people.mailsTo('finn3@example.com', 1)
  t.is((await confirm(linkIn(mail))).status, 302)
  t.is(said(await me(token)), '200')
})

test('the link of a forgotten password leads to the page of the project, with its code', async t => {
  await people.call('POST', '/api/auth/forgot-password', { email: 'bob@example.com' })
  const [mail = ''] = await people.mailsTo('bob@example.com', 1)
  t.true(mail.includes(`https://guide.example.com/reset?lang=en&code=${codeIn(mail)}\n`), mail)
})

const mailUrl = (port: number) => `  mail: { url: "smtp://me:mail-secret@127.0.0.1:${port}" }\n`

/** Until the log says it. */
async function logged(where: People, what: RegExp): Promise<boolean> {
  for (let tries = 0; tries < 600; tries++) {
    if (what.test(where.server.log())) return true
    await pause(50)
  }
  return false
}

test('an unreachable mail server fails no request, and is logged without its password', async t => {
  const other = await openPeople({ auth: mailUrl(await freePort()) })
  try {
    t.is(said(await other.call('POST', '/api/auth/forgot-password', { email: 'ann@example.com' })), '200')
    t.true(await logged(other, /mailFailed.*Could not send the mail/))
    t.false(/mail-secret|ann@example/.test(other.server.log()))
  } finally {
    await other.close()
  }
})

test('a mail server that hangs delays no request, and no shutdown', async t => {
  const { port, sockets } = await openMute(t, () => {})
  const other = await openPeople({ auth: mailUrl(port) })
  t.teardown(other.close)
  t.is(said(await other.call('POST', '/api/auth/forgot-password', { email: 'ann@example.com' })), '200')
  t.is(
    said(await other.call('POST', '/api/auth/local', { identifier: 'ann', password: 'ann-password' })),
    '200',
  )
  t.notRegex(other.server.log(), /mailFailed/)
  for (let tries = 0; sockets.size === 0 && tries < 600; tries++) await pause(50)
  t.is(sockets.size, 1, 'the mail is under way')
  t.is(await other.server.stop(), 0)
})

test('a mail that a server accepted contains the code that sets a password', async t => {
  const post = await openPost(t)
  const other = await openPeople({
    auth: `  mail: { url: "smtp://127.0.0.1:${post.port}", from: guide@example.com }\n`,
  })
  t.teardown(other.close)
  await other.call('POST', '/api/auth/forgot-password', { email: 'finn@example.com' })
  t.true(await logged(other, /Sent the mail/))
  const [mail] = post.mails
  t.deepEqual([mail?.from, mail?.to], ['guide@example.com', ['finn@example.com']])
  // Long lines come in parts, each but the last with = at its end.
  const code = codeIn(mail?.text.replaceAll('=\r\n', ''))
  const password = 'finn-password-2'
  const reset = await other.call('POST', '/api/auth/reset-password', {
    code,
    password,
    passwordConfirmation: password,
  })
  t.is(said(reset), '200')
  t.false(other.server.log().includes(code))
})

import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { MailError } from '../../core/mail/mail.ts'
import { type MailTransportOptions, openTransport, sendMail } from '../../core/mail/transport.ts'
import type { Observation } from '../../core/observe/observation.ts'
import { freePort } from '../harness/free-port.ts'
import { openMute, openPost } from '../harness/post.ts'

const MAIL = {
  to: [{ address: 'ann@example.com' }],
  subject: 'Reset your password',
  text: 'Use this code: açai-1',
}
const WITHIN = 30_000

function open(t: ExecutionContext, options: Partial<MailTransportOptions>) {
  const root = mkdtempSync(join(tmpdir(), 'plinth-mail-'))
  t.teardown(() => rmSync(root, { recursive: true, force: true }))
  const reported: Observation[] = []
  const observer = { emit: (seen: Observation) => void reported.push(seen) }
  const address = 'https://guide.example:8443/cms'
  const fixed = { url: null, from: null, root, production: false, address, requestTimeout: 30_000 }
  const opened = openTransport({ ...fixed, observer, ...options })
  if (!opened.ok) throw new Error(opened.reasons.join())
  return { send: opened.value, reported, root }
}

test('a mail is sent by SMTP to one receiver, from the configured sender', async t => {
  const post = await openPost(t)
  const { send, reported } = open(t, {
    url: `smtp://127.0.0.1:${post.port}`,
    from: 'The Guide <guide@example.com>',
  })
  await send(MAIL)
  const [mail, ...others] = post.mails
  t.deepEqual(others, [])
  t.is(mail?.from, 'guide@example.com')
  t.deepEqual(mail?.to, ['ann@example.com'])
  t.regex(mail?.text ?? '', /^From: The Guide <guide@example\.com>\r\nTo: ann@example\.com\r\n/)
  t.regex(mail?.text ?? '', /Subject: Reset your password\r\n/)
  t.regex(mail?.text ?? '', /Use this code: a=C3=A7ai-1/)
  t.deepEqual(reported, [{ kind: 'mail', what: 'Sent the mail "Reset your password"' }])
})

test('without a sender the mail comes from the server’s own address', async t => {
  const post = await openPost(t)
  await open(t, { url: `smtp://127.0.0.1:${post.port}` }).send(MAIL)
  t.is(post.mails[0]?.from, 'no-reply@guide.example')
})

test('username and password of the URL are sent to the server', async t => {
  const names: string[] = []
  const post = await openPost(t, {
    authOptional: false,
    allowInsecureAuth: true,
    onAuth({ username, password }, _session, done) {
      names.push(`${username} ${password}`)
      done(null, { user: username })
    },
  })
  await open(t, { url: `smtp://me%40example.com:p%40ss@127.0.0.1:${post.port}` }).send(MAIL)
  t.deepEqual(names, ['me@example.com p@ss'])
  t.is(post.mails.length, 1)
})

test('an address that contains a list or a line break reaches no other receiver', async t => {
  const post = await openPost(t)
  const { send } = open(t, { url: `smtp://127.0.0.1:${post.port}` })
  const input = ['ann@example.com,eve@example.com', 'ann@example.com\r\nBcc: eve@example.com']
  await Promise.allSettled(input.map(address => send({ ...MAIL, to: [{ address }] })))
  t.deepEqual(
    post.mails.flatMap(mail => mail.to).filter(to => to === 'eve@example.com'),
    [],
  )
  for (const { text } of post.mails) t.notRegex(text, /^Bcc:/im)
})

const failing = async (t: ExecutionContext, url: string, retryable: boolean): Promise<string> => {
  const { send, reported } = open(t, { url })
  const error = await t.throwsAsync(send(MAIL), { instanceOf: MailError })
  t.is(error?.retryable, retryable)
  // The reason names the mail server, so only the log has it.
  t.notRegex(JSON.stringify(error?.fault), /127\.0\.0\.1|user/)
  t.is(reported.length, 1)
  const [only] = reported
  return only?.kind === 'mailFailed' ? only.what : `observed ${only?.kind}`
}

test('an unreachable mail server is logged, without delaying the request', async t => {
  t.regex(
    await failing(t, `smtp://127.0.0.1:${await freePort()}`, true),
    /^Could not send the mail "Reset your password": .*ECONNREFUSED/,
  )
})

test('a receiver refused by the mail server is logged', async t => {
  const post = await openPost(t, { onRcptTo: (_address, _session, done) => done(new Error('No such user')) })
  t.regex(await failing(t, `smtp://127.0.0.1:${post.port}`, false), /^Could not send .*No such user/)
})

test('the connection to a silent mail server is closed', async t => {
  const { port, sockets } = await openMute(t, () => {})
  await t.throwsAsync(
    sendMail(MAIL, { url: `smtp://127.0.0.1:${port}`, from: 'a@example.com', timeout: 300 }),
    {
      message: 'it was not taken within 0.3 s',
    },
  )
  for (const socket of sockets)
    if (!socket.destroyed) await once(socket, 'close', { signal: AbortSignal.timeout(WITHIN) })
  t.is(sockets.size, 0)
})

test('the connection to a mail server that never stops sending is closed', async t => {
  const { port } = await openMute(t, socket => {
    const talking = setInterval(() => socket.write('220-wait\r\n'), 20)
    socket.on('close', () => clearInterval(talking))
  })
  await t.throwsAsync(
    sendMail(MAIL, { url: `smtp://127.0.0.1:${port}`, from: 'a@example.com', timeout: 300 }),
    {
      message: 'it was not taken within 0.3 s',
    },
  )
})

test('the number of mails waiting for a hanging server is bounded', async t => {
  const { port } = await openMute(t, socket => void setTimeout(() => socket.destroy(), 1500))
  const { send, reported } = open(t, { url: `smtp://127.0.0.1:${port}` })
  await Promise.allSettled(Array.from({ length: 25 }, () => send(MAIL)))
  const refused = reported.filter(seen => 'what' in seen && seen.what.includes('20 others are under way'))
  t.is(refused.length, 5)
  t.is(reported.length, 25)
})

test('credentials are never sent unencrypted over a network', async t => {
  const spoken: string[] = []
  const { port } = await openMute(t, socket => {
    socket.write('220 plain ESMTP\r\n')
    socket.on('data', part => {
      spoken.push(String(part))
      socket.write(/^ehlo/i.test(String(part)) ? '250-plain\r\n250 AUTH PLAIN LOGIN\r\n' : '502 no\r\n')
    })
  })
  // Another name of this machine, that does not look like one.
  const url = `smtp://me:secret@2130706433:${port}`
  await t.throwsAsync(sendMail(MAIL, { url, from: 'a@example.com', timeout: WITHIN }))
  t.true(
    spoken.some(line => /^STARTTLS/i.test(line)),
    spoken.join(),
  )
  t.false(spoken.some(line => /^AUTH/i.test(line)))
})

test('a URL without a server is refused at start', t => {
  for (const url of ['smtp://', 'smtp://a:b@', 'smtp://host:port']) {
    const options = {
      url,
      from: null,
      root: '.',
      production: true,
      address: 'http://localhost:1337',
      requestTimeout: 0,
    }
    const opened = openTransport({ ...options, observer: { emit: () => {} } })
    t.true(!opened.ok && /auth\.mail\.url/.test(opened.reasons.join()), url)
  }
})

test('development writes mails to private files, and logs no content', async t => {
  const { send, reported, root } = open(t, {})
  await send({ ...MAIL, subject: 'Hello\r\nBcc: eve@example.com' })
  const folder = join(root, '.plinth/mail')
  const [file = '', ...others] = readdirSync(folder)
  t.deepEqual(others, [])
  t.is(statSync(join(folder, file)).mode & 0o777, 0o600)
  t.is(
    readFileSync(join(folder, file), 'utf8'),
    'From: plinth@localhost\nTo: ann@example.com\nSubject: Hello Bcc: eve@example.com\n\nUse this code: açai-1\n',
  )
  t.notRegex(JSON.stringify(reported), /açai|ann@/)
})

test('production without a mail server logs that the mail was not sent, without its content', async t => {
  const { send, reported, root } = open(t, { production: true })
  await t.throwsAsync(send(MAIL), { instanceOf: MailError, message: 'The project has no mail server' })
  t.deepEqual(readdirSync(root), [])
  t.deepEqual(reported, [
    {
      kind: 'mailFailed',
      what: 'Did not send the mail "Reset your password": the project has no auth.mail.url',
    },
  ])
})

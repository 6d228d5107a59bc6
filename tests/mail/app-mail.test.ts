import { once } from 'node:events'
import { cpSync, readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import type { HttpRequest } from '../../core/faults/http-exchange.ts'
import { openMailPreview } from '../../core/mail/preview.ts'
import { openTransport } from '../../core/mail/transport.ts'
import type { TestAppOptions } from '../../core/testing.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { openPost } from '../harness/post.ts'
import { serveProject } from '../harness/server.ts'
import { openTestApp } from '../harness/test-app.ts'
import { until } from '../harness/until.ts'

const PROJECT = `name: Shop
auth: { jwtSecret: ${'x'.repeat(40)}, mail: MAIL }
contentTypes:
  order: { attributes: { number: integer, email: string } }
roles:
  public: { permissions: { order: [create], auth: [forgotPassword] } }
`

const EXTENSION = `import { defineExtension, MailError } from 'plinth'
export default defineExtension({
  register({ rest, documents, app }) {
    documents.on('order.create', async ({ documentId }) => {
      const order = await app.documents('order').findOne({ documentId })
      await app.mail.send({ to: order.email, template: 'order-confirmed', data: { number: order.number } })
    })
    rest.route('POST', '/contact', async ({ http }) => {
      const { to } = await http.request.json()
      return app.mail.send({ to, subject: 'Hello', text: 'A text' })
    }, { auth: false })
    rest.route('POST', '/try', async () => {
      try {
        await app.mail.send({ to: 'ann@example.com', subject: 'Hello', text: 'A text' })
      } catch (error) {
        return { known: error instanceof MailError, kind: error.kind, retryable: error.retryable }
      }
    }, { auth: false })
    rest.route('POST', '/wrong', () => app.mail.send({ to: 'ann@example.com', template: 'order-confirmd' }), { auth: false })
  },
})
`

function shop(t: ExecutionContext, mail = '{}'): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT.replace('MAIL', mail))
  folder.write('extensions/orders.mjs', EXTENSION)
  folder.write('mails/order-confirmed.md', '---\nsubject: Order {{ number }}\n---\nThank you.\n')
  return folder
}

async function open(t: ExecutionContext, folder: Folder, options: Partial<TestAppOptions> = {}) {
  return openTestApp(t, { project: folder.path, ...options })
}

/** Sends another Host header than the address. */
async function ask(url: string, headers: Record<string, string> = {}): Promise<[IncomingMessage, string]> {
  const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage]
  return [response, await text(response)]
}

test('extensions send mails, a test sees them, and development shows them on this machine only', async t => {
  const folder = shop(t)
  const app = await open(t, folder, { listen: true })
  await app.request('POST', '/api/orders', { body: { data: { number: 7, email: 'ann@example.com' } } })
  await app.settled()
  t.like(app.mails, [{ to: [{ address: 'ann@example.com' }], subject: 'Order 7', text: 'Thank you.' }])
  const sent = await app.request('POST', '/api/contact', { body: { to: 'bob@example.com' } })
  t.deepEqual(sent.body, { accepted: ['bob@example.com'], rejected: [] })
  const refused = await app.request('POST', '/api/contact', { body: { to: 'bob@example.com\nBcc: eve@x.y' } })
  t.like(refused, { status: 400, body: { error: { name: 'ValidationError', details: { key: 'to' } } } })
  // A mistake of the code, not of the client.
  t.is((await app.request('POST', '/api/wrong')).status, 500)
  t.regex(app.log().join(), /there is no mail `order-confirmd`: did you mean `order-confirmed`/)

  const empty = await ask(`${app.url}/_mail`)
  t.regex(empty[1], /No mail was sent yet/)
  const transport = openTransport({
    ...{ url: null, from: null, root: folder.path, production: false, address: '', requestTimeout: 0 },
    observer: { emit: () => {} },
  })
  if (!transport.ok) throw new Error(transport.reasons.join())
  const html = '<p>Hi</p><script>alert(1)</script>"><img src=x onerror=alert(1)>'
  await transport.value({
    to: [{ name: '<b>Ann</b>', address: 'ann@example.com' }],
    subject: '</title><script>alert(2)</script>',
    text: 'See https://shop.test/?a=1&b="><script>alert(3)</script>',
    html,
  })
  const [list, page] = await ask(`${app.url}/_mail`)
  t.is(list.statusCode, 200)
  t.is(list.headers['cache-control'], 'no-store')
  t.regex(page, /&lt;\/title&gt;&lt;script&gt;alert\(2\)/)
  t.regex(page, /&lt;b&gt;Ann&lt;\/b&gt; &lt;ann@example\.com&gt;/)
  const [, path = ''] = /href="(\/_mail\/[^"]+)"/.exec(page) ?? []
  const [one, mail] = await ask(app.url + path)
  t.regex(String(one.headers['content-security-policy']), /^default-src 'none'; /)
  t.regex(mail, /<iframe sandbox title="HTML" srcdoc="&lt;p&gt;Hi&lt;\/p&gt;&lt;script&gt;/)
  t.notRegex(mail, /<script|<img/)
  t.regex(mail, /<a href="https:\/\/shop\.test\/\?a=1&amp;b=/)
  for (const name of ['nothing', '../../project.yaml', '..%2f..%2fproject.yaml', '%00', 'x/y'])
    t.is((await ask(`${app.url}/_mail/${name}`))[0].statusCode, 404, name)
  // DNS rebinding, and a proxy on this machine.
  for (const headers of [
    { host: 'evil.example' },
    { 'x-forwarded-for': '1.2.3.4' },
    { host: 'localhost.evil' },
  ])
    t.is((await ask(`${app.url}${path}`, headers))[0].statusCode, 404, JSON.stringify(headers))
  t.is((await fetch(`${app.url}/_mail`, { method: 'DELETE' })).status, 404)
})

test('a server sends by SMTP; a server that is down is a retryable fault of the mail server', async t => {
  const post = await openPost(t)
  const folder = shop(t, `{ url: "smtp://127.0.0.1:${post.port}", from: "Shop <shop@example.com>" }`)
  const server = await serveProject({ project: folder.path })
  t.teardown(server.stop)
  const send = (path: string, body: unknown = {}) =>
    fetch(server.base + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const sent = await send('/api/contact', { to: ['ann@example.com', 'bob@example.com'] })
  t.is(sent.status, 200)
  t.deepEqual(post.mails[0]?.to, ['ann@example.com', 'bob@example.com'])
  t.is((await fetch(`${server.base}/_mail`)).status, 404, 'it keeps no mails')
  await post.close()
  const down = await send('/api/contact', { to: 'ann@example.com' })
  t.is(down.status, 503)
  const answer = await down.text()
  t.regex(answer, /The mail server cannot be reached/)
  t.notRegex(answer, /127\.0\.0\.1|ECONNREFUSED/)
  t.deepEqual(await (await send('/api/try')).json(), { known: true, kind: 'unavailable', retryable: true })
  t.regex(server.log(), /mailFailed.*ECONNREFUSED/)
})

test('production shows no mails', t => {
  const request = {
    path: '/_mail',
    method: 'GET',
    peer: '127.0.0.1',
    headers: { host: 'localhost:1337' },
  } as HttpRequest
  t.is(openMailPreview('.', true)(request), null)
  t.not(openMailPreview('.', false)(request), null)
})

test('markdown and SMTP libraries are loaded by the first mail only', t => {
  for (const file of [
    'open-mail.ts',
    'load-templates.ts',
    'template.ts',
    'render-mail.ts',
    'transport.ts',
    'preview.ts',
  ]) {
    const source = readFileSync(join(import.meta.dirname, '../../core/mail', file), 'utf8')
    t.notRegex(source, /^import (?!type )[^'\n]*'(?:marked|nodemailer|\.\/markdown\.ts)'/m, file)
  }
})

test('the example thanks the reader who sent a tip', async t => {
  const root = join(import.meta.dirname, '../..')
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const part of ['project.yaml', 'policies', 'middlewares', 'extensions', 'mails'])
    cpSync(join(root, part), join(folder.path, part), { recursive: true })
  const app = await open(t, folder)
  const { documents } = app.app
  const user = { username: 'ann', email: 'ann@example.com', password: 'Ann-Password1' }
  const owner = await documents('plugin::users-permissions.user').create({ data: user })
  const restaurant = await documents('restaurant').create({
    data: { name: 'Chez *Louis*' },
    status: 'published',
  })
  await documents('tip').create({
    data: { text: 'Try the soup', owner: owner.documentId, restaurant: restaurant.documentId },
  })
  await documents('tip').create({ data: { text: 'Anonymous' } })
  await app.settled()
  t.like(app.mails, [
    {
      subject: 'Thank you for your tip, ann',
      text: 'Hello ann,\n\nwe will visit Chez *Louis* soon. You wrote:\n\n> Try the soup',
    },
  ])
  t.is(app.mails.length, 1)
})

test('a mail to an account that an outage of the database prevents is logged as one', async t => {
  const folder = shop(t)
  const { app, request, log } = await open(t, folder)
  const end = `RAISE EXCEPTION USING ERRCODE = '57P01', MESSAGE = 'terminating connection'`
  await app.sequelize.query(
    `CREATE FUNCTION cut() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${end}; END $$`,
  )
  await app.sequelize.query(
    'CREATE TRIGGER cut BEFORE UPDATE ON plinth_users FOR EACH ROW EXECUTE FUNCTION cut()',
  )
  const user = { username: 'ann', email: 'ann@example.com', password: 'ann-Password1', confirmed: true }
  await app.documents('plugin::users-permissions.user').create({ data: user })
  const { status } = await request('POST', '/api/auth/forgot-password', { body: { email: user.email } })
  t.is(status, 200)
  const lines = () => log().filter(line => /"event":"(mailFailed|failed)"/.test(line))
  await until('the failure is logged', () => lines().length > 0)
  t.is(lines().length, 1)
  t.regex(lines().join(''), /"A mail to an account was not sent: terminating connection"/)
})

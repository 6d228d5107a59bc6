import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { checkApp } from '../../core/app/check-app.ts'
import { compileApp, recompileApp } from '../../core/app/compile-app.ts'
import { type Mail, MailError } from '../../core/mail/mail.ts'
import { type OutgoingMail, openMail } from '../../core/mail/open-mail.ts'
import { runTypes } from '../../tools/cli/types/types.ts'
import { temporaryFolder } from '../harness/folder.ts'

const PROJECT = 'name: Shop\ni18n: { locales: [en, fr], defaultLocale: en }\n'

const ORDER = `---
subject: Order {{ order.number }} is on its way
---
# Thank you, {{ name }}

Your **order {{ order.number }}** of <b>today</b> is [here]({{ link }}), see also
[search](https://shop.test/?q={{ name }}) and ![logo](https://shop.test/logo.png).

<{{ link }}>

- one
- two {{ count }}

> quoted

| a | b |
|---|---|
| 1 | {{ count }} |
`

const project = (t: ExecutionContext, mails: Readonly<Record<string, string>>, more = '') => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT + more)
  for (const [name, text] of Object.entries(mails)) folder.write(`mails/${name}`, text)
  return compileApp(folder.path, { DATABASE_URL: 'embedded' })
}

async function faults(t: ExecutionContext, mails: Readonly<Record<string, string>>, more = '') {
  const compiled = await project(t, mails, more)
  const reasons = compiled.ok ? [] : compiled.reasons
  return reasons.map(
    ({ location: { file, line, column }, message }) => `${file}:${line}:${column} ${message}`,
  )
}

async function open(t: ExecutionContext, mails: Readonly<Record<string, string>>) {
  const compiled = await project(t, mails)
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.reasons))
  const sent: Mail[] = []
  const deliver = async (mail: Mail) => {
    sent.push(mail)
    return { accepted: mail.to.map(({ address }) => address), rejected: [] }
  }
  const mail = openMail({ templates: compiled.value.mails, deliver, project: 'Shop' })
  return { send: (input: unknown) => mail.send(input as OutgoingMail), mail, sent }
}

const DATA = { name: 'Ann', order: { number: 7 }, link: 'https://shop.test/o?a=1&b=2', count: 2 }
const to = 'ann@example.com'

test('a template gives a subject, a text and HTML', async t => {
  const { send, sent } = await open(t, { 'order.md': ORDER })
  t.deepEqual(await send({ to, template: 'order', data: DATA }), { accepted: [to], rejected: [] })
  const [mail] = sent
  t.is(mail?.subject, 'Order 7 is on its way')
  t.is(
    mail?.text,
    [
      'Thank you, Ann',
      'Your order 7 of <b>today</b> is here: https://shop.test/o?a=1&b=2, see also\nsearch: https://shop.test/?q=Ann and logo.',
      'https://shop.test/o?a=1&b=2',
      '- one\n- two 2',
      '> quoted',
      'a | b\n1 | 2',
    ].join('\n\n'),
  )
  t.regex(mail?.html ?? '', /<html lang="en">/)
  t.regex(mail?.html ?? '', /<h1>Thank you, Ann<\/h1>/)
  t.regex(mail?.html ?? '', /<strong>order 7<\/strong> of &lt;b&gt;today&lt;\/b&gt;/)
  t.regex(mail?.html ?? '', /<a href="https:\/\/shop\.test\/o\?a=1&amp;b=2">here<\/a>/)
  t.regex(mail?.html ?? '', /<td>2<\/td>/)
})

test('a value is never Markdown, HTML or another variable', async t => {
  const { send, sent } = await open(t, { 'order.md': ORDER })
  const name =
    '<img src=x onerror=alert(1)> **bold** [x](javascript:alert(1)) {{ link }} plinthvart0z "\'&\nnext \ud800'
  await send({ to, template: 'order', data: { ...DATA, name } })
  const [mail] = sent
  t.true(mail?.text.includes(`Thank you, ${name}`))
  const html = mail?.html ?? ''
  t.notRegex(html, /<img src=x|<strong>bold|href="javascript|<a href="x/)
  t.true(
    html.includes(
      '&lt;img src=x onerror=alert(1)&gt; **bold** [x](javascript:alert(1)) {{ link }} plinthvart0z &quot;&#39;&amp;<br>next',
    ),
  )
  t.regex(html, /\?q=%3Cimg%20src%3Dx/)
})

test('a link leads to a web or mail address only', async t => {
  const { send, sent } = await open(t, {
    'order.md': ORDER,
    'bad.md':
      '---\nsubject: x\n---\n[a](javascript:alert(1)) [b](/path) [c](data:text/html,x) [d](JaVaScRiPt:x) <script>alert(1)</script>\n\n<script>\nalert(2)\n</script>\n',
  })
  for (const link of [
    'javascript:alert(1)',
    ' https://x',
    'https://x\n',
    'data:text/html,x',
    '//x',
    'https://x" onclick="y',
  ])
    await t.throwsAsync(send({ to, template: 'order', data: { ...DATA, link } }), {
      instanceOf: MailError,
      message: /the value of `link` is no address of a link/,
    })
  await send({ to, template: 'bad' })
  t.notRegex(sent[0]?.html ?? '', /href|<script/)
})

test('the file of the locale is used, else of the default locale, else the plain one', async t => {
  const mail = (text: string) => `---\nsubject: ${text}\n---\n${text}\n`
  const { send, sent } = await open(t, {
    'a.md': mail('plain'),
    'a.fr.md': mail('fr'),
    'b.en.md': mail('en'),
    'c.md': mail('plain'),
    'README.md': '# mails/',
    'notes.txt': 'no mail',
  })
  for (const [template, locale] of [
    ['a', 'fr'],
    ['a', 'en'],
    ['a', undefined],
    ['b', 'fr'],
    ['c', 'fr'],
  ])
    await send({ to, template, locale })
  t.deepEqual(
    sent.map(each => each.subject),
    ['fr', 'plain', 'plain', 'en', 'plain'],
  )
  t.regex(sent[0]?.html ?? '', /lang="fr"/)
  await t.throwsAsync(send({ to, template: 'a', locale: 'ft' }), {
    message: /no locale `ft`: did you mean `fr`/,
  })
  await t.throwsAsync(send({ to, template: 'aa' }), { message: /no mail `aa`: did you mean `a`/ })
  await t.throwsAsync(send({ to, template: '../../etc/passwd' }), { message: /there is no mail/ })
  await t.throwsAsync(send({ to, template: '__proto__' }), { message: /there is no mail/ })
})

test('missing and wrong values are named, with the nearest given one', async t => {
  const { send, sent } = await open(t, { 'order.md': ORDER })
  const cases: [unknown, RegExp][] = [
    [
      { ...DATA, name: undefined, nane: 'Ann' },
      /mails\/order\.md: `data` has no value for `name`: did you mean `nane`/,
    ],
    [{ ...DATA, order: { numbre: 7 } }, /no value for `order\.number`: did you mean `numbre`/],
    [{ ...DATA, order: 'seven' }, /no value for `order\.number`/],
    [{ ...DATA, name: { first: 'Ann' } }, /the value of `name` must be a text/],
    [{ ...DATA, name: () => 'Ann' }, /the value of `name` must be a text/],
    [{ ...DATA, name: new Date(Number.NaN) }, /the value of `name` must be a text/],
    [[], /`data`/],
    ['Ann', /`data` of a mail is an object/],
    [undefined, /no value for/],
    [Object.create(DATA), /no value for/],
  ]
  for (const [data, message] of cases) await t.throwsAsync(send({ to, template: 'order', data }), { message })
  await send({ to, template: 'order', data: { ...DATA, name: null, count: 3n, extra: 1 } })
  t.regex(sent[0]?.text ?? '', /Thank you,\n\n|Thank you, \n\n/)
})

test('addresses and subjects with line breaks, lists and wrong keys are refused', async t => {
  const { send, sent } = await open(t, { 'order.md': ORDER })
  const text = { subject: 'Hello', text: 'x' }
  const cases: [object, RegExp][] = [
    [
      { ...text, to: 'ann@example.com\r\nBcc: eve@example.com' },
      /`to` is no mail address: it contains a line break/,
    ],
    [{ ...text, to: 'ann@example.com,eve@example.com' }, /several addresses in one text: give a list/],
    [{ ...text, to: 'Ann <ann@example.com>' }, /must be the address alone: give a name as/],
    [
      { ...text, to: { name: 'Ann\nBcc: eve@example.com', address: to } },
      /the name of a receiver in `to` must be one line/,
    ],
    [{ ...text, to: { nane: 'Ann', address: to } }, /no key `nane`: did you mean `name`/],
    [{ ...text, to: 'ann' }, /`to` is no mail address/],
    [{ ...text, to: `${'x'.repeat(65)}@example.com` }, /`to` is no mail address/],
    [{ ...text, to: 'a..b@example.com' }, /`to` is no mail address/],
    [{ ...text, to: undefined }, /`to` must be a mail address, not empty/],
    [{ ...text, to: [] }, /a mail has 1 to 50 receivers, not 0/],
    [{ ...text, to: Array.from({ length: 100_000 }, () => to) }, /1 to 50 receivers, not 100000/],
    [{ ...text, to, replyTo: 'x\n@y' }, /`replyTo` is no mail address/],
    [{ to, subject: 'Hello\r\nBcc: eve@example.com', text: 'x' }, /the subject of a mail must be one line/],
    [{ to, subject: 'Hello\u2028x', text: 'x' }, /must be one line/],
    [{ to, subject: ' ', text: 'x' }, /must not be empty/],
    [{ to, subject: 'x'.repeat(501), text: 'x' }, /at most 500 characters/],
    [{ to, subject: 'x', text: 'x'.repeat(5_000_001) }, /at most 5,000,000 characters/],
    [{ to, subject: 'x' }, /needs a text as `text`/],
    [{ to, ...text, template: 'order' }, /either `template` or `subject`/],
    [{ to, ...text, data: {} }, /a mail with `data` needs `template`/],
    [{ to, ...text, cc: 'eve@example.com' }, /a mail has no key `cc`/],
    [{ to, template: 7 }, /the `template` of a mail is the name/],
  ]
  for (const [mail, message] of cases)
    await t.throwsAsync(send(mail), { message }, JSON.stringify(mail).slice(0, 80))
  await t.throwsAsync(
    send({ to, template: 'order', data: { ...DATA, order: { number: '7\r\nBcc: eve@example.com' } } }),
    {
      message: /one line/,
    },
  )
  await t.throwsAsync(send(null), { message: /takes an object/ })
  t.deepEqual(sent, [])
  await send({ ...text, to: [{ name: 'Ann "A" <x>', address: to }, 'jürgen@exämple.de'], replyTo: to })
  t.is(sent.length, 1)
})

test('account mails can be replaced by files, with their variables only', async t => {
  const { mail, sent } = await open(t, {
    'reset-password.md': '---\nsubject: "{{ project }}: code"\n---\nHello {{ email }}: {{ code }}\n',
  })
  await mail.sendToAccount('reset-password', to, { code: 'abc' })
  await mail.sendToAccount('confirm-email', to, { link: 'https://x.test/?c=1' })
  t.deepEqual(
    sent.map(each => [each.subject, each.text]),
    [
      ['Shop: code', 'Hello ann@example.com: abc'],
      [
        'Confirm your address',
        'Follow this link to confirm your address:\n\nhttps://x.test/?c=1\n\nIt works once, for three days.',
      ],
    ],
  )
  const wrong = '---\nsubject: x\n---\nhere: {{ cod }}\n  {{ link }}\n'
  t.deepEqual(await faults(t, { 'reset-password.md': wrong }), [
    'mails/reset-password.md:4:7 this mail has no variable `cod`: did you mean `code`?',
    'mails/reset-password.md:5:3 the variable `link` needs `auth.mail.resetUrl` in project.yaml',
  ])
  const url = 'auth: { mail: { resetUrl: https://x.test/reset } }\n'
  t.is((await faults(t, { 'reset-password.md': wrong }, url)).length, 1)
})

test('invalid templates are reported with their place', async t => {
  const found = await faults(t, {
    'a.md': 'Hello\n',
    'b.md': '---\nsubjet: x\n---\n',
    'c.md': '---\n---\n',
    'd.md': '---\nsubject: Hello {{ name\n---\n{{ a }} and {{ b\n}} {{ 7up }} {{}}\r\n',
    'e.md': '---\nsubject: {{ name }} is here\n---\n',
    'f.md': '---\n- x\n---\n',
    'g.md': '---\nsubject: [x]\n---\n',
    'h.md': '---\nsubject: a: b\n---\n',
    'i.md': '---\nsubject: never closed\n',
    'j.ft.md': '---\nsubject: x\n---\n',
    'k.fr.md': '---\nsubject: x\n---\n',
    'Order Confirmed.md': '---\nsubject: x\n---\n',
    'l.md': '---\nsubject: "x\\ny"\n---\n',
    'm.md': '---\nsubject: x\nsubject: y\n---\n',
  })
  const front = 'a mail begins with its front matter: `---`, `subject: …`, `---`'
  t.deepEqual(found, [
    'mails/Order Confirmed.md:1:1 `Order Confirmed.md` is no name of a mail: small letters, digits and hyphens, and perhaps a locale, such as order-confirmed.fr.md',
    `mails/a.md:1:1 ${front}`,
    'mails/b.md:2:1 unknown key `subjet`: did you mean `subject`?',
    'mails/c.md:1:1 the mail has no subject: write `subject: …` in the front matter',
    'mails/d.md:2:16 this `{{` has no `}}` on its line',
    'mails/d.md:4:13 this `{{` has no `}}` on its line',
    'mails/d.md:5:4 `7up` is no name of a variable: write it like `{{ order.number }}`',
    'mails/d.md:5:14 `` is no name of a variable: write it like `{{ order.number }}`',
    'mails/e.md:2:10 a subject that begins with `{{` is put in quotes',
    'mails/f.md:2:1 the front matter is a mapping with the key `subject`',
    'mails/g.md:2:1 the subject must be a text',
    'mails/h.md:2:10 the YAML cannot be read: two `:` on one line: put a text that contains `: ` in quotes',
    `mails/i.md:1:1 ${front}`,
    'mails/j.ft.md:1:1 the project has no locale `ft`: did you mean `fr`?',
    'mails/k.fr.md:1:1 other locales have no `k`: add mails/k.md or mails/k.en.md',
    'mails/l.md:2:1 the subject must be one line',
    'mails/m.md:3:1 duplicate key `subject`',
  ])
})

test('a long template is parsed in linear time', async t => {
  const body = `${'{{ a }}'.repeat(20_000)}${'{{'.repeat(20_000)}`
  t.regex((await faults(t, { 'a.md': `---\nsubject: x\n---\n${body}\n` }))[0] ?? '', /mails\/a\.md:4:/)
})

test('check, types and a reload know the templates', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const env = { DATABASE_URL: 'embedded' }
  folder.write('project.yaml', PROJECT)
  folder.write('mails/order.md', ORDER)
  folder.write('mails/order.fr.md', '---\nsubject: Bonjour\n---\n{{ first-name }}\n')
  const broken = await compileApp(folder.path, env)
  t.is(broken.ok ? '' : broken.reasons.map(each => each.code).join(), 'bad-variable')
  folder.write('mails/order.fr.md', '---\nsubject: Bonjour\n---\n{{ firstName }}\n')
  const before = await compileApp(folder.path, env)
  if (!before.ok) throw new Error(JSON.stringify(before.reasons))

  const out = join(folder.path, 'types.d.ts')
  t.is(
    await runTypes({ folder: folder.path, out, check: false, env, write: () => {}, writeError: () => {} }),
    0,
  )
  const [, types = ''] = /interface Mails \{([\s\S]*?)\n {2}\}/.exec(readFileSync(out, 'utf8')) ?? []
  t.deepEqual(
    types
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== ''),
    [
      "'order': {",
      'count: MailValue',
      'firstName: MailValue',
      'link: MailValue',
      'name: MailValue',
      'order: {',
      'number: MailValue',
      '}',
      '}',
    ],
  )

  folder.write('mails/order.md', '---\nsubject: New\n---\nText\n')
  const after = await recompileApp(before.value, [join('mails', 'order.md')], env)
  t.deepEqual(after.ok && after.value.mails.files.get('order')?.get('')?.subject, ['New'])
  folder.write('mails/order.md', '---\nsubject: New\n---\n{{ name\n')
  const refused = await recompileApp(before.value, [join('mails', 'order.md')], env)
  const checked = await checkApp(env)(before.value.project)
  for (const result of [refused, checked])
    t.is(result.ok ? '' : result.reasons.map(each => each.code).join(), 'unclosed-variable')
})

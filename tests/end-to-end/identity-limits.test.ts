import test from 'ava'
import { openPeople, type People, said } from './people.ts'

// reference/safety.md#s9-rate-limits: the key of a limit cannot be chosen by the caller. Each test has addresses of its own to ask.
let people: People
test.before(async () => {
  people = await openPeople({ limit: '{ window: 600, max: 4 }' })
})
test.after.always(() => people?.close())

const ask = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(people.server.base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  await answer.arrayBuffer()
  return answer
}
const many = async <Value>(
  count: number,
  work: (at: number) => Promise<Value>,
): Promise<readonly Value[]> => {
  const all: Value[] = []
  for (let at = 0; at < count; at++) all.push(await work(at))
  return all
}
const refused = (answers: readonly Response[]) => answers.map(({ status }) => status === 429)

test('repeated sign-ins are refused after the limit, right or wrong, in any spelling of the name', async t => {
  const disguises = [
    ['/api/auth/local', {}],
    ['/API/Auth/Local/', { 'x-forwarded-for': '10.0.0.1' }],
    ['/api/auth/local?x=1', { forwarded: 'for=10.0.0.2' }],
    ['/api/AUTH/local', { 'x-real-ip': '10.0.0.3', 'user-agent': 'another' }],
    ['/api/auth/local', { 'x-forwarded-for': '10.0.0.5', authorization: 'Bearer other' }],
    ['/api/auth/local/', { 'content-type': 'text/plain' }],
  ] as const
  const answers = await many(6, at => {
    const [path = '', headers = {}] = disguises[at] ?? []
    return ask(
      path,
      { identifier: `name-${at}`, password: 'nonsense', email: `new-${at}@example.com` },
      headers,
    )
  })
  t.deepEqual(refused(answers), [false, false, false, false, true, true])
  t.deepEqual(
    answers.map(({ headers }) => headers.get('x-ratelimit-remaining')),
    ['3', '2', '1', '0', '0', '0'],
  )
  const last = answers.at(-1)
  t.is(last?.headers.get('x-ratelimit-limit'), '4')
  const wait = Number(last?.headers.get('retry-after'))
  t.true(wait > 0 && wait <= 600)
  const right = await people.call('POST', '/api/auth/local', { identifier: 'ann', password: 'ann-password' })
  t.is(said(right), '429 Too many requests, please try again later.')
})

test('all spellings of a mail address share one limit', async t => {
  const addresses = [
    'bob@example.com',
    'BOB@example.com',
    ' bob@example.com',
    'Bob@Example.Com',
    'other@example.com',
  ]
  const answers = await many(5, at => ask('/api/auth/forgot-password', { email: addresses[at] }))
  t.deepEqual(refused(answers), [false, false, false, false, true])
})

test('each sign-in route has its own limit', async t => {
  const answers = await many(5, () => ask('/api/auth/reset-password', {}))
  t.deepEqual(refused(answers), [false, false, false, false, true])
  t.is((await ask('/api/auth/change-password', {})).status, 403)
})

test('confirmation codes in a GET are limited too; reads of the API are not', async t => {
  const get = (path: string) => people.call('GET', path)
  const tried = await many(5, at => get(`/api/auth/email-confirmation?confirmation=${at}`))
  t.deepEqual(
    tried.map(({ status }) => status),
    [400, 400, 400, 400, 429],
  )
  const read = await many(8, () => get('/api/i18n/locales'))
  t.true(read.every(({ status }) => status === 200))
})

test('limits of a mail address and a user hold across addresses; behind a trusted proxy client addresses are separate', async t => {
  const limits = { limit: '{ window: 600, max: 4 }', accountLimit: '{ window: 600, max: 2 }' }
  const behind = await openPeople({ ...limits, trustProxy: true })
  t.teardown(behind.close)
  const from = (at: number, email: string) =>
    fetch(`${behind.server.base}/api/auth/forgot-password`, {
      method: 'POST',
      // The caller's own entry comes first, the proxy's entry last.
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.9.9.${at}, 10.0.0.${at}` },
      body: JSON.stringify({ email }),
    })
  t.deepEqual(refused(await many(5, at => from(at, 'ann@example.com'))), [false, false, false, false, true])
  t.deepEqual(refused(await many(4, at => from(9, `new-${at}@example.com`))), [false, false, false, false])
  t.deepEqual(refused([await from(9, 'newer@example.com')]), [true])
  const signIn = (at: number) =>
    fetch(`${behind.server.base}/api/auth/local`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.1.${at}` },
      body: JSON.stringify({ identifier: 'bob', password: 'nonsense' }),
    })
  const tried = await many(3, signIn)
  t.deepEqual(refused(tried), [false, false, true])
  t.true(Number(tried[2]?.headers.get('retry-after')) > 60)
})

test('the whole API has a limit for each address if the project sets one', async t => {
  const small = await openPeople({ apiLimit: '{ window: 600, max: 5 }', limit: '{ window: 600, max: 100 }' })
  t.teardown(small.close)
  const paths = [
    '/api/i18n/locales',
    '/API/notes',
    '/api/nothing',
    '/api/users/me?x=1',
    '/api/auth/email-confirmation',
  ]
  for (const [at, path] of paths.entries())
    t.not((await small.call('GET', path)).status, 429, `${at} ${path}`)
  for (const path of [
    '/api/i18n/locales',
    '/api/auth/email-confirmation',
    '/graphql',
    '/api/other',
    '/Api',
  ]) {
    const refusal = await small.call('GET', path)
    const { errors, error = errors?.[0] } = refusal.body as {
      readonly error?: { readonly message: string }
      readonly errors?: readonly { readonly message: string }[]
    }
    t.is(errors !== undefined, path === '/graphql')
    t.is(`${refusal.status} ${error?.message}`, '429 Too many requests, please try again later.', path)
    t.true(Number(refusal.headers.get('retry-after')) > 0)
  }
  t.is((await fetch(`${small.server.base}/_health`)).status, 204)
})

test('guesses at the password of a signed-in user are limited, without locking the owner out of anything else', async t => {
  const limits = { limit: '{ window: 600, max: 100 }', accountLimit: '{ window: 600, max: 3 }' }
  const small = await openPeople(limits)
  t.teardown(small.close)
  const change = (token: string, currentPassword: string, password: string) =>
    small.call(
      'POST',
      '/api/auth/change-password',
      { currentPassword, password, passwordConfirmation: password },
      token,
    )
  const stolen = await small.signIn('bob')
  t.is((await change(stolen, 'bob-password', 'bob-password')).status, 400, 'a right password is no try')
  const tried = []
  for (let at = 0; at < 5; at++) tried.push(await change(stolen, `guess-${at}`, 'taken-over'))
  t.deepEqual(
    tried.map(({ status }) => status),
    [400, 400, 400, 429, 429],
  )
  t.true(Number(tried[4]?.headers.get('retry-after')) > 0)
  t.is((await change(stolen, 'bob-password', 'taken-over')).status, 429, 'not even the right one goes on')
  const other = await small.signIn('bob')
  t.is((await change(other, 'bob-password', 'bob-password-2')).status, 429)
  const { status } = await change(await small.signIn('ann'), 'ann-password', 'ann-password-2')
  t.is(status, 200, 'others are counted apart')
})

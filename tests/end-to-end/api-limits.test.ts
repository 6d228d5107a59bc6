import test, { type ExecutionContext } from 'ava'
import type { HttpRequest, HttpResponse } from '../../core/faults/http-exchange.ts'
import { limitApiRate } from '../../core/rest/api-rate-limit.ts'
import { FULL, openTwoApps } from '../cache/two-apps.ts'
import { loadGood } from '../project/load.ts'

// server.rateLimit.api, behind a proxy that is trusted: each request names the address that it came from.

const OTHER = 'another-token-for-the-tests-of-limits'

const project = (rateLimit: string) => `
name: Limits
server: { trustProxy: true, ${rateLimit} }
contentTypes:
  note: { attributes: { title: string } }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  other: { type: full-access, secret: ${OTHER} }
`

async function open(t: ExecutionContext, rateLimit: string) {
  const apps = await openTwoApps(project(rateLimit))
  t.teardown(() => apps.close())
  return async (from: string, as?: string, path = '/api/notes') => {
    const headers = { 'x-forwarded-for': `1.2.3.4, ${from}` }
    const { status, headers: answered } = await apps.plain.ask('GET', path, { headers, ...(as && { as }) })
    if (status === 429) t.regex(String(answered['retry-after']), /^\d+$/)
    return status
  }
}

const SMALL = 'rateLimit: { api: { window: 600, max: 3, tokenMax: 5 }, auth: false, account: false }'

test('addresses, tokens and users are counted separately', async t => {
  const ask = await open(t, SMALL)
  for (const expected of [403, 403, 403, 429]) t.is(await ask('203.0.113.1'), expected)
  t.is(await ask('203.0.113.2'), 403, 'another address')
  for (const expected of [200, 200, 200, 200, 200, 200, 429]) t.is(await ask('203.0.113.3', FULL), expected)
  t.is(await ask('203.0.113.4', FULL), 429, 'the token, from whichever address')
  t.is(await ask('203.0.113.5', OTHER), 200)
})

test('invalid credentials count for their address, however many there are', async t => {
  const ask = await open(t, SMALL)
  for (const expected of [401, 401, 401, 429])
    t.is(await ask('203.0.113.1', `forged-${Math.random()}`), expected)
  t.is(await ask('203.0.113.1', FULL), 429, 'the token is not verified yet')
  t.is(await ask('203.0.113.9', FULL), 200)
  t.is(await ask('203.0.113.1', FULL), 200, 'known by now, and not at its limit')
})

test('GraphQL and REST share one count, and preflights are not counted', async t => {
  const ask = await open(t, SMALL)
  t.is(await ask('203.0.113.1', undefined, '/graphql?query={__typename}'), 200)
  t.is(await ask('203.0.113.1', undefined, '/graphql?query={__typename}'), 200)
  t.is(await ask('203.0.113.1'), 403)
  t.is(await ask('203.0.113.1', undefined, '/graphql?query={__typename}'), 429)
})

test('by default public addresses are limited, and those of private networks are not', async t => {
  const { settings } = await loadGood('name: A\n')
  const [limit] = limitApiRate(settings.server.rateLimit.api, ['/api'])
  const ask = (peer: string) => limit?.({ ...REQUEST, peer } as HttpRequest) as HttpResponse | null
  const many = (peer: string, count: number) => {
    for (let left = count; left > 0; left--) if (ask(peer)) return 'refused'
    return 'let through'
  }
  t.is(many('203.0.113.1', 12_000), 'let through')
  t.is(ask('203.0.113.1')?.status, 429)
  t.is(many('203.0.113.2', 1), 'let through')
  for (const own of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:192.168.0.9'])
    t.is(many(own, 20_000), 'let through', own)
})

const REQUEST = { id: '1', method: 'GET', path: '/api/notes', search: '', headers: {} }

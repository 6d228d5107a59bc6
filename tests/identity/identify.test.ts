import { createHash } from 'node:crypto'
import test from 'ava'
import { RequestFault, toErrorBody } from '../../core/faults/fault.ts'
import { apiTokenStrategy, createIdentify } from '../../core/identity/identify.ts'
import { listOf, typeOf, world } from '../access/project.ts'
import { restrict } from '../harness/attempts.ts'

const hashed = `sha256:${createHash('sha256').update('hashed-hashed-hashed-hashed').digest('hex')}`

const { project, access, model } = await world(`
apiTokens:
  all: { type: full-access, secret: all-all-all-all-all-all }
  hashed: { type: read-only, hash: "${hashed}" }
  old: { type: full-access, secret: old-old-old-old-old-old, expiresAt: 2020-01-01 }
  soon: { type: read-only, secret: soon-soon-soon-soon-soon, expiresAt: "2030-01-01T00:00:00Z" }
`)

let now = Date.parse('2029-12-31T23:59:59.999Z')
const tokens = apiTokenStrategy(project.settings.apiTokens, access, () => now)
const identify = createIdentify(access.publicCaller, [tokens])

/** The name of the role or token, or the error that is answered. */
async function who(authorization: string | undefined): Promise<unknown> {
  try {
    const { kind, grants } = await identify(authorization)
    return `${kind} ${grants.name}`
  } catch (error) {
    if (error instanceof RequestFault) return toErrorBody(error.fault).error
    throw error
  }
}

const refused = (message: string) => ({ status: 401, name: 'UnauthorizedError', message, details: {} })

for (const header of [
  undefined,
  '',
  'Basic YTpi',
  'Bearer',
  'Bearer ',
  'bearer',
  'Bearer a b',
  'all-all-all-all-all-all',
]) {
  test(`the header ${JSON.stringify(header) ?? 'that is missing'} means an anonymous caller`, async t => {
    t.is(await who(header), 'public public')
  })
}

test('a token is identified by its secret, plain or hashed; the scheme is case-insensitive', async t => {
  t.is(await who('Bearer all-all-all-all-all-all'), 'token all')
  t.is(await who('bearer hashed-hashed-hashed-hashed'), 'token hashed')
  t.is(await who('BEARER   all-all-all-all-all-all '), 'token all')
})

for (const credential of [
  'unknown',
  'all-all-all-all-all-al',
  'all-all-all-all-all-alll',
  'ALL-ALL-ALL-ALL-ALL-ALL',
  hashed,
  hashed.slice('sha256:'.length),
  'eyJhbGciOiJub25lIn0.eyJpZCI6MX0.',
  'undefined',
  '\u{1F511}',
  'x'.repeat(100_000),
]) {
  test(`an unknown credential is refused, never treated as anonymous: ${credential.slice(0, 40)}`, async t => {
    t.deepEqual(await who(`Bearer ${credential}`), refused('Missing or invalid credentials'))
  })
}

test('a token is refused from its expiry on', async t => {
  t.deepEqual(await who('Bearer old-old-old-old-old-old'), refused('Token expired'))
  t.is(await who('Bearer soon-soon-soon-soon-soon'), 'token soon')
  now += 1
  t.deepEqual(await who('Bearer soon-soon-soon-soon-soon'), refused('Token expired'))
})

test('a token with an invalid expiry date is refused', async t => {
  const odd = {
    type: 'full-access',
    secret: 'odd-odd-odd-odd',
    expiresAt: 'someday',
    permissions: {},
  } as const
  await t.throwsAsync(apiTokenStrategy({ all: odd }, access)('odd-odd-odd-odd'), {
    instanceOf: RequestFault,
    message: 'Token expired',
  })
})

test('an empty secret is refused', async t => {
  const empty = { type: 'full-access', secret: '', permissions: {} } as const
  t.is(await apiTokenStrategy({ all: empty }, access)(''), null)
})

test('strategies are tried in order; the first that recognises the credential is used', async t => {
  const knowing = createIdentify(access.publicCaller, [
    async () => null,
    tokens,
    async () => t.fail() as never,
  ])
  t.is((await knowing('Bearer all-all-all-all-all-all')).grants.name, 'all')
})

test('a known token reads what it is granted; anonymous callers do not', async t => {
  const query = listOf(typeOf(model, 'writer'))
  for (const [header, may] of [
    [undefined, false],
    ['Bearer hashed-hashed-hashed-hashed', true],
  ] as const) {
    t.is(restrict(query, await identify(header)).ok, may)
  }
})

import test from 'ava'
import { buildClientSchema, getIntrospectionQuery, isObjectType } from 'graphql'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'

// Safety rule S2 over GraphQL, and in errors over REST: a password never leaves, filters or sorts, for any caller, nor shows in what is logged.

const PIN = 'Very-Secret-Pin-1'
const OTHER = 'Very-Secret-Pin-2'
const SHOWN = /Very-Secret-Pin|\$2[aby]\$/

let app: TestApp
const file = teardownOfFile(test.after.always)
test.before(async () => {
  const every = ['find', 'findOne', 'create', 'update', 'delete']
  app = await openTestApp(file, {
    project: {
      name: 'Passwords',
      server: { logLevel: 'debug', rateLimit: { api: false, auth: false } },
      components: { 'shared.key': { attributes: { label: 'string', lock: 'password' } } },
      contentTypes: {
        safe: {
          attributes: {
            name: { type: 'string', required: true },
            pin: { type: 'password', minLength: 6 },
            key: { type: 'component', component: 'shared.key' },
            keys: { type: 'component', component: 'shared.key', repeatable: true },
            zone: { type: 'dynamiczone', components: ['shared.key'] },
            owner: { type: 'relation', relation: 'manyToOne', target: 'person', inversedBy: 'safes' },
          },
        },
        person: {
          attributes: {
            name: 'string',
            safes: { type: 'relation', relation: 'oneToMany', target: 'safe', mappedBy: 'owner' },
          },
        },
      },
      roles: { public: { permissions: { safe: every, person: every, users: ['find', 'findOne'] } } },
      apiTokens: { all: { type: 'full-access', secret: 'all-all-all-all-all-all-all-all-all' } },
    },
  })
})

const CALLERS = [{}, { token: 'all-all-all-all-all-all-all-all-all' }]

test('no type of the schema has a password field', async t => {
  const { data } = await app.graphql(getIntrospectionQuery())
  const types = Object.values(buildClientSchema(data as never).getTypeMap())
  const shown = types.flatMap(type => {
    const names = isObjectType(type) ? Object.keys(type.getFields()) : []
    return names
      .filter(name => /^(pin|lock|password|\w+Token)$/.test(name))
      .map(name => `${type.name}.${name}`)
  })
  t.deepEqual(shown, [])
})

const SEEN = `data { id attributes { name
  key { id label } keys { label } zone { __typename ... on ComponentSharedKey { label } } owner { data { attributes { name } } } } }`

test('a written password never appears in answers, errors or logs', async t => {
  const key = { label: 'one', lock: PIN }
  const data = { name: 'Safe', pin: PIN, key, keys: [key, key] }
  const zone = [{ __typename: 'ComponentSharedKey', ...key }]
  const create = `mutation ($data: SafeInput!) { createSafe(data: $data) { ${SEEN} } }`
  const update = `mutation ($id: ID!, $data: SafeInput!) { updateSafe(id: $id, data: $data) { ${SEEN} } }`
  for (const caller of CALLERS) {
    const made = await app.graphql(create, { data: { ...data, zone } }, caller)
    t.falsy(made.errors)
    const { id } = (made.data as { createSafe: { data: { id: string } } }).createSafe.data
    const answers = [
      made,
      await app.graphql(update, { id, data: { pin: OTHER, key: { lock: OTHER } } }, caller),
      await app.graphql(create, { data: { pin: PIN } }, caller),
      await app.graphql(create, { data: { ...data, name: 7 } }, caller),
      await app.graphql(create, { data: { ...data, pin: { deep: PIN } } }, caller),
      await app.graphql(create, { data: { ...data, keys: [{ id: 99, lock: PIN }] } }, caller),
      await app.graphql(
        `mutation { createSafe(data: { pin: "${PIN}", nope: "${PIN}" }) { ${SEEN} } }`,
        {},
        caller,
      ),
      await app.graphql(`mutation ($id: ID!) { deleteSafe(id: $id) { ${SEEN} } }`, { id }, caller),
    ]
    const refused = answers.filter(({ errors }) => errors)
    t.is(refused.length, 5)
    for (const answer of answers) {
      // A client may read back its own value of a wrong type; stored values are never returned.
      const text = JSON.stringify(answer.errors?.every(isSyntax) ? {} : answer)
      t.notRegex(text, SHOWN)
    }
  }
  t.notRegex(app.log().join('\n'), SHOWN)
})

const isSyntax = ({ extensions }: { readonly extensions: Readonly<Record<string, unknown>> }): boolean =>
  extensions.error === undefined

test('no sort or filter reaches a password, directly or over relations and components', async t => {
  await app.graphql('mutation ($d: SafeInput!) { createSafe(data: $d) { data { id } } }', {
    d: { name: 'A', pin: PIN },
  })
  const queries = [
    ...['pin', 'pin:desc', 'name,pin', 'key.lock', 'keys.lock', 'owner.safes.pin'].map(
      sort => `{ safes(sort: "${sort}") { data { id } } }`,
    ),
    '{ people(sort: "safes.pin") { data { id } } }',
    '{ people { data { attributes { safes(sort: "pin") { data { id } } } } } }',
    '{ safes { data { attributes { keys(sort: "lock") { label } } } } }',
    '{ usersPermissionsUsers(sort: "password") { data { id } } }',
    '{ usersPermissionsUsers(sort: "resetPasswordToken") { data { id } } }',
    ...['safes(filters: { pin: { eq: "x" } })', 'safes(filters: { key: { lock: { null: true } } })'].map(
      field => `{ ${field} { data { id } } }`,
    ),
    '{ people(filters: { safes: { pin: { notNull: true } } }) { data { id } } }',
    '{ usersPermissionsUsers(filters: { password: { startsWith: "$2" } }) { data { id } } }',
    '{ safes { data { attributes { pin } } } }',
    '{ safes { data { attributes { key { lock } } } } }',
    '{ usersPermissionsUsers { data { attributes { password } } } }',
  ]
  await app.graphql('mutation { createPerson(data: { name: "Ann", safes: [1] }) { data { id } } }')
  for (const caller of CALLERS)
    for (const query of queries) {
      const { data, errors = [] } = await app.graphql(query, {}, caller)
      const rows = JSON.stringify(data ?? null)
      t.true(errors.length > 0 || !rows.includes('"id"'), `${query} ${rows}`)
      t.true(
        errors.every(({ extensions }) => extensions.code !== 'INTERNAL_SERVER_ERROR'),
        query,
      )
      t.notRegex(rows, SHOWN)
    }
})

test('a refused password is in no error', async t => {
  const { request } = app
  const asked = { token: CALLERS[1]?.token ?? '' }
  const long = `${PIN}${'x'.repeat(80)}`
  const wrong = [long, [PIN], { [PIN]: 1 }, `${PIN}\0`]
  const seen: string[] = []
  const note = (status: number, answer: unknown) => {
    seen.push(JSON.stringify(answer))
    if (status !== 200) t.is(status, 400, seen.at(-1))
  }
  const post = async (path: string, body: unknown) => {
    const { status, body: answer } = await request('POST', path, { body, ...asked })
    note(status, answer)
  }
  for (const [index, pin] of [...wrong, 'Pin-1'].entries()) {
    const user = { username: `user-${index}`, email: `user-${index}@example.org` }
    const key = { __component: 'shared.key', lock: pin === 'Pin-1' ? long : pin }
    await post('/api/safes', { data: { name: 'a', pin } })
    await post('/api/safes', { data: { name: 'a', zone: [key] } })
    await post('/api/auth/local/register', { ...user, password: pin })
    await post('/api/users', { ...user, password: pin, role: 1 })
    if (typeof pin === 'string') {
      const { errors } = await app.graphql(
        'mutation ($p: String!) { createSafe(data: { name: "a", pin: $p }) { data { id } } }',
        { p: pin },
        asked,
      )
      note(200, errors)
      t.is(errors?.length, 1)
    }
  }
  for (const pin of wrong.slice(1, 3)) {
    await post('/api/auth/local', { identifier: 'user', password: pin })
    await post('/api/auth/reset-password', { code: 'c', password: pin, passwordConfirmation: pin })
  }
  const variables =
    'mutation ($d: SafeInput!, $l: UsersPermissionsLoginInput!) { createSafe(data: $d) { data { id } } login(input: $l) { jwt } }'
  const safe = { name: 'a', pin: PIN, keys: [{ label: 'l', lock: OTHER }] }
  const login = { identifier: 'a', password: PIN }
  for (const [d, l] of [
    [{ ...safe, nope: 1 }, login],
    [safe, { ...login, nope: 1 }],
    [{ ...safe, keys: [{ lock: OTHER, nope: 1 }] }, login],
  ]) {
    const { errors } = await app.graphql(variables, { d, l } as never, asked)
    t.regex(errors?.[0]?.message ?? '', /Field "nope" is not defined/)
    note(200, errors)
  }
  t.notRegex(seen.join('\n'), /Very-Secret-Pin|Pin-1/)
  t.notRegex(
    app
      .log()
      .map(line => JSON.stringify(line))
      .join('\n'),
    SHOWN,
  )
})

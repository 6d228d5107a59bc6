import test from 'ava'
import { conformanceProject } from './conformance-project.ts'
import { FULL, openWorld, type World } from './world.ts'

// Safety rules S4 and S5 for what every project has: conditions on users, roles and locales hold wherever these show.
const SOME = 'some-conformance-token-0000000000000000'
const ANN = '{ where: { username: ann } }'

const USERS = `
- { username: ann, email: ann@rig.test, password: ann-password-1, confirmed: true }
- { username: bob, email: bob@rig.test, password: bob-password-1, confirmed: true }
`

let world: World
const ids = { ann: 0, bob: 0 }
test.before(async () => {
  const project = conformanceProject(`
  some:
    type: custom
    secret: ${SOME}
    permissions:
      users: { find: ${ANN}, findOne: ${ANN}, update: ${ANN}, delete: ${ANN}, count: true }
      role: { find: { where: { type: public } }, findOne: { where: { type: public } } }
      i18n: { find: { where: { code: fr } } }
      restaurant: [find, create]
`)
  world = await openWorld(project, { 'users.yaml': USERS })
  const users: { id: number; username: string }[] = JSON.parse(
    (await world.ask('GET', '/api/users', { as: FULL })).text,
  )
  for (const { id, username } of users) if (username === 'ann' || username === 'bob') ids[username] = id
  for (const [name, owner] of Object.entries(ids))
    await world.make('POST', '/api/restaurants', { name: `of ${name}`, owner })
})
test.after.always(() => world?.close())

const get = async (path: string) => {
  const { status, text } = await world.ask('GET', path, { as: SOME })
  return { status, body: text === '' ? null : JSON.parse(text) }
}

test.serial(
  'hidden users are in no list or count, and cannot be used in filters, sorts or relations',
  async t => {
    t.deepEqual(
      (await get('/api/users')).body.map((user: { username: string }) => user.username),
      ['ann'],
    )
    t.is((await get(`/api/users/${ids.bob}`)).body, null)
    t.is((await get('/api/users/count?filters[username]=bob')).body, 0)
    t.is((await get('/api/users/count?filters[id][$notNull]=true')).body, 1)
    const { data } = (await get('/api/restaurants?populate=owner&sort=name')).body
    t.deepEqual(
      data.map(({ owner }: { owner: { username: string } | null }) => owner?.username ?? null),
      ['ann', null],
    )
    for (const filter of ['filters[owner][username]=bob', `filters[owner][id]=${ids.bob}`])
      t.deepEqual((await get(`/api/restaurants?${filter}`)).body.data, [])
    const order = async (direction: string) =>
      (await get(`/api/restaurants?sort=owner.username:${direction}`)).body.data.at(-1).name
    t.deepEqual([await order('asc'), await order('desc')], ['of bob', 'of ann'])
  },
)

test.serial('hidden users cannot be changed, deleted or linked to', async t => {
  const ask = (method: string, id: number, body?: unknown) =>
    world.ask(method, `/api/users/${id}`, { as: SOME, ...(body ? { body: JSON.stringify(body) } : {}) })
  t.is((await ask('PUT', ids.bob, { email: 'new@rig.test' })).status, 404)
  t.is((await ask('PUT', ids.ann, { username: 'not-ann' })).status, 403)
  t.is((await ask('PUT', ids.ann, { email: 'new@rig.test' })).status, 200)
  t.is((await ask('DELETE', ids.bob)).status, 204)
  t.is((await world.ask('GET', `/api/users/${ids.bob}`, { as: FULL })).status, 200)
  const link = async (owner: number) => {
    const { status, text } = await world.ask('POST', '/api/restaurants', {
      as: SOME,
      data: { name: 'Mill', owner },
    })
    return { status, text: text.replaceAll(String(owner), '…') }
  }
  t.is((await link(ids.ann)).status, 201)
  const hidden = await link(ids.bob)
  t.is(hidden.status, 400, hidden.text)
  t.deepEqual(hidden, await link(99_999))
})

test.serial('hidden roles and locales are not revealed', async t => {
  const { roles } = (await get('/api/users-permissions/roles')).body
  t.deepEqual(
    roles.map(({ type }: { type: string }) => type),
    ['public'],
  )
  t.is((await get('/api/users-permissions/roles/2')).status, 404)
  t.is((await get('/api/users?populate=role')).body[0].role, null)
  t.deepEqual((await get('/api/users?filters[role][type]=authenticated')).body, [])
  t.deepEqual(
    (await get('/api/i18n/locales')).body.map(({ code }: { code: string }) => code),
    ['fr'],
  )
})

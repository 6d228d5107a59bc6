import test from 'ava'
import type { Attribute, ContentType } from '../../core/model/model.ts'
import { conformanceProject, conformanceUsers } from './conformance-project.ts'
import { FULL, openWorld, type Reported, typeOf, type World } from './world.ts'

// Safety rules S5 and S6: no caller writes forbidden or server-set values, in any form of request.
const SCRIBE = 'scribe-conformance-token-00000000000000'
const BLIND = 'blind-conformance-token-000000000000000'
const COUNTER = 'counter-conformance-token-0000000000000'
const SET = '{ kind: review, author: ann, links: [{ label: ours, url: /ours }], seo: { metaTitle: ours } }'

const TOKENS = `
  scribe:
    type: custom
    secret: ${SCRIBE}
    permissions:
      article: { find: true, findOne: true, create: { fields: [title, slug, blocks], set: ${SET} }, update: { fields: [title, slug, blocks], set: ${SET} } }
      category: [find]
  blind:
    type: custom
    secret: ${BLIND}
    permissions:
      article: { findOne: { fields: [title] }, create: true, update: true }
      author: { create: true, update: true }
  counter:
    type: custom
    secret: ${COUNTER}
    permissions: { users: { find: { where: { username: editor1 } }, count: true } }
`
const ROLES = `roles:
  owner:
    permissions:
      restaurant: { find: true, findOne: true, create: { set: { owner: $user.id } }, update: { where: { owner: { id: $user.id } }, set: { owner: $user.id } } }
      author: [find]
      users: [find]
`
const AUTHORS = '- { documentId: ann, name: Ann }\n- { documentId: bob, name: Bob }\n'
const OWNER =
  '- { username: owner1, email: owner1@rig.test, password: owner1-Password1, confirmed: true, role: owner }\n'

let world: World
test.before(async () => {
  const yaml = conformanceProject(TOKENS).replace(/^roles:\n/m, ROLES)
  world = await openWorld(yaml, { 'users.yaml': conformanceUsers + OWNER, 'authors.yaml': AUTHORS })
})
test.after.always(() => world?.close())

interface Error {
  readonly message: string
  readonly details?: { readonly key?: string }
}

const errorOf = ({ text }: Reported): Error => JSON.parse(text).error
const dataOf = ({ text }: Reported) => JSON.parse(text).data

/** A value that nothing is wrong with. */
function valueFor(attribute: Attribute): unknown {
  switch (attribute.kind) {
    case 'scalar':
      return VALUES[attribute.type] ?? 'some text'
    case 'component':
      return attribute.repeatable ? [] : null
    case 'zone':
    case 'morph':
      return []
    default:
      return attribute.many ? [] : null
  }
}

const VALUES: Readonly<Record<string, unknown>> = {
  ...{ integer: 1, biginteger: '1', decimal: 1, float: 1, boolean: true, json: {}, blocks: [] },
  ...{
    date: '2020-01-01',
    time: '10:00:00',
    datetime: '2020-01-01T00:00:00.000Z',
    timestamp: '2020-01-01T00:00:00.000Z',
  },
  ...{ enumeration: 'news', email: 'a@b.test', uid: 'a-uid' },
}

const declared = (type: ContentType): readonly Attribute[] =>
  [...type.attributes.values()].filter(({ system }) => !system)

test.serial(
  'a body cannot set attributes outside of the permission, and a refused body writes nothing',
  async t => {
    const { documentId } = await world.make('POST', '/api/articles', { title: 'As it was' })
    const path = `/api/articles/${documentId}`
    const before = await world.make('GET', `${path}?populate=*`)
    const covered = ['title', 'slug', 'blocks', 'kind', 'author', 'links', 'seo']
    for (const attribute of declared(typeOf(world.model, 'article'))) {
      if (covered.includes(attribute.name)) continue
      const data = { title: 'As it became', [attribute.name]: valueFor(attribute) }
      for (const [method, place] of [
        ['PUT', path],
        ['POST', '/api/articles'],
      ] as const) {
        const answer = await world.ask(method, place, { as: SCRIBE, data })
        t.is(answer.status, 400, `${method} ${attribute.name}`)
        t.is(errorOf(answer).details?.key, attribute.name)
      }
    }
    t.deepEqual(await world.make('GET', `${path}?populate=*`), before)
    t.deepEqual(await world.make('GET', '/api/articles?filters[title]=As it became'), [] as never)
  },
)

test.serial('values set by the server override the body, in values, relations and components', async t => {
  const data = {
    ...{ title: 'Mine', kind: 'news', author: 'bob', links: [{ label: 'mine', url: '/mine' }], seo: null },
  }
  const made = await world.ask('POST', '/api/articles?populate=*', { as: SCRIBE, data })
  t.is(made.status, 201, made.text)
  const { documentId } = dataOf(made)
  await world.make('PUT', `/api/articles/${documentId}`, { ...data, seo: { metaTitle: 'theirs' } })
  const turned = await world.ask('PUT', `/api/articles/${documentId}`, { as: SCRIBE, data })
  t.is(turned.status, 200, turned.text)
  for (const version of ['', '&status=draft']) {
    const found = JSON.stringify(await world.make('GET', `/api/articles/${documentId}?populate=*${version}`))
    t.regex(found, /"kind":"review"/)
    t.regex(found, /"documentId":"ann"/)
    t.regex(found, /"metaTitle":"ours"/)
    t.regex(found, /"label":"ours"/)
    t.notRegex(found, /"documentId":"bob"|\bmine\b|\btheirs\b/)
  }
})

test.serial(
  'a signed-in user owns the documents that it creates, and cannot assign them to another',
  async t => {
    const body = JSON.stringify({ identifier: 'owner1', password: 'owner1-Password1' })
    const { jwt, user } = JSON.parse((await world.ask('POST', '/api/auth/local', { body })).text)
    const other = JSON.parse(
      (await world.ask('GET', '/api/users?filters[username]=editor1', { as: FULL })).text,
    )[0]
    const made = await world.ask('POST', '/api/restaurants', {
      as: jwt,
      data: { name: 'Mine', owner: other.id },
    })
    t.is(made.status, 201, made.text)
    const path = `/api/restaurants/${dataOf(made).documentId}`
    for (const owner of [other.id, null, { disconnect: [user.id] }, { connect: [other.id] }, { set: [] }]) {
      const turned = await world.ask('PUT', path, { as: jwt, data: { name: 'Still mine', owner } })
      t.is(turned.status, 200, turned.text)
      const found = await world.make('GET', `${path}?populate=owner`)
      t.like(found, { name: 'Still mine', owner: { username: 'owner1' } })
    }
    const theirs = await world.make('POST', '/api/restaurants', { name: 'Theirs', owner: other.id })
    const stolen = await world.ask('PUT', `/api/restaurants/${theirs.documentId}`, { as: jwt, data: {} })
    t.is(stolen.status, 403)
    t.like(await world.make('GET', `/api/restaurants/${theirs.documentId}?populate=owner`), {
      owner: { username: 'editor1' },
    })
  },
)

const REFUSED = [
  'id',
  'documentId',
  'createdAt',
  'updatedAt',
  'createdBy',
  'updatedBy',
  'localizations',
  '__component',
]
const IGNORED = { publishedAt: '2000-01-01T00:00:00.000Z', locale: 'fr' }
/** A list, and what a new document of it needs. */
const MADE = {
  articles: { title: 'New' },
  authors: { name: 'New' },
  categories: { name: 'New' },
  restaurants: { name: 'New' },
  dishes: { name: 'New' },
} as const

test.serial('no caller sets ids, timestamps, authors, versions or locales of a document', async t => {
  for (const [list, values] of Object.entries(MADE)) {
    for (const key of REFUSED) {
      for (const value of [1, '1', null, { set: [] }, '2000-01-01T00:00:00.000Z']) {
        const answer = await world.ask('POST', `/api/${list}`, {
          as: FULL,
          data: { ...values, [key]: value },
        })
        t.is(answer.status, 400, `${list} ${key} ${answer.text}`)
      }
    }
    const made = await world.make('POST', `/api/${list}`, { ...values, ...IGNORED })
    t.false(String(made.publishedAt).startsWith('2000'))
    t.false(String(made.createdAt).startsWith('2000'))
    if ('locale' in made) t.is(made.locale, list === 'articles' ? 'en' : null)
    const turned = await world.make('PUT', `/api/${list}/${made.documentId}`, { ...values, ...IGNORED })
    t.is(turned.id, made.id)
    t.false(String(turned.publishedAt).startsWith('2000'))
    for (const key of REFUSED) {
      const answer = await world.ask('PUT', `/api/${list}/${made.documentId}`, {
        as: FULL,
        data: { [key]: 1 },
      })
      t.is(answer.status, 400, `${list} ${key}`)
    }
    await world.make('DELETE', `/api/${list}/${made.documentId}`)
  }
})

test.serial('a component accepts only its own keys, and cannot be taken from another document', async t => {
  const parts = {
    seo: { metaTitle: 'Hers' },
    links: [{ label: 'Hers', url: '/' }],
    blocks: [
      { __component: 'blocks.quote', text: 'Hers' },
      { __component: 'blocks.gallery', title: 'Hers', links: [{ url: '/' }] },
    ],
  }
  const hers = await world.make('POST', '/api/articles', { title: 'Hers', ...parts })
  const mine = await world.make('POST', '/api/articles', { title: 'Mine' })
  const deep = 'populate[blocks][populate]=*&populate[seo]=true&populate[links]=true'
  const before = (await world.make('GET', `/api/articles/${hers.documentId}?${deep}`)) as unknown as Parts
  for (const key of [
    'documentId',
    'createdAt',
    'publishedAt',
    'locale',
    'owner',
    'owner_id',
    'entity_id',
    'order',
    '__proto__x',
  ]) {
    for (const data of [
      { seo: { ...parts.seo, [key]: 1 } },
      { links: [{ url: '/', [key]: 1 }] },
      { blocks: [{ ...parts.blocks[0], [key]: 1 }] },
    ]) {
      const answer = await world.ask('PUT', `/api/articles/${mine.documentId}`, { as: FULL, data })
      t.is(answer.status, 400, `${key} ${answer.text}`)
    }
  }
  const [link] = before.links
  const [quote, gallery] = before.blocks
  for (const data of [
    { seo: { id: before.seo.id, metaTitle: 'Stolen' } },
    { links: [{ id: link?.id, url: '/stolen' }] },
    { blocks: [{ __component: 'blocks.quote', id: quote?.id, text: 'Stolen' }] },
    {
      blocks: [{ __component: 'blocks.gallery', id: gallery?.id, links: [{ id: link?.id, url: '/stolen' }] }],
    },
    { seo: { id: -1, metaTitle: 'Stolen' } },
  ]) {
    const answer = await world.ask('PUT', `/api/articles/${mine.documentId}`, { as: FULL, data })
    t.true([200, 400].includes(answer.status), answer.text)
    t.deepEqual((await world.make('GET', `/api/articles/${hers.documentId}?${deep}`)) as unknown, before)
  }
})

interface Parts {
  readonly seo: { readonly id: number }
  readonly links: readonly { readonly id: number }[]
  readonly blocks: readonly { readonly id: number }[]
}

test.serial('a caller who may write but not read a value does not get it back', async t => {
  const secrets = { price: 77.5, excerpt: 'Whisper', code: 'whisper', seo: { metaTitle: 'Whisper' } }
  for (const query of ['', '?populate=*', '?status=draft&populate=*', '?fields=title']) {
    const made = await world.ask('POST', `/api/articles${query}`, {
      as: BLIND,
      data: { title: 'Seen', ...secrets, code: query },
    })
    t.is(made.status, 201, made.text)
    t.notRegex(made.text, /whisper|77\.5|"seo"/i)
    const { documentId } = dataOf(made)
    const turned = await world.ask('PUT', `/api/articles/${documentId}${query}`, {
      as: BLIND,
      data: { ...secrets, code: query },
    })
    t.is(turned.status, 200, turned.text)
    t.notRegex(turned.text, /whisper|77\.5|"seo"/i)
    for (const key of [
      'fields=price',
      'populate=seo',
      'filters[price]=77.5',
      'sort=price',
      'filters[$not][seo][metaTitle]=x',
    ]) {
      const asked = await world.ask('PUT', `/api/articles/${documentId}?${key}`, { as: BLIND, data: {} })
      t.is(asked.status, 400, key)
    }
  }
  const made = await world.ask('POST', '/api/authors?populate=*', {
    as: BLIND,
    data: { name: 'A', secret: 'whisper', pin: 'whisper' },
  })
  t.is(made.status, 201, made.text)
  t.notRegex(made.text, /whisper|\$2[aby]\$|secret|pin/)
})

test.serial(
  'relations to types that the caller may not find are refused in bodies, also in components',
  async t => {
    for (const data of [
      { author: 'ann' },
      { author: { disconnect: ['ann'] } },
      { author: null },
      { categories: [] },
      { blocks: [{ __component: 'blocks.quote', author: 'ann' }] },
      { blocks: [{ __component: 'blocks.quote', author: 'missing' }] },
    ]) {
      const answer = await world.ask('POST', '/api/articles', {
        as: BLIND,
        data: { title: 'Linked', ...data },
      })
      t.is(answer.status, 400, JSON.stringify(data))
      t.regex(errorOf(answer).message, /^Invalid key (author|categories)/)
    }
  },
)

const OF_USERS = [
  'id',
  'documentId',
  'createdAt',
  'updatedAt',
  'resetPasswordToken',
  'confirmationToken',
  'sessionVersion',
  'keptSession',
  'createdBy',
]

test.serial(
  'callers cannot set ids, codes and timestamps of users, and registration accepts nothing more',
  async t => {
    const user = { username: 'newcomer', email: 'newcomer@rig.test', password: 'newcomer-Password1' }
    const count = async (): Promise<string> => (await world.ask('GET', '/api/users/count', { as: FULL })).text
    const before = await count()
    for (const key of [
      ...OF_USERS,
      'role',
      'confirmed',
      'blocked',
      'provider',
      'publishedAt',
      'locale',
      'constructor',
    ]) {
      const answer = await world.ask('POST', '/api/auth/local/register', {
        body: JSON.stringify({ ...user, [key]: 1 }),
      })
      t.is(answer.status, 400, key)
    }
    for (const key of OF_USERS) {
      const body = JSON.stringify({ ...user, role: 1, [key]: 1 })
      t.is((await world.ask('POST', '/api/users', { as: FULL, body })).status, 400, key)
      t.is(
        (await world.ask('PUT', '/api/users/1', { as: FULL, body: JSON.stringify({ [key]: 1 }) })).status,
        400,
        key,
      )
    }
    t.is(await count(), before)
  },
)

test.serial('hidden users are not revealed by counts', async t => {
  const count = async (query: string): Promise<string> =>
    (await world.ask('GET', `/api/users/count?${query}`, { as: COUNTER })).text
  t.is(await count('filters[username][$startsWith]=user1'), '0')
  t.is(await count('filters[username][$startsWith]=editor1'), '1')
  t.is(await count('_q=user1'), '0')
  t.is(await count('filters[$not][email]=editor1@rig.test'), '0')
  t.is(await count(''), '4')
})

import test, { type ExecutionContext } from 'ava'
import { FULL, openWorld, type Reported, type World } from './world.ts'

// reference/rest.md#17-differences-from-strapi: what a caller's conditions hide is answered as what does not exist, on every action.
const ALICE = 'alice-conformance-token-000000000000000'
const BLIND = 'blind-conformance-token-000000000000000'

const READER = 'reader-conformance-token-00000000000000'

const PROJECT = `
name: Hidden
database: { url: "\${DATABASE_URL}" }
i18n: { locales: [en, fr, it], defaultLocale: en }
graphql: { enabled: true }
contentTypes:
  post:
    draftAndPublish: true
    localized: true
    attributes:
      title: { type: string, localized: true, required: true }
      open: boolean
      shared: { type: string, localized: false }
  note:
    attributes:
      text: { type: string, required: true }
      open: boolean
  home: { kind: single, draftAndPublish: true, attributes: { title: string, open: boolean } }
user: { attributes: { open: boolean } }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  alice:
    type: custom
    secret: ${ALICE}
    permissions:
      post: { "*": true, find: { where: { open: true } }, findOne: { where: { open: true } } }
      note: { "*": true, find: { where: { open: true } }, findOne: { where: { open: true } } }
      home: { "*": true, find: { where: { open: true } } }
      users: { "*": true, find: { where: { open: true } }, findOne: { where: { open: true } } }
      upload: { "*": true, find: { where: { caption: open } }, findOne: { where: { caption: open } } }
  reader:
    type: custom
    secret: ${READER}
    permissions:
      post: { find: true, findOne: true, update: { where: { open: true } }, delete: { where: { open: true } } }
  blind:
    type: custom
    secret: ${BLIND}
    permissions:
      post: { update: { where: { open: true } }, delete: { where: { open: true } } }
      note: { update: { where: { open: true } }, delete: { where: { open: true } } }
      users: { update: { where: { open: true } }, delete: { where: { open: true } } }
`

const USERS = `
- { username: ann, email: ann@rig.test, password: ann-password-1, confirmed: true, open: true }
- { username: bob, email: bob@rig.test, password: bob-password-1, confirmed: true }
`

let world: World
/** Each kind with what alice sees and what is hidden from her, by documentId and by number. */
const ids: Record<string, { readonly documentId: string; readonly id: number }> = {}

test.before(async () => {
  world = await openWorld(PROJECT, { 'users.yaml': USERS })
  const make = async (name: string, path: string, data: object) => {
    ids[name] = await world.make('POST', `/api/${path}`, data)
  }
  await make('post', 'posts', { title: 'hidden', open: false, shared: 'secret' })
  await make('openPost', 'posts', { title: 'seen', open: true, shared: 'visible' })
  await make('draft', 'posts?status=draft', { title: 'hidden draft', open: false, shared: 'secret' })
  await make('note', 'notes', { text: 'hidden', open: false })
  await make('openNote', 'notes', { text: 'seen', open: true })
  await world.database.run({
    name: 'add a file',
    text: `INSERT INTO plinth_files (id, document_id, name, hash, ext, mime, size, url, provider, caption, created_at, updated_at, published_at)
      VALUES ($1, $2, 'hidden', 'hidden', '.png', 'image/png', 1, '/uploads/hidden.png', 'local', 'hidden', now(), now(), now())`,
    values: [FILE.id, FILE.documentId],
  })
  await world.make('PUT', '/api/home', { title: 'hidden home', open: false })
  const users = JSON.parse((await world.ask('GET', '/api/users', { as: FULL })).text)
  for (const { username, ...user } of users) ids[username] = user
})
test.after.always(() => world?.close())

/** The text of an answer without the requested id. */
const shown = ({ status, text, headers }: Reported, id: string | number) => ({
  status,
  text: text.replaceAll(String(id), '…'),
  headers: JSON.stringify(headers).replaceAll(String(id), '…'),
})

const FILE = { documentId: 'hiddenfile00000000000000', id: 777_777 }
const UNKNOWN = { documentId: 'nothinghereatall00000000', id: 999_999 }

const NESTED = { 'strapi-response-format': 'v4' }

type Question = (id: string | number) => Parameters<World['ask']>

const REST: Readonly<Record<string, Question>> = {
  'GET one': id => ['GET', `/api/posts/${id}`],
  'GET a draft': id => ['GET', `/api/posts/${id}?status=draft`],
  'GET with If-None-Match': id => ['GET', `/api/posts/${id}`, { headers: { 'if-none-match': '*' } }],
  'GET in the nested format': id => ['GET', `/api/posts/${id}`, { headers: NESTED }],
  'PUT in the nested format': id => [
    'PUT',
    `/api/posts/${id}`,
    { data: { title: 'taken' }, headers: NESTED },
  ],
  'PUT with If-None-Match': id => [
    'PUT',
    `/api/posts/${id}`,
    { data: {}, headers: { 'if-none-match': '*' } },
  ],
  HEAD: id => ['HEAD', `/api/posts/${id}`],
  PUT: id => ['PUT', `/api/posts/${id}`, { data: { title: 'taken' } }],
  'PUT a draft': id => ['PUT', `/api/posts/${id}?status=draft`, { data: { title: 'taken' } }],
  'PUT nothing': id => ['PUT', `/api/posts/${id}`, { data: {} }],
  'PUT what is wrong': id => ['PUT', `/api/posts/${id}`, { data: { title: null } }],
  'PUT of a locale': id => ['PUT', `/api/posts/${id}?locale=it`, { data: { title: 'made' } }],
  'PUT with If-Match': id => ['PUT', `/api/posts/${id}`, { data: {}, headers: { 'if-match': '"x"' } }],
  'PUT with If-Match *': id => ['PUT', `/api/posts/${id}`, { data: {}, headers: { 'if-match': '*' } }],
  DELETE: id => ['DELETE', `/api/posts/${id}`],
  'DELETE of all locales': id => ['DELETE', `/api/posts/${id}?locale=*`],
  'DELETE with If-Match': id => ['DELETE', `/api/posts/${id}`, { headers: { 'if-match': '*' } }],
  'PUT of a plain type': id => ['PUT', `/api/notes/${id}`, { data: { text: 'taken' } }],
  'DELETE of a plain type': id => ['DELETE', `/api/notes/${id}`],
}

const mutation =
  (text: string): Question =>
  id => [
    'POST',
    '/graphql',
    { body: JSON.stringify({ query: `mutation ($id: ID!) { ${text} }`, variables: { id: String(id) } }) },
  ]

const FILE_QUESTIONS: Readonly<Record<string, Question>> = {
  'GET a file': id => ['GET', `/api/upload/files/${id}`],
  'GET a file with If-None-Match': id => [
    'GET',
    `/api/upload/files/${id}`,
    { headers: { 'if-none-match': '*' } },
  ],
  'HEAD of a file': id => ['HEAD', `/api/upload/files/${id}`],
  'DELETE a file': id => ['DELETE', `/api/upload/files/${id}`],
}

const FILES_GRAPHQL: Readonly<Record<string, Question>> = {
  update: mutation('updateUploadFile(id: $id, info: { caption: "taken" }) { data { attributes { url } } }'),
  remove: mutation('removeFile(id: $id) { data { attributes { url } } }'),
}

const USER_QUESTIONS: Readonly<Record<string, Question>> = {
  'GET a user': id => ['GET', `/api/users/${id}`],
  'PUT a user': id => ['PUT', `/api/users/${id}`, { body: '{"username":"taken"}' }],
  'PUT a wrong user': id => ['PUT', `/api/users/${id}`, { body: '{"email":"x"}' }],
  'PUT a taken name': id => ['PUT', `/api/users/${id}`, { body: '{"username":"ann"}' }],
  'DELETE a user': id => ['DELETE', `/api/users/${id}`],
}

const GRAPHQL: Readonly<Record<string, Question>> = {
  update: mutation('updatePost(id: $id, data: { title: "taken" }) { data { id attributes { shared } } }'),
  'a wrong update': mutation('updatePost(id: $id, data: { title: "" }) { data { id } }'),
  publish: mutation(
    'updatePost(id: $id, data: { publishedAt: "2024-05-01T08:00:00Z" }) { data { id attributes { shared } } }',
  ),
  unpublish: mutation('updatePost(id: $id, data: { publishedAt: null }) { data { id } }'),
  delete: mutation('deletePost(id: $id) { data { id attributes { shared title } } }'),
  'a locale': mutation(
    'createPostLocalization(id: $id, locale: "it", data: { title: "made" }) { data { id attributes { shared } } }',
  ),
  'a locale without its name': mutation('createPostLocalization(id: $id) { data { id } }'),
  'a locale that exists': mutation('createPostLocalization(id: $id, locale: "en") { data { id } }'),
  'update of a locale': mutation('updatePost(id: $id, locale: "fr", data: { title: "x" }) { data { id } }'),
}

const USERS_GRAPHQL: Readonly<Record<string, Question>> = {
  update: mutation(
    'updateUsersPermissionsUser(id: $id, data: { username: "taken" }) { data { attributes { email } } }',
  ),
  delete: mutation('deleteUsersPermissionsUser(id: $id) { data { attributes { email } } }'),
}

async function alike(
  t: ExecutionContext,
  as: string,
  questions: Readonly<Record<string, Question>>,
  { hidden, unknown }: { readonly hidden: string | number; readonly unknown: string | number },
) {
  for (const [name, ask] of Object.entries(questions)) {
    const put = async (id: string | number) => {
      const [method, path, asking] = ask(id)
      return shown(await world.ask(method, path, { ...asking, as }), id)
    }
    const about = await put(hidden)
    t.deepEqual(about, await put(unknown), `${name} ${JSON.stringify(about)}`)
    t.true(about.status < 500, about.text)
    t.notRegex(about.text, as === ALICE ? /secret|hidden|Forbidden/ : /secret|hidden/, name)
  }
}

const idOf = (name: string) => ids[name] ?? UNKNOWN

for (const as of [ALICE, BLIND]) {
  const who = as === ALICE ? 'whose read conditions hide it' : 'without a permission to read'
  test.serial(`a document is indistinguishable from a missing one for a caller ${who}: REST`, async t => {
    for (const name of ['post', 'draft'])
      await alike(t, as, REST, { hidden: idOf(name).documentId, unknown: UNKNOWN.documentId })
    const { 'PUT of a plain type': put, 'DELETE of a plain type': remove } = REST
    if (!put || !remove) throw new Error('no such question')
    await alike(t, as, { put, remove }, { hidden: idOf('note').documentId, unknown: UNKNOWN.documentId })
    await alike(t, as, FILE_QUESTIONS, { hidden: FILE.id, unknown: UNKNOWN.id })
    await alike(t, as, USER_QUESTIONS, { hidden: idOf('bob').id, unknown: UNKNOWN.id })
  })

  test.serial(`a document is indistinguishable from a missing one for a caller ${who}: GraphQL`, async t => {
    for (const name of ['post', 'draft'])
      for (const by of ['documentId', 'id'] as const)
        await alike(t, as, GRAPHQL, { hidden: idOf(name)[by], unknown: UNKNOWN[by] })
    await alike(t, as, FILES_GRAPHQL, { hidden: FILE.id, unknown: UNKNOWN.id })
    await alike(t, as, USERS_GRAPHQL, { hidden: idOf('bob').id, unknown: UNKNOWN.id })
  })
}

test.serial('refused requests do not change a hidden document', async t => {
  for (const [name, path] of [
    ['post', 'posts'],
    ['draft', 'posts'],
    ['note', 'notes'],
  ] as const) {
    const found = await world.make('GET', `/api/${path}/${idOf(name).documentId}?status=draft`)
    t.regex(String(found.title ?? found.text), /^hidden/)
  }
  const locales = await world.ask('GET', '/api/posts?locale=it&status=draft', { as: FULL })
  t.deepEqual(JSON.parse(locales.text).data, [])
  t.is((await world.ask('GET', `/api/users/${idOf('bob').id}`, { as: FULL })).status, 200)
  const file = await world.ask('GET', `/api/upload/files/${FILE.id}`, { as: FULL })
  t.is(JSON.parse(file.text).caption, 'hidden')
})

test.serial('a hidden single type cannot be changed, created again or deleted', async t => {
  const put = await world.ask('PUT', '/api/home', { as: ALICE, data: { title: 'taken' } })
  t.is(put.status, 404)
  t.is((await world.ask('DELETE', '/api/home', { as: ALICE })).status, 204)
  t.is((await world.make('GET', '/api/home')).title, 'hidden home')
})

test.serial('adding a locale to a document requires that each of its locales is visible', async t => {
  const make = async (french: boolean) => {
    const data = { title: 'en', open: true, shared: 'visible' }
    const { documentId } = await world.make('POST', '/api/posts', data)
    await world.make('PUT', `/api/posts/${documentId}?locale=fr`, { title: 'fr', open: french })
    return async (locale: string) => {
      const asking = { as: ALICE, data: { title: 'mine', open: true } }
      return (await world.ask('PUT', `/api/posts/${documentId}?locale=${locale}`, asking)).status
    }
  }
  const seen = await make(true)
  t.deepEqual([await seen('it'), await seen('fr'), await seen('en')], [200, 200, 200])
  const partly = await make(false)
  t.deepEqual([await partly('it'), await partly('fr'), await partly('en')], [404, 404, 200])
})

test.serial('a visible document that may not be written is forbidden, not missing', async t => {
  const path = `/api/posts/${idOf('post').documentId}`
  t.is((await world.ask('GET', path, { as: READER })).status, 200)
  t.is((await world.ask('PUT', path, { as: READER, data: { title: 'taken' } })).status, 403)
  t.is((await world.ask('DELETE', path, { as: READER })).status, 403)
})

import test, { type ExecutionContext } from 'ava'
import { FULL, openWorld, type World } from './world.ts'

// reference/rest.md#17-differences-from-strapi, "media in a body": a link that is new to a document leads to a file that its writer may find.
const ALICE = 'alice-conformance-token-000000000000000'
const OPEN = 'open-conformance-token-0000000000000000'

const PROJECT = `
name: Media links
database: { url: "\${DATABASE_URL}" }
graphql: { enabled: true }
contentTypes:
  note:
    attributes:
      text: string
      file: media
      unread: media
      files: { type: media, multiple: true }
      part: { type: component, component: shared.part }
      parts: { type: component, component: shared.part, repeatable: true }
      blocks: { type: dynamiczone, components: [shared.part] }
components:
  shared.part: { attributes: { label: string, image: media, kept: { type: media, private: true } } }
user: { attributes: { photo: media } }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  open: { type: custom, secret: ${OPEN}, permissions: { note: "*" } }
  alice:
    type: custom
    secret: ${ALICE}
    permissions:
      note: { find: { fields: ["!unread"] }, findOne: { fields: ["!unread"] }, create: true, update: true }
      users: { find: true, findOne: true, create: true, update: true }
      upload: { find: { where: { caption: open } }, findOne: { where: { caption: open } } }
      role: [find]
`
const USERS = '- { username: ann, email: ann@rig.test, password: ann-password-1, confirmed: true }\n'

let world: World
const HIDDEN = { id: 7, documentId: 'hiddenfile00000000000000' }
const SEEN = { id: 8, documentId: 'seenfile0000000000000000' }
const UNKNOWN = { id: 999_999, documentId: 'nothinghereatall00000000' }

test.before(async () => {
  world = await openWorld(PROJECT, { 'users.yaml': USERS })
  for (const [{ id, documentId }, caption] of [
    [HIDDEN, 'secret'],
    [SEEN, 'open'],
  ] as const)
    await world.database.run({
      name: 'add a file',
      text: `INSERT INTO plinth_files (id, document_id, name, hash, ext, mime, size, url, provider, caption, created_at, updated_at, published_at)
        VALUES ($1, $2, $3::text, $3::text, '.png', 'image/png', 1, $4, 'local', $3::text, now(), now(), now())`,
      values: [id, documentId, caption, `/uploads/${caption}.png`],
    })
})
test.after.always(() => world?.close())

type Place = (file: unknown) => Readonly<Record<string, unknown>>

const PLACES: Readonly<Record<string, Place>> = {
  'an attribute': file => ({ file }),
  set: file => ({ file: { set: [file] } }),
  'a list': file => ({ files: [file] }),
  'a list with a file that is visible': file => ({ files: [SEEN.id, file] }),
  'an unreadable attribute': file => ({ unread: file }),
  'a component': file => ({ part: { image: file } }),
  'a repeatable component': file => ({ parts: [{ label: 'x' }, { image: file }] }),
  'a dynamic zone': file => ({ blocks: [{ __component: 'shared.part', image: file }] }),
}

const NAMES: Readonly<Record<string, (file: typeof HIDDEN) => unknown>> = {
  id: ({ id }) => id,
  'an object of an id': ({ id }) => ({ id }),
  documentId: ({ documentId }) => documentId,
  'an object of a documentId': ({ documentId }) => ({ documentId }),
}

/** The answer with what names the file taken out. */
const shown = ({ status, text }: { status: number; text: string }, file: typeof HIDDEN) => ({
  status,
  text: text.replaceAll(String(file.id), '…').replaceAll(file.documentId, '…'),
})

async function refusedAlike(
  t: ExecutionContext,
  title: string,
  ask: (file: typeof HIDDEN) => ReturnType<World['ask']>,
) {
  const about = shown(await ask(HIDDEN), HIDDEN)
  t.is(about.status, 400, `${title} ${about.text}`)
  t.deepEqual(about, shown(await ask(UNKNOWN), UNKNOWN), title)
  t.true((await ask(SEEN)).status < 300, title)
}

test('a hidden file is refused like a missing one, wherever and however it is named', async t => {
  const { documentId } = await world.make('POST', '/api/notes', { text: 'mine' })
  for (const [place, put] of Object.entries(PLACES))
    for (const [how, name] of Object.entries(NAMES)) {
      const title = `${place} by ${how}`
      await refusedAlike(t, `POST ${title}`, file =>
        world.ask('POST', '/api/notes', { as: ALICE, data: put(name(file)) }),
      )
      await refusedAlike(t, `PUT ${title}`, file =>
        world.ask('PUT', `/api/notes/${documentId}`, { as: ALICE, data: put(name(file)) }),
      )
    }
})

test('the same rule applies to users', async t => {
  const [user] = JSON.parse((await world.ask('GET', '/api/users', { as: FULL })).text)
  await refusedAlike(t, 'PUT', ({ id }) =>
    world.ask('PUT', `/api/users/${user.id}`, { as: ALICE, body: JSON.stringify({ photo: id }) }),
  )
})

test('the same rule applies to GraphQL', async t => {
  const ask = async (data: string) => {
    const query = `mutation { createNote(data: ${data}) { data { attributes { file { data { id } } } } } }`
    const { text } = await world.ask('POST', '/graphql', { as: ALICE, body: JSON.stringify({ query }) })
    return text
  }
  for (const data of [
    '{ file: "ID" }',
    '{ files: ["ID"] }',
    '{ part: { image: "ID" } }',
    '{ parts: [{ image: "ID" }] }',
  ]) {
    const answers = [HIDDEN, UNKNOWN].map(async ({ id }) =>
      (await ask(data.replace('ID', String(id)))).replaceAll(String(id), '…'),
    )
    const [hidden, unknown] = await Promise.all(answers)
    t.regex(hidden ?? '', /BAD_USER_INPUT/, data)
    t.is(hidden, unknown, data)
    t.notRegex(await ask(data.replace('ID', String(SEEN.id))), /errors/, data)
  }
})

test('a hidden file that an attribute already contains may stay, but cannot be added elsewhere', async t => {
  const part = { image: HIDDEN.id }
  const held = {
    file: HIDDEN.id,
    files: [HIDDEN.id],
    parts: [part],
    blocks: [{ __component: 'shared.part', ...part }],
  }
  const { documentId } = await world.make('POST', '/api/notes', { ...held, unread: HIDDEN.id })
  const put = async (data: object) =>
    (await world.ask('PUT', `/api/notes/${documentId}`, { as: ALICE, data })).status
  for (const [name, value] of Object.entries(held)) t.is(await put({ [name]: value }), 200, name)
  t.is(await put({ files: [SEEN.id, HIDDEN.id] }), 200)
  t.is(await put({ part }), 400)
  t.is(await put({ unread: HIDDEN.id }), 400, 'what the caller does not read')
  t.is(await put({ parts: [{ kept: HIDDEN.id }] }), 400, 'a private attribute')
  t.is(await put({ file: null }), 200)
  t.is(await put({ file: HIDDEN.id }), 400, 'a link that was removed')
  t.is((await world.ask('POST', '/api/notes', { as: ALICE, data: held })).status, 400, 'another document')
})

test('without a condition on files, all files may be linked', async t => {
  const { status } = await world.ask('POST', '/api/notes', { as: OPEN, data: { file: HIDDEN.id } })
  t.is(status, 201)
})

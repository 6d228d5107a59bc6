import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// reference/graphql.md#6-writing; reference/safety.md#s13-prototype-pollution, reference/safety.md#s16-uploads: files over GraphQL are held to what they are held to over REST.

const PROJECT = `
name: Uploads over GraphQL
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1390}" }
database: { url: "\${DATABASE_URL:-embedded}" }
upload: { sizeLimit: 1mb }
components:
  shared.note: { attributes: { extra: json } }
contentTypes:
  post: { attributes: { title: string, cover: { type: media, multiple: false, allowedTypes: [images] }, extra: json, parts: { type: dynamiczone, components: [shared.note] } } }
roles:
  public: { permissions: { upload: [find, findOne] } }
apiTokens:
  full: { type: full-access, secret: full-graphql-token-000000000000000000000 }
  drafter: { type: custom, secret: drafter-graphql-token-000000000000000000, permissions: { upload: [upload] } }
`

type Token = 'full' | 'drafter'

let folder: Folder
let server: Server

test.before(async () => {
  folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  folder.write('content/posts.yaml', '- { documentId: first, title: First }\n')
  server = await startServer({ project: folder.path })
})
test.after.always(async () => {
  await server?.stop()
  folder?.remove()
})

const stored = (): readonly string[] => {
  const all = readdirSync(join(folder.path, '.plinth'))
  return all.includes('uploads') ? readdirSync(join(folder.path, '.plinth', 'uploads')).toSorted() : []
}
const staged = (): readonly string[] => readdirSync(join(folder.path, '.plinth', 'staging'))

const secretOf = (token: Token): string => new RegExp(`${token}-graphql-token-0+`).exec(PROJECT)?.[0] ?? ''

interface Sent {
  /** In their order. A value with a name is a file. */
  readonly parts: readonly (readonly [field: string, value: string, filename?: string])[]
  readonly token?: Token | null
  readonly headers?: Readonly<Record<string, string>>
}

async function send({ parts, token = 'full', headers = {} }: Sent) {
  const form = new FormData()
  for (const [field, value, filename] of parts)
    if (filename === undefined) form.append(field, value)
    else form.append(field, new Blob([value]), filename)
  const answer = await fetch(`${server.base}/graphql`, {
    method: 'POST',
    headers: { ...(token ? { authorization: `Bearer ${secretOf(token)}` } : {}), ...headers },
    body: form,
  })
  const text = await answer.text()
  return {
    status: answer.status,
    body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text,
  }
}

async function ask(query: string, variables: Readonly<Record<string, unknown>> = {}) {
  const answer = await fetch(`${server.base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secretOf('full')}` },
    body: JSON.stringify({ query, variables }),
  })
  return JSON.parse(await answer.text())
}

const UPLOAD = 'mutation ($f: Upload!) { upload(file: $f) { data { id attributes { name } } } }'
const operations = (query: string, variables: unknown = { f: null }) => JSON.stringify({ query, variables })
const one = (name: string, text: string): Sent['parts'] => [
  ['operations', operations(UPLOAD)],
  ['map', '{"0":["variables.f"]}'],
  ['0', text, name],
]

/** Refused with 400 or 413 before anything is run, and nothing is kept. */
async function refused(t: ExecutionContext, sent: Sent, message: RegExp, status = 400): Promise<void> {
  const before = stored()
  const answer = await send(sent)
  t.is(answer.status, status, JSON.stringify(answer.body))
  const { errors, error } = answer.body
  t.regex(status === 413 ? errors[0].message : error.message, message)
  t.deepEqual(stored(), before)
  t.deepEqual(staged(), [])
}

test.serial('a file is stored with its metadata, found by queries, updated and removed', async t => {
  const { status, body } = await send({
    parts: [
      [
        'operations',
        operations(
          'mutation ($f: Upload!) { upload(file: $f, info: { caption: "Said" }) { data { id attributes { name caption mime url } } } }',
        ),
      ],
      ['map', '{"a":["variables.f"]}'],
      ['a', 'hello', '../../note.txt'],
    ],
  })
  t.is(status, 200)
  const { id, attributes } = body.data.upload.data
  t.like(attributes, { name: 'note.txt', caption: 'Said', mime: 'text/plain' })
  t.is(await fetch(server.base + attributes.url).then(got => got.text()), 'hello')
  t.is(
    (await ask('query ($id: ID!) { uploadFile(id: $id) { data { id } } }', { id })).data.uploadFile.data.id,
    id,
  )
  const changed = await ask(
    'mutation ($id: ID!) { a: updateFileInfo(id: $id, info: { name: "New" }) { data { attributes { name } } } b: updateUploadFile(id: $id, data: { alternativeText: "x" }) { data { attributes { name caption alternativeText } } } }',
    { id },
  )
  t.deepEqual(changed.data.a.data.attributes, { name: 'New' })
  t.deepEqual(changed.data.b.data.attributes, { name: 'New', caption: 'Said', alternativeText: 'x' })
  const bytes = await ask(
    'mutation ($id: ID!) { updateUploadFile(id: $id, data: { url: "/x" }) { data { id } } }',
    {
      id,
    },
  )
  t.is(bytes.errors[0].message, 'Invalid key url')
  const REMOVE = 'mutation ($id: ID!) { removeFile(id: $id) { data { id } } }'
  t.is((await ask(REMOVE, { id })).data.removeFile.data.id, id)
  t.deepEqual(await ask(REMOVE, { id }), { data: { removeFile: null } })
  t.deepEqual(stored(), [])
  t.deepEqual(staged(), [])
})

test.serial('a file is accepted for an Upload variable only', async t => {
  const create = (type: string, data: string) =>
    `mutation ($f: ${type}) { createPost(data: ${data}) { data { id } } }`
  for (const [query, places, variables] of [
    [create('JSON', '{ extra: $f }'), ['variables.f'], { f: null }],
    [create('JSON', '{ extra: { deep: [$f] } }'), ['variables.f.0'], { f: [null] }],
    [create('Upload', '{ extra: { deep: $f } }'), ['variables.f'], { f: null }],
    [create('PostInput!', '$f'), ['variables.f.extra.x'], { f: { extra: { x: null } } }],
    [
      create('[PostPartsDynamicZoneInput!]', '{ parts: $f }'),
      ['variables.f.0.extra'],
      { f: [{ __typename: 'ComponentSharedNote', extra: null }] },
    ],
  ] as const) {
    const parts: Sent['parts'] = [
      ['operations', operations(query, variables)],
      ['map', JSON.stringify({ 0: places })],
      ['0', 'text', 'n.txt'],
    ]
    const { status, body } = await send({ parts })
    t.is(status, 400, query)
    const [error] = body.errors
    t.regex(error.message, /cannot hold a file/, query)
    t.is(error.extensions.code, 'BAD_USER_INPUT', query)
  }
  t.deepEqual(
    (await ask('{ posts(filters: { title: { null: true } }) { data { id } } }')).data.posts.data,
    [],
  )
  t.deepEqual(staged(), [])
})

test.serial('a file may be addressed by its number', async t => {
  const { body } = await send({ parts: one('n.txt', 'n') })
  const { id } = body.data.upload.data
  const found = await fetch(`${server.base}/api/upload/files?filters[documentId]=${id}`)
  const [{ id: number }] = JSON.parse(await found.text())
  const removed = await ask(`mutation { removeFile(id: ${number}) { data { id } } }`)
  t.is(removed.data.removeFile.data.id, id)
})

test.serial('a batch sends files to each of its operations', async t => {
  const { status, body } = await send({
    parts: [
      ['operations', `[${operations(UPLOAD)},${operations(UPLOAD)}]`],
      ['map', '{"a":["0.variables.f"],"b":["1.variables.f"]}'],
      ['a', 'a', 'a.txt'],
      ['b', 'b', 'b.txt'],
    ],
  })
  t.is(status, 200)
  t.is(body[0].data.upload.data.attributes.name, 'a.txt')
  t.is(body[1].data.upload.data.attributes.name, 'b.txt')
})

test.serial('one file mapped to two variables is stored twice, and each Upload is read once', async t => {
  const before = stored().length
  const MANY = 'mutation ($f: [Upload]!) { multipleUpload(files: $f) { data { attributes { name } } } }'
  const two = await send({
    parts: [
      ['operations', operations(MANY, { f: [null, null] })],
      ['map', '{"0":["variables.f.0","variables.f.1"]}'],
      ['0', 'same', 'same.txt'],
    ],
  })
  t.is(two.body.data.multipleUpload.length, 2)
  t.is(stored().length, before + 2)
  const aliases = await send({
    parts: [
      [
        'operations',
        operations(
          'mutation ($f: Upload!) { a: upload(file: $f) { data { id } } b: upload(file: $f) { data { id } } }',
        ),
      ],
      ['map', '{"0":["variables.f"]}'],
      ['0', 'once', 'once.txt'],
    ],
  })
  t.regex(aliases.body.errors[0].message, /gives its file once/)
  const inList = await send({
    parts: [
      [
        'operations',
        operations('mutation ($f: Upload!) { multipleUpload(files: [$f, $f]) { data { id } } }'),
      ],
      ['map', '{"0":["variables.f"]}'],
      ['0', 'once', 'once.txt'],
    ],
  })
  t.is(inList.body.errors[0].extensions.code, 'BAD_USER_INPUT')
  t.is(stored().length, before + 3)
  t.deepEqual(staged(), [])
})

test.serial('a new file is attached to a document if the attribute allows its kind', async t => {
  const TO =
    'mutation ($f: Upload!) { upload(file: $f, ref: "api::post.post", refId: "first", field: "cover") { data { id } } }'
  const png = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  )
  const form = new FormData()
  form.append('operations', operations(TO))
  form.append('map', '{"0":["variables.f"]}')
  form.append('0', new Blob([png]), 'dot.html')
  const authorization = `Bearer ${secretOf('full')}`
  const sent = await fetch(`${server.base}/graphql`, {
    method: 'POST',
    headers: { authorization },
    body: form,
  })
  const { data } = JSON.parse(await sent.text())
  const post = await ask(
    '{ post(id: "first") { data { attributes { cover { data { id attributes { ext } } } } } } }',
  )
  t.deepEqual(post.data.post.data.attributes.cover.data, {
    id: data.upload.data.id,
    attributes: { ext: '.png' },
  })
  const before = stored()
  const [, ...parts] = one('words.png', 'words')
  const { body } = await send({ parts: [['operations', operations(TO)], ...parts] })
  t.is(body.errors[0].extensions.code, 'BAD_USER_INPUT')
  const foreign = await send({ parts: [['operations', operations(TO)], ...parts], token: 'drafter' })
  t.is(foreign.body.errors[0].extensions.code, 'FORBIDDEN')
  t.deepEqual(stored(), before)
})

test.serial(
  'files of callers without permission to upload are not stored, and the mutations are forbidden',
  async t => {
    const before = stored()
    const { status, body } = await send({ parts: one('a.txt', 'a'), token: null })
    t.is(status, 200)
    t.is(body.data, null)
    t.is(body.errors[0].extensions.code, 'FORBIDDEN')
    const [, ...parts] = one('a.txt', 'a')
    const others = await send({
      parts: [
        ['operations', operations('mutation { updateFileInfo(id: 1, info: { name: "x" }) { data { id } } }')],
        ['map', '{}'],
      ],
      token: 'drafter',
    })
    t.is(others.body.errors[0].extensions.code, 'FORBIDDEN')
    const read = await send({
      parts: [['operations', operations('query ($f: Upload) { __typename }')], ...parts],
      token: 'drafter',
    })
    t.is(read.status, 400)
    t.deepEqual(stored(), before)
    t.deepEqual(staged(), [])
  },
)

test.serial('an empty file, a missing file and invalid metadata are refused', async t => {
  const before = stored()
  const empty = await send({ parts: one('a.txt', '') })
  t.is(empty.body.errors[0].message, 'Files are empty')
  const none = await ask('mutation { multipleUpload(files: []) { data { id } } }')
  t.is(none.errors[0].message, 'Files are empty')
  const NAMED = 'mutation ($f: Upload!, $i: FileInfoInput) { upload(file: $f, info: $i) { data { id } } }'
  const [, ...parts] = one('a.txt', 'a')
  for (const i of [{ name: ' ' }, { name: 'x'.repeat(256) }, { caption: '\0' }]) {
    const { body } = await send({ parts: [['operations', operations(NAMED, { f: null, i })], ...parts] })
    t.is(body.errors[0].extensions.code, 'BAD_USER_INPUT')
  }
  t.deepEqual(stored(), before)
  t.deepEqual(staged(), [])
})

const FILE = ['0', 'text', 'a.txt'] as const
const MAP = ['map', '{"0":["variables.f"]}'] as const
const OPERATIONS = ['operations', operations(UPLOAD)] as const

test.serial('a form that is not a GraphQL request is refused', async t => {
  const cases: readonly (readonly [Sent['parts'], RegExp])[] = [
    [[], /form cannot be read|Missing multipart field ‘operations’/],
    [[MAP, FILE], /Missing multipart field ‘operations’/],
    [[OPERATIONS, FILE], /Missing multipart field ‘map’/],
    [[['operations', '{ nope'], MAP, FILE], /Invalid JSON in the ‘operations’/],
    [[['operations', '"text"'], MAP, FILE], /Invalid JSON in the ‘operations’/],
    [
      [['operations', `{"a":${'['.repeat(300)}${']'.repeat(300)}}`], MAP, FILE],
      /Invalid JSON in the ‘operations’/,
    ],
    [
      [['operations', '{"query":"{ __typename }","__proto__":{}}'], MAP, FILE],
      /Invalid JSON in the ‘operations’/,
    ],
    [[OPERATIONS, OPERATIONS, MAP, FILE], /More than one multipart field ‘operations’/],
    [[OPERATIONS, MAP, MAP, FILE], /More than one multipart field ‘map’/],
    [[OPERATIONS, ['map', '{ nope'], FILE], /Invalid JSON in the ‘map’/],
    [[OPERATIONS, ['map', '["variables.f"]'], FILE], /Invalid type for the ‘map’/],
    [[OPERATIONS, ['map', '{"0":"variables.f"}'], FILE], /entry key ‘0’ array/],
    [[OPERATIONS, MAP], /File missing in the request/],
    [[OPERATIONS, FILE, MAP], /File missing in the request/],
    [[OPERATIONS, MAP, ['1', 'text', 'a.txt']], /File missing in the request/],
    [[OPERATIONS, MAP, FILE, FILE], /More than one file ‘0’/],
  ]
  for (const [parts, message] of cases) await refused(t, { parts }, message)
})

test.serial('a map may refer only to variables that expect a file', async t => {
  const waiting = operations(UPLOAD, { f: null, files: [null], taken: 'text', deep: { x: null } })
  const paths = [
    '',
    'query',
    'operationName',
    'variables',
    'variables.',
    'variables..f',
    'variables.f.x',
    'variables.taken',
    'variables.files',
    'variables.files.1',
    'variables.files.-1',
    'variables.files.length',
    'variables.files.99999999999',
    'variables.nope.x',
    'variables.__proto__',
    'variables.__proto__.x',
    'variables.deep.__proto__.x',
    'variables.constructor.prototype.x',
    'variables.toString.x',
    '__proto__.x',
    'constructor.prototype.x',
    '0.variables.f',
  ]
  for (const path of paths) {
    const map = JSON.stringify({ 0: [path] })
    await refused(t, { parts: [['operations', waiting], ['map', map], FILE] }, /Invalid object path/)
  }
  for (const map of ['{"0":[5]}', '{"0":[null]}', '{"0":[["variables.f"]]}'])
    await refused(t, { parts: [['operations', waiting], ['map', map], FILE] }, /Invalid object path/)
  const twice = '{"0":["variables.f"],"1":["variables.f"]}'
  await refused(t, { parts: [OPERATIONS, ['map', twice], FILE, ['1', 'b', 'b.txt']] }, /Invalid object path/)
  const outside: Sent['parts'] = [
    ['operations', `[${operations(UPLOAD)}]`],
    ['map', '{"0":["1.variables.f"]}'],
    FILE,
  ]
  await refused(t, { parts: outside }, /Invalid object path/)
  t.is(Object.getOwnPropertyDescriptor(Object.prototype, 'x'), undefined)
  t.is((await ask('{ __typename }')).data.__typename, 'Query')
})

test.serial('a form over any limit is refused, and nothing of it is stored', async t => {
  const many = Array.from({ length: 101 }, (_, index) => String(index))
  const variables = { f: many.map(() => null) }
  const MANY = operations('mutation ($f: [Upload]!) { multipleUpload(files: $f) { data { id } } }', variables)
  const places = (field: (index: number) => string) =>
    JSON.stringify(
      Object.fromEntries(
        many.map((_, index) => [
          field(index),
          many.filter((__, each) => field(each) === field(index)).map(each => `variables.f.${each}`),
        ]),
      ),
    )
  const all = many.map(name => [name, 'x', 'x.txt'] as const)
  await refused(
    t,
    { parts: [['operations', MANY], ['map', places(String)], ...all] },
    /at most 100 files/,
    413,
  )
  await refused(
    t,
    { parts: [['operations', MANY], ['map', places(() => '0')], FILE] },
    /at most 100 files/,
    413,
  )
  const large = 'x'.repeat(2 ** 20 + 1)
  await refused(t, { parts: one('a.txt', large) }, /at most 1048576 bytes/, 413)
  await refused(
    t,
    { parts: [['operations', large], MAP, FILE] },
    /The fields of a form may have at most 1048576 bytes together/,
    413,
  )
  const fields = Array.from({ length: 10 }, (_, index) => [`f${index}`, 'x'] as const)
  await refused(t, { parts: [...fields, OPERATIONS, MAP, FILE] }, /at most 5 fields/, 413)
})

test.serial('a form sent across sites without a preflight is refused (CSRF)', async t => {
  const before = stored()
  const [operation, ...rest] = one('a.txt', 'a')
  const parts = [operation ?? OPERATIONS, ...rest]
  const elsewhere = { origin: 'https://elsewhere.test' }
  for (const headers of [
    elsewhere,
    { origin: 'null' },
    { ...elsewhere, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const { status, body } = await send({ parts, token: null, headers })
    t.is(status, 403, JSON.stringify(headers))
    t.is(body.error.name, 'ForbiddenError')
  }
  const here = { origin: server.base }
  for (const headers of [
    here,
    { ...elsewhere, 'apollo-require-preflight': 'true' },
    { 'sec-fetch-site': 'same-origin' },
  ])
    t.is((await send({ parts, token: null, headers })).status, 200, JSON.stringify(headers))
  const form = await fetch(`${server.base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...elsewhere },
    body: new URLSearchParams({ query: '{ __typename }' }).toString(),
  })
  t.is(form.status, 403)
  t.deepEqual(stored(), before)
})

test.serial('a map whose paths are no texts is refused, also of callers that have no permission', async t => {
  for (const path of [{ toString: 1 }, [{ toString: 1 }], null, 1])
    for (const token of ['full', 'drafter', null] as const)
      await refused(
        t,
        {
          parts: [
            ['operations', operations(UPLOAD)],
            ['map', JSON.stringify({ 0: [path] })],
            ['0', 'x', 'a.txt'],
          ],
          token,
        },
        /Invalid object path/,
      )
})

import { readdirSync, readFileSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// reference/rest.md#15-upload; safety: what is uploaded can neither act, nor lead out of its folder, nor fill the memory.

const PROJECT = `
name: Uploads
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1390}", requestTimeout: 120s }
database: { url: "\${DATABASE_URL:-embedded}" }
upload: { sizeLimit: 64mb }
i18n: { locales: [en, fr] }
components:
  part.frame: { attributes: { picture: { type: media, multiple: false } } }
contentTypes:
  post:
    draftAndPublish: true
    attributes:
      title: string
      cover: { type: media, multiple: false, allowedTypes: [images] }
      extras: { type: media, multiple: true }
      frame: { type: component, component: part.frame }
  page:
    localized: true
    attributes: { title: string, cover: { type: media, multiple: false, localized: false } }
  leaflet:
    localized: true
    draftAndPublish: true
    attributes: { title: string, inserts: { type: media, multiple: true, localized: false } }
  note:
    attributes: { title: string, paper: { type: media, multiple: false }, locked: { type: media, multiple: false, writable: false } }
apiTokens:
  full: { type: full-access, secret: full-upload-token-00000000000000000000 }
  uploader: { type: custom, secret: uploader-upload-token-0000000000000000, permissions: { upload: [upload] } }
  reader: { type: custom, secret: reader-upload-token-000000000000000000, permissions: { upload: [find] } }
  changer: { type: custom, secret: changer-upload-token-00000000000000000, permissions: { upload: [findOne, update] } }
  remover: { type: custom, secret: remover-upload-token-00000000000000000, permissions: { upload: [delete] } }
  drafter:
    type: custom
    secret: drafter-upload-token-00000000000000000
    permissions: { upload: [upload], post: { update: { where: { title: Both }, fields: [extras] }, publish: false } }
  keeper:
    type: custom
    secret: keeper-upload-token-000000000000000000
    permissions:
      page: { update: { where: { title: { $startsWith: Mine } } } }
      note: { find: true, update: { set: { title: Changed } } }
      upload:
        upload: true
        findOne: true
        update: { where: { caption: { $startsWith: Mine } }, fields: [name, caption], set: { alternativeText: kept } }
        delete: { where: { caption: { $startsWith: Mine } } }
auth: { jwtSecret: uploads-jwt-secret-uploads-jwt-secret }
`
const POSTS = `
- { documentId: both, title: Both }
- { documentId: only-draft, title: Draft, status: draft }
- { documentId: framed, title: Framed }
`
const NOTES = `
- { documentId: note, title: Note }
`

type Token = 'full' | 'uploader' | 'reader' | 'changer' | 'remover' | 'drafter' | 'keeper'
type FileBody = { readonly id: number; readonly [key: string]: unknown }

let folder: Folder
let server: Server

test.before(async () => {
  folder = temporaryFolder()
  folder.write('project.yaml', PROJECT)
  folder.write('content/posts.yaml', POSTS)
  folder.write('content/notes.yaml', NOTES)
  folder.write('content/leaflets.yaml', '- { documentId: folded, title: Folded }')
  server = await startServer({ project: folder.path })
})
test.after.always(async () => {
  await server?.stop()
  folder?.remove()
})

interface Sent {
  readonly files?: readonly (readonly [name: string, bytes: string | Uint8Array])[]
  readonly fields?: Readonly<Record<string, string | readonly string[]>>
  readonly search?: string
  readonly token?: Token | null
}

async function send({ files = [], fields = {}, search = '', token = 'full' }: Sent) {
  const form = new FormData()
  for (const [name, bytes] of files) form.append('files', new Blob([bytes]), name)
  for (const [name, value] of Object.entries(fields))
    for (const each of [value].flat()) form.append(name, String(each))
  return call('POST', `/api/upload${search}`, token, form)
}

/** `body`: a form, or JSON text. */
async function call(method: string, path: string, token: Token | null = 'full', body?: FormData | string) {
  const answer = await fetch(server.base + path, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${secretOf(token)}` }),
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    ...(body ? { body } : {}),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

const secretOf = (token: Token): string => new RegExp(`${token}-upload-token-0+`).exec(PROJECT)?.[0] ?? ''

async function upload(t: ExecutionContext, sent: Sent): Promise<readonly FileBody[]> {
  const { status, body } = await send(sent)
  t.is(status, 201, JSON.stringify(body))
  return body
}

async function one(t: ExecutionContext, name: string, bytes: string | Uint8Array): Promise<FileBody> {
  const [file] = await upload(t, { files: [[name, bytes]] })
  return file ?? t.fail('nothing was uploaded')
}

const stored = (): readonly string[] => readdirSync(join(folder.path, '.plinth', 'uploads')).toSorted()
const staged = (): readonly string[] => readdirSync(join(folder.path, '.plinth', 'staging'))
const post = async (id: string, status = 'published') =>
  (await call('GET', `/api/posts/${id}?status=${status}&populate=*`)).body.data
const namesOf = (files: readonly FileBody[] | null): readonly unknown[] =>
  (files ?? []).map(({ name }) => name)
const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#123456' } })

test.serial('a file is stored under its own URL, served publicly, and described by its record', async t => {
  const file = await one(t, 'Résumé (1).TXT', 'hello world')
  t.like(file, { name: 'Résumé (1).TXT', ext: '.TXT', mime: 'text/plain', size: 0.01, provider: 'local' })
  t.regex(String(file.hash), /^Resume_1_[0-9a-f]{10}$/)
  t.is(file.url, `/uploads/${file.hash}.TXT`)
  t.false(file.isUrlSigned)
  const answer = await fetch(server.base + file.url)
  t.is(answer.status, 200)
  t.is(answer.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.is(await answer.text(), 'hello world')
  t.deepEqual((await call('GET', `/api/upload/files/${file.id}`)).body, file)
})

test.serial('files with equal names do not conflict', async t => {
  const files = await upload(t, {
    files: [
      ['same.txt', 'one'],
      ['same.txt', 'two'],
    ],
  })
  const texts = await Promise.all(files.map(({ url }) => fetch(server.base + url).then(got => got.text())))
  t.deepEqual(texts.toSorted(), ['one', 'two'])
})

test.serial('fileInfo describes each file, or all files together', async t => {
  const files: Sent['files'] = [
    ['a.txt', 'a'],
    ['b.txt', 'b'],
  ]
  const each = await upload(t, {
    files,
    fields: { fileInfo: ['{"caption":"of a"}', '{"name":"B","caption":"of b"}'] },
  })
  t.deepEqual(
    each.map(({ name, caption }) => [name, caption]),
    [
      ['a.txt', 'of a'],
      ['B', 'of b'],
    ],
  )
  const both = await upload(t, { files, fields: { fileInfo: '{"alternativeText":"letters"}' } })
  t.deepEqual(
    both.map(({ alternativeText }) => alternativeText),
    ['letters', 'letters'],
  )
  const uneven = await send({ files, fields: { fileInfo: ['{}', '{}', '{}'] } })
  t.is(uneven.status, 400)
})

test.serial('invalid fileInfo is refused, and nothing is stored', async t => {
  const before = stored()
  for (const fileInfo of [
    '',
    'x',
    '5',
    'null',
    '[]',
    '{"name":5}',
    '{"caption":["a"]}',
    '{"caption":"\\u0000"}',
  ]) {
    const { status, body } = await send({ files: [['a.txt', 'a']], fields: { fileInfo } })
    t.is(status, 400, fileInfo)
    t.is(body.error.name, 'ValidationError')
  }
  t.deepEqual(stored(), before)
  t.deepEqual(staged(), [])
})

test.serial('file names lose folders, unsafe characters and excess length', async t => {
  const cases: readonly (readonly [given: string, kept: RegExp])[] = [
    ['../../etc/passwd.txt', /^passwd\.txt$/],
    ['..\\..\\windows\\system.txt', /^system\.txt$/],
    ['/absolute.txt', /^absolute\.txt$/],
    ['nul\0byte.txt', /^nul(%00)?byte\.txt$/],
    [`${'x'.repeat(400)}.txt`, /^x{251}\.txt$/],
    ['ほん.txt', /^ほん\.txt$/],
  ]
  for (const [input, kept] of cases) {
    const file = await one(t, input, 'text')
    t.regex(String(file.name), kept, input)
    t.regex(String(file.url), /^\/uploads\/[A-Za-z0-9_]+\.(txt|bin)$/, input)
    t.true(stored().includes(String(file.url).slice('/uploads/'.length)))
  }
})

test.serial('an uploaded HTML page never runs in a browser, under any name', async t => {
  const page = '<!doctype html><script>alert(1)</script>'
  const drawing = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const cases = [
    ['page.html', page],
    ['page.png', page],
    ['page.PDF', page],
    ['page.svg', drawing],
    ['page.jpg', drawing],
    ['page.xhtml', page],
    ['script.js', 'alert(1)'],
  ] as const
  for (const [name, bytes] of cases) {
    const { headers } = await fetch(server.base + (await one(t, name, bytes)).url)
    t.is(headers.get('content-disposition'), 'attachment', name)
    t.is(headers.get('x-content-type-options'), 'nosniff')
    t.regex(headers.get('content-security-policy') ?? '', /sandbox/)
    t.notRegex(headers.get('content-type') ?? '', /html|javascript/, name)
  }
})

test.serial('a picture with the name of an HTML page is stored as a picture', async t => {
  const file = await one(t, 'evil.html', await picture(2, 3).png().toBuffer())
  t.like(file, { ext: '.png', mime: 'image/png', width: 2, height: 3 })
  t.is((await fetch(server.base + file.url)).headers.get('content-type'), 'image/png')
})

test.serial('a picture has its dimensions, and a variant for each smaller size', async t => {
  const file = await one(t, 'large.jpg', await picture(1200, 600).jpeg().toBuffer())
  t.like(file, { width: 1200, height: 600, mime: 'image/jpeg', ext: '.jpg' })
  const formats = file.formats as Record<string, { url: string; width: number; height: number; name: string }>
  const sizes = Object.entries(formats).map(([size, { width, height }]) => [size, width, height])
  t.deepEqual(sizes.toSorted(), [
    ['large', 1000, 500],
    ['medium', 750, 375],
    ['small', 500, 250],
    ['thumbnail', 245, 123],
  ])
  for (const { url, width } of Object.values(formats)) {
    const bytes = Buffer.from(await (await fetch(server.base + url)).arrayBuffer())
    t.is((await sharp(bytes).metadata()).width, width)
  }
  t.is(formats.small?.name, 'small_large.jpg')
  t.is((await one(t, 'small.png', await picture(20, 20).png().toBuffer())).formats, null)
})

test.serial('a broken picture is stored unchanged, without variants', async t => {
  const bytes = await picture(600, 600).png().toBuffer()
  const file = await one(t, 'broken.png', bytes.subarray(0, 60))
  t.like(file, { mime: 'image/png', width: 600, height: 600, formats: null })
})

/** A PNG whose header says a size, of which nothing else is there. */
function pngOf(width: number, height: number, bytes: Buffer): Buffer {
  const png = Buffer.from(bytes)
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29)
  return png
}

test.serial('a picture over the pixel limit is refused by its header, and nothing is stored', async t => {
  const before = stored()
  const small = await picture(2, 2).png().toBuffer()
  for (const [width, height] of [
    [16_384, 16_384],
    [50_000_001, 1],
    [2 ** 31 - 1, 2 ** 31 - 1],
  ] as const) {
    const { status, body } = await send({ files: [['bomb.png', pngOf(width, height, small)]] })
    t.is(status, 400)
    t.is(
      body.error.message,
      `bomb.png has ${width} × ${height} pixels, and upload.pixelLimit allows 50000000 together`,
    )
  }
  const file = await one(t, 'good.png', small)
  const replaced = await send({
    search: `?id=${file.id}`,
    files: [['bomb.png', pngOf(9_000, 9_000, small)]],
  })
  t.is(replaced.status, 400)
  t.deepEqual(staged(), [])
  t.is(stored().length, before.length + 1)
})

test.serial('pictures are resized one at a time: many take little more memory than one', async t => {
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
  const bytes = await picture(6_000, 4_000).jpeg({ progressive: true }).toBuffer()
  await one(t, 'first.jpg', bytes)
  const before = peak()
  const all = await Promise.all(Array.from({ length: 6 }, (_, at) => one(t, `${at}.jpg`, bytes)))
  for (const { formats } of all) t.is(Object.keys(formats as object).length, 4)
  t.true(peak() - before < 150, `${peak() - before} MB more for six pictures`)
})

test.serial('a form without files is refused with the message of the reference', async t => {
  for (const files of [[], [['empty.txt', '']]] as const) {
    const { status, body } = await send({ files, fields: { other: 'x' } })
    t.is(status, 400)
    t.deepEqual(body.error, { status: 400, name: 'ValidationError', message: 'Files are empty', details: {} })
  }
})

test.serial('an invalid form is refused', async t => {
  const headers = { authorization: `Bearer ${secretOf('full')}` }
  for (const [type, body] of [
    ['multipart/form-data', 'x'],
    ['multipart/form-data; boundary=x', 'nothing of the kind'],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\ncut',
    ],
    [
      'multipart/form-data; boundary=x',
      '--x\r\nContent-Disposition: form-data; name="other"; filename="a"\r\n\r\ncut',
    ],
  ] as const) {
    const answer = await fetch(`${server.base}/api/upload`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body,
    })
    t.is(answer.status, 400, body)
  }
  t.deepEqual(staged(), [])
})

test.serial('a form without a boundary is refused with what is missing', async t => {
  const types = ['', ';', '; boundary=', '; boundary=""', '; charset=utf-8', `; boundary=${'x'.repeat(300)}`]
  for (const parameters of types) {
    const answer = await fetch(`${server.base}/api/upload`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secretOf('full')}`,
        'content-type': `multipart/form-data${parameters}`,
      },
      body: '--x\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\na\r\n--x--\r\n',
    })
    t.is(answer.status, 400, parameters)
    t.like(
      await answer.json(),
      {
        error: {
          name: 'BadRequestError',
          message:
            'The form cannot be read: Content-Type needs a boundary of 1 to 250 characters; clients add it to forms themselves if the request sets no Content-Type',
        },
      },
      parameters,
    )
  }
})

test.serial('uploads that are too large or too many are refused, and nothing is stored', async t => {
  const before = stored()
  const large = await send({ files: [['large.bin', Buffer.alloc(64 * 1024 * 1024 + 1)]] }).catch(() => null)
  // A client that is still sending may find the connection closed before it reads the answer.
  t.true(large === null || large.status === 413)
  const many = await send({ files: Array.from({ length: 101 }, (_, at) => [`${at}.txt`, 'x'] as const) })
  t.is(many.status, 413)
  t.is(many.body.error.name, 'PayloadTooLargeError')
  const long = await send({
    files: [['a.txt', 'a']],
    fields: { fileInfo: `{"caption":"${'x'.repeat(1_048_576)}"}` },
  })
  t.is(long.status, 413)
  t.deepEqual(stored(), before)
  t.deepEqual(staged(), [])
})

test.serial('an interrupted upload stores nothing', async t => {
  const before = stored()
  const broken = openRequest(`${server.base}/api/upload`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secretOf('full')}`,
      'content-type': 'multipart/form-data; boundary=x',
    },
  })
  broken.on('error', () => {})
  broken.write('--x\r\nContent-Disposition: form-data; name="files"; filename="half.txt"\r\n\r\n')
  broken.write('x'.repeat(100_000))
  for (let tries = 0; staged().length === 0 && tries < 100; tries++) await pause(20)
  t.is(staged().length, 1)
  broken.destroy()
  for (let tries = 0; staged().length > 0 && tries < 100; tries++) await pause(20)
  t.deepEqual(staged(), [])
  t.deepEqual(stored(), before)
})

test.serial('files are streamed to the disk', async t => {
  const peak = (): number =>
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024
  await one(t, 'warm.bin', Buffer.alloc(1_000_000))
  const before = peak()
  await Promise.all([1, 2, 3, 4].map(() => one(t, 'heavy.bin', Buffer.alloc(60_000_000))))
  t.true(peak() - before < 200, `${peak() - before} MB more for 240 MB`)
})

test.serial('the metadata of a file can be changed; its URL stays', async t => {
  const file = await one(t, 'words.txt', 'words')
  const fields = { fileInfo: '{"name":"Other words","caption":"new"}' }
  const { status, body } = await send({ search: `?id=${file.id}`, fields })
  t.is(status, 200)
  t.like(body, { id: file.id, name: 'Other words', caption: 'new', alternativeText: null, url: file.url })
  t.like(
    (await send({ search: `?id=${file.id}`, fields: { fileInfo: '{"name":"","caption":null}' } })).body,
    {
      name: 'Other words',
      caption: null,
    },
  )
})

test.serial('the metadata of a file can be changed with JSON', async t => {
  const file = await one(t, 'words.txt', 'words')
  const change = (body: unknown, search = `?id=${file.id}`) =>
    call('POST', `/api/upload${search}`, 'full', JSON.stringify(body))
  const { status, body } = await change({ fileInfo: { name: 'Other', caption: 'new' } })
  t.is(status, 200)
  t.like(body, { id: file.id, name: 'Other', caption: 'new', url: file.url })
  t.like((await change({ fileInfo: '{"caption":null}' })).body, { name: 'Other', caption: null })
  for (const [refused, message] of [
    [{ fileInfo: { caption: 5 } }, 'Invalid fileInfo.caption: expected a text or null'],
    [{ fileInfo: [] }, 'Invalid fileInfo: expected a JSON object'],
    [{ caption: 'new' }, 'Files are empty'],
  ] as const) {
    const { status, body } = await change(refused)
    t.deepEqual([status, body.error.message], [400, message])
  }
  t.is((await change({ fileInfo: {} }, '?id=99999999999')).status, 404)
  t.is((await change({ fileInfo: { name: 'Other' } }, '')).body.error.message, 'Files are empty')
})

test.serial('a file can be replaced under the same URL, variants included', async t => {
  const old = await one(t, 'photo.png', await picture(600, 600).png().toBuffer())
  const formats = old.formats as Record<string, { url: string }>
  const { status, body } = await send({
    search: `?id=${old.id}`,
    files: [['new.png', await picture(300, 100).png().toBuffer()]],
    fields: { fileInfo: '{"caption":"new"}' },
  })
  t.is(status, 200)
  t.like(body, {
    id: old.id,
    url: old.url,
    hash: old.hash,
    width: 300,
    height: 100,
    name: 'new.png',
    caption: 'new',
  })
  t.deepEqual(Object.keys(body.formats), ['thumbnail'])
  const bytes = Buffer.from(await (await fetch(server.base + old.url)).arrayBuffer())
  t.is((await sharp(bytes).metadata()).width, 300)
  t.is((await fetch(server.base + formats.small?.url)).status, 404)
})

test.serial('a file is replaced by exactly one file', async t => {
  const file = await one(t, 'one.txt', '1')
  const { status } = await send({
    search: `?id=${file.id}`,
    files: [
      ['a.txt', 'a'],
      ['b.txt', 'b'],
    ],
  })
  t.is(status, 400)
  t.is(await fetch(server.base + file.url).then(got => got.text()), '1')
})

test.serial('a missing file cannot be changed, replaced, read or deleted', async t => {
  for (const files of [[], [['a.txt', 'a']]] as const) {
    const { status, body } = await send({ search: '?id=99999999999', files, fields: { fileInfo: '{}' } })
    t.is(status, 404)
    t.is(body.error.message, 'Entity not found')
  }
  for (const method of ['GET', 'DELETE']) {
    t.is((await call(method, '/api/upload/files/99999999999')).body.error.message, 'file.notFound')
    t.is((await call(method, '/api/upload/files/abc')).status, 400)
  }
})

test.serial('a list of files is paginated by start and limit, and bounded', async t => {
  await upload(t, { files: ['x', 'y', 'z'].map(name => [`listed-${name}.txt`, name] as const) })
  const list = async (query: string) =>
    call('GET', `/api/upload/files?filters[name][$startsWith]=listed-&sort=name&fields=name&${query}`)
  t.deepEqual(namesOf((await list('')).body), ['listed-x.txt', 'listed-y.txt', 'listed-z.txt'])
  t.deepEqual(namesOf((await list('start=1&limit=1')).body), ['listed-y.txt'])
  for (const query of ['limit=0', 'limit=-1', 'limit=', 'start='])
    t.is(namesOf((await list(query)).body).length, 3, query)
  for (const query of ['limit=-2', 'limit=x', 'start=-1', 'start[]=1'])
    t.is((await list(query)).status, 400, query)
})

test.serial(
  'files are attached to the draft and the published version: appended to a list, replacing a single file',
  async t => {
    const attach = (field: string, name: string, bytes: string | Uint8Array) =>
      upload(t, { files: [[name, bytes]], fields: { ref: 'api::post.post', refId: 'both', field } })
    const { publishedAt } = await post('both')
    await attach('extras', 'first.txt', '1')
    await attach('extras', 'second.txt', '2')
    t.is((await post('both')).publishedAt, publishedAt, 'it is not published again')
    const png = await picture(1, 1).png().toBuffer()
    await attach('cover', 'old.png', png)
    await attach('cover', 'new.png', png)
    for (const status of ['draft', 'published']) {
      const { extras, cover } = await post('both', status)
      t.deepEqual(namesOf(extras), ['first.txt', 'second.txt'], status)
      t.is(cover.name, 'new.png', status)
    }
  },
)

test.serial('files are attached to both versions of a list that all locales share', async t => {
  await call('PUT', '/api/leaflets/folded?locale=fr', 'full', '{"data":{"title":"Plié"}}')
  const fields = { ref: 'api::leaflet.leaflet', refId: 'folded', field: 'inserts' }
  const [inDraft] = await upload(t, { files: [['only-draft.txt', '0']] })
  const change = JSON.stringify({ data: { inserts: [inDraft?.id] } })
  t.is((await call('PUT', '/api/leaflets/folded?status=draft', 'full', change)).status, 200)
  await upload(t, { files: [['first.txt', '1']], fields })
  await upload(t, { files: [['second.txt', '2']], fields })
  const added = ['first.txt', 'second.txt']
  for (const locale of ['en', 'fr'])
    for (const [status, expected] of [
      ['published', added],
      ['draft', ['only-draft.txt', ...added]],
    ] as const) {
      const path = `/api/leaflets/folded?populate=inserts&status=${status}&locale=${locale}`
      t.deepEqual(namesOf((await call('GET', path)).body.data.inserts), expected, `${status} ${locale}`)
    }
})

test.serial('an upload to a draft does not create a published version', async t => {
  const fields = { ref: 'api::post.post', refId: 'only-draft', field: 'extras' }
  await upload(t, { files: [['draft.txt', 'd']], fields })
  t.deepEqual(namesOf((await post('only-draft', 'draft')).extras), ['draft.txt'])
  t.is((await call('GET', '/api/posts/only-draft')).status, 404)
})

test.serial('a document may be addressed by the id of its row', async t => {
  const { id } = (await call('GET', '/api/notes/note')).body.data
  await upload(t, {
    files: [['n.txt', 'n']],
    fields: { ref: 'api::note.note', refId: String(id), field: 'paper' },
  })
  t.is((await call('GET', '/api/notes/note?populate=paper')).body.data.paper.name, 'n.txt')
})

test.serial('an invalid attachment target is refused, and nothing is stored', async t => {
  const before = stored()
  const good = { ref: 'api::post.post', refId: 'both', field: 'extras' }
  const cases = [
    { ...good, ref: 'api::pots.pots' },
    { ...good, ref: 'plugin::upload.file' },
    { ...good, refId: 'missing' },
    { ...good, refId: '99999999' },
    { ...good, refId: '9'.repeat(30) },
    { ...good, field: 'title' },
    { ...good, field: 'nothing' },
    { ...good, field: 'cover' },
    { ref: good.ref },
    { field: good.field },
    { ref: 'api::note.note', refId: 'note', field: 'locked' },
  ]
  for (const fields of cases) {
    const { status, body } = await send({ files: [['a.txt', 'a']], fields })
    t.is(status, 400, JSON.stringify(fields))
    t.is(body.error.name, 'ValidationError')
  }
  t.deepEqual(stored(), before)
  t.deepEqual(staged(), [])
})

test.serial('an upload into a document is refused if the permission to update it sets values', async t => {
  const fields = { ref: 'api::note.note', refId: 'note', field: 'paper' }
  const files = [['paper.txt', 'paper']] as const
  const before = stored()
  t.is((await send({ files, fields, token: 'keeper' })).status, 403)
  t.deepEqual(stored(), before)
})

test.serial('a file lists the documents that use it, if the caller may find them', async t => {
  const fields = { ref: 'api::note.note', refId: 'note', field: 'paper' }
  const [file] = await upload(t, { files: [['untouched.txt', 't']], fields })
  const related = async (query: string, token: Token = 'full') =>
    (await call('GET', `/api/upload/files/${file?.id}?${query}`, token)).body.related
  t.is(await related(''), undefined)
  for (const query of ['populate=*', 'populate=related', 'populate[0]=related']) {
    const [place, ...more] = await related(query)
    t.like(place, { __type: 'api::note.note', documentId: 'note', title: 'Note' })
    t.deepEqual(more, [])
  }
  t.deepEqual(await related('populate=*', 'changer'), [])
})

test.serial('a deleted file is removed from its documents, and its URL is not found', async t => {
  const png = await picture(300, 300).png().toBuffer()
  const fields = { ref: 'api::post.post', refId: 'framed', field: 'cover' }
  const [cover] = await upload(t, { files: [['cover.png', png]], fields })
  const [extra] = await upload(t, { files: [['extra.txt', 'e']], fields: { ...fields, field: 'extras' } })
  const before = stored()
  for (const file of [cover, extra]) {
    const { status, body } = await call('DELETE', `/api/upload/files/${file?.id}`)
    t.is(status, 200)
    t.is(body.id, file?.id)
    t.is((await fetch(server.base + file?.url)).status, 404)
    t.is((await call('GET', `/api/upload/files/${file?.id}`)).status, 404)
    t.is((await call('DELETE', `/api/upload/files/${file?.id}`)).status, 404)
  }
  for (const status of ['draft', 'published']) {
    const { cover: place, extras } = await post('framed', status)
    t.is(place, null, status)
    t.deepEqual(extras ?? [], [], status)
  }
  t.is(stored().length, before.length - 3, 'the smaller picture is gone, too')
})

test.serial('the five upload actions are granted separately', async t => {
  const { id } = await one(t, 'guarded.txt', 'g')
  const asks: Readonly<Record<string, (token: Token | null) => Promise<{ status: number }>>> = {
    upload: token => send({ files: [['x.txt', 'x']], token }),
    find: token => call('GET', '/api/upload/files?limit=1', token),
    findOne: token => call('GET', `/api/upload/files/${id}`, token),
    update: token => send({ search: `?id=${id}`, fields: { fileInfo: '{"caption":"x"}' }, token }),
    delete: token => call('DELETE', '/api/upload/files/99999999', token),
  }
  const open: readonly (readonly [Token | null, readonly string[]])[] = [
    [null, []],
    ['uploader', ['upload']],
    ['reader', ['find']],
    ['changer', ['findOne', 'update']],
    ['remover', ['delete']],
  ]
  for (const [token, actions] of open) {
    for (const [action, ask] of Object.entries(asks)) {
      const { status } = await ask(token)
      t.is(status === 403, !actions.includes(action), `${token} ${action}: ${status}`)
    }
  }
})

test.serial(
  'attaching requires permission to write the document; without publish, only the draft changes',
  async t => {
    const before = namesOf((await post('both')).extras)
    const files: Sent['files'] = [['drafted.txt', 'd']]
    const fields = { ref: 'api::post.post', refId: 'both', field: 'extras' }
    t.is((await send({ files, fields, token: 'uploader' })).status, 403)
    t.is((await send({ files, fields: { ...fields, field: 'cover' }, token: 'drafter' })).status, 400)
    t.is((await send({ files, fields: { ...fields, refId: 'framed' }, token: 'drafter' })).status, 400)
    // Proposals name only what the caller may write.
    const proposals = async (wrong: object) => {
      const messages = (['full', 'drafter', 'uploader'] as const).map(async token => {
        const { body } = await send({ files, fields: { ...fields, ...wrong }, token })
        return / `(.*)`\?$/.exec(body.error.message)?.[1]
      })
      return Promise.all(messages)
    }
    t.deepEqual(await proposals({ field: 'covr' }), ['cover', undefined, undefined])
    t.deepEqual(await proposals({ field: 'extra' }), ['extras', 'extras', undefined])
    t.deepEqual(await proposals({ ref: 'api::note.nte' }), ['api::note.note', undefined, undefined])
    t.is((await send({ files, fields, token: 'drafter' })).status, 201)
    t.deepEqual(namesOf((await post('both')).extras), before)
    t.true(namesOf((await post('both', 'draft')).extras).includes('drafted.txt'))
  },
)

test.serial('conditions of a permission apply to files before and after a change', async t => {
  const [hers, mine] = await upload(t, {
    files: [
      ['hers.txt', 'hers'],
      ['mine.txt', 'mine'],
    ],
    fields: { fileInfo: ['{"caption":"Hers"}', '{"caption":"Mine"}'] },
  })
  const as = { token: 'keeper' } as const
  const say = (file: FileBody | undefined, info: unknown) =>
    send({ ...as, fields: { fileInfo: JSON.stringify(info) }, search: `?id=${file?.id}` })
  const before = (await call('GET', `/api/upload/files/${hers?.id}`)).body
  t.is((await say(hers, { caption: 'Mine now' })).status, 403)
  t.is((await say(mine, { caption: 'Hers now' })).status, 403)
  t.is((await say(mine, { focalPoint: { x: 1, y: 1 } })).status, 400)
  t.is((await send({ ...as, files: [['new.txt', 'new']], search: `?id=${hers?.id}` })).status, 400)
  t.is((await call('DELETE', `/api/upload/files/${hers?.id}`, 'keeper')).status, 403)
  t.deepEqual((await call('GET', `/api/upload/files/${hers?.id}`)).body, before)
  const said = await say(mine, { caption: 'Mine still', alternativeText: 'chosen' })
  t.is(said.status, 200, JSON.stringify(said.body))
  t.like(said.body, { name: 'mine.txt', caption: 'Mine still', alternativeText: 'kept' })
  t.is((await call('DELETE', `/api/upload/files/${mine?.id}`, 'keeper')).status, 200)
})

test.serial(
  'attaching to an attribute that all locales share requires permission for each locale',
  async t => {
    const write = async (method: string, path: string, title: string) => {
      const answer = await fetch(server.base + path, {
        method,
        headers: { authorization: `Bearer ${secretOf('full')}`, 'content-type': 'application/json' },
        body: JSON.stringify({ data: { title } }),
      })
      return JSON.parse(await answer.text()).data
    }
    const { documentId } = await write('POST', '/api/pages', 'Hers')
    const { id } = await write('PUT', `/api/pages/${documentId}?locale=fr`, 'Mine')
    const attach = async () => {
      const fields = { ref: 'api::page.page', refId: String(id), field: 'cover' }
      const { status } = await send({ files: [['cover.txt', 'c']], fields, token: 'keeper' })
      const { cover } = (await call('GET', `/api/pages/${documentId}?populate=cover`)).body.data
      return [status, cover?.name ?? null]
    }
    t.deepEqual(await attach(), [400, null])
    await write('PUT', `/api/pages/${documentId}`, 'Mine, too')
    t.deepEqual(await attach(), [201, 'cover.txt'])
  },
)

test.serial('unsupported methods are refused with the supported ones', async t => {
  const answer = await fetch(`${server.base}/API/Upload/Files/`, { method: 'PUT' })
  t.is(answer.status, 405)
  t.is(answer.headers.get('allow'), 'HEAD, GET')
  t.is((await fetch(`${server.base}/api/upload/folders`)).status, 404)
})

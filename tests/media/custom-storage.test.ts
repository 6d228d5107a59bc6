import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { compileApp } from '../../core/app/compile-app.ts'
import { openCustomStorage } from '../../core/media/storage/custom-storage.ts'
import { stagingFolder } from '../../core/media/storage/staging.ts'
import { createTestApp, type TestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

const TOKEN = 'a-secret-of-forty-letters-that-cannot-be-guessed'

const project = (upload: string, server: string) => `name: Files
upload: ${upload}
server: ${server}
contentTypes: { note: { attributes: { text: string } } }
roles:
  public: { permissions: { note: [find] } }
apiTokens: { all: { type: full-access, secret: ${TOKEN} } }
`

/** Keeps files in a folder. \`globalThis.storageFaults\` breaks single calls. */
const EXTENSION = `import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { defineExtension } from 'plinth'

const fault = (method, key) => globalThis.storageFaults?.(method, key)
const missing = error => { if (error.code !== 'ENOENT') throw error; return null }

const open = ({ folder }) => {
  if (!folder) throw new Error('providerOptions.folder is missing')
  const at = key => join(folder, key)
  return {
    async put(key, file) {
      await mkdir(folder, { recursive: true })
      const draft = at(key) + '.part'
      await pipeline(file.stream(), createWriteStream(draft))
      if (fault('put', key)) { await rm(draft); throw new Error('the disk is full') }
      await rename(draft, at(key))
    },
    async get(key, range) {
      if (!(await this.stat(key))) return null
      const broken = fault('get', key)
      if (!broken) return createReadStream(at(key), range)
      return Readable.from((async function* () { yield Buffer.from('x'); throw new Error('connection reset') })())
    },
    stat: async key => stat(at(key)).then(({ size }) => ({ size }), missing),
    async delete(key) {
      if (fault('delete', key)) throw new Error('not today')
      await rm(at(key), { force: true })
    },
    MORE
  }
}

export default defineExtension({
  register({ media }) {
    media.registerStorage('folder-storage', { open, private: PRIVATE })
  },
})
`

interface Options {
  readonly isPrivate?: boolean
  readonly more?: string
  readonly upload?: string
  readonly server?: string
}

function write(
  t: ExecutionContext,
  { isPrivate = false, more = '', upload, server = '{}' }: Options = {},
): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const options = JSON.stringify({ folder: join(folder.path, 'kept') })
  folder.write(
    'project.yaml',
    project(upload ?? `{ provider: folder-storage, providerOptions: ${options} }`, server),
  )
  folder.write(
    'extensions/storage.mjs',
    EXTENSION.replace('MORE', more).replace('PRIVATE', String(isPrivate)),
  )
  return folder
}

async function open(t: ExecutionContext, options: Options = {}) {
  const folder = write(t, options)
  const server = testServer()
  const database = server ? { database: await createDatabase(t, server) } : { snapshot: await snapshot() }
  const app = await createTestApp({ project: folder.path, listen: true, ...database })
  t.teardown(async () => {
    setFaults(undefined)
    await app.close()
  })
  return { app, folder, kept: () => readdirSync(join(folder.path, 'kept')).toSorted() }
}

const setFaults = (faults: ((method: string, key: string) => boolean) | undefined) =>
  Object.assign(globalThis, { storageFaults: faults })

interface Stored {
  readonly id: number
  readonly url: string
  readonly hash: string
  readonly ext: string
  readonly provider: string
  readonly formats: Readonly<Record<string, { readonly url: string }>> | null
}

async function upload(app: TestApp, bytes: string | Buffer<ArrayBuffer>, name: string, path = '/api/upload') {
  const form = new FormData()
  form.append('files', new Blob([bytes]), name)
  const { status, body } = await app.request('POST', path, { body: form, token: TOKEN })
  const [file = body] = Array.isArray(body) ? body : [body]
  return { status, file: file as Stored }
}

const fetchFile = (app: TestApp, url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(app.url + url, { method, headers, redirect: 'manual' })

const picture = (color: string) =>
  sharp({ create: { width: 600, height: 400, channels: 3, background: color } })
    .png()
    .toBuffer()

test.serial('a storage of an extension stores files and sends them, with ranges and HEAD', async t => {
  const { app, kept } = await open(t)
  const { status, file } = await upload(app, '0123456789', 'digits.txt')
  t.is(status, 201)
  t.like(file, { provider: 'folder-storage', url: `/uploads/${file.hash}.txt` })
  t.deepEqual(kept(), [`${file.hash}.txt`])
  const whole = await fetchFile(app, file.url)
  t.is(await whole.text(), '0123456789')
  t.is(whole.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.is(whole.headers.get('x-content-type-options'), 'nosniff')
  t.is(whole.headers.get('accept-ranges'), 'bytes')
  for (const headers of [{}, { range: 'bytes=2-4' }, { range: 'bytes=10-' }]) {
    const head = await fetchFile(app, file.url, headers, 'HEAD')
    t.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '10', ''])
  }
  const cases: [string, number, string, string | null][] = [
    ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=0-999', 206, '0123456789', 'bytes 0-9/10'],
    ['bytes=0-1,4-5', 200, '0123456789', null],
    ['lines=0-1', 200, '0123456789', null],
    ['bytes=x', 200, '0123456789', null],
  ]
  for (const [range, expected, bytes, content] of cases) {
    const part = await fetchFile(app, file.url, { range })
    t.deepEqual(
      [part.status, await part.text(), part.headers.get('content-range')],
      [expected, bytes, content],
      range,
    )
  }
  const beyond = await fetchFile(app, file.url, { range: 'bytes=10-' })
  t.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */10'])
  for (const path of ['/uploads/%ff', '/uploads/%E0%A4%A'])
    t.is((await fetchFile(app, path)).status, 400, path)
  for (const path of [
    '/uploads/nothing_0.txt',
    '/uploads/..%2fproject.yaml',
    '/uploads/.hidden',
    '/uploads/',
  ])
    t.is((await fetchFile(app, path)).status, 404, path)
  t.is((await fetchFile(app, file.url, {}, 'DELETE')).status, 405)
  const page = await upload(app, '<script>alert(1)</script>', 'page.html')
  const active = await fetchFile(app, page.file.url)
  t.is(active.headers.get('content-disposition'), 'attachment')
  t.is(active.headers.get('content-type'), 'application/octet-stream')
  await active.arrayBuffer()
  t.is((await app.request('DELETE', `/api/upload/files/${file.id}`, { token: TOKEN })).status, 200)
  t.is((await fetchFile(app, file.url)).status, 404)
})

test.serial('nothing is lost or left over when the storage fails', async t => {
  const { app, folder, kept } = await open(t)
  const { file } = await upload(app, await picture('red'), 'photo.png')
  const before = kept()
  t.is(before.length, 3, 'the picture and two smaller ones')
  const bytes = () => kept().map(key => readFileSync(join(folder.path, 'kept', key), 'base64'))
  const red = bytes()

  setFaults((method, key) => method === 'put' && key.startsWith('thumbnail_'))
  t.is((await upload(app, await picture('blue'), 'other.png')).status, 500)
  t.deepEqual(kept(), before, 'a failed upload leaves nothing')
  // The picture itself is replaced before its thumbnail fails.
  t.is((await upload(app, await picture('blue'), 'photo.png', `/api/upload?id=${file.id}`)).status, 500)
  t.deepEqual(kept(), before)
  t.deepEqual(bytes(), red, 'the record has its bytes')
  t.regex(app.log().join('\n'), /the storage `folder-storage` failed to put thumbnail_\S+: the disk is full/)
  setFaults(undefined)
  t.is((await upload(app, await picture('blue'), 'photo.png', `/api/upload?id=${file.id}`)).status, 200)
  t.notDeepEqual(bytes(), red)
  t.deepEqual(readdirSync(join(folder.path, '.plinth', 'staging')), [])

  setFaults(method => method === 'get')
  // An error after the headers must not look like a whole file.
  await t.throwsAsync(fetchFile(app, file.url).then(response => response.arrayBuffer()))
  t.is((await fetchFile(app, '/uploads/nothing_0.png')).status, 404, 'the server goes on')

  setFaults(method => method === 'delete')
  t.is((await app.request('DELETE', `/api/upload/files/${file.id}`, { token: TOKEN })).status, 200)
  t.is((await app.request('GET', `/api/upload/files/${file.id}`, { token: TOKEN })).status, 404)
  t.is(app.log().filter(line => line.includes('not today')).length, 3, 'each file that was left over')
})

test.serial(
  'private files are sent to callers who may read them, by a signed address if there is one',
  async t => {
    const { app } = await open(t, { isPrivate: true, more: "url: key => 'https://cdn.test/' + key," })
    const { file } = await upload(app, await picture('red'), 'photo.png')
    t.regex(file.url, /^\/uploads\//)
    const small = String(file.formats?.small?.url)
    const token = { authorization: `Bearer ${TOKEN}` }
    for (const url of [file.url, small]) {
      t.is((await fetchFile(app, url)).status, 404, 'no permission')
      t.is((await fetchFile(app, url, { authorization: 'Bearer wrong' })).status, 401)
      const sent = await fetchFile(app, url, token)
      t.deepEqual([sent.status, sent.headers.get('cache-control')], [200, 'private, no-store'])
      await sent.arrayBuffer()
    }
    const signing = "signedUrl: (key, { expiresIn }) => 'https://cdn.test/' + key + '?for=' + expiresIn,"
    const signed = await open(t, { isPrivate: true, more: signing })
    const other = await upload(signed.app, 'text', 'a.txt')
    t.is((await fetchFile(signed.app, other.file.url)).status, 404)
    const redirect = await fetchFile(signed.app, other.file.url, token)
    t.is(redirect.status, 302)
    t.is(redirect.headers.get('location'), `https://cdn.test/${other.file.hash}.txt?for=60`)
  },
)

test.serial('private files are read-only, too, and a range beyond one has its size', async t => {
  const { app } = await open(t, { isPrivate: true })
  const { file } = await upload(app, '0123456789', 'digits.txt')
  const token = { authorization: `Bearer ${TOKEN}` }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const refused = await fetchFile(app, file.url, token, method)
    t.deepEqual([refused.status, refused.headers.get('allow')], [405, 'HEAD, GET'], method)
  }
  const beyond = await fetchFile(app, file.url, { ...token, range: 'bytes=10-' })
  t.deepEqual([beyond.status, beyond.headers.get('content-range')], [416, 'bytes */10'])
  t.like(await beyond.json(), { error: { status: 416, details: { size: 10 } } })
  const part = await fetchFile(app, file.url, { ...token, range: 'bytes=2-4' })
  t.is(await part.text(), '234')
})

test.serial('bytes that a storage gives after the request has timed out are not kept open', async t => {
  const { app } = await open(t, {
    server: '{ requestTimeout: 1s }',
    more: 'get: key => globalThis.lateFile(),',
  })
  const { file } = await upload(app, '0123456789', 'digits.txt')
  const late = Readable.from(['0123456789'])
  let give = () => {}
  const given = new Promise<Readable>(resolve => {
    give = () => resolve(late)
  })
  Object.assign(globalThis, { lateFile: () => given })
  t.is((await fetchFile(app, file.url)).status, 503)
  give()
  await until('the late stream is closed', () => late.destroyed)
  t.deepEqual(
    app.log().filter(line => line.includes('failed unexpectedly')),
    [],
  )
})

test.serial('a public address of the storage is written to records, if it is one', async t => {
  const { app, kept } = await open(t, {
    more: "url: key => key.includes('bad') ? 'javascript:alert(1)' : 'https://cdn.test/' + key,",
  })
  const { file } = await upload(app, 'text', 'good.txt')
  t.is(file.url, `https://cdn.test/${file.hash}.txt`)
  t.is((await upload(app, 'text', 'bad.txt')).status, 500)
  t.is(kept().length, 1)
})

test.serial('smaller pictures whose address the storage refuses leave nothing behind', async t => {
  const { app, folder } = await open(t, {
    more: "url: key => { if (key.startsWith('small_')) throw new Error('no small ones'); return '/' + key },",
  })
  const pixels = new Uint8Array(await picture('red'))
  t.is((await upload(app, Buffer.from(pixels), 'red.png')).status, 500)
  t.deepEqual(readdirSync(stagingFolder(folder.path)), [])
  const [line] = app.log().filter(text => text.includes('no small ones'))
  t.regex(
    String(line),
    /the storage `folder-storage` failed to give the address of small_red_\w+\.png: no small ones/,
  )
})

test.serial('bytes that a storage gives after its time limit are not kept open', async t => {
  const late = Readable.from(['0123456789'])
  let give = () => {}
  const given = new Promise<Readable>(resolve => {
    give = () => resolve(late)
  })
  const provider = { put: () => {}, get: () => given, stat: () => null, delete: () => {} }
  const storage = openCustomStorage('slow', { open: () => provider }, {})
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const read = t.throwsAsync(storage.read('digits_1.txt'), {
    message: 'the storage `slow` failed to get digits_1.txt: it took longer than 120 s',
  })
  await Promise.resolve()
  mock.timers.tick(120_000)
  await read
  mock.timers.reset()
  give()
  await until('the late stream is closed', () => late.destroyed)
})

test.serial('wrong storages and names are reported at the start', async t => {
  const failure = async (options: Options, edit: (text: string) => string = text => text) => {
    const folder = write(t, options)
    const text = EXTENSION.replace('MORE', options.more ?? '').replace('PRIVATE', 'false')
    folder.write('extensions/storage.mjs', edit(text))
    const error = await t.throwsAsync(createTestApp({ project: folder.path, snapshot: await snapshot() }))
    return error?.message ?? ''
  }
  t.regex(
    await failure({ upload: '{ provider: folder-storge }' }),
    /project\.yaml:2:\d+ no extension registers the storage `folder-storge`: did you mean `folder-storage`/,
  )
  t.regex(await failure({ upload: '{ provider: folder-storage }' }), /providerOptions\.folder is missing/)
  t.regex(
    await failure({}, text => text.replace('async put(', 'async putt(')),
    /the storage `folder-storage` has no method `put`: did you mean `putt`/,
  )
  t.regex(
    await failure({}, text => text.replace('{ open,', '{ opn: open,')),
    /registerStorage\(…\) has no key `opn`: did you mean `open`/,
  )
  t.regex(
    await failure({}, text => text.replace("'folder-storage', {", "'s3', {")),
    /there is a storage `s3` already/,
  )
  t.regex(
    await failure({}, text => text.replace("'folder-storage', {", "'My Storage', {")),
    /`My Storage` is no name of a storage/,
  )
  const folder = write(t, { upload: '{ provider: "no name" }' })
  const compiled = await compileApp(folder.path, {})
  t.false(compiled.ok)
})

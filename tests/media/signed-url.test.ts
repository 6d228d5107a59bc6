import test, { type ExecutionContext } from 'ava'
import { openSignedPaths } from '../../core/media/storage/signed-paths.ts'
import { createTestApp, type TestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { startStrictS3 } from './strict-s3.ts'

// app.media.signedUrl: addresses that code gives to readers without credentials.

const TOKEN = 'a-secret-of-forty-letters-that-cannot-be-guessed'

const project = (upload: unknown) => `name: Files
upload: ${JSON.stringify(upload)}
contentTypes:
  note: { attributes: { text: string, scan: { type: media, allowedTypes: [files] } } }
roles:
  public: { permissions: { note: [find] } }
apiTokens: { all: { type: full-access, secret: ${TOKEN} } }
`

/** Gives readers of a note an address of its private file. */
const SHARING = `import { defineExtension } from 'plinth'

export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/notes/:documentId/scan', async ({ app, args, http }) => {
      const note = await app.documents('note').findOne({ documentId: String(args.documentId), populate: ['scan'] })
      return { url: await app.media.signedUrl(note.scan, { expiresIn: 60 }) }
    }, { auth: false })
  },
})
`

const MEMORY = (more: string) => `import { Readable } from 'node:stream'
import { defineExtension } from 'plinth'
const files = new Map()
export default defineExtension({
  register({ media }) {
    media.registerStorage('memory', {
      private: true,
      open: () => ({
        put: async (key, file) => { files.set(key, Buffer.concat(await file.stream().toArray())) },
        get: (key, range) => files.has(key) ? Readable.from([files.get(key).subarray(range?.start ?? 0, (range?.end ?? 1e9) + 1)]) : null,
        stat: key => files.has(key) ? { size: files.get(key).length } : null,
        delete: key => files.delete(key),
        ${more}
      }),
    })
  },
})
`

async function open(t: ExecutionContext, upload: unknown, files: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project(upload))
  for (const [name, text] of Object.entries({ 'extensions/sharing.ts': SHARING, ...files }))
    folder.write(name, text)
  const server = testServer()
  const database = server ? { database: await createDatabase(t, server) } : { snapshot: await snapshot() }
  const app = await createTestApp({ project: folder.path, listen: true, ...database })
  t.teardown(() => app.close())
  return app
}

async function upload(app: TestApp): Promise<{ url: string; id: number }> {
  const form = new FormData()
  form.append('files', new Blob(['0123456789']), 'scan.txt')
  const { body } = await app.request('POST', '/api/upload', { body: form, token: TOKEN })
  const [file] = body as { url: string; id: number }[]
  if (!file) throw new Error(JSON.stringify(body))
  return file
}

/** The address on the port of the test. */
const here = (app: TestApp, address: string) => address.replace('http://localhost:1337', String(app.url))

const statusOf = async (address: string) => (await fetch(address, { redirect: 'manual' })).status

for (const [name, settings, files] of [
  ['local files', { provider: 'local', providerOptions: { private: true } }, {}],
  [
    'a storage of an extension that signs nothing',
    { provider: 'memory' },
    { 'extensions/memory.mjs': MEMORY('') },
  ],
] as const)
  test(`private ${name}: a signed address works until it expires, for its file alone`, async t => {
    const app = await open(t, settings, files)
    const file = await upload(app)
    t.regex(file.url, /^\/uploads\/scan_[0-9a-f]+\.txt$/)
    t.is(await statusOf(app.url + file.url), 404, 'without credentials')
    const note = await app.app.documents('note').create({ data: { text: 'a', scan: file.id } })
    const { body } = await app.request('GET', `/api/notes/${note.documentId}/scan`)
    const signed = here(app, (body as { url: string }).url)
    const answer = await fetch(signed)
    t.deepEqual([answer.status, await answer.text()], [200, '0123456789'])
    t.is(answer.headers.get('cache-control'), 'private, no-store')
    const part = await fetch(signed, { headers: { range: 'bytes=2-4' } })
    t.deepEqual([part.status, await part.text()], [206, '234'])
    t.is((await fetch(signed, { method: 'HEAD' })).headers.get('content-length'), '10')

    const other = await upload(app)
    const url = new URL(signed)
    const expires = url.searchParams.get('expires')
    const change = (edit: (changed: URL) => unknown) => {
      const changed = new URL(url)
      edit(changed)
      return changed.href
    }
    for (const [what, address] of [
      ['another file', change(each => (each.pathname = other.url))],
      ['a later end', change(each => each.searchParams.set('expires', `${Number(expires) + 1}`))],
      ['an end in another notation', change(each => each.searchParams.set('expires', `0${expires}`))],
      ['no signature', change(each => each.searchParams.delete('signature'))],
      ['an empty signature', change(each => each.searchParams.set('signature', ''))],
      ['two signatures', change(each => each.searchParams.append('signature', 'x'))],
      ['a list', signed.replace('expires=', 'expires[]=')],
      ['one letter less', signed.slice(0, -1)],
    ] as const)
      t.is(await statusOf(address), 404, what)
    const short = here(app, await app.app.media.signedUrl(file.url, { expiresIn: 1 }))
    await new Promise(resolve => setTimeout(resolve, 1_100))
    t.is(await statusOf(short), 404, 'expired')
  })

test('a public file has its public address', async t => {
  const app = await open(t, { provider: 'local' })
  const file = await upload(app)
  const address = await app.app.media.signedUrl(file)
  t.is(address, `http://localhost:1337${file.url}`)
  t.is(await statusOf(here(app, address)), 200)
})

test('a storage of an extension that signs gives its own address', async t => {
  const signing = "signedUrl: (key, { expiresIn }) => 'https://cdn.test/' + key + '?for=' + expiresIn,"
  const app = await open(t, { provider: 'memory' }, { 'extensions/memory.mjs': MEMORY(signing) })
  const { url } = await upload(app)
  const key = url.slice('/uploads/'.length)
  t.is(await app.app.media.signedUrl(url, { expiresIn: 9 }), `https://cdn.test/${key}?for=9`)
  t.is(await app.app.media.signedUrl({ url }), `https://cdn.test/${key}?for=300`)
})

for (const isPrivate of [true, false])
  test(`S3: a ${isPrivate ? 'private' : 'public'} file has an address that the store accepts`, async t => {
    const keys = { accessKeyId: 'AKID', secretAccessKey: 'secret' }
    const store = await startStrictS3({ ...keys, region: 'auto', style: 'path', bucket: 'files' })
    t.teardown(store.close)
    const endpoint = `http://127.0.0.1:${store.port}`
    const providerOptions = {
      ...{ ...keys, endpoint, region: 'auto', bucket: 'files', private: isPrivate },
      publicUrl: 'https://cdn.test',
    }
    const app = await open(t, { provider: 's3', providerOptions })
    const file = await upload(app)
    const address = await app.app.media.signedUrl(file, { expiresIn: 60 })
    t.true(address.startsWith(`${endpoint}/files/scan_`))
    t.is(await (await fetch(address)).text(), '0123456789')
    t.is(await statusOf(address.replace('Expires=60', 'Expires=61')), 403)
  })

test('an address outlives a rotation of the secret, and no other secret makes one', t => {
  const bytes = (letter: string) => new Uint8Array(32).fill(letter.charCodeAt(0))
  const query = (path: string) => Object.fromEntries(new URL(path, 'http://a').searchParams)
  const before = openSignedPaths([bytes('a')])
  const path = before.sign('a_0.txt', 60)
  t.true(before.isSigned('a_0.txt', query(path)))
  t.true(openSignedPaths([bytes('b'), bytes('a')]).isSigned('a_0.txt', query(path)))
  t.false(openSignedPaths([bytes('b')]).isSigned('a_0.txt', query(path)))
})

test('mistakes of code are errors that say what is expected', async t => {
  const app = await open(t, { provider: 'local' })
  const { media } = app.app
  for (const [file, options, message] of [
    [{}, {}, /takes a file with its `url`, or the url, found none/],
    [null, {}, /takes a file with its `url`, or the url, found none/],
    [5, {}, /found a number/],
    ['', {}, /found ``/],
    ['/uploads/', {}, /found `\/uploads\/`/],
    ['../../etc/.passwd', {}, /found `\.\.\/\.\.\/etc\/\.passwd`/],
    ['/uploads/a%2fb.txt', {}, /found `\/uploads\/a%2fb\.txt`/],
    ['a.txt', { expires: 5 }, /no option `expires`: did you mean `expiresIn`/],
    ['a.txt', { expiresIn: 0 }, /a number of seconds from 1 to 604800, found 0/],
    ['a.txt', { expiresIn: '60' }, /found 60/],
    ['a.txt', { expiresIn: 604_801 }, /found 604801/],
    ['a.txt', { expiresIn: Number.NaN }, /found NaN/],
    ['a.txt', null, /the second argument .* is an object with `expiresIn`/],
  ] as const)
    await t.throwsAsync(media.signedUrl(file as never, options as never), { message }, String(file))
})

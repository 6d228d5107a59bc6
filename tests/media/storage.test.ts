import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import test from 'ava'
import S3rver from 's3rver'
import { storageKeys } from '../../core/media/file-transaction.ts'
import { readForm } from '../../core/media/read-form.ts'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import { openLocalStorage, openStorage, removeUnfinished } from '../../core/media/storage/open-storage.ts'
import { stage } from '../../core/media/storage/staging.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { isSigned } from './signature.ts'

test('local storage keeps complete files only, under their keys', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('one.txt', 'one')
  folder.write('two.txt', 'two')
  const files = openLocalStorage(folder.path)
  const store = (name: string) =>
    files.store('a_0123456789.txt', { path: join(folder.path, name), mime: 'text/plain' })
  t.false(await files.has('a_0123456789.txt'))
  await store('one.txt')
  await store('two.txt')
  t.true(await files.has('a_0123456789.txt'))
  t.is(files.url('a_0123456789.txt'), '/uploads/a_0123456789.txt')
  const uploads = join(folder.path, '.plinth', 'uploads')
  t.is(readFileSync(join(uploads, 'a_0123456789.txt'), 'utf8'), 'two')
  await t.throwsAsync(store('nothing.txt'))
  t.deepEqual(readdirSync(uploads), ['a_0123456789.txt'], 'nothing half of a file')
  await files.remove('a_0123456789.txt')
  await files.remove('a_0123456789.txt')
  t.deepEqual(readdirSync(uploads), [])
})

test('what a killed process left unfinished is removed a day later, and no file of the storage', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const names = [
    'a_0123456789.txt',
    'b.part',
    '.gitkeep',
    `.${'0a'.repeat(12)}.part`,
    `.${'1b'.repeat(12)}.part`,
  ]
  const places = [...names.map(name => `uploads/${name}`), 'staging/old', 'staging/new']
  const isRecent = (place: string) => place.includes('1b') || place.endsWith('new')
  for (const place of places) {
    const path = join('.plinth', place)
    folder.write(path, 'bytes')
    const at = Date.now() / 1_000 - (isRecent(place) ? 3_600 : 90_000)
    utimesSync(join(folder.path, path), at, at)
  }
  await removeUnfinished(folder.path)
  const left = readdirSync(join(folder.path, '.plinth'), { recursive: true, withFileTypes: true })
  t.deepEqual(left.flatMap(each => (each.isFile() ? [each.name] : [])).toSorted(), [
    names[4],
    names[2],
    names[0],
    names[1],
    'new',
  ])
})

test('an error in the rules of a form rejects its promise and does not end the process', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const part = '--x\r\nContent-Disposition: form-data; name="a"; filename="a.txt"\r\n\r\nbytes\r\n'
  const source = {
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    stream: () => Readable.from([`${part}${part}--x--\r\n`]),
  }
  const accepts = () => {
    throw new TypeError('unexpected')
  }
  const rules = { accepts, fields: 10, fieldBytes: 100 }
  const reading = readForm(source, { folder: folder.path, sizeLimit: 1_000, rules })
  await t.throwsAsync(reading, { instanceOf: TypeError, message: 'unexpected' })
})

test('the fields of a form are limited together', async t => {
  const part = (index: number) =>
    `--x\r\nContent-Disposition: form-data; name="f${index}"\r\n\r\n${'a'.repeat(20)}\r\n`
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const rules = { accepts: () => false, fields: 10, fieldBytes: 100 }
  const read = (count: number) => {
    const parts = [...Array.from({ length: count }, (_, index) => part(index)), '--x--\r\n']
    const source = { headers, stream: () => Readable.from(parts.map(text => Buffer.from(text))) }
    return readForm(source, { folder: '/nowhere', sizeLimit: 0, rules })
  }
  t.is((await read(5)).fields.size, 5)
  await t.throwsAsync(read(6), { message: 'The fields of a form may have at most 100 bytes together' })
})

test('of the bytes of a staged file, none are kept in memory', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  const bytes = Readable.from([Buffer.alloc(100_000, 'text ')])
  const staged = await stage(bytes, { folder: folder.path, sizeLimit: 100_000 })
  t.true(JSON.stringify(staged).length < 500)
})

test('a form is read to its end when its files cannot be written, and the error is that of the disk', async t => {
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('file', 'no folder')
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  const part = (name: string) =>
    `--x\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n${'a'.repeat(100_000)}\r\n`
  const rules = { accepts: () => true, fields: 10, fieldBytes: 100 }
  for (const [place, code] of [
    [join(folder.path, 'file'), 'EEXIST'],
    [join(folder.path, 'file', 'below'), 'ENOTDIR'],
    // A folder in which no file can be made.
    ['/proc/self/fd', 'ENOENT'],
  ] as const) {
    const stream = Readable.from([part('a'), part('b'), '--x--\r\n'].map(text => Buffer.from(text)))
    const form = readForm({ headers, stream: () => stream }, { folder: place, sizeLimit: 1_000_000, rules })
    await t.throwsAsync(form, { code }, place)
    t.true(stream.readableEnded, place)
  }
})

test('no key leads out of the storage folder', async t => {
  const files = openLocalStorage('/nowhere')
  for (const key of ['../a', 'a/b', '..', '.', '', '.hidden', 'a\0b', 'a\\b', 'x'.repeat(256)]) {
    await t.throwsAsync(
      async () => files.store(key, { path: '/dev/null', mime: 'text/plain' }),
      { message: /no key/ },
      key,
    )
    await t.throwsAsync(async () => files.remove(key), { message: /no key/ }, key)
  }
})

test('removing an imported record skips names that are invalid storage keys', t => {
  const record = {
    id: 1,
    documentId: 'a',
    hash: '../../etc/passwd',
    ext: '',
    formatKeys: ['../a.png', 'b.png'],
  }
  t.deepEqual(storageKeys(record), ['b.png'])
  t.deepEqual(storageKeys({ ...record, hash: 'été', ext: '.v1 final', formatKeys: [] }), [])
  t.deepEqual(storageKeys({ ...record, hash: 'a_0123456789', ext: '.txt', formatKeys: [] }), [
    'a_0123456789.txt',
  ])
})

/** An S3 server that knows the owner of one bucket by id and does not verify signatures. */
async function startS3(): Promise<{ readonly endpoint: string; readonly close: () => Promise<void> }> {
  const folder = temporaryFolder()
  mkdirSync(join(folder.path, 'pictures'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: 'pictures', configs: [] }],
  })
  const { port } = await server.run()
  return {
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      await server.close()
      folder.remove()
    },
  }
}

const open = (options: Readonly<Record<string, string | boolean>>): FileStorage =>
  openStorage(
    {
      provider: 's3',
      sizeLimit: 1,
      pixelLimit: 50_000_000,
      allowedTypes: [],
      providerOptions: { bucket: 'pictures', accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER', ...options },
    },
    '/nowhere',
  )

test('S3 storage keeps files with their types, and HTML as a download', async t => {
  const { endpoint, close } = await startS3()
  t.teardown(close)
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('photo', Buffer.alloc(3_000_000, 7))
  folder.write('page', '<script>alert(1)</script>')
  const files = open({ endpoint })
  const key = 'photo_0123456789.png'
  t.false(await files.has(key))
  await files.store(key, { path: join(folder.path, 'photo'), mime: 'image/png' })
  await files.store('page_0123456789.html', { path: join(folder.path, 'page'), mime: 'text/html' })
  t.true(await files.has(key))
  t.is(files.url(key), `${endpoint}/pictures/${key}`)
  const photo = await fetch(files.url(key))
  t.is(photo.headers.get('content-type'), 'image/png')
  t.is(photo.headers.get('content-disposition'), null)
  t.deepEqual(Buffer.from(await photo.arrayBuffer()), Buffer.alloc(3_000_000, 7))
  const kept = await files.read(key)
  t.is(Buffer.concat((await kept?.toArray()) ?? []).length, 3_000_000)
  t.is(await files.read('nothing_0.png'), null)
  const page = await fetch(files.url('page_0123456789.html'))
  t.is(page.headers.get('content-disposition'), 'attachment')
  await page.arrayBuffer()
  await files.remove(key)
  await files.remove(key)
  t.false(await files.has(key))
})

test('an S3 error is not reported as a missing file', async t => {
  const { endpoint, close } = await startS3()
  t.teardown(close)
  const file = { path: import.meta.filename, mime: 'text/plain' }
  await t.throwsAsync(open({ endpoint, accessKeyId: 'unknown' }).store('a_0.txt', file), {
    message: /answered 403/,
  })
  await t.throwsAsync(open({ endpoint, bucket: 'elsewhere' }).store('a_0.txt', file), {
    message: /no bucket elsewhere/,
  })
})

test('requests to a bucket are signed with its key', async t => {
  const store = createServer((request, response) => {
    response.statusCode = isSigned(request, 'right') ? 200 : 403
    request.resume().on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(store, 'listening')
  t.teardown(() => store.close())
  const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}`
  const file = { path: import.meta.filename, mime: 'text/html' }
  await t.notThrowsAsync(open({ endpoint, secretAccessKey: 'right' }).store('a_0.html', file))
  await t.throwsAsync(open({ endpoint, secretAccessKey: 'wrong' }).store('a_0.html', file), {
    message: 'The S3 store answered 403 to PUT of a_0.html',
  })
})

test('files in S3 have URLs at the public address', t => {
  t.is(open({ publicUrl: 'https://cdn.example.org/' }).url('a_0.png'), 'https://cdn.example.org/a_0.png')
  t.is(open({ region: 'eu-west-1' }).url('a_0.png'), 'https://pictures.s3.eu-west-1.amazonaws.com/a_0.png')
})

test('private files of S3 have signed addresses that expire', async t => {
  const { endpoint, close } = await startS3()
  t.teardown(close)
  const files = open({ endpoint, private: true })
  const key = 'a_0123456789.txt'
  await files.store(key, { path: import.meta.filename, mime: 'text/plain' })
  t.is(files.url(key), `/uploads/${key}`)
  t.true(files.served?.isPrivate)
  const address = new URL((await files.signedUrl?.(key, 60)) ?? '')
  t.is(address.origin + address.pathname, `${endpoint}/pictures/${key}`)
  t.is(address.searchParams.get('X-Amz-Expires'), '60')
  t.regex(address.searchParams.get('X-Amz-Signature') ?? '', /^[0-9a-f]{64}$/)
  t.is(await (await fetch(address)).text(), readFileSync(import.meta.filename, 'utf8'))
  await t.throwsAsync(async () => files.signedUrl?.('../other', 60), { message: /no key/ })
})

/** The demands of R2 and MinIO: paths with the bucket, a known length, no trailers, a hash or UNSIGNED-PAYLOAD. */
test('requests keep to what MinIO and R2 accept, and are repeated when a store is busy', async t => {
  const seen: string[] = []
  let isBusy = true
  const store = createServer(async (request, response) => {
    const { headers, method, url } = request
    let length = 0
    for await (const part of request) length += part.length
    const scope = /Credential=[^/]+\/\d{8}\/([^,]+),/.exec(headers.authorization ?? '')?.[1]
    const hasTrailer = Object.keys(headers).some(name => /trailer|checksum|sdk/.test(name))
    const isChunked = headers['transfer-encoding'] !== undefined || headers['content-encoding'] !== undefined
    const isSized = method !== 'PUT' || (headers['content-length'] === String(length) && length > 0)
    const isValid = isSized && !isChunked && !hasTrailer && headers['x-amz-content-sha256'] !== undefined
    const status = isBusy ? 503 : isValid ? 200 : 411
    isBusy = false
    seen.push(`${method} ${url} ${scope} ${status}`)
    response
      .writeHead(status, { 'content-type': 'application/xml' })
      .end('<Error><Code>SlowDown</Code></Error>')
  }).listen(0, '127.0.0.1')
  await once(store, 'listening')
  t.teardown(() => store.close())
  const endpoint = `http://127.0.0.1:${(store.address() as AddressInfo).port}/`
  const files = open({ endpoint, region: 'auto' })
  await files.store('a_0.txt', { path: import.meta.filename, mime: 'text/plain' })
  t.true(await files.has('a_0.txt'))
  await files.remove('a_0.txt')
  t.deepEqual(seen, [
    'PUT /pictures/a_0.txt auto/s3/aws4_request 503',
    'PUT /pictures/a_0.txt auto/s3/aws4_request 200',
    'HEAD /pictures/a_0.txt auto/s3/aws4_request 200',
    'DELETE /pictures/a_0.txt auto/s3/aws4_request 200',
  ])
})

import dns from 'node:dns'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { mock } from 'node:test'
import test, { type ExecutionContext } from 'ava'
import type { FileStorage } from '../../core/media/storage/file-storage.ts'
import { openStorage } from '../../core/media/storage/open-storage.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { type Dialect, type StrictS3, startStrictS3 } from './strict-s3.ts'

const KEYS = { accessKeyId: 'AKID', secretAccessKey: 's/cr+t=' }
const DIALECT: Dialect = { ...KEYS, region: 'auto', style: 'path', bucket: 'pictures' }

/** A bucket has a name only with a resolver, which loopback does not have. */
test.before(() => {
  const { lookup } = dns
  mock.method(dns, 'lookup', (name: string, ...rest: unknown[]) =>
    Reflect.apply(lookup, dns, [name.endsWith('.s3.test') ? '127.0.0.1' : name, ...rest]),
  )
})

test.after.always(() => mock.reset())

interface Opened {
  readonly store: StrictS3
  readonly files: FileStorage
}

async function open(
  t: ExecutionContext,
  dialect: Partial<Dialect> = {},
  options: Readonly<Record<string, string | boolean>> = {},
): Promise<Opened> {
  const store = await startStrictS3({ ...DIALECT, ...dialect })
  t.teardown(store.close)
  const provider = {
    ...{ provider: 's3', sizeLimit: 1, pixelLimit: 1, allowedTypes: [] },
    providerOptions: {
      ...{ ...KEYS, bucket: 'pictures', region: 'auto', endpoint: `http://127.0.0.1:${store.port}` },
      ...options,
    },
  }
  return { store, files: openStorage(provider, '/nowhere') }
}

function fileOf(t: ExecutionContext, text: string): { path: string; mime: string } {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('file', text)
  return { path: join(folder.path, 'file'), mime: 'text/plain' }
}

const textOf = async (files: FileStorage, key: string) =>
  Buffer.concat((await (await files.read(key))?.toArray()) ?? []).toString()

/** Names a storage key may have; an imported record may have any of them. */
const SPECIAL = [
  'a_0123456789.txt',
  '-a.b-c_d.TXT',
  '_.._',
  'a..txt',
  `${'x'.repeat(250)}.png`,
  '0',
  'a.',
  '-',
]

for (const [name, dialect, options] of [
  ['R2', {}, {}],
  ['MinIO', { region: 'us-east-1' }, { region: 'us-east-1' }],
  ['a bucket with Object Lock', { needsMd5: true }, {}],
  ['a store that answers 404 to a DELETE of nothing', { deletesAre404: true }, {}],
] as const)
  test(`${name} accepts every signed request, whatever the key`, async t => {
    const { store, files } = await open(t, dialect, options)
    for (const key of SPECIAL) {
      t.false(await files.has(key))
      await files.store(key, fileOf(t, `bytes of ${key}`))
      t.true(await files.has(key))
      t.is(await textOf(files, key), `bytes of ${key}`)
      const address = (await files.signedUrl?.(key, 60)) ?? ''
      t.is(await (await fetch(address)).text(), `bytes of ${key}`)
      await files.remove(key)
      await files.remove(key)
      t.is(await files.read(key), null)
    }
    t.deepEqual(
      store.seen.filter(line => !/ (?:200|204|404)$/.test(line)),
      [],
    )
  })

test('a store with the bucket in the host name gets its requests there', async t => {
  const { store } = await open(t, { style: 'virtual' })
  const { files } = await open(t, {}, { endpoint: `http://s3.test:${store.port}/`, forcePathStyle: false })
  await files.store('a_0.txt', fileOf(t, 'bytes'))
  t.is(await textOf(files, 'a_0.txt'), 'bytes')
  t.is(files.url('a_0.txt'), `http://pictures.s3.test:${store.port}/a_0.txt`)
  t.is(await (await fetch((await files.signedUrl?.('a_0.txt', 60)) ?? '')).text(), 'bytes')
  t.deepEqual([...store.files.keys()], ['a_0.txt'])
})

test('Amazon has the bucket in the host name, and in the path if its name has dots', async t => {
  const url = async (options: Readonly<Record<string, string | boolean>>) =>
    (await open(t, {}, { endpoint: '', region: 'eu-west-1', ...options })).files.url('a')
  t.is(await url({}), 'https://pictures.s3.eu-west-1.amazonaws.com/a')
  t.is(await url({ bucket: 'my.pictures' }), 'https://s3.eu-west-1.amazonaws.com/my.pictures/a')
  t.is(await url({ region: 'cn-north-1' }), 'https://pictures.s3.cn-north-1.amazonaws.com.cn/a')
  t.is(await url({ forcePathStyle: true }), 'https://s3.eu-west-1.amazonaws.com/pictures/a')
})

for (const [fault, disturb] of [
  ['503 SlowDown', response => response.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')],
  ['500 InternalError', response => response.writeHead(500).end('<Error><Code>InternalError</Code></Error>')],
  ['a 502 page of a proxy', response => response.writeHead(502).end('<html>Bad gateway</html>')],
  ['429 with Retry-After', response => response.writeHead(429, { 'Retry-After': '0.1' }).end()],
  ['a broken connection', response => response.destroy()],
  ['a connection that breaks within the answer', response => response.socket?.end('HTTP/1.1 20')],
] as readonly (readonly [string, (response: ServerResponse) => unknown])[])
  test(`requests are repeated after ${fault}`, async t => {
    let count = 0
    const { store, files } = await open(t, {
      disturb(_request, response) {
        if (count++ % 2 === 1) return undefined
        disturb(response)
        return true
      },
    })
    await files.store('a_0.txt', fileOf(t, 'bytes'))
    t.true(await files.has('a_0.txt'))
    t.is(await textOf(files, 'a_0.txt'), 'bytes')
    await files.remove('a_0.txt')
    t.is(count, 8)
    t.is(store.files.size, 0)
  })

test('a store that stays busy is an error with its reason after four attempts', async t => {
  let count = 0
  const { files } = await open(t, {
    disturb(_request, response) {
      count++
      response
        .writeHead(503)
        .end('<Error><Code>SlowDown</Code><Message>Please reduce &amp; wait</Message></Error>')
      return true
    },
  })
  await t.throwsAsync(files.has('a_0.txt'), { message: /answered 503 to HEAD of a_0\.txt/ })
  await t.throwsAsync(files.remove('a_0.txt'), {
    message: 'The S3 store answered 503 SlowDown to DELETE of a_0.txt: Please reduce & wait',
  })
  t.is(count, 8)
})

test('a store that is not there is an error that says so', async t => {
  const { store, files } = await open(t)
  store.close()
  await t.throwsAsync(files.has('a_0.txt'), { message: /did not answer HEAD of a_0\.txt: .*ECONNREFUSED/ })
})

for (const minutes of [-600, -20, 20, 600])
  test(`a clock that is ${minutes} minutes off is corrected by the store's`, async t => {
    const { store, files } = await open(t, { ahead: minutes * 60_000 })
    await files.store('a_0.txt', fileOf(t, 'bytes'))
    t.is(await (await fetch((await files.signedUrl?.('a_0.txt', 60)) ?? '')).text(), 'bytes')
    await files.remove('a_0.txt')
    t.deepEqual(store.seen, [
      'PUT /pictures/a_0.txt 403',
      'PUT /pictures/a_0.txt 200',
      'GET /pictures/a_0.txt 200',
      'DELETE /pictures/a_0.txt 204',
    ])
  })

for (const [what, dialect, options, message] of [
  [
    'an unknown key',
    {},
    { accessKeyId: 'other' },
    /answered 403 InvalidAccessKeyId to PUT of a: The access key/,
  ],
  [
    'a wrong secret',
    {},
    { secretAccessKey: 'x' },
    /403 SignatureDoesNotMatch to PUT of a: .*does not match <yours>/,
  ],
  ['another region', {}, { region: 'eu-west-1' }, /400 AuthorizationHeaderMalformed .*expecting 'auto'/],
  ['a missing bucket', {}, { bucket: 'elsewhere' }, /The S3 store has no bucket elsewhere/],
  [
    'a bucket of another region',
    {
      disturb: (_request: unknown, response: ServerResponse) => {
        response
          .writeHead(301, { Location: 'http://127.0.0.1:1/', 'x-amz-bucket-region': 'eu-north-1' })
          .end()
        return true as const
      },
    },
    {},
    /answered 301 to PUT of a: the bucket is in the region eu-north-1/,
  ],
] as const)
  test(`${what} is an error at once, with the reason that the store gives`, async t => {
    const { store, files } = await open(t, dialect, options)
    await t.throwsAsync(files.store('a', fileOf(t, 'bytes')), { message })
    t.is(store.seen.length, 1)
    t.is(store.files.size, 0)
  })

test('a missing bucket is no missing file', async t => {
  const { files } = await open(t, {}, { bucket: 'elsewhere' })
  await t.throwsAsync(files.read('a'), { message: /no bucket elsewhere/ })
  await t.throwsAsync(files.remove('a'), { message: /no bucket elsewhere/ })
})

test('an error body of megabytes is read in part', async t => {
  const { files } = await open(t, {
    disturb(_request, response) {
      response.writeHead(400)
      response.end(`<Error><Code>Odd</Code>${'<Message>'.repeat(1_000_000)}`)
      return true
    },
  })
  await t.throwsAsync(files.remove('a'), { message: 'The S3 store answered 400 Odd to DELETE of a' })
})

for (const [what, message, answer] of [
  ['is none', 'no complete list of the bucket pictures', ['<html>hello</html>']],
  ['is cut', 'no complete list of the bucket pictures', ['<ListBucketResult><Contents><Key>a</Key>']],
  ['has no end', 'a page of a list that has no end', null],
  [
    'repeats itself',
    'lists the same page again and again',
    ['<ListBucketResult><NextContinuationToken>x</NextContinuationToken></ListBucketResult>'],
  ],
] as const)
  test(`a list of files that ${what} is an error`, async t => {
    const { files } = await open(t, {
      disturb(_request, response) {
        response.writeHead(200)
        if (answer) response.end(answer[0])
        else writeForever(response)
        return true
      },
    })
    const list = async () => {
      for await (const { key } of files.list?.() ?? []) t.log(key)
    }
    const error = await t.throwsAsync(list)
    t.true(error?.message.includes(message), error?.message)
  })

test('a list that is not found is an error', async t => {
  const { files } = await open(t, {
    disturb(_request, response) {
      response.writeHead(404).end('<html>Not found</html>')
      return true
    },
  })
  const list = files.list?.()[Symbol.asyncIterator]()
  await t.throwsAsync(async () => list?.next(), { message: 'The S3 store has no bucket pictures' })
})

function writeForever(response: ServerResponse): void {
  const part = Buffer.alloc(65_536, ' ')
  const more = () => {
    while (response.write(part));
    response.once('drain', more)
  }
  more()
}

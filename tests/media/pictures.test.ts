import { readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { crc32, deflateSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import sharp from 'sharp'
import { WriteScope } from '../../core/base/request-context.ts'
import { withWrites } from '../../core/database/request-scope.ts'
import { RequestFault } from '../../core/faults/fault.ts'
import { pictureSize } from '../../core/media/picture-size.ts'
import { checkUploads, prepareFile, type Upload } from '../../core/media/prepare-file.ts'
import { openLocalStorage } from '../../core/media/storage/open-storage.ts'
import { stage } from '../../core/media/storage/staging.ts'
import { temporaryFolder } from '../harness/folder.ts'

// docs/uploads.md#pictures.

const PIXELS = 50_000_000

function picturesOf(t: ExecutionContext) {
  const { path, remove } = temporaryFolder()
  t.teardown(remove)
  const files = openLocalStorage(path)
  const upload = async (name: string, bytes: Buffer): Promise<Upload> => {
    const staged = await stage(Readable.from([bytes]), { folder: path, sizeLimit: 1e9 })
    return { file: { field: 'files', filename: name, staged }, info: {} }
  }
  const prepare = async (name: string, bytes: Buffer, pixelLimit = PIXELS) => {
    const uploaded = await upload(name, bytes)
    checkUploads([uploaded], { kinds: [], pixelLimit })
    return (await prepareFile(uploaded, { files, folder: path, pixelLimit })).record
  }
  return { folder: path, prepare }
}

const picture = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#123456' } })

/** `1200x800 large:1000x667 …`; `-` without size. */
function describe({ dimensions, formats }: Awaited<ReturnType<ReturnType<typeof picturesOf>['prepare']>>) {
  const sizes = Object.entries(formats ?? {}).map(([size, { width, height }]) => `${size}:${width}x${height}`)
  return [dimensions ? `${dimensions.width}x${dimensions.height}` : '-', ...sizes].join(' ')
}

const NOISE = { type: 'gaussian', mean: 128, sigma: 60 } as const

const FORMATS = 'thumbnail:234x156 small:500x333 medium:750x500 large:1000x667'

test('an AVIF has its size and smaller pictures, and the pixel limit applies to it', async t => {
  const { prepare } = picturesOf(t)
  const bytes = await picture(1200, 800).avif({ effort: 0 }).toBuffer()
  t.is(describe(await prepare('a.avif', bytes)), `1200x800 ${FORMATS}`)
  const pixels = 1200 * 800
  t.is(describe(await prepare('a.avif', bytes, 3 * pixels)), `1200x800 ${FORMATS}`)
  t.is(
    describe(await prepare('a.avif', bytes, 3 * pixels - 1)),
    '1200x800',
    'decoding takes three times the memory',
  )
  const bomb = Buffer.from(bytes)
  const at = bomb.indexOf('ispe') + 8
  bomb.writeUInt32BE(30_000, at)
  bomb.writeUInt32BE(30_000, at + 4)
  const error = await t.throwsAsync(prepare('bomb.avif', bomb), { instanceOf: RequestFault })
  t.is(error?.message, `bomb.avif has 30000 × 30000 pixels, and upload.pixelLimit allows ${PIXELS} together`)
  for (let length = 0; length < 400; length += 1)
    t.notThrows(() => pictureSize(bytes.subarray(0, length), 'image/avif'))
})

test('a turned AVIF has the size that browsers show', t => {
  const box = (type: string, ...content: readonly Buffer[]): Buffer => {
    const body = Buffer.concat([Buffer.from(`0000${type}`, 'latin1'), ...content])
    body.writeUInt32BE(body.length)
    return body
  }
  const size = Buffer.alloc(12)
  size.writeUInt32BE(300, 4)
  size.writeUInt32BE(200, 8)
  const avif = (...properties: readonly Buffer[]) =>
    box('meta', Buffer.alloc(4), box('iprp', box('ipco', box('ispe', size), ...properties)))
  t.deepEqual(pictureSize(avif(), 'image/avif'), { width: 300, height: 200 })
  for (const [angle, width] of [300, 200, 300, 200].entries())
    t.is(pictureSize(avif(box('irot', Buffer.from([angle]))), 'image/avif')?.width, width, `${angle}`)
})

/** A JPEG with so many bytes of metadata more, in segments as long as they can be, between its EXIF data and its tables. */
function withMetadata(jpeg: Buffer, bytes: number): Buffer {
  const segments: Buffer[] = []
  for (let left = bytes; left > 0; left -= 65_533) {
    const segment = Buffer.alloc(Math.min(left, 65_533) + 4)
    segment.writeUInt32BE(0xffe2_0000 + segment.length - 2)
    segments.push(segment)
  }
  const tables = jpeg.indexOf(Buffer.from([0xff, 0xdb, 0, 67, 0]))
  return Buffer.concat([jpeg.subarray(0, tables), ...segments, jpeg.subarray(tables)])
}

test('a JPEG with long metadata has its size and smaller pictures, and the pixel limit applies to it', async t => {
  const { prepare } = picturesOf(t)
  const jpeg = await picture(1200, 800).jpeg().toBuffer()
  for (const length of [10, 262_100, 600_000, 5_000_000])
    t.is(describe(await prepare('a.jpg', withMetadata(jpeg, length))), `1200x800 ${FORMATS}`, `${length}`)
  t.is(describe(await prepare('cut.jpg', withMetadata(jpeg, 600_000).subarray(0, 500_000))), '-')
  const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  const bomb = Buffer.from(jpeg)
  bomb.writeUInt32BE(0xffff_ffff, frame + 5)
  await t.throwsAsync(prepare('bomb.jpg', withMetadata(bomb, 600_000)), {
    message: /^bomb\.jpg has 65535 × 65535 pixels/,
  })
})

test('a JPEG that is turned by its EXIF data has the size that browsers show, as its smaller pictures do', async t => {
  const { prepare } = picturesOf(t)
  const turned = (width: number, height: number, orientation: number) =>
    picture(width, height).withMetadata({ orientation }).jpeg().toBuffer()
  const upright = 'thumbnail:104x156 small:333x500 medium:500x750 large:667x1000'
  for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8])
    t.is(
      describe(await prepare('a.jpg', await turned(1200, 800, orientation))),
      orientation < 5 ? `1200x800 ${FORMATS}` : `800x1200 ${upright}`,
      `orientation ${orientation}`,
    )
  t.is(describe(await prepare('a.jpg', await turned(150, 240, 6))), '240x150', 'it fits: nothing is enlarged')
  t.is(describe(await prepare('a.jpg', await turned(240, 120, 6))), '120x240 thumbnail:78x156')
  const long = withMetadata(await turned(240, 120, 8), 600_000)
  t.is(describe(await prepare('a.jpg', long)), '120x240 thumbnail:78x156')
})

test('a picture that is a line has no smaller pictures, so that its rows keep no other upload waiting', async t => {
  const { prepare } = picturesOf(t)
  t.is(describe(await prepare('a.png', await picture(2, 20_001).png().toBuffer())), '2x20001')
  t.is(describe(await prepare('a.png', await picture(20_001, 2).png().toBuffer())), '20001x2')
  t.regex(describe(await prepare('a.png', await picture(2, 20_000).png().toBuffer())), / large:1x1000$/)
})

test('smaller pictures have the sizes that sharp gives the whole one', async t => {
  const { prepare } = picturesOf(t)
  for (const [width, height] of [
    [1000, 1001],
    [1001, 999],
    [1777, 23],
    [31, 2111],
    [2000, 1001],
    [740, 13],
    [501, 750],
  ] as const) {
    const bytes = await picture(width, height).png().toBuffer()
    const { formats } = await prepare('a.png', bytes)
    for (const [size, format] of Object.entries(formats ?? {})) {
      const box = { thumbnail: [245, 156], small: [500, 500], medium: [750, 750], large: [1000, 1000] }[size]
      const resized = sharp(bytes).resize({ width: box?.[0], height: box?.[1], fit: 'inside' })
      const { info } = await resized.toBuffer({ resolveWithObject: true })
      t.like(format, { width: info.width, height: info.height }, `${width}x${height} ${size}`)
    }
  }
})

/** A progressive JPEG with so many more scans, each of them without a change. */
async function withScans(count: number): Promise<Buffer> {
  const jpeg = await picture(800, 600).jpeg({ progressive: true, chromaSubsampling: '4:4:4' }).toBuffer()
  const table = Buffer.from([0xff, 0xc4, 0, 20, 0x10, 1, ...Buffer.alloc(15), 0xe0])
  // One run of blocks without a coefficient, which is longer than the picture.
  const scan = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 1, 63, 0, 0x35, 0x4b])
  const end = jpeg.length - 2
  return Buffer.concat([jpeg.subarray(0, end), table, ...Array(count).fill(scan), jpeg.subarray(end)])
}

test('a JPEG with more scans than an encoder makes has no smaller pictures', async t => {
  const { prepare } = picturesOf(t)
  const few = 'thumbnail:208x156 small:500x375 medium:750x563'
  t.is(describe(await prepare('a.jpg', await withScans(50))), `800x600 ${few}`)
  const many = await withScans(150)
  t.is(describe(await prepare('a.jpg', many)), '800x600')
  const end = many.length - 2
  const hidden = Buffer.concat([
    many.subarray(0, 2),
    Buffer.from([0xff, 0xe5, 0, 4, 0xff, 0xd9]),
    many.subarray(2),
  ])
  t.is(
    describe(await prepare('a.jpg', hidden)),
    '800x600',
    'an end of the picture within metadata ends nothing',
  )
  const behind = Buffer.concat([await withScans(10), many.subarray(2, end)])
  t.is(describe(await prepare('a.jpg', behind)), `800x600 ${few}`, 'nothing behind the picture counts')
})

/** A PNG with such chunks before its pixels. */
async function withChunks(...chunks: readonly (readonly [type: string, content: Buffer])[]): Promise<Buffer> {
  const png = await picture(800, 600).png().toBuffer()
  const at = png.indexOf('IDAT') - 4
  const parts = chunks.map(([type, content]) => {
    const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), content, Buffer.alloc(4)])
    chunk.writeUInt32BE(content.length)
    chunk.writeUInt32BE(crc32(chunk.subarray(4, -4)), chunk.length - 4)
    return chunk
  })
  return Buffer.concat([png.subarray(0, at), ...parts, png.subarray(at)])
}

test('a PNG whose texts expand to many times their size has no smaller pictures', async t => {
  const { prepare } = picturesOf(t)
  const text = (keyword: string, length: number) =>
    Buffer.concat([Buffer.from(keyword, 'latin1'), deflateSync(Buffer.alloc(length, 65))])
  const few = '800x600 thumbnail:208x156 small:500x375 medium:750x563'
  const cases: readonly (readonly [expected: string, ...chunks: (readonly [string, Buffer])[]])[] = [
    [few, ['zTXt', text('a\0\0', 1_000_000)], ['iTXt', text('b\0\x01\0en\0b\0', 1_000_000)]],
    [few, ['tEXt', Buffer.from('a\0b')], ['iTXt', Buffer.from('a\0\0\0\0\0b')]],
    ['800x600', ['zTXt', text('a\0\0', 30_000_000)]],
    ['800x600', ['iTXt', text('b\0\x01\0en\0b\0', 30_000_000)]],
    ['800x600', ['zTXt', text('a\0\0', 9_000_000)], ['zTXt', text('b\0\0', 9_000_000)]],
    ['800x600', ['tEXt', Buffer.concat([Buffer.from('a\0'), Buffer.alloc(17_000_000, 65)])]],
    ['800x600', ['zTXt', text('a\0\0', 1_000_000).subarray(0, 500)]],
  ]
  for (const [expected, ...chunks] of cases)
    t.is(describe(await prepare('a.png', await withChunks(...chunks))), expected)
})

test('a picture that breaks off leaves no part of a smaller one behind', async t => {
  const { prepare, folder } = picturesOf(t)
  const noise = {
    create: { width: 1200, height: 800, channels: 3, background: 'black', noise: NOISE },
  } as const
  for (const format of ['png', 'jpeg', 'webp', 'avif'] as const) {
    const bytes = await sharp(noise).toFormat(format, { effort: 2 }).toBuffer()
    const before = readdirSync(folder).length
    t.is(describe(await prepare(`a.${format}`, bytes.subarray(0, bytes.length * 0.9))), '1200x800', format)
    t.is(readdirSync(folder).length, before + 1, `${format}: the upload itself, which the request discards`)
  }
})

test('a file that only its name calls a picture is not measured as one', async t => {
  const { prepare } = picturesOf(t)
  for (const name of ['a.png', 'a.gif', 'a.jpg', 'a.webp', 'a.avif'])
    t.is(describe(await prepare(name, Buffer.from('words that are no picture, only text'))), '-', name)
})

test('no smaller pictures are made for a request that has timed out', async t => {
  const { prepare, folder } = picturesOf(t)
  const writes = new WriteScope()
  const bytes = await picture(1200, 800).png().toBuffer()
  t.is(describe(await withWrites(writes, () => prepare('a.png', bytes))), `1200x800 ${FORMATS}`)
  const before = readdirSync(folder).length
  writes.close()
  const error = await t.throwsAsync(
    withWrites(writes, () => prepare('a.png', bytes)),
    { instanceOf: RequestFault },
  )
  t.is(error instanceof RequestFault && error.fault.code, 'unavailable')
  t.is(readdirSync(folder).length, before + 1, 'the upload itself, which the request discards')
})

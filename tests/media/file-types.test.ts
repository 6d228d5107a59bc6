import test from 'ava'
import { RequestFault } from '../../core/faults/fault.ts'
import { cleanName, toHash } from '../../core/media/file-record.ts'
import { detectMime, fileType, isBinary } from '../../core/media/file-type.ts'
import type { Upload } from '../../core/media/prepare-file.ts'
import { checkUploads } from '../../core/media/prepare-file.ts'
import type { MediaKind } from '../../core/project/settings/settings.ts'
import { linearity } from '../harness/processor-time.ts'

/** A whole picture of one pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** mime, extension, kind. */
const typeOf = async (bytes: string | Buffer, name: string): Promise<string> => {
  const head = Buffer.from(bytes)
  const { mime, ext, kind } = fileType({ isBinary: isBinary(head), detected: await detectMime(head) }, name)
  return `${mime} ${ext} ${kind}`
}

test('the bytes of a file decide its type and extension', async t => {
  t.is(await typeOf(PNG, 'a.png'), 'image/png .png images')
  t.is(await typeOf(PNG, 'a.PNG'), 'image/png .PNG images')
  t.is(await typeOf(PNG, 'a'), 'image/png .png images')
  t.is(await typeOf(PNG, 'a.html'), 'image/png .png images')
  t.is(await typeOf('\u0000\u0000\u0000\u0018ftypmp42', 'a.mp4'), 'video/mp4 .mp4 videos')
  t.is(await typeOf(`ID3\u0004\0\0\0\0\u0010\0${'\0'.repeat(40)}`, 'a.mp3'), 'audio/mpeg .mp3 audios')
  t.is(await typeOf('%PDF-1.7', 'a.pdf'), 'application/pdf .pdf files')
  t.is(await typeOf('<svg></svg>', 'a.png'), 'image/svg+xml .svg images')
  t.is(await typeOf('<!-- x --><HTML>', 'a.png'), 'text/html .html files')
})

test('a name decides between text formats, and never makes a file an image, video or audio', async t => {
  t.is(await typeOf('a,b', 'a.csv'), 'text/csv .csv files')
  t.is(await typeOf('# <html>', 'a.md'), 'text/markdown .md files')
  t.is(await typeOf('<html>', 'a.txt'), 'text/plain .txt files')
  t.is(await typeOf('words', 'a'), 'application/octet-stream .bin files')
  t.is(await typeOf('words', 'a.unheard'), 'text/plain .unheard files')
  t.is(await typeOf('words', 'a.png'), 'image/png .png files')
  t.is(await typeOf('words', 'a.mp4'), 'video/mp4 .mp4 files')
  t.is(await typeOf('a\0b', 'a.txt'), 'application/octet-stream .txt files')
})

test('a text is no picture, sound or video, whatever it begins with, and UTF-16 is text', async t => {
  for (const text of [
    'BMI,age\n21,40',
    'GIF is a format',
    'ID3 tags',
    'The moov is here',
    '1234mdat5678',
    'MThd',
  ])
    t.is(await typeOf(text, 'a.csv'), 'text/csv .csv files', text)
  t.is(await typeOf(`BMI${'é'.repeat(9_000)}`, 'a.csv'), 'text/csv .csv files', 'cut within a character')
  const little = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')
  for (const encode of [little, (text: string) => little(text).swap16()]) {
    t.is(await typeOf(encode('Name\tWert\r\nÄpfel\t3'), 'a.csv'), 'text/csv .csv files')
    t.is(await typeOf(encode('Name'), 'a.mp3'), 'audio/mpeg .mp3 files', 'as the name claims')
    t.is(await typeOf(encode('<!DOCTYPE html><script>alert(1)</script>'), 'a.png'), 'text/html .html files')
    t.is(
      await typeOf(encode('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'a.png'),
      'image/svg+xml .svg images',
    )
  }
  t.is(await typeOf(Buffer.from('fffb9064000f0000', 'hex'), 'a'), 'audio/mpeg .mp3 audios')
  t.is(await typeOf(Buffer.from('424d46000000000000003600000028000000', 'hex'), 'a'), 'image/bmp .bmp images')
})

test('disallowed types are refused by their bytes, not by their names', async t => {
  const upload = async (name: string, bytes: string | Buffer): Promise<Upload> => {
    const head = Buffer.from(bytes)
    const detected = await detectMime(head)
    const staged = { path: '', size: 1, isBinary: isBinary(head), detected, picture: undefined }
    return { file: { field: 'files', filename: name, staged }, info: {} }
  }
  const check = (uploads: readonly Upload[], ...kinds: readonly (readonly MediaKind[])[]) =>
    checkUploads(uploads, { kinds, pixelLimit: 1 })
  const png = await upload('a.png', PNG)
  t.notThrows(() => check([png, png], ['images']))
  const words = await upload('b.png', 'words')
  const error = t.throws(() => check([png, words], ['images']), { instanceOf: RequestFault })
  t.is(error?.message, 'b.png is no file of a kind that is allowed here: images')
  t.deepEqual(error?.details, { key: 'files', found: 'image/png', expected: ['images'] })
  t.throws(() => check([png], ['images'], ['videos']), undefined, 'the attribute’s list counts, too')
})

test('names keep printable characters, hashes keep URL-safe ones', t => {
  t.is(cleanName('a/b\\c.txt'), 'c.txt')
  t.is(cleanName('a\u0000\u001fb.txt'), 'ab.txt')
  t.is(cleanName('/'), 'file')
  t.is(cleanName(`${'é'.repeat(300)}.jpeg`).length, 255)
  t.true(cleanName(`${'é'.repeat(300)}.jpeg`).endsWith('é.jpeg'))
  t.is(toHash('My File é (1)', '0123456789'), 'My_File_e_1_0123456789')
  t.is(toHash('ほん', '0123456789'), 'file_0123456789')
  t.is(toHash('../..', '0123456789'), 'file_0123456789')
  t.is(toHash('x'.repeat(300), '0123456789').length, 211)
})

test('SVG and HTML are detected behind declarations, comments and entities', async t => {
  const drawing = 'image/svg+xml .svg images'
  for (const text of [
    '<svg>',
    '\uFEFF <svg/>',
    '<?xml version="1.0"?>\n<!-- a --><!-- b -->\n<SVG viewBox="0 0 1 1">',
    '<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x"><svg>',
    '<!DOCTYPE svg [ <!ENTITY a "b>c"> ]><svg>',
    '<s:svg xmlns:s="http://www.w3.org/2000/svg">',
  ])
    t.is(await typeOf(text, 'a.png'), drawing, text)
  const page = 'text/html .html files'
  for (const text of ['<!doctype html>', '<!-- --><script>', '<?xml version="1.0"?><html>', ' <body\n>'])
    t.is(await typeOf(text, 'a.png'), page, text)
  for (const text of ['<!-- <svg>', '<?xml <svg>', 'x<svg>', '<svgx>', '< svg>', '<', '<!doctype svg'])
    t.not(await typeOf(text, 'a.png'), drawing, text)
})

// Each of them made a backtracking expression or a nested reader take seconds.
test('a hostile file is analysed in linear time', async t => {
  const latin = (text: string) => Buffer.from(text, 'latin1')
  const shapes: readonly string[] = [
    '<!---->',
    '<!-- ',
    '<?xml>',
    '<?xml ',
    ' ',
    '<!DOCTYPE svg>',
    '<!DOCTYPE svg[',
    '<',
    'ID3\x04\0\0\0\0\0\0',
    `PK\x03\x04${'\0'.repeat(26)}`,
    'RIFF\0\0\0\0',
    '\xff\xe0',
    '\x1f\x8b\x08\0\0\0\0\0\0\0',
    '\0\0\0\x08ftyp',
    '\x1a\x45\xdf\xa3\x80',
  ]
  for (const shape of shapes) {
    const detect = (size: number) =>
      detectMime(latin(shape.repeat(Math.ceil(size / shape.length))).subarray(0, size))
    const { isLinear, times } = await linearity(262_144, detect)
    t.true(isLinear, `${JSON.stringify(shape)}: ${times}`)
  }
})

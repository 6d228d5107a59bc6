import test from 'ava'
import { cleanName, toHash } from '../../core/media/file-name.ts'
import { fileType } from '../../core/media/file-type.ts'
import type { Upload } from '../../core/media/prepare-file.ts'
import { refuseKinds } from '../../core/media/refuse-kinds.ts'

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** mime, extension, kind. */
const typeOf = (bytes: string | Buffer, name: string): string => {
  const { mime, ext, kind } = fileType(Buffer.from(bytes), name)
  return `${mime} ${ext} ${kind}`
}

test('bytes say what a file is, and its name follows', t => {
  t.is(typeOf(PNG, 'a.png'), 'image/png .png images')
  t.is(typeOf(PNG, 'a.PNG'), 'image/png .PNG images')
  t.is(typeOf(PNG, 'a'), 'image/png .png images')
  t.is(typeOf(PNG, 'a.html'), 'image/png .png images')
  t.is(typeOf('\u0000\u0000\u0000\u0018ftypmp42', 'a.mp4'), 'video/mp4 .mp4 videos')
  t.is(typeOf('ID3', 'a.mp3'), 'audio/mpeg .mp3 audios')
  t.is(typeOf('%PDF-1.7', 'a.pdf'), 'application/pdf .pdf files')
  t.is(typeOf('<svg></svg>', 'a.png'), 'image/svg+xml .svg images')
  t.is(typeOf('<!-- x --><HTML>', 'a.png'), 'text/html .html files')
})

test('a name tells texts apart, and makes nothing a picture, a video or a sound', t => {
  t.is(typeOf('a,b', 'a.csv'), 'text/csv .csv files')
  t.is(typeOf('# <html>', 'a.md'), 'text/markdown .md files')
  t.is(typeOf('<html>', 'a.txt'), 'text/plain .txt files')
  t.is(typeOf('words', 'a'), 'application/octet-stream .bin files')
  t.is(typeOf('words', 'a.unheard'), 'text/plain .unheard files')
  t.is(typeOf('words', 'a.png'), 'image/png .png files')
  t.is(typeOf('words', 'a.mp4'), 'video/mp4 .mp4 files')
  t.is(typeOf('a\0b', 'a.txt'), 'application/octet-stream .txt files')
})

test('kinds that are not allowed are refused by their bytes, not by their names', t => {
  const upload = (name: string, bytes: string | Buffer): Upload => ({
    file: { field: 'files', filename: name, staged: { path: '', size: 1, head: Buffer.from(bytes) } },
    info: {},
  })
  const pictures = [['images']] as const
  t.is(refuseKinds([upload('a.png', PNG), upload('b.txt', PNG)], pictures), undefined)
  const fault = refuseKinds([upload('a.png', PNG), upload('b.png', 'words')], pictures)
  t.is(fault?.message, 'b.png is no file of a kind that is allowed here: images')
  t.deepEqual(fault?.details, { key: 'files', found: 'image/png', expected: ['images'] })
  t.truthy(refuseKinds([upload('a.png', PNG)], [['images'], ['videos']]), 'the place has a say, too')
})

test('names keep what can be shown, hashes what can be in any address', t => {
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

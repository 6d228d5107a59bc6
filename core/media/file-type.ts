import { extname } from 'node:path'
import type { MediaKind } from '../project/settings/settings.ts'

export interface FileType {
  readonly mime: string
  /** With the dot. The extension of the name, if it fits the type of the bytes. */
  readonly ext: string
  /** Compared with `allowedTypes`. Only the bytes decide that a file is an image, a video or an audio file. */
  readonly kind: MediaKind
}

/** What the first bytes of a file say. */
export interface DetectedFile {
  readonly isBinary: boolean
  /** The media type; null if unknown. */
  readonly detected: string | null
}

export const isBinary = (head: Buffer): boolean => head.includes(0) && utf16Of(head) === null

/**
 * The type of an uploaded file. Bytes take precedence over the name: an HTML page named `.png` is HTML. If the bytes are
 * not recognised, the name gives the media type, but `kind` is `files`.
 */
export function fileType(file: DetectedFile, name: string): FileType {
  const ext = extensionOf(name)
  const mime = mimeOf(file, ext)
  if (mime === null) return { ...typeByName(file, ext), kind: 'files' }
  return { mime, ext: fittingExtension(mime, ext), kind: mediaKind(mime) }
}

/** The media type of a file of the project: its extension is trusted unless the bytes contradict it. */
export function projectFileMime(file: DetectedFile, path: string): string {
  const ext = extname(path)
  const mime = mimeOf(file, ext)
  if (mime !== null) return mime
  return file.isBinary ? UNKNOWN_MIME : (textType(ext) ?? 'text/plain')
}

/** null: the bytes do not decide. The extension is more precise than the bytes for texts and for ZIP-based formats. */
function mimeOf({ detected }: DetectedFile, ext: string): string | null {
  if (detected === 'application/zip') return OFFICE_TYPES[ext.toLowerCase()] ?? detected
  const isText = detected === HTML || detected === 'application/xml'
  return isText && textType(ext) !== undefined ? null : detected
}

const UNKNOWN_MIME = 'application/octet-stream'

/** Endings that are long or have other characters than letters and digits are part of the name. */
const extensionOf = (name: string): string => /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''

/** Text formats can only be distinguished by extension; undefined for other extensions. */
const textType = (ext: string): string | undefined => TEXT_TYPES[ext.toLowerCase()]

function typeByName(file: DetectedFile, ext: string): Pick<FileType, 'mime' | 'ext'> {
  if (ext === '') return { mime: UNKNOWN_MIME, ext: '.bin' }
  const text = textType(ext)
  if (file.isBinary)
    return {
      mime: text === undefined ? (MIME_BY_EXTENSION[ext.toLowerCase()] ?? UNKNOWN_MIME) : UNKNOWN_MIME,
      ext,
    }
  return { mime: text ?? MIME_BY_EXTENSION[ext.toLowerCase()] ?? 'text/plain', ext }
}

const fittingExtension = (mime: string, ext: string): string => {
  const fit = EXTENSIONS[mime] ?? []
  return fit.length === 0 || fit.includes(ext.toLowerCase()) ? ext : (fit[0] ?? ext)
}

/** The value of `allowedTypes` that covers a media type. */
export function mediaKind(mime: string): MediaKind {
  if (mime.startsWith('image/')) return 'images'
  if (mime.startsWith('video/')) return 'videos'
  return mime.startsWith('audio/') ? 'audios' : 'files'
}

const OFFICE_TYPES: Readonly<Record<string, string>> = {
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.epub': 'application/epub+zip',
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.css': 'text/css',
  '.xml': 'application/xml',
  '.vtt': 'text/vtt',
}

/** Valid extensions by media type. The first replaces an extension that does not fit. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['.png', '.apng'],
  'image/jpeg': ['.jpg', '.jpeg', '.jpe', '.jfif'],
  'image/gif': ['.gif'],
  'image/webp': ['.webp'],
  'image/tiff': ['.tiff', '.tif'],
  'image/avif': ['.avif'],
  'image/heic': ['.heic', '.heif'],
  'image/bmp': ['.bmp'],
  'image/x-icon': ['.ico'],
  'image/svg+xml': ['.svg'],
  'video/quicktime': ['.mov', '.qt'],
  'video/mp4': ['.mp4', '.m4v', '.3gp', '.f4v', '.heif', '.cr3'],
  'video/mpeg': ['.mpg', '.mpeg'],
  'video/webm': ['.webm', '.mkv'],
  'video/x-msvideo': ['.avi'],
  'video/ogg': ['.ogv', '.ogg'],
  'audio/mp4': ['.m4a', '.mp4'],
  'audio/aac': ['.aac'],
  'audio/wav': ['.wav'],
  'audio/ogg': ['.ogg', '.oga', '.opus'],
  'audio/flac': ['.flac'],
  'audio/mpeg': ['.mp3'],
  'application/pdf': ['.pdf'],
  'application/gzip': ['.gz', '.tgz'],
  'application/zip': ['.zip', '.jar', '.apk', '.odt', '.ods', '.odp', '.kmz', '.usdz', '.cbz'],
  'text/html': ['.html', '.htm', '.xhtml'],
}

const MIME_BY_EXTENSION: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EXTENSIONS)
    .flatMap(([mime, all]) => all.map(ext => [ext, mime]))
    .toReversed(),
)

/** Extensions that browsers display without running code. */
const SHOWN: ReadonlySet<string> = new Set([
  '.png',
  '.jpg',
  '.jpeg',
  '.gif',
  '.webp',
  '.avif',
  '.mp4',
  '.webm',
  '.mp3',
  '.ogg',
  '.wav',
  '.pdf',
  '.txt',
])

/** SVG, HTML and all other types, which could run code in the browser, are served as downloads only. */
export const isHarmless = (key: string): boolean => SHOWN.has(extname(key).toLowerCase())

/** Bytes that detection reads: enough for headers, and a bound for its running time. */
export const DETECTION_LENGTH = 16_384

/**
 * The media type of a file by its first bytes; null if unknown. The library is loaded at the first upload. It knows
 * binary formats. SVG and HTML, which it reports as XML or unknown, are detected here.
 */
export async function detectMime(head: Buffer): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  // The library throws on some broken headers: their type is unknown.
  const found = await fileTypeFromBuffer(head.subarray(0, DETECTION_LENGTH)).catch(() => undefined)
  const mime = found && isMistaken(found.mime, head) ? undefined : found?.mime
  if (mime !== undefined && mime !== 'application/xml') return ALIASES[mime] ?? mime
  const markup = detectMarkup(toText(head))
  if (markup === 'svg') return 'image/svg+xml'
  return markup === 'page' ? HTML : (mime ?? null)
}

/**
 * The library takes texts for media: one in UTF-16 for MP3, since its byte order mark looks like the start of a frame, and one that
 * begins with a short signature, such as `BMI,age` for a bitmap.
 */
function isMistaken(mime: string, head: Buffer): boolean {
  if (mediaKind(mime) === 'files' || mime === 'image/svg+xml') return false
  return utf16Of(head) !== null || isPlainText(head.subarray(0, DETECTION_LENGTH))
}

/** Media have control characters, or bytes that are no UTF-8, in their headers. The last character may be cut. */
function isPlainText(head: Buffer): boolean {
  const text = head.toString('utf8')
  return !CONTROL.test(text) && !text.slice(0, -1).includes('\ufffd')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000e-\u001f]/

/** By the byte order mark; null: another encoding. */
function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : null
}

const toText = (head: Buffer): string => new TextDecoder(utf16Of(head) ?? 'utf-8').decode(head)

const HTML = 'text/html'

/** Maps type names of the library to the names that existing records use, or to the common parent type. */
const ALIASES: Readonly<Record<string, string>> = {
  'image/apng': 'image/png',
  'audio/x-m4a': 'audio/mp4',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'video/vnd.avi': 'video/x-msvideo',
  'video/matroska': 'video/webm',
  'video/x-m4v': 'video/mp4',
}

/** SVG and HTML are distinguished from other markup because browsers run scripts in them. */
type Markup = 'svg' | 'page' | null

/** Skips declarations and comments up to the first element. Linear time for any text. */
function detectMarkup(text: string): Markup {
  let at = 0
  for (;;) {
    at = skipSpace(text, at)
    if (text[at] !== '<') return null
    const tag = text.slice(at, at + MAX_TAG_LENGTH).toLowerCase()
    const isPage = DOCTYPE_HTML.test(tag)
    if (isPage) return 'page'
    const end = endOfPreamble(text, at, tag)
    if (end === null) return markupOfElement(tag)
    if (end < 0) return null
    at = end
  }
}

/** Relevant element names are shorter. */
const MAX_TAG_LENGTH = 40

const DOCTYPE_HTML = /^<!doctype\s{1,20}html[\s>]/

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && WHITESPACE.has(text.charCodeAt(at))) at++
  return at
}

/** Tab, line feed, vertical tab, form feed, carriage return, space, no-break space, byte order mark. */
const WHITESPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0xfeff])

/** End of the comment or declaration at `at`; -1: it is not closed; null: there is none. */
function endOfPreamble(text: string, at: number, tag: string): number | null {
  if (tag.startsWith('<!--')) return endAfter(text, '-->', at + 4)
  if (tag.startsWith('<?')) return endAfter(text, '>', at)
  return tag.startsWith('<!doctype') ? endOfDoctype(text, at) : null
}

/** A document type may declare entities in brackets. */
function endOfDoctype(text: string, at: number): number {
  const end = text.indexOf('>', at)
  const bracket = text.indexOf('[', at)
  if (bracket < 0 || end < 0 || bracket > end) return end < 0 ? -1 : end + 1
  const closed = text.indexOf(']', bracket)
  return closed < 0 ? -1 : endAfter(text, '>', closed)
}

function endAfter(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? -1 : at + mark.length
}

const HTML_ELEMENTS: ReadonlySet<string> = new Set(['html', 'head', 'body', 'script', 'iframe'])

/** An element name may have a namespace prefix: `<s:svg xmlns:s="…">`. */
function markupOfElement(tag: string): Markup {
  const name = /^<(?:[a-z_][\w.-]{0,30}:)?([a-z]{1,10})(?:[\s/>]|$)/.exec(tag)?.[1] ?? ''
  if (name === 'svg') return 'svg'
  return HTML_ELEMENTS.has(name) ? 'page' : null
}

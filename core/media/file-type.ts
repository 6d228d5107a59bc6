import { extname } from 'node:path'
import type { MediaKind } from '../project/settings/settings.ts'
import { HTML } from './detect-mime.ts'

export interface FileType {
  readonly mime: string
  /** With the dot. The extension of the name, if it fits the type of the bytes. */
  readonly ext: string
  /** Compared with `allowedTypes`. Only the bytes decide that a file is an image, a video or an audio file. */
  readonly kind: MediaKind
}

/** The first bytes of a file, and the type detected from them (`detectMime`). */
export interface DetectedFile {
  readonly head: Buffer
  readonly detected: string | null
}

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
  return isBinary(file.head) ? UNKNOWN_MIME : (textType(ext) ?? 'text/plain')
}

/** null: the bytes do not decide. The extension is more precise than the bytes for texts and for ZIP-based formats. */
function mimeOf({ detected }: DetectedFile, ext: string): string | null {
  if (detected === 'application/zip') return OFFICE_TYPES[ext.toLowerCase()] ?? detected
  const isText = detected === HTML || detected === 'application/xml'
  return isText && textType(ext) !== undefined ? null : detected
}

const UNKNOWN_MIME = 'application/octet-stream'

const isBinary = (head: Buffer): boolean => head.includes(0)

/** Endings that are long or have other characters than letters and digits are part of the name. */
const extensionOf = (name: string): string => /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''

/** Text formats can only be distinguished by extension; undefined for other extensions. */
const textType = (ext: string): string | undefined => TEXT_TYPES[ext.toLowerCase()]

function typeByName({ head }: DetectedFile, ext: string): Pick<FileType, 'mime' | 'ext'> {
  if (ext === '') return { mime: UNKNOWN_MIME, ext: '.bin' }
  const text = textType(ext)
  if (isBinary(head))
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

import { extname } from 'node:path'
import type { MediaKind } from '../project/settings/settings.ts'
import { PAGE } from './detect-mime.ts'

export interface FileType {
  readonly mime: string
  /** With its dot; the name's own where it fits what the bytes say. */
  readonly ext: string
  /** What counts for `allowedTypes`: only bytes make a file a picture, a video or a sound. */
  readonly kind: MediaKind
}

/** The first bytes of a file, and the type that they tell (`detectMime`). */
export interface Detected {
  readonly head: Buffer
  readonly detected: string | null
}

/**
 * What an uploaded file is. Bytes win over the name: a page named `.png` becomes a page. The name is believed where
 * the bytes say nothing, and then as no more than a label.
 */
export function fileType(file: Detected, name: string): FileType {
  const ext = extensionOf(name)
  const mime = mimeOf(file, ext)
  if (mime === null) return { ...labelled(file, ext), kind: 'files' }
  return { mime, ext: fitting(mime, ext), kind: kindOf(mime) }
}

/** A file of the project, whose extension is believed as far as the bytes do not contradict it. */
export function ownFileMime(file: Detected, path: string): string {
  const ext = extname(path)
  const mime = mimeOf(file, ext)
  if (mime !== null) return mime
  return isBinary(file.head) ? UNKNOWN : (textType(ext) ?? 'text/plain')
}

/** null: the bytes do not decide. Of texts the name tells more than tags do, and of archives more than their format. */
function mimeOf({ detected }: Detected, ext: string): string | null {
  if (detected === 'application/zip') return OFFICE[ext.toLowerCase()] ?? detected
  const isText = detected === PAGE || detected === 'application/xml'
  return isText && textType(ext) !== undefined ? null : detected
}

const UNKNOWN = 'application/octet-stream'

const isBinary = (head: Buffer): boolean => head.includes(0)

/** Endings that are more than letters and digits, or long, are part of the name. */
const extensionOf = (name: string): string => /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''

/** The type of a text of which only the extension tells what it is; undefined where it does not. */
const textType = (ext: string): string | undefined => TEXTS[ext.toLowerCase()]

function labelled({ head }: Detected, ext: string): Pick<FileType, 'mime' | 'ext'> {
  if (ext === '') return { mime: UNKNOWN, ext: '.bin' }
  const text = textType(ext)
  if (isBinary(head))
    return { mime: text === undefined ? (LABELS[ext.toLowerCase()] ?? UNKNOWN) : UNKNOWN, ext }
  return { mime: text ?? LABELS[ext.toLowerCase()] ?? 'text/plain', ext }
}

const fitting = (mime: string, ext: string): string => {
  const fit = EXTENSIONS[mime] ?? []
  return fit.length === 0 || fit.includes(ext.toLowerCase()) ? ext : (fit[0] ?? ext)
}

/** The word of `allowedTypes` that a file falls under. */
export function kindOf(mime: string): MediaKind {
  if (mime.startsWith('image/')) return 'images'
  if (mime.startsWith('video/')) return 'videos'
  return mime.startsWith('audio/') ? 'audios' : 'files'
}

const OFFICE: Readonly<Record<string, string>> = {
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.epub': 'application/epub+zip',
}

const TEXTS: Readonly<Record<string, string>> = {
  '.txt': 'text/plain',
  '.csv': 'text/csv',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.html': 'text/html',
  '.css': 'text/css',
  '.xml': 'application/xml',
  '.vtt': 'text/vtt',
}

/** The first is what a file is given that has another. */
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

const LABELS: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(EXTENSIONS)
    .flatMap(([mime, all]) => all.map(ext => [ext, mime]))
    .toReversed(),
)

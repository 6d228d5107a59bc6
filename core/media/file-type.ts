import type { MediaKind } from '../project/settings.ts'
import { isBinary, kindOf, recognise, textType, UNKNOWN } from './sniff.ts'

export interface FileType {
  readonly mime: string
  /** With its dot; the name's own where it fits what the bytes say. */
  readonly ext: string
  /** What counts for `allowedTypes`: only bytes make a file a picture, a video or a sound. */
  readonly kind: MediaKind
}

/**
 * What an uploaded file is. Bytes win over the name: a page named `.png` becomes a page. The name is believed where
 * the bytes say nothing, and then as no more than a label.
 */
export function fileType(head: Buffer, name: string): FileType {
  const ext = extensionOf(name)
  const mime = recognise(head, ext) ?? pageType(head, ext)
  if (mime === null) return { ...labelled(head, ext), kind: 'files' }
  return { mime, ext: fitting(mime, ext), kind: kindOf(mime) }
}

/** Endings that are more than letters and digits, or long, are part of the name. */
const extensionOf = (name: string): string => /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0] ?? ''

const PAGE = /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body|script|iframe)[\s>]/is

/** A page that goes by another format's name. */
const pageType = (head: Buffer, ext: string): string | null =>
  textType(ext) === undefined && PAGE.test(head.toString('utf8')) ? 'text/html' : null

function labelled(head: Buffer, ext: string): Pick<FileType, 'mime' | 'ext'> {
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

/** The first is what a file is given that has another. */
const EXTENSIONS: Readonly<Record<string, readonly string[]>> = {
  'image/png': ['.png'],
  'image/jpeg': ['.jpg', '.jpeg', '.jpe', '.jfif'],
  'image/gif': ['.gif'],
  'image/webp': ['.webp'],
  'image/tiff': ['.tiff', '.tif'],
  'image/avif': ['.avif'],
  'image/heic': ['.heic', '.heif'],
  'image/svg+xml': ['.svg'],
  'video/quicktime': ['.mov', '.qt'],
  'video/mp4': ['.mp4', '.m4v', '.3gp', '.f4v', '.heif', '.cr3'],
  'video/webm': ['.webm', '.mkv'],
  'video/x-msvideo': ['.avi'],
  'video/ogg': ['.ogv', '.ogg'],
  'audio/mp4': ['.m4a', '.mp4'],
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

import type { MediaKind } from '../project/settings.ts'

/** What a file is, by its first bytes; by its name only where bytes cannot tell one text from another. */
export function sniffMime(head: Buffer, extension: string): string {
  const known = recognise(head, extension)
  if (known !== null) return known
  return isBinary(head) ? UNKNOWN : (TEXTS[extension.toLowerCase()] ?? 'text/plain')
}

export const UNKNOWN = 'application/octet-stream'

/** The media type that the bytes themselves say; null where they say nothing. */
export function recognise(head: Buffer, extension: string): string | null {
  const signature = SIGNATURES.find(({ bytes, at = 0 }) => head.subarray(at, at + bytes.length).equals(bytes))
  if (signature) return refine(signature.mime, head, extension)
  return SVG.test(head.toString('utf8')) ? 'image/svg+xml' : null
}

export const isBinary = (head: Buffer): boolean => head.includes(0)

/** The type of a text of which only the extension tells what it is; undefined where it does not. */
export const textType = (extension: string): string | undefined => TEXTS[extension.toLowerCase()]

const SVG = /^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/is

interface Signature {
  readonly bytes: Buffer
  readonly at?: number
  readonly mime: string
}

const latin = (text: string): Buffer => Buffer.from(text, 'latin1')

const SIGNATURES: readonly Signature[] = [
  { bytes: latin('\x89PNG\r\n\x1a\n'), mime: 'image/png' },
  { bytes: latin('\xff\xd8\xff'), mime: 'image/jpeg' },
  { bytes: latin('GIF8'), mime: 'image/gif' },
  { bytes: latin('WEBP'), at: 8, mime: 'image/webp' },
  { bytes: latin('II*\0'), mime: 'image/tiff' },
  { bytes: latin('MM\0*'), mime: 'image/tiff' },
  { bytes: latin('ftypavif'), at: 4, mime: 'image/avif' },
  { bytes: latin('ftyphei'), at: 4, mime: 'image/heic' },
  { bytes: latin('ftypqt'), at: 4, mime: 'video/quicktime' },
  { bytes: latin('ftypM4A'), at: 4, mime: 'audio/mp4' },
  { bytes: latin('ftyp'), at: 4, mime: 'video/mp4' },
  { bytes: latin('\x1a\x45\xdf\xa3'), mime: 'video/webm' },
  { bytes: latin('AVI '), at: 8, mime: 'video/x-msvideo' },
  { bytes: latin('WAVE'), at: 8, mime: 'audio/wav' },
  { bytes: latin('OggS'), mime: 'audio/ogg' },
  { bytes: latin('fLaC'), mime: 'audio/flac' },
  { bytes: latin('ID3'), mime: 'audio/mpeg' },
  { bytes: latin('\xff\xfb'), mime: 'audio/mpeg' },
  { bytes: latin('\xff\xf3'), mime: 'audio/mpeg' },
  { bytes: latin('%PDF-'), mime: 'application/pdf' },
  { bytes: latin('PK\x03\x04'), mime: 'application/zip' },
  { bytes: latin('\x1f\x8b'), mime: 'application/gzip' },
]

const OFFICE: Readonly<Record<string, string>> = {
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  '.epub': 'application/epub+zip',
}

/** Several formats are archives, and two share a container. */
function refine(mime: string, head: Buffer, extension: string): string {
  if (mime === 'application/zip') return OFFICE[extension.toLowerCase()] ?? mime
  return mime === 'audio/ogg' && head.includes('theora') ? 'video/ogg' : mime
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

/** The word of `allowedTypes` that a file falls under. */
export function kindOf(mime: string): MediaKind {
  if (mime.startsWith('image/')) return 'images'
  if (mime.startsWith('video/')) return 'videos'
  return mime.startsWith('audio/') ? 'audios' : 'files'
}

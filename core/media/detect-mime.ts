import { markupOf } from './markup.ts'

/** Bytes that detection looks at: its time grows with them, and headers are shorter. */
export const LOOKED_AT = 16_384

/**
 * The media type that a file's first bytes tell; null where they tell none. The library is loaded at the first upload.
 * It knows binary formats; drawings and pages, which it takes for XML or for nothing, are told here.
 */
export async function detectMime(head: Buffer): Promise<string | null> {
  const { fileTypeFromBuffer } = await import('file-type')
  // A header that the library fails on tells nothing.
  const found = await fileTypeFromBuffer(head.subarray(0, LOOKED_AT)).catch(() => undefined)
  if (found && found.mime !== 'application/xml') return NAMES[found.mime] ?? found.mime
  const markup = markupOf(head.toString('utf8'))
  if (markup === 'svg') return 'image/svg+xml'
  return markup === 'page' ? PAGE : (found?.mime ?? null)
}

export const PAGE = 'text/html'

/** Types that records have always had under another name, or that are a kind of a better known one. */
const NAMES: Readonly<Record<string, string>> = {
  'image/apng': 'image/png',
  'audio/x-m4a': 'audio/mp4',
  'audio/ogg; codecs=opus': 'audio/ogg',
  'video/vnd.avi': 'video/x-msvideo',
  'video/matroska': 'video/webm',
  'video/x-m4v': 'video/mp4',
}

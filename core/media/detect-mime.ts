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
  if (found && found.mime !== 'application/xml') return ALIASES[found.mime] ?? found.mime
  const markup = detectMarkup(head.toString('utf8'))
  if (markup === 'svg') return 'image/svg+xml'
  return markup === 'page' ? HTML : (found?.mime ?? null)
}

export const HTML = 'text/html'

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

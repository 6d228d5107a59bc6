/** What a text of tags is: only drawings and pages matter, for a browser runs scripts in both. */
export type Markup = 'svg' | 'page' | null

/**
 * Reads from the start of a text over declarations and comments to the first element. Each character is read a fixed
 * number of times, whatever the text holds.
 */
export function markupOf(text: string): Markup {
  let at = 0
  for (;;) {
    at = skipSpace(text, at)
    if (text[at] !== '<') return null
    const tag = text.slice(at, at + LONGEST_NAME).toLowerCase()
    const isPage = DOCTYPE_HTML.test(tag)
    if (isPage) return 'page'
    const end = endOfPreamble(text, at, tag)
    if (end === null) return elementOf(tag)
    if (end < 0) return null
    at = end
  }
}

/** Longer names of elements are none that matter. */
const LONGEST_NAME = 40

const DOCTYPE_HTML = /^<!doctype\s{1,20}html[\s>]/

function skipSpace(text: string, start: number): number {
  let at = start
  while (at < text.length && SPACE.has(text.charCodeAt(at))) at++
  return at
}

/** Tab, line feed, vertical tab, form feed, carriage return, space, no-break space, byte order mark. */
const SPACE: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xa0, 0xfeff])

/** Where a comment or declaration ends; -1 where it has no end; null where there is none. */
function endOfPreamble(text: string, at: number, tag: string): number | null {
  if (tag.startsWith('<!--')) return behind(text, '-->', at + 4)
  if (tag.startsWith('<?')) return behind(text, '>', at)
  return tag.startsWith('<!doctype') ? endOfDoctype(text, at) : null
}

/** A document type may declare entities in brackets. */
function endOfDoctype(text: string, at: number): number {
  const end = text.indexOf('>', at)
  const bracket = text.indexOf('[', at)
  if (bracket < 0 || end < 0 || bracket > end) return end < 0 ? -1 : end + 1
  const closed = text.indexOf(']', bracket)
  return closed < 0 ? -1 : behind(text, '>', closed)
}

function behind(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at < 0 ? -1 : at + mark.length
}

const PAGES: ReadonlySet<string> = new Set(['html', 'head', 'body', 'script', 'iframe'])

/** The name may have a prefix: `<s:svg xmlns:s="…">`. */
function elementOf(tag: string): Markup {
  const name = /^<(?:[a-z_][\w.-]{0,30}:)?([a-z]{1,10})(?:[\s/>]|$)/.exec(tag)?.[1] ?? ''
  if (name === 'svg') return 'svg'
  return PAGES.has(name) ? 'page' : null
}

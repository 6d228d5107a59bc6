import { Marked, type Token, type Tokens } from 'marked'
import { memoize } from '../base/memo.ts'
import { escapeHtml } from '../base/text.ts'
import type { TemplateText } from './template.ts'

/** A rendered text: what is fixed, and where values go. */
export type RenderedText = readonly (string | RenderedVariable)[]

interface RenderedVariable {
  readonly variable: string
  /** `url`: a whole address; `url-part`: within one. */
  readonly as: 'text' | 'url' | 'url-part'
}

export interface RenderedMarkdown {
  readonly html: RenderedText
  readonly text: RenderedText
}

/**
 * Renders a template once, without values: values are inserted later and escaped for their place, so they can never be
 * Markdown or HTML. While Markdown is parsed, words take the place of variables.
 */
export const renderMarkdown = memoize((body: TemplateText): RenderedMarkdown => {
  const names = [...new Set(body.flatMap(part => (typeof part === 'string' ? [] : [part.variable])))]
  const word = (name: string) => `plinthvart${names.indexOf(name)}z`
  const joined = body.map(part => (typeof part === 'string' ? part : word(part.variable))).join('')
  // `<{{ link }}>`: an automatic link.
  const source = joined.replace(/<(plinthvart\d+z)>/g, '[$1]($1)')
  const marked = new Marked({ gfm: true, renderer: SAFE_RENDERER })
  const tokens = marked.lexer(source)
  return { text: splitWords(printBlocks(tokens), names), html: splitWords(marked.parser(tokens), names) }
})

const splitWords = (text: string, names: readonly string[]): RenderedText =>
  text.split(/(plinthvar[tup]\d+z)/).map((part, at) => {
    if (at % 2 === 0) return part
    const kind = part[WORD.length]
    const variable = names[Number(part.slice(WORD.length + 1, -1))] ?? ''
    return { variable, as: kind === 'u' ? 'url' : kind === 'p' ? 'url-part' : 'text' }
  })

const WORD = 'plinthvar'

/** Marks the variables of an address. One at its beginning is the whole address. */
const markUrl = (href: string): string =>
  href.replace(/plinthvart(\d+z)/g, (_word, rest: string, at: number) => WORD + (at === 0 ? 'u' : 'p') + rest)

/** Schemes that run code in a mail program are refused; a path within a web site leads nowhere from a mail. */
const SAFE_URL = /^(?:https?:\/\/|mailto:|tel:|cid:|plinthvart\d)/i

/** null: the address is not allowed. */
const safeUrl = (href: string): string | null => (SAFE_URL.test(href) ? markUrl(href) : null)

/** HTML in a template is shown as text. */
const SAFE_RENDERER = {
  html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeHtml(text),
  link(this: { parser: { parseInline(tokens: Token[]): string } }, { href, tokens }: Tokens.Link) {
    const url = safeUrl(href)
    const label = this.parser.parseInline(tokens)
    return url === null ? label : `<a href="${escapeHtml(url)}">${label}</a>`
  },
  image({ href, text }: Tokens.Image) {
    const url = safeUrl(href)
    return url === null ? escapeHtml(text) : `<img src="${escapeHtml(url)}" alt="${escapeHtml(text)}">`
  },
}

/** The plain-text part: Markdown without its marks. */
const printBlocks = (tokens: readonly Token[]): string =>
  tokens.flatMap(token => printBlock(token) ?? []).join('\n\n')

function printBlock(token: Token): string | null {
  if (token.type === 'space' || token.type === 'def') return null
  if (token.type === 'hr') return '---'
  if (token.type === 'code') return token.text
  if (token.type === 'html') return token.text.trim()
  if (token.type === 'blockquote') return indent(printBlocks(token.tokens ?? []), '> ', '> ')
  if (token.type === 'list') return printList(token as Tokens.List)
  if (token.type === 'table') return printTable(token as Tokens.Table)
  return 'tokens' in token && token.tokens ? printInline(token.tokens) : token.raw.trim()
}

function printList({ items, ordered, start, loose }: Tokens.List): string {
  const printed = items.map((item, at) => {
    const bullet = ordered ? `${Number(start || 1) + at}. ` : '- '
    return indent(printBlocks(item.tokens), bullet, ' '.repeat(bullet.length))
  })
  return printed.join(loose ? '\n\n' : '\n')
}

const printTable = ({ header, rows }: Tokens.Table): string =>
  [header, ...rows].map(row => row.map(({ tokens }) => printInline(tokens)).join(' | ')).join('\n')

const indent = (text: string, first: string, others: string): string =>
  text
    .split('\n')
    .map((line, at) => (at === 0 ? first : others) + line)
    .join('\n')

const printInline = (tokens: readonly Token[]): string => tokens.map(token => printSpan(token)).join('')

function printSpan(token: Token): string {
  if (token.type === 'br') return '\n'
  if (token.type === 'link') return printLink(token as Tokens.Link)
  if (token.type === 'image') return token.text
  if ('tokens' in token && token.tokens) return printInline(token.tokens)
  return 'text' in token ? token.text : token.raw
}

/** `label: address`; the address alone if the label is the same. */
function printLink({ href, tokens }: Tokens.Link): string {
  const label = printInline(tokens)
  const url = safeUrl(href)
  if (url === null || label === href || `mailto:${label}` === href) return label
  return `${label}: ${url}`
}

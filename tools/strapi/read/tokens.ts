/** A word of JavaScript or TypeScript, as far as literals ask for it. */
export interface Token {
  readonly kind: 'text' | 'number' | 'word' | 'sign' | 'other'
  /** Of a text: what it says, without its quotes. */
  readonly text: string
  /** Where it begins and ends in the source. */
  readonly start: number
  readonly end: number
}

const SPACE = /\s+/y
const QUOTED = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"|`(?:[^`\\]|\\[\s\S])*`/y
const NUMBER = /(?:0[xX][\da-fA-F]+|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)/y
const WORD = /[\p{L}$_][\p{L}\p{N}$_]*/uy
const REGEX = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const SIGN = /=>|\.\.\.|\?\?|\|\||[\s\S]/y

/** The tokens of a source. Whatever it holds, this ends: a sign may be any character. */
export function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = []
  for (let start = 0; start < source.length; ) {
    start = skip(source, start)
    if (start >= source.length) break
    const token = tokenAt(source, start, tokens.at(-1))
    tokens.push(token)
    start = token.end
  }
  return tokens
}

/** Where spaces and comments end; a comment that nothing closes goes to the end of the source. */
function skip(source: string, start: number): number {
  for (let at = start; ; ) {
    const end = endOf(SPACE, source, at) ?? endOfComment(source, at)
    if (end === undefined) return at
    at = end
  }
}

/** undefined: no comment begins here. */
export function endOfComment(source: string, at: number): number | undefined {
  if (source.startsWith('//', at)) return indexOrEnd(source, '\n', at)
  if (!source.startsWith('/*', at)) return undefined
  return Math.min(source.length, indexOrEnd(source, '*/', at + 2) + 2)
}

function indexOrEnd(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from)
  return found < 0 ? source.length : found
}

function tokenAt(source: string, start: number, before: Token | undefined): Token {
  const quoted = endOf(QUOTED, source, start)
  if (quoted !== undefined) return quotedToken(source.slice(start, quoted), start, quoted)
  const kinds = [
    ['number', NUMBER],
    ['word', WORD],
    ...(mayBeRegex(before) ? ([['other', REGEX]] as const) : []),
    ['sign', SIGN],
  ] as const
  for (const [kind, pattern] of kinds) {
    const end = endOf(pattern, source, start)
    if (end !== undefined) return { kind, text: source.slice(start, end), start, end }
  }
  return { kind: 'sign', text: source.charAt(start), start, end: start + 1 }
}

function endOf(pattern: RegExp, source: string, start: number): number | undefined {
  pattern.lastIndex = start
  return pattern.test(source) ? pattern.lastIndex : undefined
}

/** A slash begins a regular expression where no value stands before it. */
const mayBeRegex = (before: Token | undefined): boolean =>
  before === undefined || (before.kind === 'sign' && !/[)\]}]/.test(before.text))

function quotedToken(quoted: string, start: number, end: number): Token {
  const inner = quoted.slice(1, -1)
  if (quoted.startsWith('`') && inner.includes('${')) return { kind: 'other', text: quoted, start, end }
  return { kind: 'text', text: inner.replace(ESCAPE, unescaped), start, end }
}

const ESCAPE = /\\(?:u\{([\da-fA-F]{1,6})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|\r?\n|([\s\S]))/g

const LETTERS: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
}

function unescaped(_: string, braced?: string, four?: string, two?: string, letter?: string): string {
  const hex = braced ?? four ?? two
  if (hex !== undefined) return fromCodePoint(Number.parseInt(hex, 16))
  return letter === undefined ? '' : (LETTERS[letter] ?? letter)
}

const fromCodePoint = (code: number): string => (code > 0x10ffff ? '\uFFFD' : String.fromCodePoint(code))

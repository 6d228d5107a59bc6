import { createRequire } from 'node:module'
import { createContext, Script } from 'node:vm'
import type { RE2JS } from 're2js'

/** An expression of project.yaml, which values of clients are tried against. */
export interface Pattern {
  test(text: string): boolean
  /** As JavaScript writes it: `/^a+$/`. */
  toString(): string
}

/**
 * An expression that no text can make slow. Simple ones run as they are. Others run on RE2, whose time grows with the
 * length of the text. What RE2 lacks (lookaround, backreferences) has 50 ms: what takes longer counts as no match.
 * Throws SyntaxError where it is no expression of JavaScript.
 */
export function compilePattern(source: string): Pattern {
  const plain = new RegExp(source)
  const test = isSimple(source)
    ? (text: string) => plain.test(text)
    : (linearTest(source) ?? timedTest(plain))
  return { test, toString: () => String(plain) }
}

/** Longer bounds of repetitions are no short way round any more. */
const LARGEST_BOUND = 100

/** Anchored, without groups and alternatives, with one repetition of any length and one of a small bound at most. */
function isSimple(source: string): boolean {
  const bare = source.replace(/\\[\s\S]/g, 'x').replace(/\[[^[\]]*\]/g, 'x')
  if (!bare.startsWith('^') || /[(|]/.test(bare)) return false
  const endless = bare.match(/[*+]|\{\d+,\}/g) ?? []
  const bounded: readonly string[] = bare.match(/\?|\{\d+,\d+\}/g) ?? []
  const isShort = bounded.every(each => Number(each.slice(each.indexOf(',') + 1, -1)) <= LARGEST_BOUND)
  return endless.length <= 1 && bounded.length <= 1 && isShort
}

/** null: RE2 does not have what the expression uses. */
function linearTest(source: string): Pattern['test'] | null {
  const text = toRe2(source)
  if (text === null) return null
  // Loaded by the first project that needs it.
  const library: { readonly RE2JS: typeof RE2JS } = createRequire(import.meta.url)('re2js')
  try {
    const compiled = library.RE2JS.compile(library.RE2JS.translateRegExp(text))
    return value => compiled.test(value)
  } catch (error) {
    // Whatever it refuses is for the other engine: JavaScript has compiled it already.
    if (error instanceof Error) return null
    throw error
  }
}

const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

/** JavaScript's `.`, `\s` and brackets in brackets as RE2 writes them; null for what it cannot write. */
function toRe2(source: string): string | null {
  let text = ''
  let inClass = false
  for (let at = 0; at < source.length; at++) {
    const character = source.charAt(at)
    if (character === '\\') {
      const written = escapeOf(source.charAt(++at), inClass)
      if (written === null) return null
      text += written
      continue
    }
    text += inClass ? (character === '[' ? '\\[' : character) : character === '.' ? NO_LINE_END : character
    if (character === '[') inClass = true
    else if (character === ']') inClass = false
  }
  return text
}

const NO_LINE_END = '[^\\n\\r\\x{2028}\\x{2029}]'

function escapeOf(letter: string, inClass: boolean): string | null {
  if (letter === 's') return inClass ? SPACE : `[${SPACE}]`
  if (letter === 'S') return inClass ? null : `[^${SPACE}]`
  // Without the flag `u` JavaScript takes these for letters, RE2 for classes of them, or for anchors.
  return /[pPAzQEaC]/.test(letter) ? null : `\\${letter}`
}

/** Milliseconds. */
const PATIENCE = 50

const TEST = new Script('pattern.test(text)')

/** V8 looks at the clock while it backtracks in a context of its own. */
function timedTest(pattern: RegExp): Pattern['test'] {
  const values = { pattern, text: '' }
  const context = createContext(values)
  return text => {
    values.text = text
    try {
      return TEST.runInContext(context, { timeout: PATIENCE }) === true
    } catch (error) {
      if (isTimeout(error)) return false
      throw error
    } finally {
      values.text = ''
    }
  }
}

/** An error of another context is no Error of this one. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

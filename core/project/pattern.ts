import { createContext, Script } from 'node:vm'
import type { RE2JS } from 're2js'
import { requirePackage } from '../base/package-file.ts'

/** A regular expression of project.yaml, which values of clients are tested against. */
export interface SafePattern {
  test(text: string): boolean
  /** In JavaScript's notation: `/^a+$/`. */
  toString(): string
}

/**
 * Compiles a regular expression that no text can make slow. Simple ones run as they are. Others run on RE2 in linear
 * time. Expressions that RE2 does not support (lookaround, backreferences) have 50 ms; a timeout counts as no match.
 * Throws SyntaxError for an invalid JavaScript expression.
 */
export function compilePattern(source: string): SafePattern {
  const plain = new RegExp(source)
  const test = isSimple(source)
    ? (text: string) => plain.test(text)
    : (linearTest(source) ?? timedTest(plain))
  return { test, toString: () => String(plain) }
}

/** Repetitions with a larger bound are not considered cheap. */
const MAX_CHEAP_BOUND = 100

/** Anchored, without groups and alternatives, and with at most one unbounded and one small bounded repetition. */
function isSimple(source: string): boolean {
  const bare = source.replace(/\\[\s\S]/g, 'x').replace(/\[[^[\]]*\]/g, 'x')
  if (!bare.startsWith('^') || /[(|]/.test(bare)) return false
  const endless = bare.match(/[*+]|\{\d+,\}/g) ?? []
  const bounded: readonly string[] = bare.match(/\?|\{\d+,\d+\}/g) ?? []
  const isShort = bounded.every(each => Number(each.slice(each.indexOf(',') + 1, -1)) <= MAX_CHEAP_BOUND)
  return endless.length <= 1 && bounded.length <= 1 && isShort
}

/** null: RE2 does not support the expression. */
function linearTest(source: string): SafePattern['test'] | null {
  const text = toRe2(source)
  if (text === null) return null
  const library = requirePackage<{ readonly RE2JS: typeof RE2JS }>('re2js')
  try {
    const compiled = library.RE2JS.compile(library.RE2JS.translateRegExp(text))
    return value => compiled.test(value)
  } catch (error) {
    // RE2 does not support it. It is valid: JavaScript has already compiled it.
    if (error instanceof Error) return null
    throw error
  }
}

const SPACE =
  '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'

/** Translates JavaScript's `.`, `\s` and nested brackets to RE2's syntax; null if that is not possible. */
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
  // Without the flag `u` JavaScript reads these as plain letters, but RE2 as classes or anchors.
  return /[pPAzQEaC]/.test(letter) ? null : `\\${letter}`
}

/** Milliseconds. */
const TEST_TIMEOUT = 50

const TEST = new Script('pattern.test(text)')

/** V8 can interrupt backtracking only for a script that runs in its own context. */
function timedTest(pattern: RegExp): SafePattern['test'] {
  const values = { pattern, text: '' }
  const context = createContext(values)
  return text => {
    values.text = text
    try {
      return TEST.runInContext(context, { timeout: TEST_TIMEOUT }) === true
    } catch (error) {
      if (isTimeout(error)) return false
      throw error
    } finally {
      values.text = ''
    }
  }
}

/** `instanceof Error` is false for errors of another context. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' &&
  error !== null &&
  'code' in error &&
  error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'

import { type Code, type Given, isFromEnvironment } from './literal-value.ts'
import type { Token } from './tokens.ts'

/** Where parsing stands. */
export interface Tokens {
  readonly source: string
  readonly all: readonly Token[]
}

/** A value, and the index of the token behind it. */
interface Parsed<Value = Given> {
  readonly value: Value
  readonly next: number
}

/** Deeper than any project is, and far from what a stack takes. */
const DEEPEST = 200

/** The value that begins at a token: literals are known, `env()` and `process.env` are named, all else is code. */
export function parseGiven(tokens: Tokens, start: number, depth = 0): Parsed {
  const parsed = depth > DEEPEST ? undefined : parsePrimary(tokens, start, depth)
  if (parsed === undefined) return parseCode(tokens, start)
  if (isEnd(tokens.all[parsed.next])) return parsed
  return parseRest(tokens, parsed, depth) ?? parseCode(tokens, start)
}

const isEnd = (token: Token | undefined): boolean =>
  token === undefined || isSign(token, ',', '}', ']', ')', ';')

export const isSign = (token: Token | undefined, ...signs: readonly string[]): boolean =>
  token?.kind === 'sign' && signs.includes(token.text)

/** What may follow a literal without changing it: a type of TypeScript, a fallback, the next statement. */
function parseRest(tokens: Tokens, { value, next }: Parsed, depth: number): Parsed | undefined {
  const token = tokens.all[next]
  if (token?.kind === 'word')
    return ['as', 'satisfies'].includes(token.text)
      ? { value, next: parseCode(tokens, next).next }
      : startsLine(tokens, token)
        ? { value, next }
        : undefined
  if (!isSign(token, '||', '??') || !isFromEnvironment(value)) return undefined
  const fallback = parseGiven(tokens, next + 1, depth + 1)
  return { value: { ...value, fallback: fallback.value }, next: fallback.next }
}

function startsLine({ source }: Tokens, { start }: Token): boolean {
  const before = source.slice(0, start)
  return before.includes('\n', before.trimEnd().length)
}

function parsePrimary(tokens: Tokens, start: number, depth: number): Parsed | undefined {
  const token = tokens.all[start]
  if (token === undefined) return undefined
  if (token.kind === 'text') return { value: token.text, next: start + 1 }
  if (token.kind === 'number') return { value: toNumber(token), next: start + 1 }
  if (token.kind === 'word') return parseWord(tokens, start, depth)
  if (isSign(token, '-')) return parseNegative(tokens, start)
  if (isSign(token, '{')) return parseMapping(tokens, start + 1, depth)
  if (isSign(token, '[')) return parseItems(tokens, start + 1, depth)
  return isSign(token, '(') ? parseBrackets(tokens, start, depth) : undefined
}

const toNumber = ({ text }: Token): number => Number(text.replaceAll('_', ''))

function parseNegative({ all }: Tokens, start: number): Parsed | undefined {
  const number = all[start + 1]
  return number?.kind === 'number' ? { value: -toNumber(number), next: start + 2 } : undefined
}

function parseBrackets(tokens: Tokens, start: number, depth: number): Parsed | undefined {
  const inner = parseGiven(tokens, start + 1, depth + 1)
  return isSign(tokens.all[inner.next], ')') ? { value: inner.value, next: inner.next + 1 } : undefined
}

const CONSTANTS: ReadonlyMap<string, Given> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', null],
])

function parseWord(tokens: Tokens, start: number, depth: number): Parsed | undefined {
  const text = tokens.all[start]?.text ?? ''
  const constant = CONSTANTS.get(text)
  if (constant !== undefined) return { value: constant, next: start + 1 }
  if (text === 'env') return parseEnv(tokens, start, depth)
  const words = tokens.all.slice(start, start + 5).map(token => token.text)
  const name = words[4]
  const isVariable = words.slice(0, 4).join('') === 'process.env.' && name !== undefined
  return isVariable ? { value: { kind: 'environment', name }, next: start + 5 } : undefined
}

/** `env('NAME', fallback)`, and its forms `env.int`, `env.bool` and the like. */
function parseEnv(tokens: Tokens, start: number, depth: number): Parsed | undefined {
  const opening = isSign(tokens.all[start + 1], '.') ? start + 3 : start + 1
  if (!isSign(tokens.all[opening], '(')) return undefined
  const { value, next } = parseItems(tokens, opening + 1, depth, ')')
  const [name, fallback] = value
  if (typeof name !== 'string') return undefined
  return {
    value: { kind: 'environment', name, ...(fallback === undefined ? {} : { fallback }) },
    next,
  }
}

function parseItems(tokens: Tokens, start: number, depth: number, closing = ']'): Parsed<readonly Given[]> {
  const items: Given[] = []
  let next = start
  while (next < tokens.all.length && !isSign(tokens.all[next], closing)) {
    const item = parseGiven(tokens, next, depth + 1)
    items.push(item.value)
    next = pastComma(tokens, next, item.next)
  }
  return { value: items, next: next + 1 }
}

/** A stray bracket, which begins nothing, is passed over too, so that every list ends. */
const pastComma = ({ all }: Tokens, start: number, next: number): number =>
  next === start || isSign(all[next], ',', ';') ? next + 1 : next

function parseMapping(tokens: Tokens, start: number, depth: number): Parsed {
  const mapping = new Map<string, Given>()
  let next = start
  while (next < tokens.all.length && !isSign(tokens.all[next], '}')) {
    const entry = parseEntry(tokens, next, depth)
    if (entry.key !== undefined) mapping.set(entry.key, entry.value)
    next = pastComma(tokens, next, entry.next)
  }
  return { value: mapping, next: next + 1 }
}

interface Entry extends Parsed {
  readonly key?: string
}

/** `key: value`; a spread, a method or a computed key is code. */
function parseEntry(tokens: Tokens, start: number, depth: number): Entry {
  const key = tokens.all[start]
  const isKey = key !== undefined && (key.kind === 'word' || key.kind === 'text' || key.kind === 'number')
  if (isKey && isSign(tokens.all[start + 1], ':')) {
    return { key: key.text, ...parseGiven(tokens, start + 2, depth + 1) }
  }
  const code = parseCode(tokens, start)
  return isKey ? { key: key.text, ...code } : code
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
])

/** All that stands before the next comma or closing bracket of its own depth. */
function parseCode({ source, all }: Tokens, start: number): Parsed<Code> {
  const open: string[] = []
  let next = start
  for (; next < all.length; next++) {
    const token = all[next]
    if (token === undefined || (open.length === 0 && isEnd(token))) break
    if (token.kind !== 'sign') continue
    const closing = CLOSING.get(token.text)
    if (closing !== undefined) open.push(closing)
    else if (token.text === open.at(-1)) open.pop()
  }
  const text = source.slice(all[start]?.start ?? 0, all[next - 1]?.end ?? 0)
  return { value: { kind: 'code', text }, next }
}

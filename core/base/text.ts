import { hash } from 'node:crypto'

/** V8 stores a string with one byte per character, or two if any character is beyond Latin-1. */
const WIDE = /[\u0100-\uffff]/

const bytesPerCharacter = (text: string): number => (WIDE.test(text) ? 2 : 1)

/** Bytes of memory that the characters of a text take. */
export const memoryBytes = (text: string): number => text.length * bytesPerCharacter(text)

/**
 * A flat copy. V8 keeps the whole parent of a substring alive, and all parts of a concatenation; a copy releases them.
 */
export function detachString(text: string): string {
  const encoding = bytesPerCharacter(text) === 1 ? 'latin1' : 'utf16le'
  return Buffer.from(text, encoding).toString(encoding)
}

/** The value of a JSON text; undefined: it is none. */
export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `1 role`, `2 roles`. */
export const withNoun = (number: number, noun: string): string =>
  `${number} ${noun}${number === 1 ? '' : 's'}`

/** `a`, `b`: a list of names in a message. */
export const ticked = (words: readonly unknown[]): string => words.map(word => `\`${word}\``).join(', ')

/** The message of an error with those of its causes: `fetch failed` alone says nothing. */
export function messageWithCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { message } = error
  const cause: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  if (!(cause instanceof Error)) return message
  const why = messageWithCauses(cause)
  return message === '' || message === 'fetch failed' ? why : `${message}: ${why}`
}

/** A text without its middle, if it is longer than `most` characters. */
export function cutMiddle(text: string, most: number): string {
  if (text.length <= most) return text
  const half = Math.floor(most / 2)
  return `${detachString(text.slice(0, half))} … ${detachString(text.slice(-half))}`
}

/** Concatenates texts and UTF-8 buffers: to a string if all parts are strings, else to a buffer. */
export function concatTexts(parts: readonly (string | Buffer)[]): string | Buffer {
  if (parts.every(part => typeof part === 'string')) return parts.join('')
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
}

/** Removes the character from the end. A regular expression such as `/x+$/` takes quadratic time. */
export function trimEndCharacter(text: string, character: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === character) end--
  return text.slice(0, end)
}

/** Removes the character from both ends. */
export function trimCharacter(text: string, character: string): string {
  let start = 0
  while (start < text.length && text[start] === character) start++
  return trimEndCharacter(text.slice(start), character)
}

/** Removes trailing zeros of a decimal, and the point if no digit follows it: `1.50` → `1.5`, `2.0` → `2`. */
export function trimDecimal(text: string): string {
  return text.includes('.') ? trimEndCharacter(trimEndCharacter(text, '0'), '.') : text
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** For text and for attribute values between quotes. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, found => HTML_ENTITIES[found] ?? '')

/**
 * The text that `String` gives for a JSON value, also for one such as `{ "toString": 1 }`: `String` calls the function of
 * that name, which a client's object can hide, and throws.
 */
export function printJsonValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(each => (each == null ? '' : printJsonValue(each))).join()
  return typeof value === 'object' && value !== null ? '[object Object]' : String(value)
}

/** Characters of an ETag: 162 bits of the digest. */
export const TAG_LENGTH = 27

/** The strong ETag of a body, without quotes; PostgreSQL computes the same (core/documents/read/read-answer.ts). Takes about 7 µs for 10 kB. */
export const entityTag = (body: string | Buffer): string =>
  hash('sha256', body, 'base64url').slice(0, TAG_LENGTH)

/** True if the day exists: JavaScript would read `2027-02-30` as the 2nd of March. Ignores the time of day. */
export function isRealDay(text: string): boolean {
  const [day = ''] = text.split(/[T ]/)
  const moment = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(day)
}

/** True if the text is a valid date, or a valid date and time. */
export const isMoment = (text: string): boolean => isRealDay(text) && !Number.isNaN(Date.parse(text))

/** The two last characters are no marks, but normalised to some. */
const MARKS = /[\p{M}\uFF9E\uFF9F]+/gu

/** No language writes as many combining marks on a letter (UAX #15, Stream-Safe Text Format). */
export const MOST_MARKS = 30

/** Like `normalize` of texts, which sorts the combining marks of a letter in quadratic time: these are cut to thirty. */
export const normalizeText = (text: string, form: 'NFKC' | 'NFKD'): string =>
  text
    .replace(MARKS, run =>
      run.length > MOST_MARKS ? [...run.slice(0, 2 * MOST_MARKS)].slice(0, MOST_MARKS).join('') : run,
    )
    .normalize(form)

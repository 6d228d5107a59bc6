import { createReadStream } from 'node:fs'
import { didYouMean } from '../../core/base/nearest.ts'
import { isDeeperThan } from '../../core/base/plain-data.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { type Body, isBody } from '../../core/documents/values/parse-item.ts'
import type { StreamedDocument, StreamedVersion } from './stream.ts'
import { FileFault, toFileFault } from './stream-fault.ts'

const decoder = new TextDecoder('utf-8', { fatal: true })

/** Parses a line to a JSON object. Fails with a sentence. */
export function parseJsonLine(bytes: Buffer): Result<Body, string> {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes))
    if (!isBody(value)) return failed('expected a JSON object')
    return isDeeperThan(value, DEEPEST)
      ? failed(`expected at most ${DEEPEST} levels of lists and objects`)
      : ok(value)
  } catch (error) {
    if (error instanceof SyntaxError) return failed(`expected JSON: ${error.message}`)
    if (error instanceof TypeError) return failed('expected UTF-8')
    throw error
  }
}

/** Deeper than any document, and far below the limit of the call stack. */
const DEEPEST = 1_000

const DOCUMENT = ['type', 'documentId', 'key', 'versions', 'shared'] as const
const VERSION = [
  'id',
  'locale',
  'status',
  'createdAt',
  'updatedAt',
  'publishedAt',
  'sharedUpdatedAt',
  'values',
] as const
const STATUSES = ['draft', 'published'] as const

/** Validates the form of a document's line, but not its values. Fails with every fault. */
export function parseLine(bytes: Buffer): Result<StreamedDocument, string> {
  const body = parseJsonLine(bytes)
  if (!body.ok) return body
  const faults = [...faultsOf(body.value)]
  // Safe: every part was just validated.
  return faults.length === 0 ? ok(body.value as unknown as StreamedDocument) : failed(...faults)
}

function* faultsOf(body: Body): Generator<string> {
  yield* unknownKeys(body, DOCUMENT, '')
  if (typeof body.type !== 'string')
    yield '`type` is the uid of a content-type, such as `api::article.article`'
  if (typeof body.documentId !== 'string' || !DOCUMENT_ID.test(body.documentId))
    yield '`documentId` is a text of 1 to 255 characters without blanks, `/`, `?` and `#`'
  if (body.key !== undefined && !isRowId(body.key)) yield '`key` is the number of a row'
  if (!Array.isArray(body.versions) || body.versions.length === 0)
    yield '`versions` is a list of at least one version'
  else
    for (const [index, version] of body.versions.entries())
      yield* versionFaults(version, `versions[${index}]`)
  if (body.shared !== undefined) yield* sharedFaults(body.shared)
}

const DOCUMENT_ID = /^[^\s/?#\p{Cc}\p{Surrogate}]{1,255}$/u

function* versionFaults(version: unknown, at: string): Generator<string> {
  if (!isBody(version)) return yield `\`${at}\` is an object`
  yield* unknownKeys(version, VERSION, `${at}.`)
  if (version.id !== undefined && !isRowId(version.id)) yield `\`${at}.id\` is the number of a row`
  if (version.locale !== undefined && typeof version.locale !== 'string') yield `\`${at}.locale\` is a locale`
  if (version.status !== undefined && !isStatus(version.status))
    yield `\`${at}.status\` is \`draft\` or \`published\``
  for (const stamp of STAMPS)
    if (version[stamp] !== undefined && version[stamp] !== null && typeof version[stamp] !== 'string')
      yield `\`${at}.${stamp}\` is a moment, such as \`2026-01-02T03:04:05.006Z\``
  if (!isBody(version.values)) yield `\`${at}.values\` is an object of the attributes`
}

const STAMPS = [
  'createdAt',
  'updatedAt',
  'publishedAt',
  'sharedUpdatedAt',
] as const satisfies (keyof StreamedVersion)[]

function* sharedFaults(shared: unknown): Generator<string> {
  if (!isBody(shared)) return yield '`shared` is an object: `draft` and `published`'
  yield* unknownKeys(shared, STATUSES, 'shared.')
  for (const status of STATUSES)
    if (shared[status] !== undefined && !isBody(shared[status]))
      yield `\`shared.${status}\` is an object of the attributes`
}

function* unknownKeys(body: Body, known: readonly string[], at: string): Generator<string> {
  for (const key of Object.keys(body))
    if (!known.includes(key)) yield `unknown key \`${at}${key}\`${didYouMean(key, known)}`
}

const isStatus = (value: unknown): boolean => value === 'draft' || value === 'published'

/** PostgreSQL's `integer`. */
const isRowId = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 2_000_000_000

export interface StreamLine {
  /** Counts from 1. */
  readonly number: number
  readonly bytes: Buffer
}

/** The maximum size of a line in bytes. */
const LONGEST = 256 * 1024 * 1024

const NEWLINE = 0x0a

/** Reads the lines of a file. `heard` receives every byte. Empty lines are counted but not yielded. */
export async function* readLines(
  path: string,
  heard: (bytes: Buffer) => void = () => {},
): AsyncGenerator<StreamLine> {
  let number = 0
  let rest: Buffer[] = []
  let length = 0
  for await (const bytes of readBytes(path)) {
    heard(bytes)
    let start = 0
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      number += 1
      const line = joined(rest, bytes.subarray(start, end))
      if (line.length > 0) yield { number, bytes: line }
      rest = []
      length = 0
      start = end + 1
    }
    rest.push(bytes.subarray(start))
    length += bytes.length - start
    if (length > LONGEST) throw new FileFault(`${path}:${number + 1} is a line of more than ${LONGEST} bytes`)
  }
  const last = joined(rest, Buffer.alloc(0))
  if (last.length > 0) yield { number: number + 1, bytes: last }
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) yield Buffer.from(chunk)
  } catch (error) {
    throw toFileFault(error)
  }
}

function joined(rest: readonly Buffer[], end: Buffer): Buffer {
  const whole = rest.length === 0 ? end : Buffer.concat([...rest, end])
  return whole.at(-1) === 0x0d ? whole.subarray(0, -1) : whole
}

import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { didYouMean } from '../../core/base/nearest.ts'
import { isDeeperThan } from '../../core/base/plain-data.ts'
import { failed, failedFor, ok, type Result } from '../../core/base/result.ts'
import { type Body, isBody } from '../../core/documents/values/parse-item.ts'
import type { StreamedDocument, StreamedVersion } from './stream.ts'
import { FileFault, toFileFault } from './stream-fault.ts'

/** Parses a line to a JSON object. Fails with a sentence. */
export function parseJsonLine(bytes: Buffer): Result<Body, string> {
  // Several times as fast as a TextDecoder that checks the bytes itself.
  if (!isUtf8(bytes)) return failed('expected UTF-8')
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8', hasMark(bytes) ? MARK.length : 0))
    if (!isBody(value)) return failed('expected a JSON object')
    return isDeeperThan(value, DEEPEST)
      ? failed(`expected at most ${DEEPEST} levels of lists and objects`)
      : ok(value)
  } catch (error) {
    if (error instanceof SyntaxError) return failed(`expected JSON: ${error.message}`)
    throw error
  }
}

/** The byte order mark of UTF-8, with which some programs begin a file. */
const MARK = Buffer.from('\ufeff')

const hasMark = (bytes: Buffer): boolean =>
  bytes[0] === MARK[0] && bytes.subarray(0, MARK.length).equals(MARK)

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
  const faults = faultsOf(body.value)
  // Safe: every part was just validated.
  return faults.length === 0 ? ok(body.value as unknown as StreamedDocument) : failedFor(faults)
}

/** Lists instead of generators: this runs for each line, three times. */
function faultsOf(body: Body): readonly string[] {
  const faults: string[] = []
  addUnknownKeys(body, DOCUMENT, '', faults)
  if (typeof body.type !== 'string')
    faults.push('`type` is the uid of a content-type, such as `api::article.article`')
  if (typeof body.documentId !== 'string' || !DOCUMENT_ID.test(body.documentId))
    faults.push('`documentId` is a text of 1 to 255 characters without blanks, `/`, `?` and `#`')
  if (body.key !== undefined && !isRowId(body.key)) faults.push(`\`key\` is ${ROW_ID}`)
  if (!Array.isArray(body.versions) || body.versions.length === 0)
    faults.push('`versions` is a list of at least one version')
  else
    for (const [index, version] of body.versions.entries())
      addVersionFaults(version, `versions[${index}]`, faults)
  if (body.shared !== undefined) addSharedFaults(body.shared, faults)
  return faults
}

const DOCUMENT_ID = /^[^\s/?#\p{Cc}\p{Surrogate}]{1,255}$/u

function addVersionFaults(version: unknown, at: string, faults: string[]): void {
  if (!isBody(version)) return void faults.push(`\`${at}\` is an object`)
  addUnknownKeys(version, VERSION, `${at}.`, faults)
  if (version.id !== undefined && !isRowId(version.id)) faults.push(`\`${at}.id\` is ${ROW_ID}`)
  if (version.locale !== undefined && typeof version.locale !== 'string')
    faults.push(`\`${at}.locale\` is a locale`)
  if (version.status !== undefined && !isStatus(version.status))
    faults.push(`\`${at}.status\` is \`draft\` or \`published\``)
  for (const stamp of STAMPS)
    if (version[stamp] !== undefined && version[stamp] !== null && typeof version[stamp] !== 'string')
      faults.push(`\`${at}.${stamp}\` is a moment, such as \`2026-01-02T03:04:05.006Z\``)
  if (!isBody(version.values)) faults.push(`\`${at}.values\` is an object of the attributes`)
}

const STAMPS = [
  'createdAt',
  'updatedAt',
  'publishedAt',
  'sharedUpdatedAt',
] as const satisfies (keyof StreamedVersion)[]

function addSharedFaults(shared: unknown, faults: string[]): void {
  if (!isBody(shared)) return void faults.push('`shared` is an object: `draft` and `published`')
  addUnknownKeys(shared, STATUSES, 'shared.', faults)
  for (const status of STATUSES)
    if (shared[status] !== undefined && !isBody(shared[status]))
      faults.push(`\`shared.${status}\` is an object of the attributes`)
}

function addUnknownKeys(body: Body, known: readonly string[], at: string, faults: string[]): void {
  for (const key of Object.keys(body))
    if (!known.includes(key)) faults.push(`unknown key \`${at}${key}\`${didYouMean(key, known)}`)
}

const isStatus = (value: unknown): boolean => value === 'draft' || value === 'published'

/** PostgreSQL's `integer`, with room for the rows that come after an import. */
const LAST_ROW_ID = 2_000_000_000

const ROW_ID = `the number of a row, from 1 to ${LAST_ROW_ID}`

const isRowId = (value: unknown): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= LAST_ROW_ID

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

import { type RequestContext, recordCacheOutcome } from '../../base/request-context.ts'
import type { BodyOrText, ReadResult } from '../../cache/answer-store.ts'
import type { AnswerCache, ReadRunOptions } from '../../cache/open-cache.ts'
import type { Database } from '../../database/database.ts'
import { toDatabaseFault } from '../../database/database-fault.ts'
import { type Fault, fault, RequestFault } from '../../faults/fault.ts'
import type { Storage } from '../../model/storage.ts'
import { type PlanOptions, planAcross } from '../../plan/plan-query.ts'
import type { AnswerShape } from '../../plan/row.ts'
import { describeQuery } from '../../query/print-query.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import { printSelect } from '../../sql/print.ts'
import { bind } from '../../sql/statement.ts'
import type { DocumentReads, ReadOptions } from '../documents.ts'
import { toCacheableRead, toStatement } from './plan-once.ts'

export interface ReaderOptions {
  readonly database: Pick<Database, 'run'>
  readonly storage: Storage
  readonly defaultLocale: string
  /** Absent or null: nothing is kept. */
  readonly cache?: AnswerCache | null
  /** The most bytes of documents that one request may be answered with; absent or 0: any number. */
  readonly maxBytes?: number
}

/** The reading half of the document service: query → plan → statement → row. */
export function openReads({
  database,
  storage,
  defaultLocale,
  cache,
  maxBytes = 0,
}: ReaderOptions): DocumentReads {
  const bounds = openBounds(maxBytes)
  const planning = (shape: AnswerShape) =>
    maxBytes > 0 ? { storage, defaultLocale, shape, maxBytes } : { storage, defaultLocale, shape }
  const run = (query: RestrictedQuery, options?: ReadOptions): ReadRunOptions => ({
    readonly: true,
    purpose: { requestContext: options?.requestContext, describe: () => describeQuery(query) },
    maxBytes: bounds.left(options?.requestContext),
    ...(options?.signal && { signal: options.signal }),
  })
  const find = async (
    query: RestrictedQuery,
    shape: AnswerShape,
    options?: ReadOptions,
  ): Promise<ReadResult> => {
    const statement = toStatement(query, planning(shape), options?.documentId)
    try {
      const { rows } = await database.run(statement, run(query, options))
      const [text, total] = rows[0] ?? []
      return {
        text: typeof text === 'string' ? bounds.count(text, options?.requestContext) : null,
        total: total === undefined || total === null ? null : Number(total),
      }
    } catch (error) {
      return bounds.refuse(error)
    }
  }
  const findBody: DocumentReads['findBody'] = async ({ query, shape, formatKey, print }, options) => {
    if (!cache) {
      recordCacheOutcome(options?.requestContext, 'off')
      return print(await find(query, shape, options))
    }
    const reading = toCacheableRead(query, planning(shape), options?.documentId)
    const terms = { formatKey, print, run: run(query, options), prefetch: options?.prefetch }
    const found = await cache.find(reading, terms).catch(bounds.refuse)
    return found === null ? null : bounds.count(found, options?.requestContext)
  }
  return {
    findAcross: openFindAcross({ database, bounds, planning, run }),
    async findOne(query, shape, options) {
      const { text } = await find(query, shape, options)
      return text
    },
    async findMany(query, shape, options) {
      const { text, total } = await find(query, shape, options)
      return { text: text ?? '[]', total }
    },
    findBody,
    findRows: openFindRows(findBody),
  }
}

const openFindRows =
  (findBody: DocumentReads['findBody']): DocumentReads['findRows'] =>
  async (query, shape, options) => {
    // What this request read itself need not be parsed again.
    let read: ReadResult | undefined
    const print = (found: ReadResult): string => {
      read = found
      return printRows(found)
    }
    const found = await findBody({ query, shape, formatKey: 'rows', print }, options)
    return read ?? parseRows(found)
  }

/** `25\n[{…}]`: the total and the JSON of the rows, each empty where there is none. */
const printRows = ({ text, total }: ReadResult): string => `${total ?? ''}\n${text ?? ''}`

function parseRows(found: BodyOrText | null): ReadResult {
  const printed = typeof found === 'string' ? found : (found?.bytes.toString() ?? '\n')
  const end = printed.indexOf('\n')
  const text = printed.slice(end + 1)
  return { text: text === '' ? null : text, total: end === 0 ? null : Number(printed.slice(0, end)) }
}

interface AcrossOptions {
  readonly database: ReaderOptions['database']
  readonly bounds: AnswerBounds
  planning(shape: AnswerShape): PlanOptions
  run(query: RestrictedQuery, options?: ReadOptions): ReadRunOptions
}

/** Lists of several content-types in one statement. */
const openFindAcross =
  ({ database, bounds, planning, run }: AcrossOptions): DocumentReads['findAcross'] =>
  async (queries, limit, options) => {
    const [first] = queries
    if (!first) return '[]'
    const statement = bind(printSelect(planAcross(queries, limit, planning('flat'))), [])
    try {
      const { rows } = await database.run(statement, run(first, options))
      return bounds.count(String(rows[0]?.[0] ?? '[]'), options?.requestContext)
    } catch (error) {
      return bounds.refuse(error)
    }
  }

/** Bounds the documents that one request is answered with, however many reads it makes. */
interface AnswerBounds {
  /** How many bytes the next read of the request may have. */
  left(requestContext: RequestContext | undefined): number
  /** Counts what was read for the request, and returns it. Cached responses count, too. */
  count<Found extends BodyOrText>(found: Found, requestContext: RequestContext | undefined): Found
  /** An answer that is too large is the request's fault; all else stays what it is. */
  refuse(error: unknown): never
}

/** 0: there is no limit. */
function openBounds(maxBytes: number): AnswerBounds {
  const most = maxBytes === 0 ? Number.POSITIVE_INFINITY : maxBytes
  const tooLarge = (path: readonly string[]) => new RequestFault(answerTooLarge(most, path))
  return {
    left: requestContext => Math.max(0, most - (requestContext?.origin?.bytesRead ?? 0)),
    count(found, requestContext) {
      if (!requestContext?.origin) return found
      requestContext.origin.bytesRead += typeof found === 'string' ? found.length : found.bytes.length
      if (requestContext.origin.bytesRead > most) throw tooLarge([])
      return found
    },
    refuse(error) {
      const found = toDatabaseFault(error)
      if (found?.kind !== 'too-large') throw error
      const { seen } = found
      const path = 'path' in seen ? seen.path : largestPart(seen.sample)
      throw tooLarge(path.filter(key => !WRAPPERS.has(key)))
    },
  }
}

/** `path`: the largest part of the answer; empty: unknown. */
export const answerTooLarge = (most: number, path: readonly string[]): Fault =>
  fault(
    'validation',
    `Too much was asked for: the answer has more than the ${most} bytes that database.limits.bytes in project.yaml allows; ${adviceOn(path)}`,
    { path, maxBytes: most },
  )

/** Keys that wrap documents in the formats that nest them. */
const WRAPPERS: ReadonlySet<string> = new Set(['data', 'attributes', 'nodes'])

const adviceOn = (path: readonly string[]): string =>
  path.length === 0
    ? 'ask for smaller pages (pagination[pageSize]), or for fewer fields'
    : `most of it is \`${path.join('.')}\`: populate that with fewer fields or with a filter, or read these documents from their own list, filtered by what they belong to and in pages (pagination[page], pagination[pageSize])`

/** A part of JSON text: an object's key, whichever objects of a list it is in. */
interface Part {
  bytes: number
  readonly parts: Map<string, Part>
}

/** An object or a list that has not ended. */
interface Open {
  readonly part: Part
  readonly isObject: boolean
  readonly begin: number
}

/**
 * The keys that lead to what takes most of a JSON text, as far as one key takes more than half of what is around it.
 * The text may be cut off, and may have other bytes before it.
 */
function largestPart(text: string): readonly string[] {
  const path: string[] = []
  for (let part = measure(text), next = largestIn(part); next; next = largestIn(part)) {
    path.push(next.key)
    part = next.part
  }
  return path
}

function largestIn({ bytes, parts }: Part): { readonly key: string; readonly part: Part } | undefined {
  for (const [key, part] of parts) if (part.bytes > bytes / 2) return { key, part }
  return undefined
}

const newPart = (): Part => ({ bytes: 0, parts: new Map() })

/** Reads the text once. It does not distinguish values that are neither objects nor lists. */
function measure(text: string): Part {
  const root = newPart()
  const open: Open[] = []
  let key = ''
  const close = (at: number) => {
    const ended = open.pop()
    if (ended && ended.part !== open.at(-1)?.part) ended.part.bytes += at - ended.begin
  }
  for (let at = Math.max(0, text.indexOf('{"')); at < text.length; at++) {
    const sign = text[at]
    if (sign === '"') {
      const end = endOfString(text, at)
      if (text[end] === ':') key = text.slice(at + 1, end - 1)
      at = end - 1
    } else if (sign === '{' || sign === '[') {
      const around = open.at(-1)
      open.push({
        part: around?.isObject ? partOf(around.part, key) : (around?.part ?? root),
        isObject: sign === '{',
        begin: at,
      })
    } else if (sign === '}' || sign === ']') close(at)
  }
  while (open.length > 0) close(text.length)
  return root
}

function partOf({ parts }: Part, key: string): Part {
  const part = parts.get(key) ?? newPart()
  parts.set(key, part)
  return part
}

/** The place behind the closing quotation mark. */
function endOfString(text: string, begin: number): number {
  let at = begin + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

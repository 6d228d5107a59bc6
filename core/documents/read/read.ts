import { recordCacheOutcome } from '../../base/request-context.ts'
import type { ReadResult } from '../../cache/answer-store.ts'
import type { AnswerCache, ReadRunOptions } from '../../cache/open-cache.ts'
import type { Database } from '../../database/database.ts'
import type { Storage } from '../../model/storage.ts'
import type { AnswerShape } from '../../plan/row.ts'
import { describeQuery } from '../../query/print-query.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import type { DocumentReads, ReadOptions } from '../documents.ts'
import { openBounds } from './answer-bounds.ts'
import { toCacheableRead } from './to-cacheable-read.ts'
import { toStatement } from './to-statement.ts'

export interface ReadTerms {
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
}: ReadTerms): DocumentReads {
  const bounds = openBounds(maxBytes)
  const planning = (shape: AnswerShape) =>
    maxBytes > 0 ? { storage, defaultLocale, shape, maxBytes } : { storage, defaultLocale, shape }
  const run = (query: RestrictedQuery, options?: ReadOptions): ReadRunOptions => ({
    readonly: true,
    purpose: { trail: options?.trail, describe: () => describeQuery(query) },
    maxBytes: bounds.left(options?.trail),
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
        text: typeof text === 'string' ? bounds.count(text, options?.trail) : null,
        total: total === undefined || total === null ? null : Number(total),
      }
    } catch (error) {
      return bounds.refuse(error)
    }
  }
  return {
    async findOne(query, shape, options) {
      const { text } = await find(query, shape, options)
      return text
    },
    async findMany(query, shape, options) {
      const { text, total } = await find(query, shape, options)
      return { text: text ?? '[]', total }
    },
    async findBody({ query, shape, formatKey, print }, options) {
      if (!cache) {
        recordCacheOutcome(options?.trail, 'off')
        return print(await find(query, shape, options))
      }
      const reading = toCacheableRead(query, planning(shape), options?.documentId)
      const terms = { formatKey, print, run: run(query, options), prefetch: options?.ahead }
      const found = await cache.find(reading, terms).catch(bounds.refuse)
      return found === null ? null : bounds.count(found, options?.trail)
    },
  }
}

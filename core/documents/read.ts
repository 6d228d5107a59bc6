import { noteCache } from '../base/trail.ts'
import type { AnswerCache, ReadRun } from '../cache/open-cache.ts'
import type { Found } from '../cache/reading.ts'
import type { Database, Rows } from '../database/database.ts'
import type { Storage } from '../model/storage.ts'
import type { Shape } from '../plan/row.ts'
import { describeQuery } from '../query/describe-query.ts'
import type { RestrictedQuery } from '../query/query.ts'
import type { DocumentReads, ReadOptions } from './documents.ts'
import { toReading } from './to-reading.ts'
import { toStatement } from './to-statement.ts'

export interface ReadTerms {
  readonly database: Pick<Database, 'run'>
  readonly storage: Storage
  readonly defaultLocale: string
  /** Absent or null: nothing is kept. */
  readonly cache?: AnswerCache | null
}

/** The reading half of the document service: query → plan → statement → row. */
export function openReads({ database, storage, defaultLocale, cache }: ReadTerms): DocumentReads {
  const read = (query: RestrictedQuery, shape: Shape, options?: ReadOptions): Promise<Rows> => {
    const statement = toStatement(query, { storage, defaultLocale, shape }, options?.documentId)
    return database.run(statement, runOptions(query, options))
  }
  const find = async (query: RestrictedQuery, shape: Shape, options?: ReadOptions): Promise<Found> => {
    const { rows } = await read(query, shape, options)
    const [text, total] = rows[0] ?? []
    return {
      text: typeof text === 'string' ? text : null,
      total: total === undefined || total === null ? null : Number(total),
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
    async findBody({ query, shape, form, print }, options) {
      if (!cache) {
        noteCache(options?.trail, 'off')
        return print(await find(query, shape, options))
      }
      const reading = toReading(query, { storage, defaultLocale, shape }, options?.documentId)
      return cache.find(reading, { form, print, run: runOptions(query, options), ahead: options?.ahead })
    },
  }
}

const runOptions = (query: RestrictedQuery, options?: ReadOptions): ReadRun => ({
  readonly: true,
  purpose: { trail: options?.trail, describe: () => describeQuery(query) },
  ...(options?.signal && { signal: options.signal }),
})

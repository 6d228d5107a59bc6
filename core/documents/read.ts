import type { Database, Rows } from '../database/database.ts'
import type { Storage } from '../model/storage.ts'
import type { Shape } from '../plan/row.ts'
import { describeQuery } from '../query/describe-query.ts'
import type { RestrictedQuery } from '../query/query.ts'
import type { DocumentReads, ReadOptions } from './documents.ts'
import { toStatement } from './to-statement.ts'

export interface ReadTerms {
  readonly database: Pick<Database, 'run'>
  readonly storage: Storage
  readonly defaultLocale: string
}

/** The reading half of the document service: query → plan → statement → row. */
export function openReads({ database, storage, defaultLocale }: ReadTerms): DocumentReads {
  const read = (query: RestrictedQuery, shape: Shape, options?: ReadOptions): Promise<Rows> =>
    database.run(toStatement(query, { storage, defaultLocale, shape }), {
      readonly: true,
      purpose: { trail: options?.trail, describe: () => describeQuery(query) },
      ...(options?.signal && { signal: options.signal }),
    })
  return {
    async findOne(query, shape, options) {
      const { rows } = await read(query, shape, options)
      const text = rows[0]?.[0]
      return typeof text === 'string' ? text : null
    },
    async findMany(query, shape, options) {
      const { rows } = await read(query, shape, options)
      const [text, total] = rows[0] ?? []
      return {
        text: typeof text === 'string' ? text : '[]',
        total: total === undefined || total === null ? null : Number(total),
      }
    },
  }
}

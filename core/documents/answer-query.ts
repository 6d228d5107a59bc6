import type { Stored } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { toLoneStatement } from './read/plan-once.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import type { ReturningQuery } from './sql/print-changes.ts'

/** The answer as a query on the written rows. undefined: it needs other tables or lists. */
export function returningQueryOf(
  { query, shape }: Answer,
  documentId: string,
  { storage, defaultLocale }: Pick<WriteTerms, 'storage' | 'defaultLocale'>,
): ReturningQuery | undefined {
  const lone = toLoneStatement(query, { storage, defaultLocale, shape }, documentId)
  return lone?.values.every(isStored)
    ? { table: lone.table, text: lone.text, values: lone.values }
    : undefined
}

const isStored = (value: unknown): value is Stored =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

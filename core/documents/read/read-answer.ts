import type { Database } from '../../database/database.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { Precondition } from '../../query/command.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Answer } from '../documents.ts'
import { openReads, type ReaderOptions } from './read.ts'

export interface AnswerOptions extends Omit<ReaderOptions, 'database'> {
  readonly transaction: Pick<Database, 'run'>
}

/** The document as the caller sees it, read in the transaction. */
export function readAnswer(
  { query, shape }: Answer,
  documentId: string,
  options: AnswerOptions,
): Promise<string | null> {
  const run: Database['run'] = statement => options.transaction.run(keepingPlan(statement))
  const reads = openReads({ ...options, database: { run } })
  return reads.findOne(query, shape, { documentId })
}

const keepingPlan = (statement: Statement): Statement =>
  statement.values.some(Array.isArray) ? statement : { ...statement, keepsPlan: true }

/** Refuses (412) where there is none of the answers that the caller has seen any more (RFC 9110, 13.1.1). */
export async function assertUnchanged(
  precondition: Precondition | null,
  answers: readonly Answer[],
  documentId: string | null,
  options: AnswerOptions,
): Promise<void> {
  if (precondition === null) return
  if (documentId === null) throw new RequestFault(fault('preconditionFailed', ABSENT))
  const { tags } = precondition
  if (tags.includes('*')) return
  const seen = await Promise.all(
    answers.map(async answer => {
      const text = await readAnswer(answer, documentId, options)
      return text !== null && answer.tagOf && tags.includes(answer.tagOf(text))
    }),
  )
  if (!seen.includes(true)) throw new RequestFault(fault('preconditionFailed', CHANGED))
}

const ABSENT = 'If-Match is not met: there is no such document'
const CHANGED = 'If-Match is not met: the document has changed since, or was seen under other parameters'

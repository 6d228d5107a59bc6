import type { Database } from '../database/database.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { Precondition } from '../query/command.ts'
import type { Answer } from './documents.ts'
import { openReads, type ReadTerms } from './read.ts'

export interface AnswerTerms extends Omit<ReadTerms, 'database'> {
  readonly transaction: Pick<Database, 'run'>
}

/** What the caller gets to see of a document, as the transaction has it now. */
export function readAnswer(
  { query, shape }: Answer,
  documentId: string,
  terms: AnswerTerms,
): Promise<string | null> {
  const reads = openReads({ ...terms, database: terms.transaction })
  return reads.findOne({ ...query, take: { kind: 'one', documentId } }, shape)
}

/** Refuses (412) where the caller has seen another answer than there is now (RFC 9110, 13.1.1). */
export async function assertUnchanged(
  precondition: Precondition | null,
  answer: Answer | null,
  documentId: string | null,
  terms: AnswerTerms,
): Promise<void> {
  if (precondition === null) return
  const { tags } = precondition
  if (documentId !== null && tags.includes('*')) return
  const text = documentId === null || !answer ? null : await readAnswer(answer, documentId, terms)
  if (text !== null && answer?.tagOf && tags.includes(answer.tagOf(text))) return
  throw new RequestFault(fault('preconditionFailed', 'The document has changed'))
}

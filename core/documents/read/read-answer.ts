import { entityTag, TAG_LENGTH } from '../../base/text.ts'
import type { Database } from '../../database/database.ts'
import { fault, RequestFault } from '../../faults/fault.ts'
import type { Precondition } from '../../query/command.ts'
import { moveParameters, type Statement } from '../../sql/statement.ts'
import { isStored } from '../desired-state.ts'
import type { Answer, TaggedBody } from '../documents.ts'
import { type Assertion, combineAssertions } from '../sql/print-changes.ts'
import { toStatement } from './plan-once.ts'
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
      return text !== null && answer.body && tags.includes(tagOf(answer.body, text))
    }),
  )
  if (!seen.includes(true)) throw new RequestFault(fault('preconditionFailed', CHANGED))
}

const tagOf = ({ before, after }: TaggedBody, text: string): string => entityTag(before + text + after)

/** True if a statement can check the precondition. */
export const canAssertUnchanged = (precondition: Precondition | null, answers: readonly Answer[]): boolean =>
  precondition === null ||
  precondition.tags.includes('*') ||
  (precondition.tags.length <= MOST_TAGS && answers.some(({ body }) => body !== undefined))

/** Each number of tags is a statement of its own, of which PostgreSQL keeps the plan. */
const MOST_TAGS = 4

/** The precondition of a document that is known to be there, as `assertUnchanged` checks it; undefined: nothing to check. */
export function assertionOfUnchanged(
  precondition: Precondition | null,
  answers: readonly Answer[],
  documentId: string,
  options: Pick<ReaderOptions, 'storage' | 'defaultLocale'>,
): Assertion | undefined {
  if (precondition === null || precondition.tags.includes('*')) return undefined
  const all = answers.flatMap(answer => tagAssertionOf(answer, { documentId, ...precondition }, options))
  return all.length > 1 ? combineAssertions(all, 'OR') : all[0]
}

function tagAssertionOf(
  { query, shape, body }: Answer,
  { documentId, tags }: Precondition & { readonly documentId: string },
  { storage, defaultLocale }: Pick<ReaderOptions, 'storage' | 'defaultLocale'>,
): readonly Assertion[] {
  if (!body) return []
  const { text, values } = toStatement(query, { storage, defaultLocale, shape }, documentId)
  const isShort = values.every(isStored)
  const all = [...values, body.before, body.after, ...tags]
  return [
    {
      form: isShort ? `${tags.length} ${text}` : null,
      values: isShort ? all.filter(isStored) : [],
      print(own, into) {
        const moved = moveParameters(text, into.length)
        into.push(...(isShort ? own : all))
        const place = into.length - tags.length
        const input = tags.map((_, index) => `$${place + index + 1}::text`)
        const bytes = `convert_to($${place - 1}::text || answer::text || $${place}::text, 'UTF8')`
        const tag = `left(translate(encode(sha256(${bytes}), 'base64'), '+/', '-_'), ${TAG_LENGTH})`
        return `EXISTS (SELECT FROM (${moved}) AS seen (answer) WHERE ${tag} IN (${input.join(', ')}))`
      },
    },
  ]
}

const ABSENT = 'If-Match is not met: there is no such document'
const CHANGED = 'If-Match is not met: the document has changed since, or was seen under other parameters'

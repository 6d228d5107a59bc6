import { unmetCondition } from '../access/denial.ts'
import { ignoreUnhandled } from '../base/with-timeout.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { DeleteCommand, PermittedCommand } from '../query/command.ts'
import type { Filter } from '../query/query.ts'
import { attributesWithParts } from './change-status.ts'
import type { Answer } from './documents.ts'
import { unlinkStatements } from './links/links-to.ts'
import { originOf, type RecordChange } from './outbox.ts'
import { openPrefetch } from './prefetch.ts'
import {
  choiceOf,
  countMatching,
  findSingle,
  isVisible,
  mayRevealExistence,
  visibleLocales,
  writtenStatus,
} from './read/matching.ts'
import { assertUnchanged, readAnswer } from './read/read-answer.ts'
import { removeVersions } from './rows/remove-versions.ts'
import { loadDocument } from './rows/write-load.ts'
import type { LockingTerms, WriteTerms } from './rows/write-terms.ts'
import { type CurrentRow, numberIn } from './sql/write-rows.ts'

export interface DeleteTerms extends LockingTerms {
  readonly model: Model
  readonly tell: RecordChange
}

export interface DeleteAnswers {
  /** Answers whose tags a precondition may name. */
  readonly seen: readonly Answer[]
  /** How the document is answered as it was; null: not at all. */
  readonly answer: Answer | null
}

type Deletion = PermittedCommand<DeleteCommand>

/** Removes a locale's versions, or all (reference/rest.md); with the last, every link to the document. */
export async function deleteDocument(
  command: Deletion,
  { seen, answer }: DeleteAnswers,
  terms: DeleteTerms,
): Promise<string | null> {
  const { type, precondition } = command
  const documentId = command.documentId ?? (await findSingle(type, terms))
  if (documentId === null) {
    await assertUnchanged(precondition, seen, null, terms)
    return null
  }
  const { prefetch, cached } = openPrefetch(terms.transaction)
  const loading = loadDocument(
    { type, documentId },
    { attributes: attributesWithParts(type), allRows: true },
    terms,
  )
  prefetchDelete(command, documentId, { seen, answer }, { ...terms, transaction: prefetch })
  const asking = { ...terms, transaction: cached }
  const current = await loading
  const rows = current.rows(type, documentId)
  // Before every other check: its outcome would reveal something of a document that the caller must not know.
  const gone = await deletable({ command, documentId, rows }, asking)
  await assertUnchanged(precondition, seen, gone.length === 0 ? null : documentId, asking)
  if (gone.length === 0) return null
  const text = answer && (await readAnswer(answer, documentId, asking))
  await removeVersions({ type, documentId, gone, current }, terms)
  removeLinks(command, { gone, left: rows.length - gone.length }, terms)
  const locales = new Set(gone.map(row => (type.localized ? String(row.get('locale')) : null)))
  const changes = [...locales].map(each => ({ locale: each, action: 'delete' }) as const)
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return text
}

/** All that is asked of it, behind its lock and in the same round trip. */
function prefetchDelete(
  command: Deletion,
  documentId: string,
  { seen, answer }: DeleteAnswers,
  terms: WriteTerms,
) {
  const { before } = command.conditions
  ignoreUnhandled(visibleLocales({ ...command, documentId }, terms))
  if (before) ignoreUnhandled(countMatching(matchOf(command, documentId, before), terms))
  ignoreUnhandled(assertUnchanged(command.precondition, seen, documentId, terms))
  if (answer) ignoreUnhandled(readAnswer(answer, documentId, terms))
}

/** Links to a document go with its last version; before, only those that name the locale that goes (reference/documents.md#16-deleting). */
function removeLinks(
  { type, locale }: Deletion,
  { gone, left }: { readonly gone: readonly CurrentRow[]; readonly left: number },
  terms: DeleteTerms,
): void {
  const [first] = gone
  if (!first) return
  const end = {
    type,
    key: numberIn(first, terms.storage.table(type).key),
    locale: left === 0 ? null : locale,
  }
  for (const statement of unlinkStatements(end, terms.model, terms.storage)) terms.transaction.send(statement)
}

const isSelected = ({ type, locale }: Deletion, row: CurrentRow): boolean =>
  !type.localized || locale === null || row.get('locale') === locale

const matchOf = ({ type, locale }: Deletion, documentId: string, filter: Filter) => ({
  type,
  documentIds: [documentId],
  locale: choiceOf(type, locale),
  filter,
})

interface SelectedRows {
  readonly command: Deletion
  readonly documentId: string
  readonly rows: readonly CurrentRow[]
}

/** The rows to delete; none where the document is hidden from the caller, as where there is none. Refuses (403) the rest. */
async function deletable(
  { command, documentId, rows }: SelectedRows,
  terms: WriteTerms,
): Promise<readonly CurrentRow[]> {
  const { type, conditions } = command
  const gone = rows.filter(row => isSelected(command, row))
  if (gone.length === 0 || !(await isVisible({ ...command, documentId }, rows, terms))) return []
  if (!conditions.before) return gone
  const standing = gone.filter(row => !type.draftAndPublish || row.get('status') === writtenStatus(type))
  const meant = await countMatching(matchOf(command, documentId, conditions.before), terms)
  if (meant >= standing.length) return gone
  if (mayRevealExistence(conditions)) throw new RequestFault(forbidden(unmetCondition(type, 'before')))
  return []
}

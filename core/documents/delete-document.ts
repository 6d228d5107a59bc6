import type { Model } from '../model/model.ts'
import type { DeleteCommand, PermittedCommand } from '../query/command.ts'
import type { Answer } from './documents.ts'
import { findSingle } from './find-single.ts'
import { unlinkStatements } from './links-to.ts'
import { assertMeets, choiceOf, standingStatus } from './matching.ts'
import { originOf, type Tell } from './outbox.ts'
import { assertUnchanged, readAnswer } from './read-answer.ts'
import { removeVersions } from './remove-versions.ts'
import { componentsOf, loadDocument } from './write-load.ts'
import { type CurrentRow, numberIn } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'

export interface DeleteTerms extends WriteTerms {
  readonly model: Model
  readonly tell: Tell
}

export interface DeleteAnswers {
  /** Those whose tags a precondition may name. */
  readonly seen: readonly Answer[]
  /** How the document is answered as it was; null: not at all. */
  readonly answer: Answer | null
}

type Deletion = PermittedCommand<DeleteCommand>

/** Removes a locale's versions, or all (contract/rest.md 10 to 12); with the last, every link to the document. */
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
  const parts = [...type.attributes.values()].filter(each => componentsOf(each).length > 0)
  const current = await loadDocument({ type, documentId }, { attributes: parts }, terms)
  const rows = current.rows(type, documentId)
  const gone = rows.filter(row => isMeant(command, row))
  // First of all: whether a tag is that of a document out of sight would tell what stands in it.
  await assertDeletable(command, documentId, gone, terms)
  await assertUnchanged(precondition, seen, gone.length === 0 ? null : documentId, terms)
  if (gone.length === 0) return null
  const text = answer && (await readAnswer(answer, documentId, terms))
  await removeVersions({ type, documentId, gone, current }, terms)
  await removeLinks(command, { gone, left: rows.length - gone.length }, terms)
  const locales = new Set(gone.map(row => (type.localized ? String(row.get('locale')) : null)))
  const changes = [...locales].map(each => ({ locale: each, action: 'delete' }) as const)
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return text
}

/** Links to a document go with its last version; before, only those that name the locale that goes (documents.md 16). */
async function removeLinks(
  { type, locale }: Deletion,
  { gone, left }: { readonly gone: readonly CurrentRow[]; readonly left: number },
  terms: DeleteTerms,
): Promise<void> {
  const [first] = gone
  if (!first) return
  const end = {
    type,
    key: numberIn(first, terms.storage.table(type).key),
    locale: left === 0 ? null : locale,
  }
  for (const statement of unlinkStatements(end, terms.model, terms.storage))
    await terms.transaction.run(statement)
}

const isMeant = ({ type, locale }: Deletion, row: CurrentRow): boolean =>
  !type.localized || locale === null || row.get('locale') === locale

async function assertDeletable(
  { type, locale, conditions }: Deletion,
  documentId: string,
  gone: readonly CurrentRow[],
  terms: WriteTerms,
): Promise<void> {
  const filter = conditions.before
  if (!filter) return
  const standing = gone.filter(row => !type.draftAndPublish || row.get('status') === standingStatus(type))
  const match = { type, documentIds: [documentId], locale: choiceOf(type, locale), filter }
  await assertMeets(match, standing.length, terms)
}

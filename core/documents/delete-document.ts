import type { Model } from '../model/model.ts'
import type { DeleteCommand, PermittedCommand } from '../query/command.ts'
import type { Answer } from './documents.ts'
import { findSingle } from './find-single.ts'
import { unlinkStatements } from './links-to.ts'
import { assertMeets, choiceOf, standingStatus } from './matching.ts'
import type { Tell } from './outbox.ts'
import { assertUnchanged } from './read-answer.ts'
import { removeVersions } from './remove-versions.ts'
import { componentsOf, loadDocument } from './write-load.ts'
import { type CurrentRow, numberIn } from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'

export interface DeleteTerms extends WriteTerms {
  readonly model: Model
  readonly tell: Tell
}

type Deletion = PermittedCommand<DeleteCommand>

/** Removes a locale's versions, or all (contract/rest.md 10 to 12); with the last, every link to the document. */
export async function deleteDocument(
  command: Deletion,
  seen: readonly Answer[],
  terms: DeleteTerms,
): Promise<null> {
  const { type, precondition } = command
  const documentId = command.documentId ?? (await findSingle(type, terms))
  if (documentId === null) {
    await assertUnchanged(precondition, seen, null, terms)
    return null
  }
  const current = await loadDocument(
    { type, documentId },
    () => [...type.attributes.values()].filter(holds),
    terms,
  )
  const rows = current.rows(type, documentId)
  const gone = rows.filter(row => isMeant(command, row))
  // First of all: whether a tag is that of a document out of sight would tell what stands in it.
  await assertDeletable(command, documentId, gone, terms)
  await assertUnchanged(precondition, seen, gone.length === 0 ? null : documentId, terms)
  const [first] = gone
  if (!first) return null
  await removeVersions({ type, documentId, gone, current }, terms)
  const key = numberIn(first, terms.storage.table(type).key)
  const locale = gone.length === rows.length ? null : command.locale
  for (const statement of unlinkStatements({ type, key, locale }, terms.model, terms.storage))
    await terms.transaction.run(statement)
  const locales = new Set(gone.map(row => (type.localized ? String(row.get('locale')) : null)))
  const changes = [...locales].map(each => ({ locale: each, action: 'delete' }) as const)
  await terms.tell({ type, documentId, changes })
  return null
}

const holds = (attribute: Parameters<typeof componentsOf>[0]): boolean => componentsOf(attribute).length > 0

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

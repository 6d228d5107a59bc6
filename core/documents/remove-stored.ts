import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { DeleteCommand, PermittedCommand, StatusCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import { quoteIdentifier as ident, quoteText } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { attributesWithParts, type StatusChanged } from './change-status.ts'
import type { Answer } from './documents.ts'
import { unlinkStatements } from './links/links-to.ts'
import { originOf } from './outbox.ts'
import { readAnswer } from './read/read-answer.ts'
import type { SaveTerms } from './save-document.ts'
import { isConditional } from './save-stored.ts'
import { failUnless } from './sql/print-changes.ts'
import { printDocumentLock } from './stored/print-stored-update.ts'

/** A removal whose rows the database finds without a statement before. Rows of components do not go with those of their owners. */
type StoredRemoval<Command extends DeleteCommand | StatusCommand> = PermittedCommand<Command> & {
  readonly documentId: string
}

const isPlainRemoval = ({
  type,
  documentId,
  conditions,
}: PermittedCommand<DeleteCommand | StatusCommand>): boolean =>
  documentId !== null &&
  !type.localized &&
  !isConditional(conditions) &&
  attributesWithParts(type).length === 0

export const canDeleteStored = (
  command: PermittedCommand<DeleteCommand>,
): command is StoredRemoval<DeleteCommand> => command.precondition === null && isPlainRemoval(command)

export interface DeletedDocument {
  /** As it was before, if it was asked for. */
  readonly text: Promise<string | null> | null
}

/** Deletes a document in one round trip. Fails if there is none. */
export async function deleteStored(
  command: StoredRemoval<DeleteCommand>,
  answer: Answer | null,
  terms: SaveTerms & { readonly model: Model },
): Promise<DeletedDocument> {
  const { type, documentId } = command
  const { transaction, storage } = terms
  if (type.draftAndPublish) transaction.send(printDocumentLock(type, documentId, terms))
  const text = answer && ignoreUnhandled(readAnswer(answer, documentId, terms))
  const end = { type, document: { documentId }, locale: null }
  for (const statement of unlinkStatements(end, terms.model, storage)) transaction.send(statement)
  transaction.send(printRemoval(type, documentId, { storage, status: null }))
  const changes = [{ locale: null, action: 'delete' } as const]
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return { text }
}

export const canUnpublishStored = (
  command: PermittedCommand<StatusCommand>,
): command is StoredRemoval<StatusCommand<'unpublish'>> =>
  command.kind === 'unpublish' && command.type.draftAndPublish && isPlainRemoval(command)

/** Removes the published row in one round trip. Fails if there is none. */
export async function unpublishStored(
  command: StoredRemoval<StatusCommand<'unpublish'>>,
  answer: Answer,
  terms: SaveTerms,
): Promise<StatusChanged> {
  const { type, documentId } = command
  const { transaction, storage } = terms
  transaction.send(printRemoval(type, documentId, { storage, status: 'published' }))
  const text = readAnswer(answer, documentId, terms)
  const texts = ignoreUnhandled(text.then(found => (found === null ? [] : [found])))
  const changes = [{ locale: null, action: 'unpublish' } as const]
  terms.tell({ type, documentId, changes, origin: originOf(command) })
  return { documentId, texts }
}

/** Removes the rows of a document, with their links. Fails if there is none. `status`: of the rows; null: all. */
function printRemoval(
  type: ContentType,
  documentId: string,
  { storage, status }: { readonly storage: Storage; readonly status: Status | null },
): Statement {
  const { name, documentId: column } = storage.table(type)
  const only = status === null ? '' : ` AND status = ${quoteText(status)}`
  const gone = `DELETE FROM ${ident(name)} WHERE ${ident(column)} = $1::text${only} RETURNING id`
  return {
    name: `delete from ${name}`,
    text: `WITH gone$ AS (${gone}) SELECT ${failUnless('(SELECT count(*) FROM gone$) > 0')}`,
    values: [documentId],
    keepsPlan: true,
  }
}

import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { DeleteCommand, PermittedCommand, StatusCommand } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import { quoteIdentifier as ident, quoteText } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { attributesWithParts, type StatusChanged } from './change-status.ts'
import type { Answer } from './documents.ts'
import { removeLinksTo } from './links/links-to.ts'
import { originOf } from './outbox.ts'
import { assertionBeforeRemoval } from './read/match-assertion.ts'
import { assertionOfUnchanged, canAssertUnchanged, readAnswer } from './read/read-answer.ts'
import type { SaveOptions } from './save-document.ts'
import { type Assertion, failUnless, joinAssertions, printAssertion } from './sql/print-changes.ts'
import { printDocumentLock } from './stored/print-stored-update.ts'
import { hasFewComponents, printRemovedComponents } from './stored/stored-components.ts'

/** A delete or unpublish whose rows one statement can find, because nothing has to be read before. */
type StoredRemoval<Command extends DeleteCommand | StatusCommand> = PermittedCommand<Command> & {
  readonly documentId: string
}

/** Locales are excluded, because which of them are left has to be read. */
const canRemoveWithoutRead = ({
  type,
  documentId,
}: PermittedCommand<DeleteCommand | StatusCommand>): boolean =>
  documentId !== null && !type.localized && hasFewComponents(type)

/** True if `deleteStored` can carry out the command. */
export const canDeleteStored = (
  command: PermittedCommand<DeleteCommand>,
  seen: readonly Answer[],
): command is StoredRemoval<DeleteCommand> =>
  canAssertUnchanged(command.precondition, seen) && canRemoveWithoutRead(command)

/** What a delete has to answer, and the answers that its precondition may name. */
export interface DeleteAnswers {
  readonly seen: readonly Answer[]
  /** null: none. */
  readonly answer: Answer | null
}

export interface DeletedDocument {
  /** The JSON text of the document before it was deleted; null: no answer was requested. */
  readonly text: Promise<string | null> | null
}

/** Deletes a document in one round trip. The statement fails if the document does not exist: the caller then takes the full path. */
export async function deleteStored(
  command: StoredRemoval<DeleteCommand>,
  { seen, answer }: DeleteAnswers,
  options: SaveOptions & { readonly model: Model },
): Promise<DeletedDocument> {
  const { type, documentId, precondition } = command
  const { transaction, storage } = options
  lockAndAssert(command, [assertionOfUnchanged(precondition, seen, documentId, options)], options)
  const text = answer && ignoreUnhandled(readAnswer(answer, documentId, options))
  removeLinksTo({ type, document: { documentId }, locale: null }, options)
  transaction.send(printRemoval(type, documentId, { storage, status: null }))
  const changes = [{ locale: null, action: 'delete' } as const]
  options.recordChange({ type, documentId, changes, origin: originOf(command) })
  return { text }
}

/** True if `unpublishStored` can carry out the command. */
export const canUnpublishStored = (
  command: PermittedCommand<StatusCommand>,
): command is StoredRemoval<StatusCommand<'unpublish'>> =>
  command.kind === 'unpublish' && command.type.draftAndPublish && canRemoveWithoutRead(command)

/** Removes the published row in one round trip. The statement fails if there is none. */
export async function unpublishStored(
  command: StoredRemoval<StatusCommand<'unpublish'>>,
  answer: Answer,
  options: SaveOptions,
): Promise<StatusChanged> {
  const { type, documentId } = command
  const { transaction, storage } = options
  lockAndAssert(command, [], options)
  transaction.send(printRemoval(type, documentId, { storage, status: 'published' }))
  const text = readAnswer(answer, documentId, options)
  const texts = ignoreUnhandled(text.then(found => (found === null ? [] : [found])))
  const changes = [{ locale: null, action: 'unpublish' } as const]
  options.recordChange({ type, documentId, changes, origin: originOf(command) })
  return { documentId, texts }
}

/**
 * The statements that follow see the rows as they are under the lock; new links to a document that is deleted wait for its end. Fails
 * if the conditions are not met.
 */
function lockAndAssert(
  command: StoredRemoval<DeleteCommand | StatusCommand>,
  further: readonly (Assertion | undefined)[],
  options: SaveOptions,
): void {
  const { type, documentId, conditions, kind } = command
  const before = joinAssertions([assertionBeforeRemoval(command, conditions, options), ...further])
  if (kind === 'delete') options.transaction.send(printDocumentLock(type, documentId, options, 'FOR UPDATE'))
  else if (before || attributesWithParts(type).length > 0)
    options.transaction.send(printDocumentLock(type, documentId, options))
  if (before) options.transaction.send(printAssertion(before))
}

/** Deletes the rows of a document, or those of one `status`, with their components. Division by zero if there are none. */
function printRemoval(
  type: ContentType,
  documentId: string,
  { storage, status }: { readonly storage: Storage; readonly status: Status | null },
): Statement {
  const { name, documentId: column } = storage.table(type)
  const only = status === null ? '' : ` AND status = ${quoteText(status)}`
  const deletion = `DELETE FROM ${ident(name)} WHERE ${ident(column)} = $1::text${only} RETURNING *`
  const statuses = status === null ? (['draft', 'published'] as const) : [status]
  const owner = { type, locale: null, statuses }
  const removed = printRemovedComponents(owner, attributesWithParts(type), { from: 'deleted$', storage })
  const parts = [['deleted$', deletion] as const, ...removed].map(([part, text]) => `${part} AS (${text})`)
  return {
    name: `delete from ${name}`,
    text: `WITH ${parts.join(', ')} SELECT ${failUnless('(SELECT count(*) FROM deleted$) > 0')}`,
    values: [documentId],
    keepsPlan: true,
  }
}

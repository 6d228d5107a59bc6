import type { Transaction } from '../database/database.ts'
import { notFound, RequestFault } from '../faults/fault.ts'
import type { Filter } from '../query/query.ts'
import { newDocumentId } from './document-id.ts'
import type { Answer, Written } from './documents.ts'
import { findSingle } from './find-single.ts'
import type { GivenBody } from './given-body.ts'
import { assertMeets, choiceOf, visibleBy } from './matching.ts'
import { assertUnchanged, readAnswer } from './read-answer.ts'
import { attributesToLoad, type SaveCommand, saveVersion } from './save-version.ts'
import { type Current, loadDocument, NOTHING_THERE } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

interface Save {
  readonly command: SaveCommand
  readonly answer: Answer
  readonly body: GivenBody
}

export type SaveTerms = WriteTerms & { readonly transaction: Transaction }

/** Which document → precondition → what is there → the version as it becomes → its answer, all in one transaction. */
export async function saveDocument({ command, answer, body }: Save, terms: SaveTerms): Promise<Written> {
  const { type, conditions } = command
  const known = await knownDocument(command, terms)
  const documentId = known ?? newDocumentId()
  const load = { type, documentId }
  const current =
    known === null ? NOTHING_THERE : await loadDocument(load, attributesToLoad(command, body), terms)
  if (known !== null && current.rows(type, known).length === 0) throw new RequestFault(notFound())
  if (command.kind === 'update') await assertUnchanged(command.precondition, answer, known, terms)
  await assertCondition(conditions.before, { command, documentId }, isThere(command, current, known), terms)
  await saveVersion({
    command,
    documentId,
    body,
    current,
    terms: { ...terms, visible: visibleBy(conditions, terms) },
  })
  await assertCondition(conditions.after, { command, documentId }, true, terms)
  return { documentId, text: await readAnswer(answer, documentId, terms) }
}

/** null: one that is to be made. */
async function knownDocument(command: SaveCommand, terms: SaveTerms): Promise<string | null> {
  const { type } = command
  if (command.kind === 'update' && command.documentId !== null) return command.documentId
  if (type.kind !== 'single') {
    if (command.kind === 'create') return null
    throw new RequestFault(notFound())
  }
  const found = await findSingle(type, terms)
  if (found !== null) return found
  // Two that make it at once would make two.
  await terms.transaction.lock(`plinth single ${type.uid}`)
  return findSingle(type, terms)
}

interface Row {
  readonly command: SaveCommand
  readonly documentId: string
}

const isThere = ({ type, locale }: SaveCommand, current: Current, documentId: string | null): boolean =>
  documentId !== null &&
  current.rows(type, documentId).some(row => !type.localized || row.get('locale') === locale)

async function assertCondition(
  filter: Filter | null,
  { command, documentId }: Row,
  isThereNow: boolean,
  terms: SaveTerms,
): Promise<void> {
  if (!filter || !isThereNow) return
  const { type, locale } = command
  await assertMeets({ type, documentIds: [documentId], locale: choiceOf(type, locale), filter }, 1, terms)
}

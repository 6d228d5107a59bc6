import type { DesiredDocument } from './desired-state.ts'
import { releaseSwapped } from './links/release-swapped.ts'
import { isInverselyLinked, writeInverses } from './links/write-inverse.ts'
import { writeOwnEdits } from './links/write-own-edits.ts'
import { printNewDocument } from './rows/new-document.ts'
import { applyChanges } from './rows/write-apply.ts'
import { planDocument } from './rows/write-document.ts'
import { findKeys } from './rows/write-keys.ts'
import { type Current, loadCurrent, NO_CURRENT_ROWS } from './rows/write-load.ts'
import type { Planning } from './rows/write-owner.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { noChanges } from './sql/write-rows.ts'

/**
 * Writes whole documents inside a transaction: only what changes, in as many statements as there are tables and
 * sets of columns, however many documents. A document is made where there is none of its id. Links to documents
 * that are not there are left out: whoever asks has to check first. `loaded`: what is there, where it was read already.
 */
export async function writeDocuments(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
  loaded?: Current,
): Promise<void> {
  if (loaded === NO_CURRENT_ROWS) {
    const statement = await printNewDocument(documents, terms)
    if (statement && terms.answer) return terms.answer.tell(terms.transaction.run(statement))
    if (statement) return terms.transaction.send(statement)
  }
  const current = loaded ?? (await loadCurrent(documents, terms))
  const keys = await findKeys(documents, current, terms)
  const planning: Planning = { current, keys, terms, changes: noChanges() }
  for (const document of documents)
    planDocument(document, { ...planning, terms: { ...terms, now: document.at ?? terms.now } })
  if (documents.length > 1) releaseSwapped(new Set(documents.map(({ type }) => type)), planning)
  const ids = await applyChanges(planning.changes, terms, {
    told: documents.some(
      each => isInverselyLinked(each) && typeof keys(each.type, each.documentId) !== 'number',
    ),
    proof: terms.proof,
  })
  await writeOwnEdits(planning.changes.edits, terms)
  await writeInverses(documents, { keys, ids, terms })
}

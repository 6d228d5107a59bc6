import type { Attribute, Holder } from '../model/model.ts'
import { fitsIndex } from '../model/value-columns.ts'
import { newDocumentId } from './document-id.ts'
import { early } from './early.ts'
import { originOf } from './outbox.ts'
import { readAnswer } from './read-answer.ts'
import type { Recalled } from './recall-targets.ts'
import type { Save } from './save-ahead.ts'
import { changesOf, type Saved, type SaveTerms } from './save-document.ts'
import { saveVersion } from './save-version.ts'
import { NOTHING_THERE } from './write-load.ts'
import type { Values } from './written.ts'

/** Whether a new document is written without asking anything first: nobody's condition is to be met, and indexes hold apart whatever must be unique. */
export const canBeAtOnce = ({ command, body }: Save): boolean =>
  command.kind === 'create' &&
  command.type.kind !== 'single' &&
  // Indexes hold no drafts apart.
  !command.strict &&
  !command.conditions.after &&
  isHeldApart(command.type, body.values)

const isHeldApart = (holder: Holder, values: Values): boolean =>
  [...values].every(([name, value]) =>
    value.kind === 'components'
      ? value.items.every(({ component, values: inner }) => isHeldApart(component, inner))
      : isIndexed(holder, holder.attributes.get(name)),
  )

/** Components are held apart by more than their indexes (find-taken-parts.ts). */
const isIndexed = (holder: Holder, attribute: Attribute | undefined): boolean =>
  attribute?.kind !== 'scalar' ||
  !attribute.unique ||
  (holder.holder === 'content-type' && fitsIndex(attribute))

/**
 * Makes a document in one round trip: what is known of its links is proved beside the write, and what must be unique
 * the indexes tell. Fails where either does not hold; why is found on the usual way.
 */
export async function createAtOnce(
  { command, answer, body }: Save,
  { targets, proof }: Recalled,
  terms: SaveTerms,
): Promise<Saved> {
  const documentId = newDocumentId()
  const known = { current: NOTHING_THERE, targets: Promise.resolve(targets) }
  const saving = { command, documentId, body, ...known, terms: { ...terms, proof } }
  await saveVersion(saving, { uniqueness: 'left to indexes' })
  const text = early(readAnswer(answer, documentId, terms))
  terms.tell({ type: command.type, documentId, changes: changesOf(command, []), origin: originOf(command) })
  return { documentId, text }
}

import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Rows } from '../database/database.ts'
import { fitsIndex } from '../model/columns.ts'
import type { ContentType, Holder, ScalarAttribute } from '../model/model.ts'
import type { Stored, Values } from './desired-state.ts'
import type { Answer } from './documents.ts'
import type { OptimisticTargets } from './optimistic-targets.ts'
import { originOf } from './outbox.ts'
import type { Save } from './prefetch-save.ts'
import { toLoneStatement } from './read/plan-once.ts'
import { readAnswer } from './read/read-answer.ts'
import { newDocumentId } from './rows/document-id.ts'
import { NO_CURRENT_ROWS } from './rows/write-load.ts'
import { type Saved, type SaveTerms, toEventChanges } from './save-document.ts'
import { saveVersion } from './save-version.ts'
import type { ReturningQuery } from './sql/print-changes.ts'
import { defaultsOf } from './values/given-body.ts'

/** True if a create needs no earlier statement: it has no conditions, and indexes enforce all unique values. */
export const canCreateInOneStatement = ({ command, body }: Save): boolean =>
  command.kind === 'create' &&
  command.type.kind !== 'single' &&
  !command.conditions.after &&
  (claimsAsDraft(command)
    ? claimsNothing(command.type, new Map([...defaultsOf(command.type, () => true), ...body.values]))
    : needsSeparateCheck(command.type, body.values))

/** A draft that keeps all rules is held against what is published, which indexes do not. */
const claimsAsDraft = ({ type, status, strict }: Save['command']): boolean =>
  strict === true && type.draftAndPublish && status === 'draft'

/** Components are held apart by more than their indexes (unique-conflicts-in-components.ts). */
const needsSeparateCheck = (type: ContentType, values: Values): boolean =>
  every(type, values, attribute => !attribute.unique || fitsIndex(attribute), claimsNothing)

const claimsNothing = (holder: Holder, values: Values): boolean =>
  every(holder, values, attribute => !attribute.unique, claimsNothing)

/** Tests all given attributes, also those of given components. */
const every = (
  { attributes }: Holder,
  values: Values,
  holds: (attribute: ScalarAttribute) => boolean,
  holdsWithin: (holder: Holder, values: Values) => boolean,
): boolean =>
  [...values].every(([name, value]) => {
    if (value.kind === 'components')
      return value.items.every(({ component, values: inner }) => holdsWithin(component, inner))
    const attribute = attributes.get(name)
    return attribute?.kind !== 'scalar' || holds(attribute)
  })

/**
 * Creates a document in one round trip. The same statement asserts that the remembered link targets are still valid;
 * unique indexes detect conflicts. Rejects if either fails: the caller then saves in several statements, which find the
 * reason.
 */
export async function createInOneStatement(
  { command, answer, body }: Save,
  { targets, proof }: OptimisticTargets,
  terms: SaveTerms,
): Promise<Saved> {
  const documentId = newDocumentId()
  const known = { current: NO_CURRENT_ROWS, targets: Promise.resolve(targets) }
  const beside = answerAlongside(answer, documentId, terms)
  const writing = { ...terms, proof, answer: beside.asked }
  await saveVersion(
    { command, documentId, body, ...known, terms: writing },
    { uniqueness: 'left to indexes' },
  )
  const text = beside.text() ?? ignoreUnhandled(readAnswer(answer, documentId, terms))
  terms.tell({
    type: command.type,
    documentId,
    changes: toEventChanges(command, []),
    origin: originOf(command),
  })
  return { documentId, text }
}

/** Asks for the answer in the statement that makes the document; `text`: undefined where that did not go with it. */
function answerAlongside(answer: Answer, documentId: string, terms: SaveTerms) {
  const question = returningQueryOf(answer, documentId, terms)
  let told: Promise<string | null> | undefined
  const tell = (rows: Promise<Rows>) => {
    told = ignoreUnhandled(rows.then(({ rows: [row] }) => (typeof row?.[0] === 'string' ? row[0] : null)))
  }
  return { asked: question && { question, tell }, text: () => told }
}

/** undefined: the answer looks at more than the table, or asks by lists. */
function returningQueryOf(
  { query, shape }: Answer,
  documentId: string,
  { storage, defaultLocale }: SaveTerms,
): ReturningQuery | undefined {
  const lone = toLoneStatement(query, { storage, defaultLocale, shape }, documentId)
  return lone?.values.every(isStored)
    ? { table: lone.table, text: lone.text, values: lone.values }
    : undefined
}

const isStored = (value: unknown): value is Stored =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

import { fitsIndex } from '../model/columns.ts'
import type { ContentType, ScalarAttribute } from '../model/model.ts'
import type { Statement } from '../sql/statement.ts'
import type { DesiredDocument, OwnEdit, Slot } from './desired-state.ts'
import { type OwnList, printOwnEdit } from './links/own-list-sql.ts'
import { isInverselyLinked, writeInverses } from './links/write-inverse.ts'
import type { Planning } from './rows/planning.ts'
import { applyChanges, printNew } from './rows/write-apply.ts'
import { planDocument } from './rows/write-document.ts'
import { findKeys } from './rows/write-keys.ts'
import { type Current, loadCurrent, NO_CURRENT_ROWS, tableLinkOf } from './rows/write-load.ts'
import type { WriteTerms } from './rows/write-terms.ts'
import { sequenceOf, sequencesOf } from './sql/known-sequences.ts'
import { columnsOf, hasSpare } from './sql/write-print.ts'
import { noChanges } from './sql/write-rows.ts'
import { printShaped, type ShapedInput } from './write-templates.ts'

/**
 * Writes whole documents inside a transaction. Only changed rows are written: one statement per table and set of columns,
 * however many documents. A document whose id is unknown is created. Links to missing documents are omitted: the caller has
 * to check them first. `loaded`: the stored rows, if they were read already.
 */
export async function writeDocuments(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
  loaded?: Current,
): Promise<void> {
  if (loaded === NO_CURRENT_ROWS) {
    const statement = await printNewDocument(documents, terms)
    if (statement && terms.answer) return terms.answer.receive(terms.transaction.run(statement))
    if (statement) return terms.transaction.send(statement)
  }
  const current = loaded ?? (await loadCurrent(documents, terms))
  const keys = await findKeys(documents, current, terms)
  const planning: Planning = { current, keys, terms, changes: noChanges() }
  for (const document of documents)
    planDocument(document, { ...planning, terms: { ...terms, now: document.at ?? terms.now } })
  if (documents.length > 1) releaseSwapped(new Set(documents.map(({ type }) => type)), planning)
  const ids = await applyChanges(planning.changes, terms, {
    allocatesFirst: documents.some(
      each => isInverselyLinked(each) && typeof keys(each.type, each.documentId) !== 'number',
    ),
    assertion: terms.assertion,
  })
  await writeOwnEdits(planning.changes.edits, terms)
  await writeInverses(documents, { keys, ids, terms })
}

/** Edits the lists that versions own: statements that are only sent. */
export async function writeOwnEdits(edits: readonly OwnEdit[], terms: WriteTerms): Promise<void> {
  if (edits.length === 0) return
  const sequences = await sequencesOf(terms)
  for (const own of edits) {
    const link = tableLinkOf(own.type, own.attribute.name, terms)
    const { name: table, status, locale } = terms.storage.table(own.type)
    const list: OwnList = { link, owner: { table, status, locale } }
    const sequence = sequenceOf(sequences, link.table)
    for (const statement of printOwnEdit(list, own, sequence)) terms.transaction.send(statement)
  }
}

/**
 * Documents that are written together may swap values that must be unique: where several get others, all are emptied
 * first. Values that are required hold an unused value meanwhile; where their type has no such value
 * (enumerations, booleans, times), the database refuses a swap.
 */
function releaseSwapped(types: Iterable<ContentType>, { changes, terms }: Planning): void {
  for (const type of types) {
    const { name: table } = terms.storage.table(type)
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique || !fitsIndex(attribute)) continue
      const column = terms.storage.column(type, attribute.name)
      if (attribute.required && !isFillable(attribute, columnsOf(terms.storage, table).get(column))) continue
      const moved = changes.updates.filter(each => each.table === table && each.columns.has(column))
      if (moved.length < 2) continue
      const how = { columns: [column], ...(attribute.required ? ({ filled: true } as const) : {}) }
      changes.releases.push(...moved.map(({ key }) => ({ table, holding: key, ...how })))
    }
  }
}

const isFillable = ({ values }: ScalarAttribute, type: Parameters<typeof hasSpare>[0]): boolean =>
  !values && hasSpare(type)

/** The one statement that creates a document. undefined: it has to be planned on the general path. */
async function printNewDocument(
  documents: readonly DesiredDocument[],
  terms: WriteTerms,
): Promise<Statement | undefined> {
  const [document, ...others] = documents
  if (!document || others.length > 0) return undefined
  const extras = { now: terms.now, assertion: terms.assertion, returning: terms.answer?.query }
  const printer = { form: 'insert', print: (input: ShapedInput<Slot>) => printNewRows(input, terms) }
  return printShaped({ document, extras }, printer, terms)
}

async function printNewRows(
  { document, extras }: ShapedInput<Slot>,
  writing: WriteTerms,
): Promise<Statement | undefined> {
  const terms = { ...writing, ...extras }
  const keys = await findKeys([document], NO_CURRENT_ROWS, terms)
  const changes = noChanges()
  planDocument(document, { current: NO_CURRENT_ROWS, keys, terms, changes })
  return printNew(changes, terms, extras.returning)
}

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
import type { WriteOptions } from './rows/write-options.ts'
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
  options: WriteOptions,
  loaded?: Current,
): Promise<void> {
  if (loaded === NO_CURRENT_ROWS) {
    const statement = await printNewDocument(documents, options)
    if (statement && options.answer) return options.answer.receive(options.transaction.run(statement))
    if (statement) return options.transaction.send(statement)
  }
  const current = loaded ?? (await loadCurrent(documents, options))
  const keys = await findKeys(documents, current, options)
  const planning: Planning = { current, keys, options, changes: noChanges() }
  for (const document of documents)
    planDocument(document, { ...planning, options: { ...options, now: document.at ?? options.now } })
  if (documents.length > 1) releaseSwapped(new Set(documents.map(({ type }) => type)), planning)
  const ids = await applyChanges(planning.changes, options, {
    allocatesFirst: documents.some(
      each => isInverselyLinked(each) && typeof keys(each.type, each.documentId) !== 'number',
    ),
    assertion: options.assertion,
  })
  await writeOwnEdits(planning.changes.edits, options)
  await writeInverses(documents, { keys, ids, options })
}

/** Edits the lists that versions own: statements that are only sent. */
export async function writeOwnEdits(edits: readonly OwnEdit[], options: WriteOptions): Promise<void> {
  if (edits.length === 0) return
  const sequences = await sequencesOf(options)
  for (const own of edits) {
    const link = tableLinkOf(own.type, own.attribute.name, options)
    const { name: table, status, locale } = options.storage.table(own.type)
    const list: OwnList = { link, owner: { table, status, locale } }
    const sequence = sequenceOf(sequences, link.table)
    for (const statement of printOwnEdit(list, own, sequence)) options.transaction.send(statement)
  }
}

/**
 * Documents that are written together may swap values that must be unique: where several get others, all are emptied
 * first. Values that are required hold an unused value meanwhile; where their type has no such value
 * (enumerations, booleans, times), the database refuses a swap.
 */
function releaseSwapped(types: Iterable<ContentType>, { changes, options }: Planning): void {
  for (const type of types) {
    const { name: table } = options.storage.table(type)
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique || !fitsIndex(attribute)) continue
      const column = options.storage.column(type, attribute.name)
      if (attribute.required && !isFillable(attribute, columnsOf(options.storage, table).get(column)))
        continue
      const moved = changes.updates.filter(each => each.table === table && each.columns.has(column))
      if (moved.length < 2) continue
      const how = { columns: [column], ...(attribute.required ? ({ filled: true } as const) : {}) }
      for (const { key } of moved) changes.releases.push({ table, holding: key, ...how })
    }
  }
}

const isFillable = ({ values }: ScalarAttribute, type: Parameters<typeof hasSpare>[0]): boolean =>
  !values && hasSpare(type)

/** The one statement that creates a document. undefined: it has to be planned on the general path. */
async function printNewDocument(
  documents: readonly DesiredDocument[],
  options: WriteOptions,
): Promise<Statement | undefined> {
  const [document, ...others] = documents
  if (!document || others.length > 0) return undefined
  const extras = { now: options.now, assertion: options.assertion, returning: options.answer?.query }
  const printer = { form: 'insert', print: (input: ShapedInput<Slot>) => printNewRows(input, options) }
  return printShaped({ document, extras }, printer, options)
}

async function printNewRows(
  { document, extras }: ShapedInput<Slot>,
  writing: WriteOptions,
): Promise<Statement | undefined> {
  const options = { ...writing, ...extras }
  const keys = await findKeys([document], NO_CURRENT_ROWS, options)
  const changes = noChanges()
  planDocument(document, { current: NO_CURRENT_ROWS, keys, options, changes })
  return printNew(changes, options, extras.returning)
}

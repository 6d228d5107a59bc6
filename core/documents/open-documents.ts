import { unmetCondition } from '../access/denial.ts'
import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { AnswerCache } from '../cache/open-cache.ts'
import type { Rows, StatementContext } from '../database/database.ts'
import { forbidden, RequestFault } from '../faults/fault.ts'
import { fitsIndex } from '../model/columns.ts'
import type { ContentType, Holder, Model, ScalarAttribute } from '../model/model.ts'
import type { DeleteCommand, PermittedCommand, StatusCommand } from '../query/command.ts'
import { type Filter, STATUSES } from '../query/query.ts'
import { returningQueryOf } from './answer-query.ts'
import { attributesWithParts, changeStatus, type StatusChanged } from './change-status.ts'
import type { Values } from './desired-state.ts'
import type { Alongside, Answer, Documents, SavedDocument } from './documents.ts'
import { removeLinksTo } from './links/links-to.ts'
import { type OptimisticOptions, type OptimisticTargets, optimisticTargetsFor } from './optimistic-targets.ts'
import { originOf, type RecordChange } from './outbox.ts'
import { openPrefetch } from './prefetch.ts'
import type { Save } from './prefetch-save.ts'
import { assertionOfStored } from './read/match-assertion.ts'
import {
  allMatch,
  choiceOf,
  countMatching,
  findSingle,
  isVisible,
  mayRevealExistence,
  visibleLocales,
} from './read/matching.ts'
import { openReads } from './read/read.ts'
import { assertUnchanged, readAnswer } from './read/read-answer.ts'
import {
  canDeleteStored,
  canUnpublishStored,
  type DeleteAnswers,
  deleteStored,
  unpublishStored,
} from './remove-stored.ts'
import { newDocumentId } from './rows/document-id.ts'
import { removeVersions } from './rows/remove-versions.ts'
import { loadDocument, NO_CURRENT_ROWS } from './rows/write-load.ts'
import type { LockingOptions, WriteOptions } from './rows/write-options.ts'
import { type Saved, type SaveOptions, saveDocument, toEventChanges } from './save-document.ts'
import {
  canSaveStored,
  type Foreseen,
  foresee,
  publishingSave,
  publishStored,
  saveStored,
} from './save-stored.ts'
import { saveVersion } from './save-version.ts'
import { printAssertion } from './sql/print-changes.ts'
import { type CurrentRow, numberIn } from './sql/write-rows.ts'
import { expectedCommand, type PossibleSave } from './state/version-context.ts'
import {
  describeWrite,
  openWriter,
  type TransactionWork,
  type Writer,
  type WriterOptions,
} from './transact.ts'
import { defaultsOf, readBody } from './values/given-body.ts'

export interface DocumentOptions extends WriterOptions {
  /** The response cache; absent or null: no caching. */
  readonly cache?: AnswerCache | null
  /** Maximum bytes of documents in the answer to one request; absent or 0: unlimited. */
  readonly maxBytes?: number
}

/** The document service: reads of one statement, writes of one transaction each. */
export function openDocuments(options: DocumentOptions): Documents {
  const { model } = options
  const writer = openWriter(options)
  const save = openSave(writer, { storage: options.storage, defaultLocale: model.defaultLocale })
  const change = async (command: PermittedCommand<StatusCommand>, answer: Answer) => {
    const context = describeWrite(command, answer)
    const once = changeInOneRoundTrip(command, answer)
    const { documentId, texts } =
      (once && (await writer.writeOnce(once, context))) ??
      (await writer.write(command.type, writing => changeStatus(command, answer, writing), context))
    return { documentId, texts: await texts }
  }
  return {
    ...openReads({ ...options, defaultLocale: model.defaultLocale }),
    create: save,
    update: save,
    updateByStatus: (command, answer) => save(command, answer),
    delete: async (command, seen = [], answer = null) => {
      const answers = { seen, answer }
      const context = describeWrite(command, answer ?? seen[0])
      const deleted =
        canDeleteStored(command, seen) &&
        (await writer.writeOnce(writing => deleteStored(command, answers, { ...writing, model }), context))
      if (deleted) return deleted.text
      const work = (writing: SaveOptions) => deleteDocument(command, answers, { ...writing, model })
      return writer.write(command.type, work, context)
    },
    changeMany: openChangeMany(writer, model),
    publish: change,
    unpublish: change,
    discardDraft: change,
  }
}

/** undefined: the change needs stored values. */
function changeInOneRoundTrip(
  command: PermittedCommand<StatusCommand>,
  answer: Answer,
): TransactionWork<StatusChanged | undefined> | undefined {
  if (canUnpublishStored(command)) return writing => unpublishStored(command, answer, writing)
  const save = publishingSave(command, answer)
  return save && (writing => publishStored(save, writing))
}

/** Create, update and amend: parses the body, then saves on the optimistic path, or else on the full path. */
const openSave =
  (writer: Writer, options: OptimisticOptions) =>
  async (command: PossibleSave, answer: Answer, alongside?: Alongside): Promise<SavedDocument> => {
    const expected = expectedCommand(command)
    const body = await readBody(expected)
    const save = { command: expected, answer, body }
    const context = describeWrite(expected, answer)
    const work = async (writing: SaveOptions) => {
      await alongside?.before?.(writing.transaction)
      const done = await saveDocument({ ...save, command }, writing)
      await alongside?.after?.(writing.transaction, done.documentId)
      return done
    }
    // What is done alongside may depend on the stored document.
    const foreseen = alongside ? undefined : foresee(command, options.storage)
    const { documentId, text } =
      (await saveOptimistically({ save, work, context, foreseen }, writer, options)) ??
      (await writer.write(expected.type, work, context))
    return { documentId, text: await text }
  }

interface Attempt {
  readonly save: Save
  /** The full path. */
  readonly work: TransactionWork<Saved>
  readonly context: StatementContext
  /** The command that one round trip may carry out; absent: none. */
  readonly foreseen: Foreseen | undefined
}

/** Saves with cached link targets. undefined: fall back to the full path, which also finds the fault. */
async function saveOptimistically(
  { save, work, context, foreseen }: Attempt,
  writer: Writer,
  options: OptimisticOptions,
): Promise<Saved | undefined> {
  const recalled = optimisticTargetsFor(save, options)
  if (!recalled) return undefined
  const once = foreseen && workInOneRoundTrip(save, foreseen, recalled)
  if (!once) {
    // A fault that is found before the assertion would reveal targets that the caller must not know.
    const isOpen = recalled.assertion !== undefined && save.command.conditions.targets.size === 0
    return isOpen ? writer.writeOnce(writing => work({ ...writing, recalled }), context) : undefined
  }
  try {
    return await writer.writeOnce(once, context)
  } catch (error) {
    // One statement cannot collect all faults of the values.
    if (error instanceof RequestFault) return undefined
    throw error
  }
}

/** undefined: the save needs stored values. */
function workInOneRoundTrip(
  expected: Save,
  { command, isUnpublished }: Foreseen,
  recalled: OptimisticTargets,
): TransactionWork<Saved | undefined> | undefined {
  const save = { ...expected, command }
  if (canCreateInOneStatement(save)) return writing => createInOneStatement(save, recalled, writing)
  return canSaveStored(save)
    ? writing => saveStored({ ...save, isUnpublished }, recalled, writing)
    : undefined
}

/** True if a create needs no earlier statement: indexes enforce all unique values. */
const canCreateInOneStatement = ({ command, body }: Save): boolean =>
  command.kind === 'create' &&
  command.type.kind !== 'single' &&
  (claimsAsDraft(command)
    ? claimsNothing(command.type, new Map([...defaultsOf(command.type), ...body.values]))
    : indexesEnforceUnique(command.type, body.values))

/** True if unique values of a draft must also differ from those of published versions, which no index enforces. */
const claimsAsDraft = ({ type, status, strict }: Save['command']): boolean =>
  strict === true && type.draftAndPublish && status === 'draft'

/** False for unique attributes in components, too: their indexes do not suffice (unique-conflicts-in-components.ts). */
const indexesEnforceUnique = (type: ContentType, values: Values): boolean =>
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
async function createInOneStatement(
  { command, answer, body }: Save,
  { targets, assertion }: OptimisticTargets,
  options: SaveOptions,
): Promise<Saved> {
  const documentId = newDocumentId()
  const known = { current: NO_CURRENT_ROWS, targets: Promise.resolve(targets) }
  const returned = openReturnedAnswer(answer, documentId, options)
  const writing = { ...options, assertion, answer: returned.answer }
  await saveVersion(
    { command, documentId, body, ...known, options: writing },
    { uniqueness: 'left to indexes' },
  )
  const { after } = command.conditions
  if (after)
    options.transaction.send(printAssertion(assertionOfStored({ ...command, documentId }, after, options)))
  const text = returned.text() ?? ignoreUnhandled(readAnswer(answer, documentId, options))
  options.recordChange({
    type: command.type,
    documentId,
    changes: toEventChanges(command, false),
    origin: originOf(command),
  })
  return { documentId, text }
}

/** Reads the answer in the statement that inserts the document. `text` returns undefined if that was not possible. */
function openReturnedAnswer(answer: Answer, documentId: string, options: SaveOptions) {
  const query = returningQueryOf(answer, documentId, options)
  let received: Promise<string | null> | undefined
  const receive = (rows: Promise<Rows>) => {
    received = ignoreUnhandled(rows.then(({ rows: [row] }) => (typeof row?.[0] === 'string' ? row[0] : null)))
  }
  return { answer: query && { query, receive }, text: () => received }
}

/** Updates or deletes documents of one type in one transaction. */
const openChangeMany =
  ({ write }: Pick<Writer, 'write'>, model: Model): Documents['changeMany'] =>
  async (commands, query) => {
    const [first] = commands
    if (!first) return 0
    const asked = { ...query, filter: null, search: null, sort: [] }
    const answer: Answer = { query: { ...asked, take: { kind: 'one', documentId: null } }, shape: 'flat' }
    const changes = await Promise.all(commands.map(each => prepareChange(each, answer, model)))
    const work = async (writing: SaveOptions) => {
      let count = 0
      for (const change of changes) if (await change(writing)) count++
      return count
    }
    return write(first.type, work, describeWrite(first, answer))
  }

type Change = (writing: SaveOptions) => Promise<boolean>

/** The change answers whether the document was there. */
async function prepareChange(
  command: Parameters<Documents['changeMany']>[0][number],
  answer: Answer,
  model: Model,
): Promise<Change> {
  if (command.kind === 'delete')
    return async writing =>
      (await deleteDocument(command, { seen: [], answer }, { ...writing, model })) !== null
  const body = await readBody(command)
  return async writing => {
    try {
      const { text } = await saveDocument({ command, answer, body }, writing)
      await text
      return true
    } catch (error) {
      // A document that was deleted after the list was read.
      if (error instanceof RequestFault && error.fault.code === 'notFound') return false
      throw error
    }
  }
}

interface DeleteOptions extends LockingOptions {
  readonly model: Model
  readonly recordChange: RecordChange
}

type Deletion = PermittedCommand<DeleteCommand>

/** Removes a locale's versions, or all (reference/rest.md); with the last, every link to the document. */
async function deleteDocument(
  command: Deletion,
  { seen, answer }: DeleteAnswers,
  options: DeleteOptions,
): Promise<string | null> {
  const { type, precondition } = command
  const documentId = command.documentId ?? (await findSingle(type, options))
  if (documentId === null) {
    await assertUnchanged(precondition, seen, null, options)
    return null
  }
  const { prefetch, cached } = openPrefetch(options.transaction)
  const loading = loadDocument(
    { type, documentId },
    { attributes: attributesWithParts(type), allRows: true },
    options,
  )
  prefetchDelete(command, documentId, { seen, answer }, { ...options, transaction: prefetch })
  const asking = { ...options, transaction: cached }
  const current = await loading
  const rows = current.rows(type, documentId)
  // Before every other check: its outcome would reveal something of a document that the caller must not know.
  const gone = await deletable({ command, documentId, rows }, asking)
  await assertUnchanged(precondition, seen, gone.length === 0 ? null : documentId, asking)
  if (gone.length === 0) return null
  const text = answer && (await readAnswer(answer, documentId, asking))
  await removeVersions({ type, documentId, gone, current }, options)
  removeLinks(command, { gone, left: rows.length - gone.length }, options)
  const locales = new Set(gone.map(row => (type.localized ? String(row.get('locale')) : null)))
  const changes = [...locales].map(each => ({ locale: each, action: 'delete' }) as const)
  options.recordChange({ type, documentId, changes, origin: originOf(command) })
  return text
}

/** All that is asked of it, behind its lock and in the same round trip. */
function prefetchDelete(
  command: Deletion,
  documentId: string,
  { seen, answer }: DeleteAnswers,
  options: WriteOptions,
) {
  const { before } = command.conditions
  ignoreUnhandled(visibleLocales({ ...command, documentId }, options))
  const statuses = command.type.draftAndPublish ? STATUSES : (['published'] as const)
  for (const status of before ? statuses : [])
    ignoreUnhandled(countMatching({ ...matchOf(command, documentId, before), status }, options))
  ignoreUnhandled(assertUnchanged(command.precondition, seen, documentId, options))
  if (answer) ignoreUnhandled(readAnswer(answer, documentId, options))
}

/** Links to a document go with its last version; before, only those that name the locale that goes (reference/documents.md#16-deleting). */
function removeLinks(
  { type, locale }: Deletion,
  { gone, left }: { readonly gone: readonly CurrentRow[]; readonly left: number },
  options: DeleteOptions,
): void {
  const [first] = gone
  if (!first) return
  const key = numberIn(first, options.storage.table(type).key)
  removeLinksTo({ type, document: { key }, locale: left === 0 ? null : locale }, options)
}

const isSelected = ({ type, locale }: Deletion, row: CurrentRow): boolean =>
  !type.localized || locale === null || row.get('locale') === locale

const matchOf = ({ type, locale }: Deletion, documentId: string, filter: Filter | null) => ({
  type,
  documentIds: [documentId],
  locale: choiceOf(type, locale),
  filter,
})

interface SelectedRows {
  readonly command: Deletion
  readonly documentId: string
  readonly rows: readonly CurrentRow[]
}

/** The rows to delete; none where the document is hidden from the caller, as where there is none. Refuses (403) the rest. */
async function deletable(
  { command, documentId, rows }: SelectedRows,
  options: WriteOptions,
): Promise<readonly CurrentRow[]> {
  const { type, conditions } = command
  const gone = rows.filter(row => isSelected(command, row))
  if (gone.length === 0 || !(await isVisible({ ...command, documentId }, rows, options))) return []
  if (!conditions.before) return gone
  if (await allMatch(matchOf(command, documentId, conditions.before), gone, options)) return gone
  if (mayRevealExistence(conditions)) throw new RequestFault(forbidden(unmetCondition(type, 'before')))
  return []
}

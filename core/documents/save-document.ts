import { ignoreUnhandled } from '../base/with-timeout.ts'
import type { Transaction } from '../database/database.ts'
import { fault, notFound, RequestFault } from '../faults/fault.ts'
import type { UpdateByStatus } from '../query/command.ts'
import { removePublished } from './change-status.ts'
import type { OptimisticTargets } from './optimistic-targets.ts'
import { type ChangeEvent, originOf, type RecordChange } from './outbox.ts'
import { openPrefetch } from './prefetch.ts'
import { prefetchSave, type Save } from './prefetch-save.ts'
import {
  assertMatches,
  assertVisible,
  assertWritable,
  choiceOf,
  findSingle,
  lockSingle,
  mayRevealExistence,
  writtenStatus,
} from './read/matching.ts'
import { readAnswer } from './read/read-answer.ts'
import { newDocumentId } from './rows/document-id.ts'
import type { Current } from './rows/write-load.ts'
import type { WriteOptions } from './rows/write-options.ts'
import { saveVersion } from './save-version.ts'
import type { CurrentRow } from './sql/write-rows.ts'
import {
  attributesToRead,
  changesAllLocales,
  expectedCommand,
  isLocale,
  isPublishing,
  type PossibleSave,
  publishesForAll,
  resolveCommand,
  type SaveCommand,
} from './state/version-context.ts'

export interface SaveOptions extends WriteOptions {
  readonly transaction: Transaction
  readonly recordChange: RecordChange
  readonly recalled?: OptimisticTargets
}

export interface Saved {
  readonly documentId: string
  /** Shares the round trip of what follows it, the commit where nothing does: not to be awaited before. */
  readonly text: Promise<string | null>
}

type Saving = Omit<Save, 'command'> & { readonly command: PossibleSave }

/** Runs in one transaction: find the document, check the precondition, load, save the version, read the answer. */
export async function saveDocument(save: Saving, options: SaveOptions): Promise<Saved> {
  const { command: asking, answer, body } = save
  const foreseen = expectedCommand(asking)
  const { type } = foreseen
  const known = await knownDocument(foreseen, options)
  const documentId = known ?? newDocumentId()
  const { prefetch, cached } = openPrefetch(options.transaction)
  const named = { known, documentId, wanted: attributesToRead(asking, body) }
  const asked = prefetchSave({ command: foreseen, answer, body }, named, { ...options, prefetch })
  const current = await asked.current
  const rows = current.rows(type, documentId)
  if (known !== null && rows.length === 0) {
    // Another request deleted the single type after it was found: this one finds or creates it again.
    if (!namesDocument(foreseen) && type.kind === 'single') return saveDocument(save, options)
    throw new RequestFault(notFound())
  }
  const saving = { ...options, transaction: cached, assertion: options.recalled?.assertion }
  // First, because any other fault would reveal that a hidden document exists.
  await assertVisible({ ...foreseen, documentId }, rows, saving)
  if (mayRevealStatus(asking)) await assertBefore(subjectOf(asking.draft, documentId, current), saving)
  const command = resolveCommand(asking, rows)
  const subject = subjectOf(command, documentId, current)
  await assertBefore(subject, saving)
  assertLocale(command, rows)
  await asked.unchanged
  await saveVersion({ command, documentId, body, current, targets: asked.targets, options: saving })
  if (unpublishes(command)) await removePublished({ type, documentId, locale: command.locale }, options)
  await assertAfter(subject, options)
  const changes = toEventChanges(command, hasLocale(command, rows))
  // A failure here fails the transaction, which reports it.
  const text = ignoreUnhandled(readAnswer(answer, documentId, options))
  options.recordChange({ type, documentId, changes, origin: originOf(command) })
  return { documentId, text }
}

/** A new locale of an existing document counts as `create`. `isThere`: the document had the locale before the write. */
export function toEventChanges(command: SaveCommand, isThere: boolean): ChangeEvent['changes'] {
  const { locale } = command
  const saved = { locale, action: isThere ? 'update' : 'create' } as const
  if (unpublishes(command)) return [saved, { locale, action: 'unpublish' }]
  return isPublishing(command) ? [saved, { locale, action: 'publish' }] : [saved]
}

const unpublishes = (command: SaveCommand): boolean =>
  command.kind === 'update' && command.unpublishes === true

const hasLocale = (command: SaveCommand, rows: readonly CurrentRow[]): boolean =>
  rows.some(row => isLocale(command, row))

/** Refuses the write if the locale does not exist, or already exists, against the caller's expectation. */
function assertLocale(command: SaveCommand, rows: readonly CurrentRow[]): void {
  const locales = command.kind === 'update' ? command.locales : undefined
  if (locales === undefined) return
  if (rows.length === 0 || (locales === 'known' && !hasLocale(command, rows)))
    throw new RequestFault(notFound())
  if (locales === 'new' && hasLocale(command, rows))
    throw new RequestFault(fault('application', 'locale is already used'))
}

const namesDocument = (
  command: SaveCommand,
): command is SaveCommand & { readonly kind: 'update'; readonly documentId: string } =>
  command.kind === 'update' && command.documentId !== null

/** null: the document has to be created. */
async function knownDocument(command: SaveCommand, options: SaveOptions): Promise<string | null> {
  const { type } = command
  if (namesDocument(command)) return command.documentId
  if (type.kind !== 'single') {
    if (command.kind === 'create') return null
    throw new RequestFault(notFound())
  }
  const found = await findSingle(type, options)
  if (found !== null) return found
  // The lock keeps two concurrent requests from creating the single type twice.
  await lockSingle(type, options)
  return findSingle(type, options)
}

/** A refusal to publish reveals the document's status, so hidden documents are checked before. */
const mayRevealStatus = (asking: PossibleSave): asking is UpdateByStatus =>
  !('kind' in asking) && !asking.published.ok && !mayRevealExistence(asking.draft.conditions)

interface Subject {
  readonly command: SaveCommand
  readonly documentId: string
  /** The versions of which each locale has one. */
  readonly rows: readonly CurrentRow[]
  /** What is published, if the write takes it back. */
  readonly unpublished: readonly CurrentRow[]
  readonly isThere: boolean
  readonly changesAll: boolean
}

function subjectOf(command: SaveCommand, documentId: string, current: Current): Subject {
  const { type } = command
  const all = current.rows(type, documentId)
  const rows = all.filter(row => !type.draftAndPublish || row.get('status') === writtenStatus(type))
  return {
    command,
    documentId,
    rows,
    unpublished: unpublishes(command)
      ? all.filter(each => !rows.includes(each) && isLocale(command, each))
      : [],
    isThere: rows.some(row => isLocale(command, row)),
    changesAll: changesAllLocales(command) || publishesForAll(command, all),
  }
}

/** Checks the row before the write. A new locale is checked against all other locales, as they share values. */
async function assertBefore(
  { command, documentId, rows, unpublished, isThere, changesAll }: Subject,
  options: WriteOptions,
): Promise<void> {
  const { type, conditions, locale } = command
  if (!conditions.before || rows.length === 0) return
  const alone = isThere && !changesAll
  const match = { type, documentIds: [documentId], filter: conditions.before }
  const whole = { ...match, locale: choiceOf(type, alone ? locale : null) }
  const written = alone ? rows.filter(row => isLocale(command, row)) : rows
  await assertWritable({ match: whole, rows: [...written, ...unpublished], conditions }, options)
}

/** Checks the row after the write, and all rows that changed with it. */
async function assertAfter(
  { command, documentId, rows, isThere, changesAll }: Subject,
  options: SaveOptions,
): Promise<void> {
  const { type, locale, conditions } = command
  if (!conditions.after) return
  const match = { type, documentIds: [documentId], filter: conditions.after }
  await assertMatches(
    { ...match, locale: choiceOf(type, changesAll ? null : locale) },
    changesAll ? rows.length + (isThere ? 0 : 1) : 1,
    options,
  )
}

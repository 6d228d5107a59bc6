import type { Database, Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import type { Values } from '../documents/desired-state.ts'
import { type ChangeEvent, NO_OUTBOX, type Outbox, openChangeRecorder } from '../documents/outbox.ts'
import { removeVersions } from '../documents/rows/remove-versions.ts'
import { type Current, loadCurrent, loadDocuments } from '../documents/rows/write-load.ts'
import type { LockingOptions, WriteOptions } from '../documents/rows/write-options.ts'
import type { CurrentRow } from '../documents/sql/write-rows.ts'
import { ownParts } from '../documents/unique/check-unique.ts'
import { writeDocuments } from '../documents/write-documents.ts'
import { runAndRollBack } from '../migrate/plan-migration.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { findConflicts, type ValueConflict } from './conflicts.ts'
import type { ImportedDocument } from './imported-document.ts'
import { type PlacedDocument, type PlaceOptions, place } from './place.ts'

/** `now`: ISO 8601 in UTC. */
export const importWriteOptions = (
  transaction: Transaction,
  {
    database,
    model,
    storage,
  }: { readonly database: Database; readonly model: Model; readonly storage: Storage },
  now: string,
): WriteOptions & { readonly transaction: Transaction } => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now,
  componentMatch: 'by-position',
  touch: false,
})

/** Documents to write, with the locked rows of those that exist. */
export interface ImportBatch<Source extends ImportedDocument = ImportedDocument> {
  readonly documents: readonly PlacedDocument<Source>[]
  readonly current: Current
}

/** Gives documents their ids, and locks and reads the rows of those that exist. */
export async function prepareBatch<Source extends ImportedDocument>(
  documents: readonly Source[],
  placing: PlaceOptions,
  options: WriteOptions,
): Promise<ImportBatch<Source>> {
  const placed = documents.map(document => place(document, placing))
  // A document that another write creates meanwhile violates the constraint of its key, and the batch is tried again.
  const current = await loadCurrent(
    placed.flatMap(({ existing, first }) => (existing ? [first] : [])),
    options,
  )
  return { documents: placed.map(each => withDefaults(each, current, options)), current }
}

/** Adds defaults to new versions of existing documents. Values of the locale's other version are kept. */
function withDefaults<Source extends ImportedDocument>(
  placed: PlacedDocument<Source>,
  current: Current,
  { storage }: WriteOptions,
): PlacedDocument<Source> {
  const { first, existing, defaults } = placed
  if (!existing || defaults.every(({ size }) => size === 0)) return placed
  const { type } = first
  const rows = current.rows(type, first.documentId)
  const versions = first.versions.map((version, index) => {
    const own = rows.filter(row => !type.localized || row.get('locale') === version.locale)
    const isThere = version.statuses.every(status => own.some(row => hasStatus(type, row, status)))
    const isUnset = (name: string) => own.every(row => row.get(storage.column(type, name)) === null)
    const added = isThere ? [] : [...(defaults[index] ?? [])].filter(([name]) => isUnset(name))
    return added.length === 0 ? version : { ...version, values: new Map([...added, ...version.values]) }
  })
  return { ...placed, first: { ...first, versions } }
}

const hasStatus = ({ draftAndPublish }: ContentType, row: CurrentRow, status: string): boolean =>
  !draftAndPublish || row.get('status') === status

/** Unique values that other documents have, in the database or in the batch. */
export function findBatchConflicts<Source extends ImportedDocument>(
  { documents, current }: ImportBatch<Source>,
  options: LockingOptions,
): Promise<readonly ValueConflict<Source>[]> {
  const own = documents.flatMap(({ existing, first }) => (existing ? [first] : []))
  return findConflicts(documents, ownParts(own, current, options), options)
}

export interface BatchOptions {
  readonly model: Model
  /** Records the change events of written documents. */
  readonly outbox: Outbox
  /** Called in the transaction before existing users are updated. */
  readonly beforeUsers: (transaction: Transaction, users: readonly UpdatedUser[]) => Promise<void>
  /** True if the source has whole documents: versions that it lacks are removed. */
  readonly removesOtherVersions: boolean
}

export interface UpdatedUser {
  readonly documentId: string
  readonly email: string
  /** Hash; undefined: unchanged. */
  readonly password: string | null | undefined
}

/** Writes documents with one statement per table and set of columns, then records their change events. */
export async function writeBatch(
  { documents, current }: ImportBatch,
  { model, outbox, beforeUsers, removesOtherVersions }: BatchOptions,
  options: WriteOptions & { readonly transaction: Transaction },
): Promise<void> {
  if (documents.length === 0) return
  await beforeUsers(options.transaction, updatedUsers(documents, model))
  const others = removesOtherVersions ? documents.flatMap(each => otherVersions(each, current)) : []
  await writeDocuments(
    documents.map(({ first }) => first),
    options,
    current,
  )
  const second = documents.flatMap(each => each.second ?? [])
  if (second.length > 0) await writeDocuments(second, options)
  for (const each of others) await removeOthers(each, options)
  if (outbox === NO_OUTBOX) return
  const record = openChangeRecorder(outbox).within(options.transaction, options.now)
  for (const each of documents) record(changesOf(each, current))
}

function updatedUsers(documents: readonly PlacedDocument[], { builtIn }: Model): readonly UpdatedUser[] {
  return documents.flatMap(({ first, existing }) => {
    const values = existing && first.type === builtIn.user ? first.versions[0]?.values : undefined
    const [email, password] = [textOf(values, 'email'), textOf(values, 'password')]
    return existing && typeof email === 'string' ? [{ documentId: existing.documentId, email, password }] : []
  })
}

function textOf(values: Values | undefined, name: string): string | null | undefined {
  const value = values?.get(name)
  if (value?.kind !== 'scalar') return undefined
  return value.value === null ? null : String(value.value)
}

interface OtherVersions {
  readonly type: ContentType
  readonly documentId: string
  readonly ids: ReadonlySet<unknown>
}

/** Versions in the database that the source does not have. */
function otherVersions(
  { document: { type, versions }, first: { documentId }, existing }: PlacedDocument,
  current: Current,
): readonly OtherVersions[] {
  if (!existing) return []
  const others = current
    .rows(type, documentId)
    .filter(
      row =>
        !versions.some(
          ({ locale, statuses }) =>
            (!type.localized || row.get('locale') === locale) &&
            statuses.some(status => hasStatus(type, row, status)),
        ),
    )
  return others.length === 0 ? [] : [{ type, documentId, ids: new Set(others.map(row => row.get('id'))) }]
}

async function removeOthers({ type, documentId, ids }: OtherVersions, options: WriteOptions): Promise<void> {
  const current = await loadDocuments(type, [documentId], options)
  const gone = current.rows(type, documentId).filter(row => ids.has(row.get('id')))
  await removeVersions({ type, documentId, gone, current }, options)
}

/** The same events as for requests with the same effect. */
function changesOf({ document: { versions }, first }: PlacedDocument, current: Current): ChangeEvent {
  const { type, documentId } = first
  const rows = current.rows(type, documentId)
  const locales = [...new Set(versions.map(({ locale }) => locale))]
  const isThere = (locale: string | null) => rows.some(row => !type.localized || row.get('locale') === locale)
  const isPublished = (locale: string | null) =>
    type.draftAndPublish &&
    versions.some(version => version.locale === locale && version.statuses.includes('published'))
  return {
    type,
    documentId,
    changes: locales.flatMap(locale => [
      { locale, action: isThere(locale) ? ('update' as const) : ('create' as const) },
      ...(isPublished(locale) ? [{ locale, action: 'publish' as const }] : []),
    ]),
    origin: {
      by: null,
      attributes: [...new Set(first.versions.flatMap(({ values }) => [...values.keys()]))],
    },
  }
}

/** Milliseconds per statement: a batch may need long queries. */
export const IMPORT_OPTIONS = { statementTimeout: 300_000 } as const

interface BatchWork<Source, Value> {
  readonly documents: readonly Source[]
  /** Writes the whole batch. */
  write(transaction: Transaction): Promise<Value>
  /** Writes one of the documents. */
  writeOne(document: Source, transaction: Transaction): Promise<unknown>
  /** The error to throw if the database refuses a document. */
  refusal(document: Source, message: string): Error
}

/** How often a batch is tried that fails because of concurrent writes. */
const ATTEMPTS = 5

/** Writes a batch in a transaction. If the database refuses it twice, finds the document that it refuses. */
export async function transactBatch<Source, Value>(
  database: Pick<Database, 'transaction'>,
  work: BatchWork<Source, Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await retryTransaction(database, transaction => work.write(transaction), IMPORT_OPTIONS)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const refused = attempt === 1 ? null : await findRefused(database, work)
      if (refused) throw refused
      if (attempt >= ATTEMPTS) throw error
    }
  }
}

/** True if the database refused values; other errors are not the fault of a document. */
function isRefusal(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'other') return fault.code?.startsWith('22') === true
  return fault !== undefined && 'constraint' in fault
}

/** Writes one document after the other and rolls back. null: the database refuses none. */
async function findRefused<Source>(
  database: Pick<Database, 'transaction'>,
  { documents, writeOne, refusal }: BatchWork<Source, unknown>,
): Promise<Error | null> {
  let tried: Source | undefined
  const work = async (transaction: Transaction) => {
    for (const document of documents) {
      tried = document
      await writeOne(document, transaction)
      await transaction.run(BARRIER)
    }
    return null
  }
  try {
    return await runAndRollBack(database, work, IMPORT_OPTIONS)
  } catch (error) {
    if (tried === undefined || !isRefusal(error)) throw error
    return refusal(tried, `PostgreSQL does not take it: ${toDatabaseFault(error)?.message ?? ''}`)
  }
}

/** Waits for the results of pipelined statements. */
const BARRIER = { name: 'wait for what was sent', text: 'SELECT 1', values: [] }

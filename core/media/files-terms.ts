import type { Database, Transaction } from '../database/database.ts'
import { type EventAction, type Outbox, openTelling } from '../documents/outbox.ts'
import { assertMeets, meeting } from '../documents/read/matching.ts'
import { mayKnow, seenLocales } from '../documents/read/version-visibility.ts'
import type { WriteTerms } from '../documents/rows/write-terms.ts'
import { type Fault, fault, forbidden, RequestFault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { UploadSettings } from '../project/settings/settings.ts'
import type { Actor } from '../query/command.ts'
import type { Filter } from '../query/query.ts'
import type { FileConditions } from './permit-file.ts'
import type { FileStorage } from './storage/file-storage.ts'

/** What every write of a file knows. */
export interface FilesTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly settings: UploadSettings
  readonly files: FileStorage
  /** Where files wait until they are kept. */
  readonly staging: string
  readonly outbox: Outbox
}

export const writeTerms = (
  transaction: Transaction,
  { storage, model, database }: FilesTerms,
): WriteTerms => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch: true,
})

export const prepareTerms = ({ files, staging, settings }: FilesTerms) => ({
  files,
  folder: staging,
  pixelLimit: settings.pixelLimit,
})

type TellOfFile = (documentId: string, action: EventAction, attributes?: readonly string[]) => void

/** One transaction on behalf of somebody; those who listen hear of it once it is committed. */
export async function writeFiles<Value>(
  work: (transaction: Transaction, tell: TellOfFile) => Promise<Value>,
  by: Actor | null,
  { database, outbox, model }: FilesTerms,
): Promise<Value> {
  const type = model.builtIn.file
  const telling = openTelling(outbox)
  const written = await database.transaction(transaction => {
    const tell = telling.within(transaction, new Date().toISOString())
    return work(transaction, (documentId, action, attributes = []) =>
      tell({ type, documentId, changes: [{ locale: null, action }], origin: { by, attributes } }),
    )
  })
  telling.done()
  return written
}

/** Of a change of a file that is there. */
export interface ChangeTerms extends FilesTerms {
  readonly conditions: FileConditions
}

type Within = FilesTerms & { readonly transaction: Transaction }

/** Whether a file exists as far as the caller may know; refuses (403) one that the caller sees and may not write. */
export async function mayWriteFile(
  conditions: FileConditions,
  documentId: string,
  terms: Within,
): Promise<boolean> {
  const { transaction, storage, model } = terms
  const type = model.builtIn.file
  const within = { transaction, storage, defaultLocale: model.defaultLocale }
  const seen = await seenLocales({ type, documentId, locale: null, conditions }, within)
  if (!seen(null)) return false
  const match = matchOf(conditions.before, documentId, terms)
  if (!match || (await meeting(match, within)) > 0) return true
  if (mayKnow(conditions)) throw new RequestFault(forbidden())
  return false
}

/** Refuses (403) a file that would not meet the condition when it is changed. */
export async function assertFileMeets(
  filter: Filter | null,
  documentId: string,
  terms: Within,
): Promise<void> {
  const { transaction, storage, model } = terms
  const match = matchOf(filter, documentId, terms)
  if (match) await assertMeets(match, 1, { transaction, storage, defaultLocale: model.defaultLocale })
}

const matchOf = (filter: Filter | null, documentId: string, { model }: FilesTerms) =>
  filter && { type: model.builtIn.file, documentIds: [documentId], locale: ALL_LOCALES, filter }

const ALL_LOCALES = { kind: 'all' } as const

/** contract/rest.md 15: what is to be uploaded is missing, or holds nothing. */
export const noFiles = (): Fault => fault('validation', 'Files are empty')

/** contract/rest.md 15: of a change. */
export const noEntity = (): Fault => fault('notFound', 'Entity not found')

import type { Database, Transaction } from '../database/database.ts'
import { assertMeets } from '../documents/matching.ts'
import { type EventAction, type Outbox, openTelling } from '../documents/outbox.ts'
import type { WriteTerms } from '../documents/write-terms.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { UploadSettings } from '../project/settings.ts'
import type { Actor } from '../query/command.ts'
import type { Filter } from '../query/query.ts'
import type { FileStorage } from './file-storage.ts'
import type { FileConditions } from './permit-file.ts'

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

/** Refuses (403) a file that does not meet one of its conditions, as the transaction has it now. */
export async function assertFileMeets(
  filter: Filter | null,
  documentId: string,
  terms: FilesTerms & { readonly transaction: Transaction },
): Promise<void> {
  if (!filter) return
  const { transaction, storage, model } = terms
  const match = { type: model.builtIn.file, documentIds: [documentId], locale: ALL_LOCALES, filter }
  await assertMeets(match, 1, { transaction, storage, defaultLocale: model.defaultLocale })
}

const ALL_LOCALES = { kind: 'all' } as const

/** contract/rest.md 15: what is to be uploaded is missing, or holds nothing. */
export const noFiles = (): Fault => fault('validation', 'Files are empty')

/** contract/rest.md 15: of a change. */
export const noEntity = (): Fault => fault('notFound', 'Entity not found')

import type { Database, Transaction } from '../database/database.ts'
import type { WriteTerms } from '../documents/write-terms.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { UploadSettings } from '../project/settings.ts'
import type { FileStorage } from './file-storage.ts'

/** What every write of a file knows. */
export interface FilesTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly settings: UploadSettings
  readonly files: FileStorage
  /** Where files wait until they are kept. */
  readonly staging: string
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

/** contract/rest.md 15: of a change. */
export const noEntity = (): Fault => fault('notFound', 'Entity not found')

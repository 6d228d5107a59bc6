import type { Database, Transaction } from '../../../core/database/database.ts'
import type { Outbox } from '../../../core/documents/outbox.ts'
import type { UpdatedUser } from '../../../core/import/write-batch.ts'
import type { FileStorage } from '../../../core/media/storage/file-storage.ts'
import type { ContentType, Model } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import type { LineFault } from '../stream-fault.ts'

/** How to treat documents that already exist. */
export const CONFLICTS = ['skip', 'update', 'fail'] as const
export type OnConflict = (typeof CONFLICTS)[number]

export interface ImporterOptions {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly onConflict: OnConflict
  /** Skip and report invalid documents instead of failing. */
  readonly skipsInvalid: boolean
  /** The keys of roles in the project. */
  readonly roles: ReadonlySet<string>
  /** Stores files. */
  readonly files: FileStorage
  /** The folder with file contents, named by key; null: files are not imported. */
  readonly filesFolder: string | null
  /** Records the change events of written documents. */
  readonly outbox: Outbox
  /** Called in the transaction before existing users are updated. */
  readonly beforeUsers: (transaction: Transaction, users: readonly UpdatedUser[]) => Promise<void>
  readonly progress: (progress: Progress) => void
}

export interface Progress {
  readonly stage: 'checking' | 'importing'
  /** In documents. */
  readonly done: number
  readonly total: number
}

/** The skipped documents of a stream, as stored in the checkpoint. */
export interface SkippedDocuments {
  /** The reasons by line, found before anything was written. */
  readonly faults: readonly LineFault[]
  readonly refused: readonly RefusedDocument[]
}

/** A document that was refused after others had been written. */
export interface RefusedDocument {
  /** The content-type and documentId; see nameInStream. */
  readonly called: string
  readonly faults: readonly LineFault[]
}

/** Of an import without skipped documents. */
export const NONE_SKIPPED: SkippedDocuments = { faults: [], refused: [] }

/** The lines that are skipped from the start. */
export const skippedLines = ({ faults }: SkippedDocuments): ReadonlySet<number> =>
  new Set(faults.map(({ line }) => line))

export const faultsIn = ({ faults, refused }: SkippedDocuments): readonly LineFault[] =>
  [...faults, ...refused.flatMap(each => each.faults)].toSorted((a, b) => a.line - b.line)

export const nameInStream = (type: ContentType, documentId: string): string => `${type.uid} ${documentId}`

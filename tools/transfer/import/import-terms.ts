import type { Database, Transaction } from '../../../core/database/database.ts'
import type { Outbox } from '../../../core/documents/outbox.ts'
import type { WriteTerms } from '../../../core/documents/rows/write-terms.ts'
import type { FileStorage } from '../../../core/media/storage/file-storage.ts'
import type { ContentType, Model } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import type { LineFault } from '../stream-fault.ts'

/** What becomes of documents that the database has already. */
export const CONFLICTS = ['skip', 'update', 'fail'] as const
export type OnConflict = (typeof CONFLICTS)[number]

export interface ImportTerms {
  readonly database: Database
  readonly model: Model
  readonly storage: Storage
  readonly onConflict: OnConflict
  /** Documents that cannot be imported are left out and told, rather than keeping the others out. */
  readonly skipsInvalid: boolean
  /** Their keys in the project. */
  readonly roles: ReadonlySet<string>
  /** Takes bytes. */
  readonly files: FileStorage
  /** Where the bytes of files lie, named by their keys; null: they stay where they are. */
  readonly filesFolder: string | null
  /** Hears of documents as of other writes. */
  readonly outbox: Outbox
  /** Hears of users that are there, in the transaction, before they are written. */
  readonly beforeUsers: (transaction: Transaction, users: readonly ReplacedUser[]) => Promise<void>
  readonly progress: (progress: Progress) => void
}

export interface ReplacedUser {
  readonly documentId: string
  readonly email: string
  /** undefined: it stays as it is. */
  readonly password: string | null | undefined
}

export interface Progress {
  readonly stage: 'checking' | 'importing'
  /** Documents. */
  readonly done: number
  readonly total: number
}

/** A stream may have many documents whose values the database has to look at. */
export const PATIENT = { statementTimeout: 300_000 } as const

export const writeTermsOf = (
  transaction: Transaction,
  { database, model, storage }: Pick<ImportTerms, 'database' | 'model' | 'storage'>,
  now: string,
): WriteTerms & { readonly transaction: Transaction } => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now,
  componentMatch: 'by-place',
  touch: false,
})

/** Documents of a stream that are left out of its import, as its checkpoint keeps them. */
export interface LeftOut {
  /** Why, by line; known before anything was written. */
  readonly faults: readonly LineFault[]
  readonly refused: readonly RefusedDocument[]
}

/** A document that was refused when others had been written already. */
export interface RefusedDocument {
  /** See nameInStream. */
  readonly called: string
  readonly faults: readonly LineFault[]
}

export const NONE_LEFT_OUT: LeftOut = { faults: [], refused: [] }

/** The lines that count for nothing from the beginning. */
export const linesWithout = ({ faults }: LeftOut): ReadonlySet<number> =>
  new Set(faults.map(({ line }) => line))

export const faultsIn = ({ faults, refused }: LeftOut): readonly LineFault[] =>
  [...faults, ...refused.flatMap(each => each.faults)].toSorted((a, b) => a.line - b.line)

export const nameInStream = (type: ContentType, documentId: string): string => `${type.uid} ${documentId}`

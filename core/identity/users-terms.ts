import type { Database } from '../database/database.ts'
import type { Documents } from '../documents/documents.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'

/** What reading and writing users needs of the server. */
export interface UsersServiceTerms {
  readonly model: Model
  readonly storage: Storage
  readonly database: Pick<Database, 'run'>
  readonly documents: Documents
}

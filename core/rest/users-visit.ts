import type { Database } from '../database/database.ts'
import type { Storage } from '../model/storage.ts'
import type { RestTerms } from './visit.ts'

export interface UsersTerms extends RestTerms {
  readonly database: Pick<Database, 'run'>
  readonly storage: Storage
}

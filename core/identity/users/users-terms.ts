import type { Documents } from '../../documents/documents.ts'
import type { IdentityTerms } from '../identity.ts'
import type { CountRequest } from '../rate-limit.ts'

/** What reading and writing users needs of the server. */
export interface UsersServiceTerms {
  readonly identity: IdentityTerms
  /** Those of `userDocuments`. */
  readonly documents: Documents
  readonly count: CountRequest
}

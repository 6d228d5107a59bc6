import type { Identity } from '../identity/identity.ts'
import type { CountRequest } from '../identity/rate-limit.ts'
import type { RestTerms } from './visit.ts'

export interface AuthTerms extends RestTerms {
  readonly identity: Identity
  readonly count: CountRequest
}
